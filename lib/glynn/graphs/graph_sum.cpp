#include "lib/glynn/graphs/graph_sum.hpp"

#include "lib/bjorklund/doubles.hpp"
#include "lib/hermite/hermite.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::int32_t nearest_lines = 6, any_density_lines = 8;
constexpr double most_counts = 1 << 13, most_count_operations = 1 << 21; // half a megabyte, a millisecond
constexpr double worth_a_plan = 16; // operations for two lines: to write them out takes longer

// One entry alone is the hafnian.
bool is_one_entry(const DoublesGraph &graph) {
    return graph.values.size() == 1 && (graph.n() == 1 || (graph.n() == 2 && graph.pattern.col.front() == 1 &&
                                                           !graph.pattern.row(0).empty()));
}

TapeAnswer answer_of(const DoublesHafnian &haf) {
    TapeAnswer answer;
    answer.re = haf.re;
    answer.im = haf.im;
    answer.exact = haf.error.mantissa == 0;
    if (answer.exact) return answer;
    const std::int64_t exp2 = haf.im.mantissa == 0   ? haf.re.exp2
                              : haf.re.mantissa == 0 ? haf.im.exp2
                                                     : std::max(haf.re.exp2, haf.im.exp2);
    const auto part = [&](const Scaled &x) { return to_double({x.mantissa, x.exp2 - exp2}); };
    answer.set_error(make_scaled(std::hypot(part(haf.re), part(haf.im)), exp2), haf.error);
    return answer;
}

// An integer is told with every digit, or not at all.
bool put_integer(DenseSum &sum) {
    if (!sum.value.exact || sum.value.re.exp2 > 62) return false;
    sum.integer = static_cast<Int128>(std::llround(to_double(sum.value.re)));
    return true;
}

bool sum_over_counts(const SmallGraph &small, Precision precision, double tolerance, RunControl &control,
                     DenseSum &out) {
    const HermitePlan plan = plan_hermite(small.graph.pattern, small.kinds);
    if (hermite_states(plan.kinds) > most_counts) return false;
    double lines = 0;
    for (const EqualLines &kind : plan.kinds) lines += kind.count;
    out.operations = hermite_operations(plan);
    if (out.operations > std::max(most_count_operations, worth_a_plan * lines * lines)) return false;
    out.engine = engine_for(Goal::counted_graph);
    out.value = answer_of(hafnian_of_doubles(plan, small.graph, control));
    // A plan goes on to exact numbers.
    return precision != Precision::automatic || small.is_integer || out.value.rel_error_bound <= tolerance;
}

} // namespace

bool sum_graph(const SmallGraph &small, Precision precision, double tolerance, DenseSum &out) {
    if (small.is_integer ? precision == Precision::double_ : precision == Precision::exact) return false;
    const DoublesGraph &graph = small.graph;
    RunControl control;
    if (!small.kinds.empty())
        return sum_over_counts(small, precision, tolerance, control, out) &&
               (!small.is_integer || put_integer(out));
    const BjorklundPlan plan(graph.pattern);
    out.engine = engine_for(Goal::dense_graph);
    out.operations = plan.operations();
    if (is_one_entry(graph)) {
        const std::complex<double> &x = graph.values.front();
        out.value = answer_of({make_scaled(x.real()), make_scaled(x.imag()), {}});
        return !small.is_integer || put_integer(out);
    }
    bool dd = graph.n() <= nearest_lines;
    for (;;) {
        const std::optional<DoublesHafnian> haf = hafnian_of_doubles(plan, graph, dd, control);
        if (!haf) return false;
        out.value = answer_of(*haf);
        const bool may_be_dd = precision != Precision::double_ && !dd;
        const bool is_enough = small.is_integer ? out.value.exact : out.value.rel_error_bound <= tolerance;
        if (is_enough || !may_be_dd) return !small.is_integer || put_integer(out);
        dd = true;
    }
}

bool is_small_and_dense(const Pattern &graph) {
    const std::int64_t n = graph.rows;
    return n >= 1 && (n <= any_density_lines || 10 * graph.nnz() >= 3 * n * (n - 1));
}

} // namespace libperm
