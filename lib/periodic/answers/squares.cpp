#include "lib/periodic/answers/terms.hpp"

#include "jit/number/number.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/periodic/power/sector_powers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace libperm {
namespace {

template <class A>
constexpr Arithmetic arithmetic_of =
    std::is_same_v<A, number::Real<double>>                    ? Arithmetic::real
    : std::is_same_v<A, number::DD<double>>                    ? Arithmetic::dd
    : std::is_same_v<A, number::Complex<number::Real<double>>> ? Arithmetic::complex
                                                               : Arithmetic::complex_dd;

struct RowExponents {
    std::int64_t highest = 0, lowest = 0;
    bool known = false, has_one = false;

    // A walk does not multiply by 1 where that is all there is.
    std::int64_t taken_out() const { return has_one ? 0 : highest; }
};

std::vector<RowExponents> row_exponents(const PeriodicPlan &plan) {
    std::vector<RowExponents> rows(static_cast<std::size_t>(plan.matrix.rows));
    for (std::size_t k = 0; k < plan.matrix.entries.size(); ++k) {
        RowExponents &row = rows[static_cast<std::size_t>(plan.matrix.entries[k].row)];
        const Tracked size = magnitude_of(plan.values[k]);
        const std::int64_t exp2 = size.exp2 + std::ilogb(size.magnitude);
        row.highest = row.known ? std::max(row.highest, exp2) : exp2;
        row.lowest = row.known ? std::min(row.lowest, exp2) : exp2;
        row.known = true;
        row.has_one = row.has_one || plan.values[k] == Gaussian{1, 0};
    }
    return rows;
}

// Each row of a cell is scaled so that its entries are about 1, and ones stay what they are; a period's
// numbers are then 2^-per_period of what they are.
class ScaledCell {
  public:
    explicit ScaledCell(const PeriodicPlan &plan) : plan_(plan), rows_(row_exponents(plan)) {
        for (const RowExponents &row : rows_) per_period_ += row.taken_out();
    }

    template <class A> std::vector<typename A::Number> factors(const std::vector<Gaussian> &values) const {
        constexpr Arithmetic in = arithmetic_of<A>;
        std::vector<typename A::Number> out(values.size(), A::number(1)); // the ends' are not met in a period
        for (std::size_t k = 0; k < plan_.matrix.entries.size(); ++k) {
            const auto row = static_cast<std::size_t>(plan_.matrix.entries[k].row);
            const PackedParts parts = packed(parts_of(values[k], rows_[row].taken_out(), in), in);
            std::memcpy(&out[k], parts.data(), sizeof out[k]);
        }
        return out;
    }
    std::int64_t per_period() const { return per_period_; }
    // log2 of what the moves of a period add up to at most, twice at each level; the entries as they are
    // scaled.
    double log_of_moves(const PeriodBlock &block) const {
        double sum = 0;
        for (const RowExponents &row : rows_)
            sum += static_cast<double>(std::max<std::int64_t>(row.highest - row.taken_out(), 0));
        for (const PeriodLevel &level : block.levels) {
            std::uint32_t longest = 1;
            for (std::size_t s = 0; s < level.states(); ++s)
                longest = std::max(longest, level.first[s + 1] - level.first[s]);
            sum += std::log2(longest) + 1;
        }
        return sum;
    }

