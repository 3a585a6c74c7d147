// Powers of the operator on sectors, as full matrices: its rows are walks through one period from a state of
// each orbit, several side by side.
#pragma once

#include "lib/periodic/period/period_levels.hpp"
#include "lib/periodic/period/period_walk.hpp"
#include "lib/run/call.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace libperm {

// Products for the trace of a power: of its half they are, and of two halves none.
inline int products_to(std::uint64_t power) {
    if (power < 2) return 0;
    const std::uint64_t half = power / 2;
    return static_cast<int>(std::bit_width(half)) - 1 + std::popcount(half) - 1 + static_cast<int>(power % 2);
}

// powers.trace(x, y) of two powers whose product is base^power, or of the base alone and null; by squares and
// products with the base, powers.times(x, y). power >= 1.
template <class Matrix, class Powers>
auto trace_by_halves(const Matrix &base, std::uint64_t power, const Powers &powers) {
    if (power == 1) return powers.trace(base, nullptr);
    Matrix held{};
    const Matrix *half = &base;
    for (auto bit = std::bit_width(power / 2) - 1; bit-- > 0;) {
        held = powers.times(*half, *half);
        half = &held;
        if (power / 2 >> bit & 1) held = powers.times(held, base);
    }
    if (power % 2 == 0) return powers.trace(*half, half);
    const Matrix last = powers.times(*half, base);
    return powers.trace(last, half);
}

// The same of T^m on a sector that T^m leads back to; powers.written(from, to): T from one sector to another.
template <class Powers>
auto trace_on_sector(const std::vector<Sector> &sectors, std::size_t which, std::int64_t m,
                     const Powers &powers) {
    const Sector &sector = sectors[which], &next = sectors[sector.next];
    const auto power = static_cast<std::uint64_t>(m);
    auto base = powers.written(sector, next);
    if (m % 2 != 0) return trace_by_halves(base, power, powers);
    base = sector.next == which ? powers.times(base, base) : powers.times(base, powers.written(next, sector));
    return trace_by_halves(base, power / 2, powers);
}

// So many walks through the same levels; `Numbers` of one.
template <class Numbers, std::size_t K> class SideBySide {
  public:
    using Number = std::array<typename Numbers::Number, K>;
    using Factor = typename Numbers::Factor;

    explicit SideBySide(const Numbers &numbers) : numbers_(&numbers) {}
    static Number zero() {
        Number x;
        x.fill(Numbers::zero());
        return x;
    }
    Number add(Number x, const Number &y) const {
        for (std::size_t k = 0; k < K; ++k) x[k] = numbers_->add(x[k], y[k]);
        return x;
    }
    Number multiply(const Factor &factor, Number x) const {
        for (std::size_t k = 0; k < K; ++k) x[k] = numbers_->multiply(factor, x[k]);
        return x;
    }

  private:
    const Numbers *numbers_;
};

// The operator of a block between two of its sectors.
struct SectorStep {
    const PeriodBlock &block;
    const Sector &from, &to;
};

// tell(orbit from which, orbit to which, number): sums over the states of each orbit that is reached, with
// their signs. `negate(number)` is its opposite. Rows are told on several threads.
template <class Numbers, class Negate, class Tell>
void write_sector(const SectorStep &step, const Numbers &numbers,
                  const std::vector<typename Numbers::Factor> &factors, const Negate &negate,
                  const Tell &tell) {
    const PeriodBlock &block = step.block;
    const Sector &from = step.from, &to = step.to;
    constexpr std::size_t together = 8;
    using Walks = SideBySide<Numbers, together>;
    const Walks walks(numbers);
    const MoveSums<Walks> side_by_side(walks, factors);
    const double work = moves_of(block.levels);
    const NumberedPieces groups = NumberedPieces::of_length(from.size(), together);
    parallel_for(groups.count(), [&](std::uint64_t group) {
        const std::size_t first = groups[group].first, count = groups[group].last - first;
        std::vector<typename Walks::Number> x(block.states, Walks::zero());
        for (std::size_t k = 0; k < count; ++k) x[from.start[first + k]][k] = Numbers::one();
        PeriodWalk<MoveSums<Walks>> walk(side_by_side);
        walk.set(std::move(x));
        walk.advance(block.levels);
        call().advance(work * static_cast<double>(count));
        std::vector<typename Walks::Number> sums(to.size(), Walks::zero());
        for (std::size_t s = 0; s < block.states; ++s) {
            if (to.orbit[s] == Sector::none) continue;
            typename Walks::Number term = walk.numbers()[s];
            if (to.negative[s])
                for (auto &number : term) number = negate(number);
            sums[to.orbit[s]] = walks.add(sums[to.orbit[s]], term);
        }
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t orbit = 0; orbit < to.size(); ++orbit) tell(first + k, orbit, sums[orbit][k]);
    });
}

// Full matrices of numbers in doubles, and their products.

// Numbers that are written before they are read: to clear gigabytes is a part of the work, and shared.
template <class T> struct Uncleared : std::allocator<T> {
    template <class U> struct rebind { using other = Uncleared<U>; };
    template <class U> void construct(U *at) noexcept { ::new (static_cast<void *>(at)) U; }
    template <class U, class... Rest> void construct(U *at, Rest &&...rest) {
        ::new (static_cast<void *>(at)) U(std::forward<Rest>(rest)...);
    }
};
using DensePlane = std::vector<double, Uncleared<double>>;

// In planes, by rows: the real part, in two where it is dd, then the imaginary part, if it is complex.
struct DenseMatrix {
    bool complex = false, dd = false;
    std::size_t rows = 0, columns = 0;
    std::vector<DensePlane> planes;
    std::int64_t exp2 = 0; // the matrix is these times 2^exp2
    double lost = 0;       // by numbers too small for doubles, of each of these at most

    static DenseMatrix unwritten(std::size_t rows, std::size_t columns, bool complex, bool dd);
    void normalise(); // the largest comes near 1, exp2 takes what it was
};

// Threads share it; the same bits whatever their number.
DenseMatrix product(const DenseMatrix &a, const DenseMatrix &b);

// Roundings on a term's way through a product over so many inner indices, of unit_of(its arithmetic).
double product_roundings(std::size_t inner, bool complex, bool dd);

// Seconds on one thread.
double product_seconds(double multiplications, bool complex, bool dd);

} // namespace libperm
