#include "lib/bjorklund/bjorklund.hpp"

#include "lib/base/error.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/doubles.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/block.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace libperm {
namespace {

// Hafnians of whole numbers, which are whole.

constexpr int digits = std::numeric_limits<double>::digits;

std::int64_t lowest_bit(const Tracked &x) { return x.exp2 + unit_exponent(x.value); }

std::int64_t lowest_bit(const std::complex<double> &x) {
    if (x.imag() == 0) return unit_exponent(x.real());
    return x.real() == 0 ? unit_exponent(x.imag())
                         : std::min(unit_exponent(x.real()), unit_exponent(x.imag()));
}

bool is_rounded(const Tracked &x) { return x.roundings > 0; }
bool is_rounded(const std::complex<double> &) { return false; }
bool is_zero(const std::complex<double> &x) { return x == 0.0; }

// Line i has 2^t_i, an edge both of its lines', a loop that of its line: the exponent of the hafnian's unit.
// None: an entry is rounded.
template <class Value> std::optional<std::int64_t> log2_unit(const BlockOf<Value> &graph) {
    constexpr std::int64_t far = std::int64_t{1} << 40;
    std::vector<std::int64_t> of_line(at(graph.n()), far);
    const auto lower = [&](std::int32_t line, std::int64_t to) {
        of_line[at(line)] = std::min(of_line[at(line)], to);
    };
    std::size_t k = 0;
    for (std::int32_t i = 0; i < graph.n(); ++i)
        for (const std::int32_t j : graph.pattern.row(i)) {
            const Value &x = graph.values[k++];
            if (is_rounded(x)) return {};
            if (is_zero(x)) continue;
            const std::int64_t bit = lowest_bit(x);
            lower(i, i == j ? bit : bit >> 1);
            lower(j, i == j ? bit : bit >> 1);
        }
    std::int64_t unit = 0;
    for (const std::int64_t t : of_line) unit += t;
    return unit;
}

// The error is below half a unit.
std::optional<Scaled> multiple_of(std::int64_t unit, const Scaled &near) {
    if (near.mantissa == 0 || near.exp2 < unit - 1) return Scaled();
    if (near.exp2 - unit > digits) return {};
    return make_scaled(std::nearbyint(std::ldexp(near.mantissa, static_cast<int>(near.exp2 - unit))), unit);
}

// Where the entries are whole multiples of powers of two that follow from their lines, so is the hafnian: the
// only multiple within the error is it, exactly. The same ball where there are several, or entries that are
// rounded.
Ball to_the_only_multiple(const Ball &haf, const Block &graph) {
    if (haf.error.mantissa == 0) return haf;
    const std::optional<std::int64_t> unit = log2_unit(graph);
    if (!unit || haf.error.exp2 >= *unit) return haf;
    const std::optional<Scaled> value = multiple_of(*unit, haf.value);
    return value ? Ball{*value, {}} : haf;
}

DoublesHafnian to_the_only_multiple(const DoublesHafnian &haf, const DoublesGraph &graph) {
    if (haf.error.mantissa == 0) return haf;
    const std::optional<std::int64_t> unit = log2_unit(graph);
    if (!unit || haf.error.exp2 >= *unit) return haf;
    const std::optional<Scaled> re = multiple_of(*unit, haf.re), im = multiple_of(*unit, haf.im);
    return re && im ? DoublesHafnian{*re, *im, {}} : haf;
}

std::vector<HafnianPart> hafnians(const BjorklundPlan &plan, const std::vector<LineNumbers> &all,
                                  SignDevices &where) {
    if (!plan.by_definition()) return hafnians_by_signs(all, where);
    std::vector<HafnianPart> parts;
    for (const LineNumbers &lines : all) {
        parts.push_back(hafnian_by_definition(lines));
        call().advance(plan.operations());
    }
    return parts;
}

int halvings(const BjorklundPlan &plan) { return plan.by_definition() ? 0 : plan.pairs - 3; }

Ball of_block(const BjorklundPlan &plan, const Block &block, SignDevices &where) {
    if (!plan.has_matching) return {};
    const std::vector<LineNumbers> lines{numbers_of_lines(plan, block)};
    const HafnianPart haf = hafnians(plan, lines, where).front();
    return ball_within(haf.parts[0], haf.error, lines.front().exp2 - halvings(plan));
}

WideBall of_block(const BjorklundPlan &plan, const ExactBlock &block, Arithmetic arithmetic,
                  SignDevices &where) {
    if (!plan.has_matching) return {};
    const std::vector<LineNumbers> lines{numbers_of_lines(plan, block, arithmetic)};
    const HafnianPart haf = hafnians(plan, lines, where).front();
    Parts parts{}; // a number has all of these or its highs or those of the real part
    const std::size_t step = is_dd(lines.front().arithmetic) ? 1 : 2;
    for (std::size_t k = 0; k < at(parts_of(lines.front().arithmetic)); ++k) parts[step * k] = haf.parts[k];
    return ball_within(parts, haf.error, lines.front().exp2 - halvings(plan));
}

ResidueVector of_residues(const BjorklundPlan &plan, const Residues &residues, SignDevices &where) {
    if (!plan.has_matching) return ResidueVector(residues.primes.size(), 0);
    std::vector<LineNumbers> all;
    for (std::size_t m = 0; m < residues.primes.size(); ++m)
        all.push_back(numbers_of_lines(plan, residues, m));
    const std::vector<HafnianPart> parts = hafnians(plan, all, where);
    ResidueVector values;
    for (std::size_t m = 0; m < parts.size(); ++m) {
        const Montgomery field(residues.primes[m]);
        const double x = parts[m].parts[0];
        const auto residue = static_cast<std::uint64_t>(x < 0 ? x + all[m].prime : x);
        const std::uint64_t half =
            field.power(field.to((field.prime() + 1) / 2), static_cast<std::uint64_t>(halvings(plan)));
        values.push_back(field.from(field.multiply(field.to(residue), half)));
    }
    return values;
}

} // namespace