  private:
    const PeriodicPlan &plan_;
    std::vector<RowExponents> rows_;
    std::int64_t per_period_ = 0;
};

constexpr double least = 0x1p-1074;
constexpr double of_conversion = 1 + 1e-6; // a sum of absolute values as a double, and few sums of such

// value * 2^exp2, of which lost * 2^exp2 at most fell out of the range of doubles.
template <class A> struct SquaredNumber {
    typename A::Number value;
    std::int64_t exp2 = 0;
    double lost = 0;
};

// With `absolute`, the sum of the terms' absolute values, beside which what becomes of a smaller number is
// nothing.
template <class A, class B>
Ranged<Signed<A>> bounded(const SquaredNumber<A> &x, const SquaredNumber<B> &absolute) {
    const int lower = ldexp_exponent(x.exp2 - absolute.exp2);
    const double lost = std::ldexp(x.lost, lower) + 4 * least,
                 most = B::magnitude(absolute.value) * of_conversion + absolute.lost +
                        lost / unit_of(arithmetic_of<A>);
    return Ranged<Signed<A>>::normalised(Signed<A>::coefficient(times_power(x.value, lower), most),
                                         absolute.exp2);
}

template <class A> SquaredNumber<A> number_of(const DenseMatrix &x, std::size_t place) {
    SquaredNumber<A> out{{}, x.exp2, x.lost};
    double parts[sizeof out.value / sizeof(double)];
    for (std::size_t p = 0; p < std::size(parts); ++p) parts[p] = x.planes[p][place];
    std::memcpy(&out.value, parts, sizeof out.value);
    return out;
}

// Parts at most 1, of which so much was lost, and so many products of them added up.
double lost_in_sums(const DenseMatrix &a, const DenseMatrix &b, std::size_t terms) {
    const double largest = a.complex ? 1.5 : 1; // sqrt(2)
    return static_cast<double>(terms) * (largest * (a.lost + b.lost) + a.lost * b.lost + 16 * least);
}

// A block's sectors in one arithmetic.
template <class A> class FloatPowers {
  public:
    FloatPowers(const PeriodBlock &block, const std::vector<Sector> &sectors, const ScaledCell &cell,
                const std::vector<Gaussian> &values)
        : block_(block), sectors_(sectors), cell_(cell), factors_(cell.factors<A>(values)) {}

    // tr T^m on a sector that T^m leads back to.
    SquaredNumber<A> trace_of_power(std::size_t which, std::int64_t m) const {
        return trace_on_sector(sectors_, which, m, *this);
    }

    DenseMatrix written(const Sector &from, const Sector &to) const {
        constexpr Arithmetic in = arithmetic_of<A>;
        DenseMatrix out = DenseMatrix::unwritten(from.size(), to.size(), is_complex(in), is_dd(in));
        const PlainNumbers<A> numbers;
        write_sector(
            {block_, from, to}, numbers, factors_, [](const typename A::Number &x) { return A::negate(x); },
            [&](std::size_t row, std::size_t column, const typename A::Number &x) {
                PackedParts parts{};
                std::memcpy(parts.data(), &x, sizeof x);
                for (std::size_t p = 0; p < out.planes.size(); ++p)
                    out.planes[p][row * out.columns + column] = parts[p];
            });
        out.exp2 = cell_.per_period();
        out.lost =
            least * static_cast<double>(block_.levels.size()) * std::exp2(cell_.log_of_moves(block_) + 4);
        out.normalise();
        return out;
    }
    DenseMatrix times(const DenseMatrix &a, const DenseMatrix &b) const {
        DenseMatrix out = product(a, b);
        out.lost = lost_in_sums(a, b, a.columns);
        out.normalise();
        return out;
    }

    // tr (a b), by the rows of a, or tr a if b is null.
    static SquaredNumber<A> trace(const DenseMatrix &a, const DenseMatrix *b) {
        std::vector<typename A::Number> of_row(a.rows);
        parallel_for(a.rows, [&](std::uint64_t i) {
            if (!b) {
                of_row[i] = number_of<A>(a, i * a.columns + i).value;
                return;
            }
            with_fma([&] {
                typename A::Number sum = A::number(0);
                for (std::size_t k = 0; k < a.columns; ++k)
                    sum = A::madd(number_of<A>(a, i * a.columns + k).value,
                                  number_of<A>(*b, k * b->columns + i).value, sum);
                of_row[i] = sum;
            });
        });
        typename A::Number sum = A::number(0);
        for (const auto &x : of_row) sum = A::add(sum, x);
        if (b) return {sum, a.exp2 + b->exp2, lost_in_sums(a, *b, a.rows * a.columns)};
        return {sum, a.exp2, static_cast<double>(a.rows) * a.lost};
    }

  private:
    const PeriodBlock &block_;
    const std::vector<Sector> &sectors_;
    const ScaledCell &cell_;
    const std::vector<typename A::Number> factors_;
};

Charge charge_of(std::size_t states, Arithmetic arithmetic) {
    constexpr double matrices = 4;
    return Charge(&call().memory(),
                  static_cast<std::int64_t>(8 * matrices * static_cast<double>(states) *
                                            static_cast<double>(states) * parts_of(arithmetic)));
}

using Sizes = number::Real<double>;

// x T^k, T^k as a matrix and, unless none is negative, that of the absolute values.
template <class A>
std::vector<Ranged<Signed<A>>> product_with(const std::vector<Ranged<Signed<A>>> &x, const DenseMatrix &power,
                                            const DenseMatrix *absolute) {
    std::vector<Ranged<Signed<A>>> out(x.size(), {Signed<A>::number(0), 0});
    const NumberedPieces pieces = NumberedPieces::of_length(x.size(), 64);
    parallel_for(pieces.count(), [&](std::uint64_t p) {
        poll();
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = pieces[p].first; j < pieces[p].last; ++j) {
                const std::size_t place = i * x.size() + j;
                const SquaredNumber<A> entry = number_of<A>(power, place);
                out[j] = out[j] + x[i] * (absolute ? bounded(entry, number_of<Sizes>(*absolute, place))
                                                   : bounded(entry, entry));
            }
    });
    return out;
}

