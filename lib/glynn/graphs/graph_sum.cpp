#include "lib/glynn/graphs/graph_sum.hpp"

#include "lib/bjorklund/bjorklund.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "lib/hermite/hermite.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace libperm {
namespace {

using Entry = std::complex<double>;

constexpr std::int64_t most_copies = 1 << 12; // of a line
constexpr double most_whole = 0x1p53;         // up to which doubles are the integers themselves

bool is_double(const Entry &x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

// What the rounding of two halves can be: a hair less than lib/input/graph.cpp allows.
bool are_near(const Entry &x, const Entry &y) {
    constexpr double rounding = 0x1p-46 * (1 - 0x1p-40);
    return x == y || std::abs(x - y) <= rounding * std::max(std::abs(x), std::abs(y));
}

// Those of the graph, and their loops.
struct Lines {
    int count = 0;
    std::array<int, 2 * most_small_order> given{}; // which of the caller's each is
    std::vector<EqualLines> kinds;                 // where some repeat
    bool has_loops = false;
    std::optional<std::array<Entry, most_small_order>> weights; // of the caller's; none: the diagonal
};

bool is_symmetric(const SmallMatrix &a) {
    for (int i = 0; i < a.given; ++i)
        for (int j = i; j < a.given; ++j) {
            const Entry x = a.entry(i, j), y = a.entry(j, i);
            if (!is_double(x) || !is_double(y)) return false;
            if (a.is_integer
                    ? a.integers[a.at(i, j)] != a.integers[a.at(j, i)] || std::fabs(x.real()) > most_whole
                    : !are_near(x, y))
                return false;
        }
    return true;
}

bool read(const SmallMatrix &a, const Lines &lines, SmallGraph &out) {
    if (!is_symmetric(a)) return false;
    out.is_integer = a.is_integer;
    out.kinds = lines.kinds;
    DoublesGraph &graph = out.graph;
    Pattern &pattern = graph.pattern;
    pattern.one_sided = true;
    pattern.rows = pattern.cols = lines.count;
    const auto n = static_cast<std::size_t>(lines.count), most = n * (n + 1) / 2;
    pattern.row_ptr.reserve(n + 1);
    pattern.col.reserve(most);
    graph.values.reserve(most);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = lines.has_loops ? i : i + 1; j < n; ++j) {
            const int line = lines.given[i]; // copies follow each other: of two lines the upper half's
            const Entry x = i == j && lines.weights ? (*lines.weights)[static_cast<std::size_t>(line)]
                                                    : a.entry(line, lines.given[j]);
            if (x == 0.0) continue;
            pattern.col.push_back(static_cast<std::int32_t>(j));
            graph.values.push_back(x);
        }
        pattern.row_ptr.push_back(std::ssize(pattern.col));
    }
    return true;
}

bool read_lines(const perm_csr &a, MatrixFunction function, Lines &lines) {
    bool some_repeat = false;
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        const std::int64_t copies = a.row_multiplicity ? a.row_multiplicity[i] : 1;
        if (copies < 0 || copies > most_copies) return false;
        some_repeat = some_repeat || copies > 1;
        if (copies > 0) lines.kinds.push_back({lines.count, static_cast<std::int32_t>(copies)});
        for (std::int64_t k = 0; k < std::min<std::int64_t>(copies, 2); ++k)
            lines.given[static_cast<std::size_t>(lines.count++)] = static_cast<int>(i);
    }
    if (!some_repeat) lines.kinds.clear();
    lines.has_loops = function == MatrixFunction::loop_hafnian || a.row_unmatched;
    if (!a.row_unmatched) return true;
    if (a.value_type != PERM_VALUE_F64 && a.value_type != PERM_VALUE_C128) return false;
    const bool is_complex = a.value_type == PERM_VALUE_C128;
    const auto *weights = static_cast<const double *>(a.row_unmatched);
    lines.weights.emplace();
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.n_rows); ++i) {
        Entry &x = (*lines.weights)[i];
        x = is_complex ? Entry(weights[2 * i], weights[2 * i + 1]) : Entry(weights[i]);
        if (!is_double(x)) return false;
    }
    return true;
}

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

bool sum_over_counts(const SmallGraph &small, Precision precision, double tolerance, DenseSum &out) {
    const HermitePlan plan = plan_hermite(small.graph.pattern, small.kinds);
    if (hermite_states(plan.kinds) > most_counts) return false;
    double lines = 0;
    for (const EqualLines &kind : plan.kinds) lines += kind.count;
    out.operations = hermite_operations(plan);
    if (out.operations > std::max(most_count_operations, worth_a_plan * lines * lines)) return false;
    out.engine = engine_for(Goal::counted_graph);
    out.value = answer_of(hafnian_of_doubles(plan, small.graph));
    // A plan goes on to exact numbers.
    return precision != Precision::automatic || small.is_integer || out.value.rel_error_bound <= tolerance;
}

} // namespace

bool read_graph(const perm_csr &a, MatrixFunction function, SmallGraph &out) {
    if (a.struct_size != sizeof(perm_csr) || a.n_rows != a.n_cols || a.n_rows > most_small_order ||
        a.col_multiplicity || a.col_unmatched)
        return false;
    perm_csr entries = a;
    entries.row_multiplicity = nullptr;
    entries.row_unmatched = nullptr;
    SmallMatrix matrix;
    Lines lines;
    return read_dense(entries, matrix) && read_lines(a, function, lines) && read(matrix, lines, out);
}

bool read_full_graph(const void *values, perm_value_type type, int n, MatrixFunction function,
                     SmallGraph &out) {
    SmallMatrix matrix;
    Lines lines;
    lines.count = n;
    lines.has_loops = function == MatrixFunction::loop_hafnian;
    for (int i = 0; i < n; ++i) lines.given[static_cast<std::size_t>(i)] = i;
    return read_full(values, type, n, matrix) && read(matrix, lines, out);
}

bool sum_graph(const SmallGraph &small, Precision precision, double tolerance, DenseSum &out) {
    if (small.is_integer ? precision == Precision::double_ : precision == Precision::exact) return false;
    const DoublesGraph &graph = small.graph;
    const CurrentCall own; // a moment's, whose steps are in no other's units
    if (!small.kinds.empty())
        return sum_over_counts(small, precision, tolerance, out) && (!small.is_integer || put_integer(out));
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
        const std::optional<DoublesHafnian> haf = hafnian_of_doubles(plan, graph, dd);
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
