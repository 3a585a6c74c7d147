#include "lib/block_plan.hpp"

#include "lib/frontier_layout.hpp"
#include "lib/frontier_on_device.hpp"
#include "lib/gpu_device.hpp"
#include "lib/system.hpp"
#include "lib/tree_plan.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace libperm {
namespace {

// Tests of one row's states for being reachable: a matching costs the more, the longer the matrix is.
int reachability_samples(std::int32_t n, double effort) {
    return std::clamp(static_cast<int>(effort * 40000) / std::max(1, n), 4, effort < 1 ? 8 : 64);
}
constexpr int widest_dense = 40;          // slots: beyond it C(w, w/2) numbers are terabytes
constexpr double most_dense_blocks = 1e8; // of its table: they are counted through in every row

void judge(Candidate &c, const Options &options) {
    const bool on_gpu = c.on_gpu;
    constexpr double free_of_gpu = 0.95; // of its memory: the rest is the driver's, and others'
    const double memory = on_gpu ? free_of_gpu * static_cast<double>(planned_gpu().memory_bytes)
                                 : static_cast<double>(options.memory_limit);
    c.seconds = on_gpu ? c.cost.serial_seconds : seconds_on(options.threads, c.cost.serial_seconds);
    if (c.refusal != PERM_OK) return;
    if (c.cost.bytes > memory) {
        c.refusal = PERM_REFUSED_MEMORY;
        c.why_not = fmt::format("needs {} of {}memory, {} is the limit; with that it is predicted to take {}",
                                readable_bytes(c.cost.bytes), on_gpu ? "the GPU's " : "",
                                readable_bytes(memory), readable_seconds(c.seconds));
    } else if (c.seconds > options.refuse_seconds) {
        c.refusal = PERM_REFUSED_TIME;
        const std::string where =
            on_gpu ? "the GPU" : fmt::format("{} thread{}", options.threads, options.threads == 1 ? "" : "s");
        c.why_not = fmt::format("is predicted to take {} on {}, {} is the limit", readable_seconds(c.seconds),
                                where, readable_seconds(options.refuse_seconds));
    }
}

// The block in the making, and what it is made from.
struct Task {
    const Pattern &a;
    Kinds kinds;
    bool nonnegative;
    const Options &options;
    RunControl &control;
    double effort;
    BlockPlan plan;
    std::map<Engine, GrayPlan> grays = {};

    // What the best candidate so far takes on one thread.
    double least_seconds() const {
        double least = std::numeric_limits<double>::infinity();
        for (const Candidate &c : plan.candidates)
            if (c.refusal != PERM_UNSUPPORTED) least = std::min(least, c.cost.serial_seconds);
        return least;
    }

    void add(Candidate c) {
        judge(c, options);
        plan.candidates.push_back(std::move(c));
    }
};

void add_ryser(Task &task, const Pattern &at) {
    const RyserPlan &ryser = task.plan.ryser = plan_ryser(task.a, at, task.kinds);
    Candidate c;
    c.engine = Engine::ryser;
    c.transposed = ryser.transposed;
    c.cost = ryser_cost(ryser, task.a.rows);
    if (c.cost.subsets > ryser_most_subsets) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = fmt::format("would sum {}2^{:.0f} subsets, at most 2^{:.0f} can be counted",
                                std::isfinite(c.cost.subsets) ? "" : "more than ",
                                std::min(1000.0, std::log2(c.cost.subsets)), std::log2(ryser_most_subsets));
    }
    task.add(std::move(c));
}

// Whatever the order, of A or A^T, of a block without repeated lines: with d the least number of entries in a
// row or column, no column closes in the first d / 2 rows, and these reach at least C(d, d/2) sets of columns
// (they choose in d (d-1) ... ways, each set at most (d/2)! times).
double least_peak_states(const Pattern &a) {
    std::vector<std::size_t> of_column(static_cast<std::size_t>(a.cols), 0);
    for (const std::int32_t j : a.col) ++of_column[static_cast<std::size_t>(j)];
    std::size_t d = *std::min_element(of_column.begin(), of_column.end());
    for (std::int32_t i = 0; i < a.rows; ++i) d = std::min(d, a.row(i).size());
    return subsets_of_size(static_cast<int>(d), static_cast<int>(d / 2));
}

