// The operator between two sectors as full rows: walks through one period from a state of each orbit, several
// side by side.
#pragma once

#include "lib/periodic/period/period_walk.hpp"
#include "lib/periodic/period/sectors.hpp"

#include <array>

namespace libperm {

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
                  RunControl &control, const Tell &tell) {
    const PeriodBlock &block = step.block;
    const Sector &from = step.from, &to = step.to;
    constexpr std::size_t together = 8;
    using Walks = SideBySide<Numbers, together>;
    const Walks walks(numbers);
    const double work = moves_of(block.levels);
    const NumberedPieces groups = NumberedPieces::of_length(from.size(), together);
    parallel_for(groups.count(), [&](std::uint64_t group) {
        const std::size_t first = groups[group].first, count = groups[group].last - first;
        std::vector<typename Walks::Number> x(block.states, Walks::zero());
        for (std::size_t k = 0; k < count; ++k) x[from.start[first + k]][k] = Numbers::one();
        PeriodWalk<Walks> walk(walks, factors);
        walk.set(std::move(x));
        walk.advance(block.levels);
        control.advance(work * static_cast<double>(count));
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

} // namespace libperm
