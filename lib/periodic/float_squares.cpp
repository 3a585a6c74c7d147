#include "lib/periodic/float_squares.hpp"

#include "jit/number/number.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/periodic/power_steps.hpp"
#include "lib/periodic/sector_matrix.hpp"

#include <cmath>
#include <cstring>

namespace libperm {
namespace {

constexpr double least = 0x1p-1074;
constexpr double of_conversion = 1 + 1e-6; // a sum of absolute values as a double, and few sums of such

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct RowExponents {
    std::int64_t highest = 0, lowest = 0;
    bool known = false, has_one = false;

    // A walk does not multiply by 1 where that is all there is.
    std::int64_t taken_out() const { return has_one ? 0 : highest; }
};

std::vector<RowExponents> row_exponents(const PeriodicPlan &plan) {
    std::vector<RowExponents> rows(at(plan.matrix.rows));
    for (std::size_t k = 0; k < plan.matrix.entries.size(); ++k) {
        RowExponents &row = rows[at(plan.matrix.entries[k].row)];
        const Tracked size = magnitude_of(plan.values[k]);
        const std::int64_t exp2 = size.exp2 + std::ilogb(size.magnitude);
        row.highest = row.known ? std::max(row.highest, exp2) : exp2;
        row.lowest = row.known ? std::min(row.lowest, exp2) : exp2;
        row.known = true;
        row.has_one = row.has_one || plan.values[k] == Gaussian{1, 0};
    }
    return rows;
}

// log2 of what the moves of a period add up to at most, twice at each level; the entries as they are scaled.
double log_of_moves(const PeriodicPlan &plan, const PeriodBlock &block) {
    double sum = 0;
    for (const RowExponents &row : row_exponents(plan))
        sum += static_cast<double>(std::max<std::int64_t>(row.highest - row.taken_out(), 0));
    for (const PeriodLevel &level : block.levels) {
        std::uint32_t longest = 1;
        for (std::size_t s = 0; s < level.states(); ++s)
            longest = std::max(longest, level.first[s + 1] - level.first[s]);
        sum += std::log2(longest) + 1;
    }
    return sum;
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
            const std::int64_t exp2 = rows_[at(plan_.matrix.entries[k].row)].taken_out();
            const PackedParts parts = packed(parts_of(values[k], exp2, arithmetic), arithmetic);
            std::memcpy(&out[k], parts.data(), sizeof out[k]);
        }
        return out;
    }
    std::int64_t per_period() const { return per_period_; }
    double log_of_moves(const PeriodBlock &block) const { return libperm::log_of_moves(plan_, block); }

  private:
    const PeriodicPlan &plan_;
    std::vector<RowExponents> rows_;
    std::int64_t per_period_ = 0;
};

// Powers of two that numbers are taken out by, so that the largest is near 1: found with the entries' sizes,
// and used as they are for all whose absolute values are no larger.
class Rescaling {
  public:
    void begin_again() {
        is_known_ = true;
        next_ = 0;
    }
    void operator()(DenseMachine &machine, PlacedMatrix &x) {
        if (!is_known_) {
            const double largest = machine.largest(x);
            exponents_.push_back(largest > 0 ? std::ilogb(largest) + 1 : 0);
        }
        machine.take_out(x, exponents_[next_++]);
    }
    void as_before(DenseMachine &machine, PlacedMatrix &x) const {
        machine.take_out(x, exponents_[next_ - 1]);
    }

  private:
    std::vector<int> exponents_;
    std::size_t next_ = 0;
    bool is_known_ = false;
};

// Numbers at most 1, of which so much was lost, and so many products of them added up.
double lost_in_sums(const DenseMatrix &a, const DenseMatrix &b, std::size_t terms) {
    return static_cast<double>(terms) * (a.lost + b.lost + a.lost * b.lost + 16 * least);
}

template <class A> struct PlainNumbers {
    using Number = typename A::Number;
    using Factor = Number;
    static Number zero() { return A::number(0); }
    static Number one() { return A::number(1); }
    static Number add(const Number &x, const Number &y) { return A::add(x, y); }
    static Number multiply(const Factor &factor, const Number &x) { return A::multiply(factor, x); }
};

template <class A>
DenseMatrix sector_matrix(const PeriodBlock &block, const Sector &from, const Sector &to,
                          const std::vector<typename A::Number> &factors, double log_of_moves,
                          Arithmetic arithmetic, RunControl &control) {
    DenseMatrix out =
        DenseMatrix::unwritten(from.size(), to.size(), is_complex(arithmetic), is_twofold(arithmetic));
    const PlainNumbers<A> numbers;
    write_sector(
        block, from, to, numbers, factors, [](const typename A::Number &x) { return A::negate(x); }, control,
        [&](std::size_t row, std::size_t column, const typename A::Number &x) {
            DenseNumber parts{};
            std::memcpy(parts.data(), &x, sizeof x);
            for (std::size_t p = 0; p < out.planes.size(); ++p)
                out.planes[p][row * out.columns + column] = parts[p];
        });
    out.lost = least * static_cast<double>(block.levels.size()) * std::exp2(log_of_moves + 4);
    return out;
}