// Says so at once when no order can fit the memory; a search would only find out later.
bool frontier_is_hopeless(Task &task) {
    if (!task.kinds.of_row.empty() || !task.kinds.of_col.empty()) return false;
    Candidate c;
    c.engine = Engine::frontier;
    c.cost.states = c.cost.peak_states = c.cost.operations = least_peak_states(task.a);
    c.cost.bytes = c.cost.peak_states * static_cast<double>(number_bytes(true));
    c.cost.serial_seconds = c.cost.operations * dense_price(true).state;
    judge(c, task.options);
    if (c.refusal != PERM_REFUSED_MEMORY) return false;
    c.at_least = true;
    c.why_not = fmt::format("needs at the very least {} of memory, whatever the order of the rows",
                            readable_bytes(c.cost.bytes));
    task.plan.candidates.push_back(std::move(c));
    return true;
}

bool dense_is_sensible(const FrontierProgram &program) {
    if (program.slots > widest_dense) return false;
    const std::vector<DenseShape> shapes = dense_shapes(program);
    return std::none_of(shapes.begin(), shapes.end(),
                        [](const DenseShape &s) { return s.blocks > most_dense_blocks; });
}

void add_frontier_form(Task &task, const FrontierProgram &program, FrontierForm form) {
    Candidate c;
    c.engine = Engine::frontier;
    c.form = form;
    c.transposed = program.transposed;
    c.cost = frontier_cost(program, form, task.nonnegative);
    c.bytes_per_state = number_bytes(task.nonnegative);
    if (form == FrontierForm::sparse) {
        c.bytes_per_state += 8 * sparse_key_words(program);
        if (sparse_key_words(program) == 0) {
            c.refusal = PERM_UNSUPPORTED;
            c.why_not = fmt::format("has keys of {} bits, at most 4096 can be", program.slots);
        }
    }
    task.add(std::move(c));
}

constexpr double worth_a_gpu = 1; // second of one thread: below, starting the GPU takes longer

bool asks_for_gpu(const Task &task) {
    const Options &options = task.options;
    if (needs_gpu(options.engine) || options.device == Device::gpu) return true;
    if (options.engine == Engine::ryser || options.device == Device::cpu) return false;
    return std::none_of(task.plan.candidates.begin(), task.plan.candidates.end(), [](const Candidate &c) {
        return c.refusal == PERM_OK && c.cost.serial_seconds < worth_a_gpu;
    });
}

bool may_use_gpu(const Task &task) {
    return asks_for_gpu(task) &&
           (task.options.device == Device::gpu || needs_gpu(task.options.engine) || first_gpu().gpu);
}

// Throws nothing: what no GPU can do is said in the candidate.
void add_frontier_on_gpu(Task &task, const FrontierProgram &program) {
    const GpuChoice choice = first_gpu();
    Candidate c;
    c.engine = Engine::frontier;
    c.form = FrontierForm::dense;
    c.on_gpu = true;
    c.transposed = program.transposed;
    c.cost = dense_frontier_cost(program, task.nonnegative, planned_gpu());
    c.bytes_per_state = number_bytes(task.nonnegative);
    if (const char *why_not = dense_device_why_not(program)) {
        c.why_not = why_not;
    } else if (!choice.gpu) {
        c.lacks_gpu = true;
        c.why_not = "needs a GPU: " + choice.why_not;
    }
    if (!c.why_not.empty()) c.refusal = PERM_UNSUPPORTED;
    task.add(std::move(c));
}