std::optional<DoublesHafnian> hafnian_of_doubles(const BjorklundPlan &plan, const DoublesGraph &graph,
                                                 bool dd) {
    if (!plan.has_matching) return DoublesHafnian();
    const std::vector<LineNumbers> lines{numbers_of_lines(plan, graph, dd)};
    SignDevices where;
    const HafnianPart haf = hafnians(plan, lines, where).front();
    const bool has_im = is_complex(lines.front().arithmetic);
    const double re = haf.parts[0], im = has_im ? haf.parts[dd ? 2 : 1] : 0;
    double error = haf.error;
    if (dd)
        error = (error + std::fabs(haf.parts[1]) + (has_im ? std::fabs(haf.parts[3]) : 0)) * (1 + 0x1p-50);
    if (!std::isfinite(re) || !std::isfinite(im) || !std::isfinite(error)) return {};
    const std::int64_t exp2 = lines.front().exp2 - halvings(plan);
    return to_the_only_multiple({make_scaled(re, exp2), make_scaled(im, exp2), make_scaled(error, exp2)},
                                graph);
}

EngineResult run_bjorklund(const BjorklundPlan &plan, const EngineInput &input, SignDevices where) {
    EngineResult result;
    const Residues *residues = input.residues();
    const double matrices = residues ? static_cast<double>(residues->primes.size()) : 1;
    CurrentCall part(1 / matrices); // a plan's operations are of all of them
    if (residues) {
        result.value = of_residues(plan, *residues, where);
    } else if (const Block *block = input.block()) {
        result.value = to_the_only_multiple(of_block(plan, *block, where), *block);
    } else {
        result.value = of_block(plan, *input.exact(), input.arithmetic(), where);
    }
    result.counts.operations = matrices * plan.operations();
    result.counts.peak_bytes = where.bytes;
    return result;
}

EngineResult run_bjorklund(const EngineRun &run, const EngineInput &input) {
    const BjorklundPlan &plan = *plan_as<BjorklundPlan>(run.choice);
    const Cost &cost = run.choice.cost;
    EngineResult result;
    const auto on_gpus = [&] {
        const DeviceQueues queues = run.gpus.when_needed();
        result = run_bjorklund(plan, input, {&queues, cost.serial_seconds - cost.compile_seconds});
    };
    if (run.choice.on_gpu && run_on_gpu("a hafnian", run.options, on_gpus)) return result;
    return run_bjorklund(plan, input);
}

} // namespace libperm