// A block's sectors in one arithmetic.
class SectorPowers {
  public:
    struct Trace {
        DenseNumber parts{};
        std::int64_t exp2 = 0;
        double lost = 0;
    };

    SectorPowers(DenseMachine &machine, const PeriodBlock &block, const std::vector<Sector> &sectors,
                 const ScaledCell &cell, const std::vector<Gaussian> &values, Arithmetic arithmetic,
                 RunControl &control)
        : machine_(machine),
          block_(block),
          sectors_(sectors),
          cell_(cell),
          values_(values),
          arithmetic_(arithmetic),
          control_(control) {}

    // tr T^m on a sector that T^m leads back to.
    Trace trace_of_power(std::size_t which, std::int64_t m, Rescaling &rescaling) {
        const Sector &sector = sectors_[which];
        const Sector &next = sectors_[sector.next];
        PlacedMatrix base = written(sector, next);
        rescaling(machine_, base);
        if (m % 2 != 0) return trace_of(base, static_cast<std::uint64_t>(m), rescaling);
        if (sector.next == which) {
            base = times(base, base, rescaling);
        } else {
            PlacedMatrix back = written(next, sector);
            rescaling.as_before(machine_, back);
            base = times(base, back, rescaling);
        }
        return trace_of(base, static_cast<std::uint64_t>(m) / 2, rescaling);
    }

    PlacedMatrix written(const Sector &from, const Sector &to) {
        using number::Complex, number::DD, number::Real;
        return machine_.placed(arithmetic_ == Arithmetic::real ? written_in<Real<double>>(from, to)
                               : arithmetic_ == Arithmetic::complex
                                   ? written_in<Complex<Real<double>>>(from, to)
                               : arithmetic_ == Arithmetic::dd ? written_in<DD<double>>(from, to)
                                                               : written_in<Complex<DD<double>>>(from, to));
    }
    PlacedMatrix times(const PlacedMatrix &a, const PlacedMatrix &b, Rescaling &rescaling) {
        PlacedMatrix out = machine_.times(a, b);
        out.on_host.lost = lost_in_sums(a.on_host, b.on_host, a.on_host.columns);
        rescaling(machine_, out);
        return out;
    }

  private:
    template <class A> DenseMatrix written_in(const Sector &from, const Sector &to) {
        return sector_matrix<A>(block_, from, to, cell_.factors<A>(values_, arithmetic_),
                                cell_.log_of_moves(block_), arithmetic_, control_);
    }
    // tr base^power
    Trace trace_of(const PlacedMatrix &base, std::uint64_t power, Rescaling &rescaling) {
        return trace_by_halves(
            base, power, [&](const PlacedMatrix &a, const PlacedMatrix &b) { return times(a, b, rescaling); },
            [this](const PlacedMatrix &a, const PlacedMatrix *b) {
                const DenseMatrix x = machine_.on_host(a);
                if (!b) return Trace{trace(x), x.exp2, static_cast<double>(x.rows) * x.lost};
                const DenseMatrix y = machine_.on_host(*b);
                return Trace{trace_of_product(x, y), x.exp2 + y.exp2, lost_in_sums(x, y, x.rows * x.rows)};
            });
    }

    DenseMachine &machine_;
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

} // namespace

bool may_be_squared(const PeriodicPlan &plan) {
    constexpr double most = 900; // of a double's exponents
    double spread = 0, moves = 0;
    for (const RowExponents &row : row_exponents(plan))
        spread += static_cast<double>(row.highest) - static_cast<double>(row.lowest);
    if (plan.joined())
        for (const PeriodBlock &block : plan.loops) moves = std::max(moves, log_of_moves(plan, block));
    else
        moves = log_of_moves(plan, plan.open.period);
    return spread + moves < most;
}

std::vector<SquaredNumber> traces_by_squares(DenseMachine &machine, const PeriodicPlan &plan,
                                             const std::vector<Gaussian> &values,
                                             const std::vector<Gaussian> &sizes, std::int64_t m,
                                             Arithmetic arithmetic, RunControl &control) {
    const ScaledCell cell(plan);
    const double unit = unit_of(arithmetic);
    std::vector<SquaredNumber> out;
    for (const PeriodBlock &block : plan.loops) {
        if (block.alike == 0) continue;
        const std::vector<Sector> sectors = sectors_of(block);
        const Charge charge = charge_of(sectors.front().size(), arithmetic, control);
        Rescaling rescaling;
        // No sector has more than the first one of the absolute values, by every entry.
        using Trace = SectorPowers::Trace;
        SectorPowers powers(machine, block, sectors, cell, values, arithmetic, control),
            of_sizes(machine, block, sectors, cell, sizes, Arithmetic::real, control);
        const Trace most = (plan.nonnegative ? powers : of_sizes).trace_of_power(0, m, rescaling);
        const auto add = [&](const Trace &trace, std::uint32_t times) {
            SquaredNumber number{trace.parts, most.parts[0] * of_conversion + trace.lost / unit,
                                 trace.exp2 + m * cell.per_period(), static_cast<double>(times)};
            out.push_back(number);
        };
        for (std::size_t s = 0; s < sectors.size(); ++s) {
            const std::size_t next = sectors[s].next;
            if (sectors[s].size() == 0 || next < s || (next != s && m % 2 != 0)) continue;
            if (sectors[next].size() == 0) continue;
            rescaling.begin_again();
            const Trace trace = s == 0 && plan.nonnegative ? most : powers.trace_of_power(s, m, rescaling);
            add(trace, block.alike * (next == s ? 1 : 2));
        }
    }
    return out;
}