// Residues next to 0, in digits next to 0 of so many bits that the sums of a product's digits are whole
// numbers of at most 53: |digit| <= 2^(bits - 1).
class Digits {
  public:
    Digits(std::uint64_t prime, std::size_t inner)
        : prime_(prime),
          bits_((55 - static_cast<int>(std::bit_width(inner))) / 2),
          count_(1 + static_cast<int>(std::bit_width(prime)) / bits_) {
    } // the highest may be one more than it was

    int count() const { return count_; }
    int bits() const { return bits_; }
    template <class Put> void split(std::uint64_t residue, const Put &put) const {
        auto left = static_cast<std::int64_t>(residue);
        if (residue > prime_ / 2) left -= static_cast<std::int64_t>(prime_);
        const std::int64_t base = std::int64_t{1} << bits_;
        for (int k = 0; k < count_; ++k) {
            std::int64_t digit = left;
            if (k + 1 < count_) {
                digit = (left % base + base) % base;
                if (digit > base / 2) digit -= base;
                left = (left - digit) / base;
            }
            put(k, static_cast<double>(digit));
        }
    }

  private:
    std::uint64_t prime_;
    int bits_, count_;
};

struct ResidueMatrix {
    std::size_t rows = 0, columns = 0;
    std::vector<DenseMatrix> digits;
    std::vector<std::uint64_t> residues;
};

class ResiduePowers {
  public:
    ResiduePowers(const PeriodBlock &block, const std::vector<Sector> &sectors, const Residues &residues)
        : block_(block),
          sectors_(sectors),
          residues_(residues),
          prime_(residues.primes.front()),
          field_(prime_),
          digits_(prime_, std::max<std::size_t>(block.states, 1)) {}

    std::uint64_t trace_of_power(std::size_t which, std::int64_t m) const {
        return trace_on_sector(sectors_, which, m, *this);
    }

    ResidueMatrix written(const Sector &from, const Sector &to) const {
        using Numbers = ResidueNumbers<1>;
        Numbers numbers(residues_, 0);
        const std::vector<Numbers::Factor> factors =
            numbers.begin_step(all_entries(residues_.values.front().size()));
        ResidueMatrix out{from.size(), to.size(), {}, std::vector<std::uint64_t>(from.size() * to.size())};
        write_sector(
            {block_, from, to}, numbers, factors,
            [this](const Numbers::Number &x) { return Numbers::Number{x[0] == 0 ? 0 : 2 * prime_ - x[0]}; },
            [&](std::size_t row, std::size_t column, const Numbers::Number &x) {
                out.residues[row * out.columns + column] = numbers.close(x)[0];
            });
        split(out);
        return out;
    }

