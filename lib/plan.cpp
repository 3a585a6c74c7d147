#include "lib/plan.hpp"

#include "lib/frontier_layout.hpp"
#include "lib/log.hpp"
#include "lib/run_control.hpp"
#include "lib/system.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libperm {
namespace {

// Tests of one row's states for being reachable: a matching costs the more, the longer the matrix is.
int reachability_samples(std::int32_t n) { return std::clamp(40000 / std::max(1, n), 4, 64); }
constexpr int widest_dense = 40;          // slots: beyond it C(w, w/2) numbers are terabytes
constexpr double most_dense_blocks = 1e8; // of its table: they are counted through in every row

void judge(Candidate &c, const Options &options) {
    c.seconds = seconds_on(options.threads, c.cost.serial_seconds);
    if (c.refusal != PERM_OK) return;
    if (c.cost.bytes > static_cast<double>(options.memory_limit)) {
        c.refusal = PERM_REFUSED_MEMORY;
        c.why_not = fmt::format("needs {} of memory, {} is the limit; with that it is predicted to take {}",
                                readable_bytes(c.cost.bytes),
                                readable_bytes(static_cast<double>(options.memory_limit)),
                                readable_seconds(c.seconds));
    } else if (c.seconds > options.refuse_seconds) {
        c.refusal = PERM_REFUSED_TIME;
        c.why_not = fmt::format("is predicted to take {} on {} thread{}, {} is the limit",
                                readable_seconds(c.seconds), options.threads, options.threads == 1 ? "" : "s",
                                readable_seconds(options.refuse_seconds));
    }
}

void add_ryser(Plan &plan) {
    plan.ryser = plan_ryser(plan.input.pattern, plan.transposed.pattern);
    Candidate c;
    c.engine = Engine::ryser;
    c.transposed = plan.ryser.transposed;
    c.cost = ryser_cost(plan.ryser, plan.n());
    if (plan.n() > ryser_largest_n) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = fmt::format("would sum 2^{} subsets, at most 2^{} can be counted", plan.n() - 1,
                                ryser_largest_n - 1);
    }
    judge(c, plan.options);
    plan.candidates.push_back(std::move(c));
}

// Whatever the order, of A or A^T: with d the least number of entries in a row or column, no column closes in
// the first d / 2 rows, and these reach at least C(d, d/2) sets of columns (they choose in d (d-1) ... ways,
// each set at most (d/2)! times).
double least_peak_states(const Pattern &a, const Pattern &at) {
    std::size_t d = static_cast<std::size_t>(a.rows);
    for (std::int32_t i = 0; i < a.rows; ++i) d = std::min({d, a.row(i).size(), at.row(i).size()});
    return subsets_of_size(static_cast<int>(d), static_cast<int>(d / 2));
}

// Says so at once when no order can fit the memory; a search would only find out later.
bool frontier_is_hopeless(Plan &plan) {
    Candidate c;
    c.engine = Engine::frontier;
    c.cost.states = c.cost.peak_states = c.cost.operations =
        least_peak_states(plan.input.pattern, plan.transposed.pattern);
    c.cost.bytes = c.cost.peak_states * static_cast<double>(number_bytes(true));
    c.cost.serial_seconds = c.cost.operations * seconds_per_expansion;
    judge(c, plan.options);
    if (c.refusal != PERM_REFUSED_MEMORY) return false;
    c.why_not = fmt::format("needs at the very least {} of memory, whatever the order of the rows",
                            readable_bytes(c.cost.bytes));
    plan.candidates.push_back(std::move(c));
    return true;
}

bool dense_is_sensible(const FrontierProgram &program) {
    if (program.slots > widest_dense) return false;
    const std::vector<DenseShape> shapes = dense_shapes(program);
    return std::none_of(shapes.begin(), shapes.end(),
                        [](const DenseShape &s) { return s.blocks > most_dense_blocks; });
}