std::vector<SquaredNumber> advanced_by_squares(DenseMachine &machine, const PeriodicPlan &plan,
                                               const std::vector<Gaussian> &values,
                                               const std::vector<Gaussian> &sizes,
                                               const std::vector<SquaredNumber> &x, std::int64_t periods,
                                               Arithmetic arithmetic, RunControl &control) {
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
    const auto advanced = [&](const std::vector<Gaussian> &entries, Arithmetic in,
                              const auto &parts_of_state) {
        SectorPowers powers(machine, block, sectors, cell, entries, in, control);
        DenseMatrix y = DenseMatrix::unwritten(1, block.states, is_complex(in), is_twofold(in));
        for (std::size_t s = 0; s < x.size(); ++s) {
            const auto lower = static_cast<int>(std::max<std::int64_t>(x[s].exp2 - highest, -4000));
            const DenseNumber parts = parts_of_state(x[s]);
            for (std::size_t p = 0; p < y.planes.size(); ++p) y.planes[p][s] = std::ldexp(parts[p], lower);
        }
        y.exp2 = highest;
        y.lost = 2 * least;
        PlacedMatrix row = machine.placed(std::move(y)),
                     power = powers.written(sectors.front(), sectors.front());
        rescaling(machine, power);
        for (auto left = static_cast<std::uint64_t>(periods); left != 0; left >>= 1) {
            if (left & 1) row = powers.times(row, power, rescaling);
            if (left > 1) power = powers.times(power, power, rescaling);
        }
        return machine.on_host(row);
    };
    const auto of_values = [](const SquaredNumber &number) { return number.parts; };
    DenseMatrix absolute;
    if (!plan.nonnegative) {
        absolute = advanced(sizes, Arithmetic::real,
                            [](const SquaredNumber &number) { return DenseNumber{number.absolute}; });
        rescaling.begin_again();
    }
    const DenseMatrix value = advanced(values, arithmetic, of_values);
    std::vector<SquaredNumber> out(x.size());
    for (std::size_t s = 0; s < x.size(); ++s) {
        for (std::size_t p = 0; p < value.planes.size(); ++p) out[s].parts[p] = value.planes[p][s];
        out[s].absolute =
            (plan.nonnegative ? out[s].parts[0] : absolute.planes[0][s]) + value.lost / unit_of(arithmetic);
        out[s].exp2 = value.exp2 + periods * cell.per_period();
    }
    return out;
}

DeviceWork squares_device_work(const PeriodicPlan &plan, std::int64_t m, bool complex) {
    constexpr double of_multiplication = 0.1e-12, of_byte = 0.2e-9, matrices = 8;
    double largest = 0, multiplications = 0, bytes = 0;
    const auto products =
        static_cast<double>(products_to(static_cast<std::uint64_t>(std::max<std::int64_t>(m, 1))));
    const auto take = [&](const PeriodBlock &block) {
        const double n = static_cast<double>(block.states) / static_cast<double>(sectors_in(block));
        largest = std::max(largest, n * n);
        multiplications += products * sector_products(block) * (complex ? 4 : 1);
        bytes += 3 * 8 * n * n * static_cast<double>(sectors_in(block)) * (complex ? 2 : 1);
    };
    if (!plan.joined()) take(plan.open.period);
    for (const PeriodBlock &block : plan.loops)
        if (block.alike > 0) take(block);
    return {squares_seconds(plan, m, complex, false), matrices * 8 * largest * (complex ? 2 : 1),
            multiplications * of_multiplication + bytes * of_byte};
}

double squares_seconds(const PeriodicPlan &plan, std::int64_t m, bool complex, bool twofold) {
    const double of_move = (twofold ? 6e-9 : 1e-9) * (complex ? 3 : 1),
                 products = static_cast<double>(
                     products_to(static_cast<std::uint64_t>(std::max<std::int64_t>(m, 1))));
    double seconds = 0;
    const auto take = [&](const PeriodBlock &block) {
        const auto n = static_cast<double>(block.states);
        const double one = sector_products(block);
        seconds += products * product_seconds(one, complex, twofold) + n * moves_of(block.levels) * of_move;
        if (!plan.nonnegative) // of one sector, in doubles
            seconds += products * product_seconds(one / static_cast<double>(sectors_in(block)), false, false);
    };
    if (!plan.joined()) take(plan.open.period);
    for (const PeriodBlock &block : plan.loops)
        if (block.alike > 0) take(block);
    return seconds;
}

} // namespace libperm