    ResidueMatrix times(const ResidueMatrix &a, const ResidueMatrix &b) const {
        ResidueMatrix out{a.rows, b.columns, {}, std::vector<std::uint64_t>(a.rows * b.columns, 0)};
        for (int i = 0; i < digits_.count(); ++i)
            for (int j = 0; j < digits_.count(); ++j) {
                const DenseMatrix sums =
                    product(a.digits[static_cast<std::size_t>(i)], b.digits[static_cast<std::size_t>(j)]);
                const std::uint64_t weight = field_.to(field_.power(
                    field_.to(2), static_cast<std::uint64_t>(
                                      (i + j) * digits_.bits()))); // twice: what it multiplies is not
                parallel_for(out.rows, [&](std::uint64_t row) {
                    poll();
                    for (std::size_t at = row * out.columns; at < (row + 1) * out.columns; ++at) {
                        const auto sum = static_cast<std::int64_t>(sums.planes[0][at]);
                        const std::uint64_t size = static_cast<std::uint64_t>(sum < 0 ? -sum : sum) % prime_,
                                            term = field_.from(field_.multiply(size, weight));
                        std::uint64_t &to = out.residues[at];
                        to = sum < 0 ? field_.subtract(to, term) : field_.add(to, term);
                    }
                });
            }
        split(out);
        return out;
    }

    std::uint64_t trace(const ResidueMatrix &a, const ResidueMatrix *b) const {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < a.rows; ++i) {
            if (!b) {
                sum = field_.add(sum, a.residues[i * a.columns + i]);
                continue;
            }
            for (std::size_t k = 0; k < a.columns; ++k) {
                const std::uint64_t x = field_.to(a.residues[i * a.columns + k]);
                sum = field_.add(sum, field_.multiply(x, b->residues[k * b->columns + i]));
            }
        }
        return sum;
    }

  private:
    void split(ResidueMatrix &x) const {
        x.digits.clear();
        for (int k = 0; k < digits_.count(); ++k)
            x.digits.push_back(DenseMatrix::unwritten(x.rows, x.columns, false, false));
        parallel_for(x.rows, [&](std::uint64_t i) {
            for (std::size_t at = i * x.columns; at < (i + 1) * x.columns; ++at)
                digits_.split(x.residues[at], [&](int k, double digit) {
                    x.digits[static_cast<std::size_t>(k)].planes[0][at] = digit;
                });
        });
    }

    const PeriodBlock &block_;
    const std::vector<Sector> &sectors_;
    const Residues &residues_;
    std::uint64_t prime_;
    Montgomery field_;
    Digits digits_;
};

} // namespace

bool may_be_squared(const PeriodicPlan &plan) {
    constexpr double most = 900; // of a double's exponents
    const ScaledCell cell(plan);
    double spread = 0, moves = 0;
    for (const RowExponents &row : row_exponents(plan))
        spread += static_cast<double>(row.highest) - static_cast<double>(row.lowest);
    for (const PeriodBlock &block : plan.blocks()) moves = std::max(moves, cell.log_of_moves(block));
    return spread + moves < most;
}

template <class A>
Ranged<Signed<A>> FloatSquares<A>::term(const PeriodicPlan &plan, const SquaredEntries &entries,
                                        std::int64_t m) {
    const ScaledCell cell(plan);
    Number sum{Signed<A>::number(0), 0};
    for (const PeriodBlock &block : plan.loops) {
        if (block.alike == 0) continue;
        const std::vector<Sector> sectors = sectors_of(block);
        const Charge charge = charge_of(sectors.front().size(), arithmetic_of<A>);
        const FloatPowers<A> powers(block, sectors, cell, entries.values);
        const auto add = [&](const SquaredNumber<A> &first, const auto &most) {
            for_each_trace(sectors, m, [&](std::size_t s, std::uint32_t pair) {
                const Number times{Signed<A>::number(block.alike * pair), 0};
                sum = sum + times * bounded(s == 0 ? first : powers.trace_of_power(s, m), most);
            });
        };
        // No sector has more than the first one of the absolute values, by every entry.
        if (entries.are_sizes()) {
            const SquaredNumber<A> most = powers.trace_of_power(0, m);
            add(most, most);
        } else {
            const FloatPowers<Sizes> of_sizes(block, sectors, cell, entries.sizes);
            const SquaredNumber<Sizes> most = of_sizes.trace_of_power(0, m);
            add(powers.trace_of_power(0, m), most);
        }
    }
    return sum;
}