void add_frontier(Plan &plan, RunControl &control) {
    if (frontier_is_hopeless(plan)) return;
    FrontierOrderOptions search;
    search.seed = plan.options.seed;
    search.seconds_per_expansion = seconds_per_expansion;
    search.limit_seconds = plan.options.refuse_seconds;
    search.poll = [&control] { control.poll(); };
    if (plan.options.engine == Engine::automatic && plan.n() <= ryser_largest_n)
        search.other_seconds = ryser_cost(plan.ryser, plan.n()).serial_seconds;
    const Pattern &a = plan.input.pattern;
    const FrontierOrder order = find_frontier_order(a, plan.transposed.pattern, search);
    if (!order.feasible) {
        Candidate c;
        c.engine = Engine::frontier;
        c.cost.states = c.cost.peak_states = c.cost.operations = c.cost.bytes = c.cost.serial_seconds =
            std::exp2(frontier_out_of_reach);
        judge(c, plan.options);
        c.refusal = PERM_REFUSED_MEMORY;
        c.why_not = fmt::format("found no order of the rows that keeps fewer than 2^{} states",
                                frontier_out_of_reach);
        plan.candidates.push_back(std::move(c));
        return;
    }
    plan.frontier = build_frontier_program(a, plan.transposed, order);
    estimate_reachable(plan.frontier, order.transposed ? plan.transposed.pattern : a, order,
                       reachability_samples(plan.n()));

    const bool nonnegative =
        plan.input.value_type == PERM_VALUE_PATTERN; // else the values may have either sign
    for (const FrontierForm form : {FrontierForm::sparse, FrontierForm::dense}) {
        if (form == FrontierForm::dense && !dense_is_sensible(plan.frontier)) continue;
        Candidate c;
        c.engine = Engine::frontier;
        c.form = form;
        c.transposed = plan.frontier.transposed;
        c.cost = frontier_cost(plan.frontier, form, nonnegative);
        if (form == FrontierForm::sparse && sparse_key_words(plan.frontier) == 0) {
            c.refusal = PERM_UNSUPPORTED;
            c.why_not = fmt::format("has {} columns open at once, at most 4096 can be", plan.frontier.slots);
        }
        judge(c, plan.options);
        plan.candidates.push_back(std::move(c));
    }
}

// What a candidate's time counts for in the choice. One thread's time: the choice, and so the result's bits,
// must not depend on the number of threads. Ryser's sums cancel where the frontier's do not, so it has to be
// clearly faster.
double weight(const Candidate &c) {
    return c.engine == Engine::ryser ? 2 * c.cost.serial_seconds + 1e-3 : c.cost.serial_seconds;
}

// The cheapest candidate that no limit forbids.
void choose(Plan &plan) {
    std::stable_sort(plan.candidates.begin(), plan.candidates.end(),
                     [](const Candidate &x, const Candidate &y) { return weight(x) < weight(y); });
    const auto possible = std::find_if(plan.candidates.begin(), plan.candidates.end(),
                                       [](const Candidate &c) { return c.refusal == PERM_OK; });
    const Candidate &first = plan.candidates.front();
    if (possible == plan.candidates.end()) {
        plan.refusal = first.refusal;
        plan.refusal_text =
            fmt::format("too large for the limits (n = {}, {} entries)", plan.n(), plan.input.pattern.nnz());
        for (const Candidate &c : plan.candidates)
            plan.refusal_text += fmt::format("\n  engine {} {}", name_of(c), c.why_not);
        plan.refusal_text += "\n  raise a limit: memory_limit_bytes or time_limit_seconds";
        plan.why = "refused: no engine keeps within the limits";
        return;
    }
    plan.chosen = static_cast<int>(possible - plan.candidates.begin());
    const bool fastest =
        std::none_of(plan.candidates.begin(), plan.candidates.end(), [&](const Candidate &c) {
            return c.cost.serial_seconds < possible->cost.serial_seconds;
        });
    if (&*possible != &first)
        plan.why = fmt::format("{}: the best within the limits; {} {}", name_of(*possible), name_of(first),
                               first.why_not);
    else
        plan.why =
            name_of(first) + (fastest ? ": the least predicted time"
                                      : ": hardly more predicted time than the least, and more accurate");
}

} // namespace

std::string name_of(const Candidate &c) {
    if (c.engine != Engine::frontier) return engine_name(c.engine);
    return fmt::format("{} ({})", engine_name(c.engine), form_name(c.form));
}

Plan make_plan(InputPattern input, const Options &options) {
    Plan plan;
    plan.input = std::move(input);
    plan.options = options;
    if (plan.n() == 0) {
        plan.structure = "the empty matrix: its permanent is 1";
        return plan;
    }
    const Matching matching = maximum_matching(plan.input.pattern);
    if (matching.size < plan.n()) {
        plan.structural_zero = true;
        plan.structure = fmt::format("no perfect matching (structural rank {} of {}): the permanent is 0",
                                     matching.size, plan.n());
        return plan;
    }
    plan.transposed = transpose(plan.input.pattern);
    RunControl control(plan.options);
    if (options.engine != Engine::frontier) add_ryser(plan);
    if (options.engine != Engine::ryser) add_frontier(plan, control);
    choose(plan);
    log_decision(plan.why);
    for (const Candidate &c : plan.candidates)
        log_detail(fmt::format("{}: {:.3g} operations, {}, {}", name_of(c), c.cost.operations,
                               readable_bytes(c.cost.bytes), readable_seconds(c.seconds)));
    return plan;
}

} // namespace libperm