// `tree_seconds`: what the tree engine is expected to take.
void add_frontier(Task &task, double tree_seconds) {
    if (frontier_is_hopeless(task)) return;
    const Options &options = task.options;
    FrontierOrderOptions search;
    search.seed = options.seed;
    search.sparse = sparse_price();
    search.dense =
        may_use_gpu(task) ? dense_price(task.nonnegative, planned_gpu()) : dense_price(task.nonnegative);
    search.limit_seconds = options.refuse_seconds;
    search.effort = task.effort;
    search.poll = [&task] { task.control.poll(); };
    search.other_seconds = std::min(search.other_seconds, std::min(task.least_seconds(), tree_seconds));
    const std::array<FrontierSide, 2> sides = frontier_sides(task.a, task.kinds);
    const FrontierOrder order = find_frontier_order(sides, search);
    if (!order.feasible) {
        Candidate c;
        c.engine = Engine::frontier;
        c.cost.states = c.cost.peak_states = c.cost.operations = c.cost.bytes = c.cost.serial_seconds =
            std::exp2(frontier_out_of_reach);
        judge(c, options);
        c.refusal = PERM_REFUSED_MEMORY;
        c.why_not = fmt::format("found no order of the rows that keeps fewer than 2^{} states",
                                frontier_out_of_reach);
        task.plan.candidates.push_back(std::move(c));
        return;
    }
    const FrontierSide &side = sides[order.transposed ? 1 : 0];
    task.plan.sparse = build_frontier_program(side, order);
    estimate_reachable(task.plan.sparse, side, order, reachability_samples(task.a.rows, task.effort));
    if (options.device != Device::gpu) add_frontier_form(task, task.plan.sparse, FrontierForm::sparse);

    task.plan.dense = task.plan.sparse;
    if (task.plan.sparse.counts) { // the dense form has a slot for each column, repeated or not
        const std::array<FrontierSide, 2> single = frontier_sides(task.a, {});
        task.plan.dense = build_frontier_program(single[order.transposed ? 1 : 0], order);
    }
    if (!dense_is_sensible(task.plan.dense)) return;
    if (options.device != Device::gpu) add_frontier_form(task, task.plan.dense, FrontierForm::dense);
    if (may_use_gpu(task)) add_frontier_on_gpu(task, task.plan.dense);
}

// An engine with kernels, on the GPU.
void add_on_gpu(Task &task, Engine engine, GrayPlan plan) {
    const GpuChoice choice = first_gpu();
    Candidate c;
    c.engine = engine;
    c.on_gpu = true;
    c.transposed = plan.transposed;
    c.cost = gray_cost(plan, planned_gpu());
    c.why_not = gray_why_not(plan);
    if (c.why_not.empty() && !choice.gpu) {
        c.lacks_gpu = true;
        c.why_not = "needs a GPU: " + choice.why_not;
    }
    if (!c.why_not.empty()) c.refusal = PERM_UNSUPPORTED;
    task.grays.insert_or_assign(engine, std::move(plan));
    task.add(std::move(c));
}

void add_gpu(Task &task, const Pattern &at) {
    const Options &options = task.options;
    constexpr std::pair<Engine, GrayEngine> engines[] = {{Engine::hybrid, GrayEngine::hybrid},
                                                         {Engine::purereg, GrayEngine::purereg},
                                                         {Engine::dense, GrayEngine::dense},
                                                         {Engine::shared, GrayEngine::shared}};
    for (const auto &[engine, kernel] : engines)
        if ((options.engine == Engine::automatic && may_use_gpu(task)) || options.engine == engine)
            add_on_gpu(task, engine, plan_gray(kernel, task.a, at, options.equal_chunks));
}

bool wants_tree(const Task &task) {
    return task.options.engine == Engine::tree ||
           (task.options.engine == Engine::automatic && !task.options.equal_chunks);
}

constexpr double worth_a_tree = 2e-3; // seconds of another engine: below, looking for an order takes longer

GrayPlan tree_plan(Task &task, const Pattern &at, double seconds) {
    return plan_tree(task.a, at,
                     {task.options.seed, task.effort * seconds, task.options.refuse_seconds,
                      [&task] { task.control.poll(); }});
}

void add_tree(Task &task, const Pattern &at) {
    const Options &options = task.options;
    Candidate c;
    c.engine = Engine::tree;
    c.why_not = tree_why_not(task.a.rows);
    if (!c.why_not.empty()) {
        c.refusal = PERM_UNSUPPORTED;
        c.cost.subsets = c.cost.operations = std::exp2(task.a.rows - 1.0);
        c.cost.serial_seconds = c.cost.operations / tree_operations_per_second;
        if (options.engine == Engine::tree) task.add(std::move(c));
        return;
    }
    GrayPlan plan = tree_plan(task, at, task.least_seconds());
    if (options.device != Device::gpu) {
        c.transposed = plan.transposed;
        c.cost = tree_cost(plan);
        task.add(c);
        task.grays.insert_or_assign(Engine::tree, plan);
    }
    if (may_use_gpu(task)) add_on_gpu(task, Engine::tree, std::move(plan));
}

// What a candidate's time counts for in the choice. One thread's time: the choice, and so the result's bits,
// must not depend on the number of threads. Sums over subsets cancel where the frontier's do not, so these
// have to be clearly faster, by more than nobody minds.
double weight(const Candidate &c) {
    constexpr double unnoticed = 0.1;
    return sums_subsets(c.engine) ? 2 * c.cost.serial_seconds + unnoticed : c.cost.serial_seconds;
}