template <class A>
std::vector<Ranged<Signed<A>>> FloatSquares<A>::advanced(const PeriodicPlan &plan,
                                                         const SquaredEntries &entries, std::vector<Number> x,
                                                         std::int64_t periods) {
    const ScaledCell cell(plan);
    const PeriodBlock &block = plan.open.period;
    const std::vector<Sector> sectors = sectors_of(block);
    const Charge charge = charge_of(block.states, arithmetic_of<A>);
    const FloatPowers<A> powers(block, sectors, cell, entries.values);
    const FloatPowers<Sizes> of_sizes(block, sectors, cell, entries.sizes);
    DenseMatrix power = powers.written(sectors.front(), sectors.front()), absolute;
    if (!entries.are_sizes()) absolute = of_sizes.written(sectors.front(), sectors.front());
    for (auto left = static_cast<std::uint64_t>(periods);;) {
        if (left & 1) x = product_with<A>(x, power, entries.are_sizes() ? nullptr : &absolute);
        left >>= 1;
        if (left == 0) return x;
        power = powers.times(power, power);
        if (!entries.are_sizes()) absolute = of_sizes.times(absolute, absolute);
    }
}

template struct FloatSquares<number::Real<double>>;
template struct FloatSquares<number::DD<double>>;
template struct FloatSquares<number::Complex<number::Real<double>>>;
template struct FloatSquares<number::Complex<number::DD<double>>>;

std::uint64_t trace_modulo(const PeriodicPlan &plan, const Residues &residues, std::int64_t m) {
    const Montgomery field(residues.primes.front());
    std::uint64_t sum = 0;
    for (const PeriodBlock &block : plan.loops) {
        if (block.alike == 0) continue;
        const std::vector<Sector> sectors = sectors_of(block);
        const auto states = static_cast<double>(sectors.front().size());
        constexpr double bytes_of_entry = 8 * 12; // of three matrices, digits and residues
        const Charge charge(&call().memory(), static_cast<std::int64_t>(states * states * bytes_of_entry));
        ResiduePowers powers(block, sectors, residues);
        for_each_trace(sectors, m, [&](std::size_t s, std::uint32_t pair) {
            const std::uint64_t trace = powers.trace_of_power(s, m), times = block.alike * pair;
            sum = field.add(sum, field.multiply(field.to(trace), times % field.prime()));
        });
    }
    return sum;
}

double residue_squares_seconds(const PeriodicPlan &plan, std::int64_t m, std::uint64_t prime) {
    constexpr double of_sum = 6e-9; // to be taken modulo the prime
    std::size_t most = 1;
    double entries = 0;
    for (const PeriodBlock &block : plan.loops) {
        most = std::max(most, block.states);
        if (block.alike > 0)
            entries += static_cast<double>(block.states) * static_cast<double>(block.states) /
                       static_cast<double>(sectors_in(block));
    }
    const double digits = Digits(prime, most).count(), times = digits * digits;
    const auto steps = static_cast<double>(products_to(static_cast<std::uint64_t>(m)) + 1);
    return squares_seconds(plan, m, false, false) * times + steps * entries * times * of_sum;
}

double squares_seconds(const PeriodicPlan &plan, std::int64_t m, bool complex, bool dd) {
    const double of_move = (dd ? 6e-9 : 1e-9) * (complex ? 3 : 1),
                 products = static_cast<double>(
                     products_to(static_cast<std::uint64_t>(std::max<std::int64_t>(m, 1))));
    double seconds = 0;
    for (const PeriodBlock &block : plan.blocks()) {
        if (block.alike == 0) continue;
        const auto n = static_cast<double>(block.states);
        const double one = sector_products(block);
        seconds += products * product_seconds(one, complex, dd) + n * moves_of(block.levels) * of_move;
        if (!plan.nonnegative) // of one sector, in doubles
            seconds += products * product_seconds(one / static_cast<double>(sectors_in(block)), false, false);
    }
    return seconds;
}

} // namespace libperm
