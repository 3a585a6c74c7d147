#include "lib/periodic/answers/float_squares.hpp"

#include "jit/number/number.hpp"
#include "lib/periodic/answers/scaled_cell.hpp"
#include "lib/periodic/power/power_steps.hpp"
#include "lib/periodic/power/sector_matrix.hpp"

#include <cmath>
#include <cstring>

namespace libperm {
namespace {

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

template <class A>
DenseMatrix sector_matrix(const SectorStep &step, const std::vector<typename A::Number> &factors,
                          double log_of_moves, Arithmetic arithmetic, RunControl &control) {
    DenseMatrix out =
        DenseMatrix::unwritten(step.from.size(), step.to.size(), is_complex(arithmetic), is_dd(arithmetic));
    const PlainNumbers<A> numbers;
    write_sector(
        step, numbers, factors, [](const typename A::Number &x) { return A::negate(x); }, control,
        [&](std::size_t row, std::size_t column, const typename A::Number &x) {
            DenseNumber parts{};
            std::memcpy(parts.data(), &x, sizeof x);
            for (std::size_t p = 0; p < out.planes.size(); ++p)
                out.planes[p][row * out.columns + column] = parts[p];
        });
    out.lost = least * static_cast<double>(step.block.levels.size()) * std::exp2(log_of_moves + 4);
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
        return sector_matrix<A>({block_, from, to}, cell_.factors<A>(values_, arithmetic_),
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

std::vector<SquaredNumber> traces_by_squares(DenseMachine &machine, const PeriodicPlan &plan,
                                             const SquaredEntries &entries, std::int64_t m,
                                             RunControl &control) {
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
        using Trace = SectorPowers::Trace;
        SectorPowers powers(machine, block, sectors, cell, entries.values, arithmetic, control),
            of_sizes(machine, block, sectors, cell, entries.sizes, Arithmetic::real, control);
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

std::vector<SquaredNumber> advanced_by_squares(DenseMachine &machine, const PeriodicPlan &plan,
                                               const SquaredEntries &entries,
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
        SectorPowers powers(machine, block, sectors, cell, of_moves, in, control);
        DenseMatrix y = DenseMatrix::unwritten(1, block.states, is_complex(in), is_dd(in));
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
        absolute = advanced(entries.sizes, Arithmetic::real,
                            [](const SquaredNumber &number) { return DenseNumber{number.absolute}; });
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

} // namespace libperm