// The cheapest candidate that no limit forbids.
void choose(BlockPlan &plan) {
    std::stable_sort(plan.candidates.begin(), plan.candidates.end(),
                     [](const Candidate &x, const Candidate &y) { return weight(x) < weight(y); });
    const auto possible = std::find_if(plan.candidates.begin(), plan.candidates.end(),
                                       [](const Candidate &c) { return c.refusal == PERM_OK; });
    const Candidate &first = plan.candidates.front();
    if (possible == plan.candidates.end()) {
        plan.refusal = first.refusal;
        if (first.lacks_gpu) {
            plan.refusal_text =
                fmt::format("n = {}, {} entries: this {}; see perm info", plan.n, plan.nnz, first.why_not);
            plan.why =
                fmt::format("refused: {}. Times are predicted for an {}", first.why_not, planned_gpu().name);
            return;
        }
        const bool is_impossible =
            std::all_of(plan.candidates.begin(), plan.candidates.end(),
                        [](const Candidate &c) { return c.refusal == PERM_UNSUPPORTED; });
        plan.refusal_text =
            fmt::format("{} (n = {}, {} entries)",
                        is_impossible ? "impossible here" : "too large for the limits", plan.n, plan.nnz);
        for (const Candidate &c : plan.candidates)
            plan.refusal_text += fmt::format("\n  engine {} {}", name_of(c), c.why_not);
        if (!is_impossible)
            plan.refusal_text += "\n  raise a limit: memory_limit_bytes or time_limit_seconds";
        plan.why = is_impossible ? "refused: no engine that was asked for can do it"
                                 : "refused: no engine keeps within the limits";
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
            name_of(first) +
            (fastest ? ": the least predicted time"
                     : ": predicted to take not much longer than a sum over subsets, and more accurate");
}

} // namespace

std::string name_of(const Candidate &c) {
    if (c.engine == Engine::tree && c.on_gpu) return fmt::format("{} (GPU)", engine_name(c.engine));
    if (c.engine != Engine::frontier) return engine_name(c.engine);
    return fmt::format("{} ({}{})", engine_name(c.engine), form_name(c.form), c.on_gpu ? ", GPU" : "");
}

BlockPlan plan_block(const Pattern &a, const Kinds &kinds, bool nonnegative, const Options &options,
                     RunControl &control, double effort) {
    Task task{a, kinds, nonnegative, options, control, effort, {}};
    task.plan.n = a.rows;
    task.plan.nnz = a.nnz();
    const Pattern at = transpose(a).pattern;
    const auto wanted = [&options](Engine engine) {
        return options.engine == engine || (options.engine == Engine::automatic &&
                                            (options.device != Device::gpu || engine == Engine::frontier));
    };
    double tree_seconds = std::numeric_limits<double>::infinity();
    if (wanted(Engine::ryser)) add_ryser(task, at);
    const bool try_tree =
        wants_tree(task) && tree_why_not(a.rows).empty() && task.least_seconds() > worth_a_tree;
    if (wanted(Engine::frontier)) {
        if (try_tree) tree_seconds = tree_cost(tree_plan(task, at, 0)).serial_seconds;
        add_frontier(task, tree_seconds);
    }
    constexpr double optimism = 10; // a longer search may find an order so much better
    if (options.engine == Engine::tree || (try_tree && task.least_seconds() > tree_seconds / optimism) ||
        (wants_tree(task) && options.device == Device::gpu))
        add_tree(task, at);
    add_gpu(task, at);
    choose(task.plan);
    const Candidate *choice = task.plan.choice(); // programs that cannot be run are of no more use
    const auto may_run = [&](FrontierForm form) {
        return choice &&
               std::any_of(task.plan.candidates.begin(), task.plan.candidates.end(), [&](const Candidate &c) {
                   return c.engine == Engine::frontier && c.form == form &&
                          (&c == choice || (has_kernel(choice->engine) && is_second(c)));
               });
    };
    if (!may_run(FrontierForm::sparse)) task.plan.sparse = {};
    if (!may_run(FrontierForm::dense)) task.plan.dense = {};
    if (const auto gray = task.grays.find(task.plan.best().engine); gray != task.grays.end())
        task.plan.gray = std::move(gray->second);
    return std::move(task.plan);
}

} // namespace libperm
