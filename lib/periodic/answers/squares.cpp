#include "lib/periodic/answers/squares.hpp"

#include "jit/number/number.hpp"
#include "lib/number/montgomery.hpp"
#include "lib/periodic/power/dense_matrix.hpp"
#include "lib/periodic/power/sector_powers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace libperm {
namespace {

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

    template <class A>
    std::vector<typename A::Number> factors(const std::vector<Gaussian> &values,
                                            Arithmetic arithmetic) const {
        std::vector<typename A::Number> out(values.size(), A::number(1)); // the ends' are not met in a period
        for (std::size_t k = 0; k < plan_.matrix.entries.size(); ++k) {
            const auto row = static_cast<std::size_t>(plan_.matrix.entries[k].row);
            const PackedParts parts =
                packed(parts_of(values[k], rows_[row].taken_out(), arithmetic), arithmetic);
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

// Powers of two that numbers are taken out by, so that the largest is near 1: found with the entries' sizes,
// and used as they are for all whose absolute values are no larger.
class Rescaling {
  public:
    void begin_again() {
        is_known_ = true;
        next_ = 0;
    }
    void operator()(DenseMatrix &x) {
        if (!is_known_) {
            const double largest = x.largest();
            exponents_.push_back(largest > 0 ? std::ilogb(largest) + 1 : 0);
        }
        x.take_out(exponents_[next_++]);
    }
    void as_before(DenseMatrix &x) const { x.take_out(exponents_[next_ - 1]); }

  private:
    std::vector<int> exponents_;
    std::size_t next_ = 0;
    bool is_known_ = false;
};

// Numbers at most 1, of which so much was lost, and so many products of them added up.
double lost_in_sums(const DenseMatrix &a, const DenseMatrix &b, std::size_t terms) {
    return static_cast<double>(terms) * (a.lost + b.lost + a.lost * b.lost + 16 * least);
}

template <class A>
DenseMatrix sector_matrix(const SectorStep &step, const std::vector<typename A::Number> &factors,
                          double log_of_moves, Arithmetic arithmetic, RunControl &control) {
    DenseMatrix out =
        DenseMatrix::unwritten(step.from.size(), step.to.size(), is_complex(arithmetic), is_dd(arithmetic));
    const PlainNumbers<A> numbers;
    write_sector(
        step, numbers, factors, [](const typename A::Number &x) { return A::negate(x); }, control,
        [&](std::size_t row, std::size_t column, const typename A::Number &x) {
            PackedParts parts{};
            std::memcpy(parts.data(), &x, sizeof x);
            for (std::size_t p = 0; p < out.planes.size(); ++p)
                out.planes[p][row * out.columns + column] = parts[p];
        });
    out.lost = least * static_cast<double>(step.block.levels.size()) * std::exp2(log_of_moves + 4);
    return out;
}

// A block's sectors in one arithmetic.
class FloatPowers {
  public:
    struct Trace {
        PackedParts parts{};
        std::int64_t exp2 = 0;
        double lost = 0;
    };

    FloatPowers(const PeriodBlock &block, const std::vector<Sector> &sectors, const ScaledCell &cell,
                const std::vector<Gaussian> &values, Arithmetic arithmetic, RunControl &control)
        : block_(block),
          sectors_(sectors),
          cell_(cell),
          values_(values),
          arithmetic_(arithmetic),
          control_(control) {}

    // tr T^m on a sector that T^m leads back to.
    Trace trace_of_power(std::size_t which, std::int64_t m, Rescaling &rescaling) {
        return trace_on_sector(
            sectors_, which, m,
            [&](const Sector &from, const Sector &to) {
                DenseMatrix x = written(from, to);
                if (&from == &sectors_[which])
                    rescaling(x);
                else
                    rescaling.as_before(x);
                return x;
            },
            [&](const DenseMatrix &x, const DenseMatrix &y) { return times(x, y, rescaling); },
            [](const DenseMatrix &x, const DenseMatrix *y) {
                return y ? Trace{trace(x, y), x.exp2 + y->exp2, lost_in_sums(x, *y, x.rows * x.rows)}
                         : Trace{trace(x, y), x.exp2, static_cast<double>(x.rows) * x.lost};
            });
    }

    DenseMatrix written(const Sector &from, const Sector &to) {
        using number::Complex, number::DD, number::Real;
        return arithmetic_ == Arithmetic::real      ? written_in<Real<double>>(from, to)
               : arithmetic_ == Arithmetic::complex ? written_in<Complex<Real<double>>>(from, to)
               : arithmetic_ == Arithmetic::dd      ? written_in<DD<double>>(from, to)
                                                    : written_in<Complex<DD<double>>>(from, to);
    }
    DenseMatrix times(const DenseMatrix &a, const DenseMatrix &b, Rescaling &rescaling) {
        DenseMatrix out = product(a, b, control_);
        out.lost = lost_in_sums(a, b, a.columns);
        rescaling(out);
        return out;
    }

  private:
    template <class A> DenseMatrix written_in(const Sector &from, const Sector &to) {
        return sector_matrix<A>({block_, from, to}, cell_.factors<A>(values_, arithmetic_),
                                cell_.log_of_moves(block_), arithmetic_, control_);
    }

    const PeriodBlock &block_;
    const std::vector<Sector> &sectors_;
    const ScaledCell &cell_;
    const std::vector<Gaussian> &values_;
    Arithmetic arithmetic_;
    RunControl &control_;
};

Charge charge_of(std::size_t states, Arithmetic arithmetic, RunControl &control) {
    constexpr double matrices = 4;
    return Charge(&control.memory(),
                  static_cast<std::int64_t>(8 * matrices * static_cast<double>(states) *
                                            static_cast<double>(states) * parts_of(arithmetic)));
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
    std::uint64_t weight(int digit) const { // modulo the prime
        std::uint64_t w = 1 % prime_;
        for (int k = 0; k < digit * bits_; ++k) w = 2 * w % prime_; // of less than 2^62
        return w;
    }
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
    ResiduePowers(const PeriodBlock &block, const std::vector<Sector> &sectors, const Residues &residues,
                  RunControl &control)
        : block_(block),
          sectors_(sectors),
          residues_(residues),
          control_(control),
          prime_(residues.primes.front()),
          field_(prime_),
          digits_(prime_, std::max<std::size_t>(block.states, 1)) {}

    std::uint64_t trace_of_power(std::size_t which, std::int64_t m) {
        return trace_on_sector(
            sectors_, which, m, [this](const Sector &from, const Sector &to) { return written(from, to); },
            [this](const ResidueMatrix &a, const ResidueMatrix &b) { return times(a, b); },
            [this](const ResidueMatrix &a, const ResidueMatrix *b) { return trace(a, b); });
    }

  private:
    ResidueMatrix written(const Sector &from, const Sector &to) {
        using Numbers = ResidueNumbers<1>;
        Numbers numbers(residues_, 0);
        const std::vector<Numbers::Factor> factors =
            numbers.begin_step(all_entries(residues_.values.front().size()));
        ResidueMatrix out{from.size(), to.size(), {}, std::vector<std::uint64_t>(from.size() * to.size())};
        write_sector(
            {block_, from, to}, numbers, factors,
            [this](const Numbers::Number &x) { return Numbers::Number{x[0] == 0 ? 0 : 2 * prime_ - x[0]}; },
            control_,
            [&](std::size_t row, std::size_t column, const Numbers::Number &x) {
                out.residues[row * out.columns + column] = numbers.close(x)[0];
            });
        split(out);
        return out;
    }

    void split(ResidueMatrix &x) {
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

    ResidueMatrix times(const ResidueMatrix &a, const ResidueMatrix &b) {
        ResidueMatrix out{a.rows, b.columns, {}, std::vector<std::uint64_t>(a.rows * b.columns, 0)};
        for (int i = 0; i < digits_.count(); ++i)
            for (int j = 0; j < digits_.count(); ++j) {
                const DenseMatrix sums = product(a.digits[static_cast<std::size_t>(i)],
                                                 b.digits[static_cast<std::size_t>(j)], control_);
                const std::uint64_t weight =
                    field_.to(field_.to(digits_.weight(i + j))); // twice: what it multiplies is not
                parallel_for(out.rows, [&](std::uint64_t row) {
                    control_.poll();
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

    const PeriodBlock &block_;
    const std::vector<Sector> &sectors_;
    const Residues &residues_;
    RunControl &control_;
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

std::vector<SquaredNumber> traces_by_squares(const PeriodicPlan &plan, const SquaredEntries &entries,
                                             std::int64_t m, RunControl &control) {
    const Arithmetic arithmetic = entries.arithmetic;
    const ScaledCell cell(plan);
    const double unit = unit_of(arithmetic);
    std::vector<SquaredNumber> out;
    for (const PeriodBlock &block : plan.loops) {
        if (block.alike == 0) continue;
        const std::vector<Sector> sectors = sectors_of(block);
        const Charge charge = charge_of(sectors.front().size(), arithmetic, control);
        Rescaling rescaling;
        // No sector has more than the first one of the absolute values, by every entry.
        using Trace = FloatPowers::Trace;
        FloatPowers powers(block, sectors, cell, entries.values, arithmetic, control),
            of_sizes(block, sectors, cell, entries.sizes, Arithmetic::real, control);
        const Trace most = (plan.nonnegative ? powers : of_sizes).trace_of_power(0, m, rescaling);
        const auto add = [&](const Trace &trace, std::uint32_t times) {
            SquaredNumber number{trace.parts, most.parts[0] * of_conversion + trace.lost / unit,
                                 trace.exp2 + m * cell.per_period(), static_cast<double>(times)};
            out.push_back(number);
        };
        for_each_trace(sectors, m, [&](std::size_t s, std::uint32_t pair) {
            rescaling.begin_again();
            add(s == 0 && plan.nonnegative ? most : powers.trace_of_power(s, m, rescaling),
                block.alike * pair);
        });
    }
    return out;
}

std::vector<SquaredNumber> advanced_by_squares(const PeriodicPlan &plan, const SquaredEntries &entries,
                                               const std::vector<SquaredNumber> &x, std::int64_t periods,
                                               RunControl &control) {
    const Arithmetic arithmetic = entries.arithmetic;
    const ScaledCell cell(plan);
    const PeriodBlock &block = plan.open.period;
    const std::vector<Sector> sectors = sectors_of(block);
    const Charge charge = charge_of(block.states, arithmetic, control);
    // Before the first row some states may be far below others.
    std::int64_t highest = std::numeric_limits<std::int64_t>::min();
    for (const SquaredNumber &number : x)
        if (number.absolute > 0) highest = std::max(highest, number.exp2 + std::ilogb(number.absolute) + 1);
    if (highest == std::numeric_limits<std::int64_t>::min()) highest = 0;
    Rescaling rescaling;
    const auto advanced = [&](const std::vector<Gaussian> &of_moves, Arithmetic in,
                              const auto &parts_of_state) {
        FloatPowers powers(block, sectors, cell, of_moves, in, control);
        DenseMatrix y = DenseMatrix::unwritten(1, block.states, is_complex(in), is_dd(in));
        for (std::size_t s = 0; s < x.size(); ++s) {
            const auto lower = static_cast<int>(std::max<std::int64_t>(x[s].exp2 - highest, -4000));
            const PackedParts parts = parts_of_state(x[s]);
            for (std::size_t p = 0; p < y.planes.size(); ++p) y.planes[p][s] = std::ldexp(parts[p], lower);
        }
        y.exp2 = highest;
        y.lost = 2 * least;
        DenseMatrix power = powers.written(sectors.front(), sectors.front());
        rescaling(power);
        for (auto left = static_cast<std::uint64_t>(periods); left != 0; left >>= 1) {
            if (left & 1) y = powers.times(y, power, rescaling);
            if (left > 1) power = powers.times(power, power, rescaling);
        }
        return y;
    };
    const auto of_values = [](const SquaredNumber &number) { return number.parts; };
    DenseMatrix absolute;
    if (!plan.nonnegative) {
        absolute = advanced(entries.sizes, Arithmetic::real,
                            [](const SquaredNumber &number) { return PackedParts{number.absolute}; });
        rescaling.begin_again();
    }
    const DenseMatrix value = advanced(entries.values, arithmetic, of_values);
    std::vector<SquaredNumber> out(x.size());
    for (std::size_t s = 0; s < x.size(); ++s) {
        for (std::size_t p = 0; p < value.planes.size(); ++p) out[s].parts[p] = value.planes[p][s];
        out[s].absolute =
            (plan.nonnegative ? out[s].parts[0] : absolute.planes[0][s]) + value.lost / unit_of(arithmetic);
        out[s].exp2 = value.exp2 + periods * cell.per_period();
    }
    return out;
}

std::uint64_t trace_modulo(const PeriodicPlan &plan, const Residues &residues, std::int64_t m,
                           RunControl &control) {
    const Montgomery field(residues.primes.front());
    std::uint64_t sum = 0;
    for (const PeriodBlock &block : plan.loops) {
        if (block.alike == 0) continue;
        const std::vector<Sector> sectors = sectors_of(block);
        const auto states = static_cast<double>(sectors.front().size());
        constexpr double bytes_of_entry = 8 * 12; // of three matrices, digits and residues
        const Charge charge(&control.memory(), static_cast<std::int64_t>(states * states * bytes_of_entry));
        ResiduePowers powers(block, sectors, residues, control);
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
