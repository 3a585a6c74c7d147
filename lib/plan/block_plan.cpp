#include "lib/plan/block_plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/system.hpp"
#include "lib/frontier/layout.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/input/options.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/subsets/tree_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace libperm {
namespace {

// Tests of one row's states for being reachable: a matching costs the more, the longer the matrix is.
int reachability_samples(std::int32_t n, double effort) {
    return std::clamp(static_cast<int>(effort * 40000) / std::max(1, n), 4, effort < 1 ? 8 : 64);
}
constexpr int widest_dense = 40;               // columns: beyond it C(w, w/2) numbers are terabytes
constexpr double most_dense_blocks = 1e8;      // of its table: they are counted through in every row
constexpr std::size_t most_rough_slices = 256; // of a rough plan

double memory_limit(bool on_gpu, const Options &options) {
    constexpr double free_of_gpu = 0.95; // of its memory: the rest is the driver's, and others'
    return on_gpu ? free_of_gpu * static_cast<double>(planned_gpu().memory_bytes)
                  : static_cast<double>(options.memory_limit);
}

void judge(Candidate &c, const Options &options) {
    const bool on_gpu = c.on_gpu;
    const double memory = memory_limit(on_gpu, options);
    c.seconds = predicted_seconds(c, options);
    if (c.refusal != PERM_OK) return;
    if (c.cost.bytes > memory) {
        c.refusal = PERM_REFUSED_MEMORY;
        c.why_not = formatted("needs {} of {}memory, {} is the limit; with that it is predicted to take {}",
                              readable_bytes(c.cost.bytes), on_gpu ? "the GPU's " : "",
                              readable_bytes(memory), readable_seconds(c.seconds));
    } else if (c.seconds > options.refuse_seconds) {
        c.refusal = PERM_REFUSED_TIME;
        const std::string where =
            on_gpu ? "the GPU" : formatted("{} thread{}", options.threads, options.threads == 1 ? "" : "s");
        c.why_not = formatted("is predicted to take {} on {}, {} is the limit", readable_seconds(c.seconds),
                              where, readable_seconds(options.refuse_seconds));
    }
}

// Brègman and Minc's bound for the pattern, and the entries' bits.
double permanent_bits(const Pattern &a, double entry_bits) {
    double bits = a.rows * entry_bits;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto degree = static_cast<double>(a.row(i).size());
        bits += std::lgamma(degree + 1) / std::log(2.0) / std::max(1.0, degree);
    }
    return bits;
}

// From doubles to the numbers of the plan: how much longer it takes and how much more memory, or why not at
// all.
void in_numbers(Candidate &c, const Numbers &numbers, double bits) {
    if (numbers.precision == Precision::mpfr && c.engine != Engine::ryser) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = "has no numbers of MPFR, engine ryser has; precision exact knows no limit either";
        return;
    }
    const Slowdown slowdown = slowdown_of(c.engine, c.on_gpu, numbers, bits);
    c.cost.serial_seconds =
        c.cost.compile_seconds + slowdown.time * (c.cost.serial_seconds - c.cost.compile_seconds);
    c.cost.bytes *= slowdown.memory;
    c.bytes_per_state = static_cast<std::int64_t>(static_cast<double>(c.bytes_per_state) * slowdown.memory);
}

// What a candidate's time counts for in the choice. One thread's time: the choice, and so the result's bits,
// must not depend on the number of threads. Sums over subsets cancel where the frontier's do not, so these
// have to be clearly faster, by more than nobody minds.
double weight(const Candidate &c) {
    constexpr double unnoticed = 0.1;
    return sums_subsets(c.engine) ? 2 * c.cost.serial_seconds + unnoticed : c.cost.serial_seconds;
}

// The block in the making, and what it is made from.
struct Task {
    const Pattern &a;
    Kinds kinds;
    bool nonnegative;
    Numbers numbers;
    double bits; // exact: that the permanent is expected to have
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

    // What slices may take on one thread: beyond that they are forbidden, or there is something better.
    double worthwhile_seconds() const {
        double most = options.refuse_seconds / seconds_on(options.threads, 1.0);
        for (const Candidate &c : plan.candidates)
            if (c.refusal == PERM_OK)
                most =
                    std::min(most, sums_subsets(c.engine) ? std::max(weight(c), second_seconds) : weight(c));
        return most;
    }

    // In the plan's numbers, by the limits.
    Candidate judged(Candidate c) const {
        in_numbers(c, numbers, bits);
        judge(c, options);
        return c;
    }
    void add(Candidate c) { plan.candidates.push_back(judged(std::move(c))); }
};

void add_ryser(Task &task, const Pattern &at) {
    const RyserPlan &ryser = task.plan.ryser = plan_ryser(task.a, at, task.kinds);
    Candidate c;
    c.engine = Engine::ryser;
    c.transposed = ryser.transposed;
    c.cost = ryser_cost(ryser, task.a.rows);
    if (c.cost.subsets > ryser_most_subsets) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = formatted("would sum {}2^{:.0f} subsets, at most 2^{:.0f} can be counted",
                              std::isfinite(c.cost.subsets) ? "" : "more than ",
                              std::min(1000.0, std::log2(c.cost.subsets)), std::log2(ryser_most_subsets));
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

// Says so at once when no order can fit the memory, and slices would take too long; a search would only find
// out later.
bool frontier_is_hopeless(Task &task, double tree_seconds) {
    if (!task.kinds.of_row.empty() || !task.kinds.of_col.empty()) return false;
    Candidate c;
    c.engine = Engine::frontier;
    const LeastFrontier least = least_frontier(task.a);
    c.cost.states = c.cost.peak_states = least.peak_states;
    c.cost.operations = least.expansions;
    c.cost.bytes = c.cost.peak_states * static_cast<double>(number_bytes(true));
    c.cost.serial_seconds = c.cost.operations * dense_price(true).expansion;
    judge(c, task.options);
    if (c.refusal == PERM_REFUSED_MEMORY && may_use_gpu(task)) { // a GPU may have more
        c.on_gpu = true;
        c.refusal = PERM_OK;
        c.cost.serial_seconds = c.cost.operations * dense_price(true, planned_gpu()).expansion;
        judge(c, task.options);
    }
    const double most_seconds = std::min(task.worthwhile_seconds(), std::max(tree_seconds, second_seconds));
    if (c.refusal != PERM_REFUSED_MEMORY || c.cost.serial_seconds < most_seconds) return false;
    c.at_least = true;
    c.why_not = formatted("needs at the very least {} of memory, whatever the order of the rows; in slices "
                          "that fit it would take {} or more",
                          readable_bytes(c.cost.bytes), readable_seconds(c.seconds));
    task.plan.candidates.push_back(std::move(c));
    return true;
}

bool dense_is_narrow(const FrontierProgram &program) {
    constexpr int most_slots = 64; // of a set
    return program.slots <= most_slots &&
           std::none_of(program.steps.begin(), program.steps.end(),
                        [](const FrontierStep &s) { return s.width_after > widest_dense; });
}

bool dense_has_few_blocks(const FrontierProgram &program) {
    const std::vector<DenseShape> shapes = dense_shapes(program);
    return std::none_of(shapes.begin(), shapes.end(),
                        [](const DenseShape &s) { return s.blocks > most_dense_blocks; });
}

// What a state takes, and whether its key can be held.
void describe(Candidate &c, const FrontierProgram &program, bool nonnegative) {
    c.bytes_per_state = number_bytes(nonnegative);
    if (c.form != FrontierForm::sparse) return;
    c.bytes_per_state += 8 * sparse_key_words(program);
    if (sparse_key_words(program) != 0) return;
    c.refusal = PERM_UNSUPPORTED;
    c.why_not = formatted("has keys of {} bits, at most 4096 can be", program.slots);
}

Cost cost_of(const Task &task, const FrontierProgram &program, FrontierForm form, bool on_gpu) {
    return on_gpu ? frontier_cost(program, form, task.nonnegative, planned_gpu())
                  : frontier_cost(program, form, task.nonnegative);
}

void add_frontier_form(Task &task, const FrontierProgram &program, FrontierForm form) {
    Candidate c;
    c.engine = Engine::frontier;
    c.form = form;
    c.transposed = program.transposed;
    c.cost = cost_of(task, program, form, c.on_gpu);
    describe(c, program, task.nonnegative);
    task.add(std::move(c));
}

// Throws nothing: what no GPU can do is said in the candidate.
void add_frontier_on_gpu(Task &task, const FrontierProgram &program, FrontierForm form) {
    const GpuChoice choice = first_gpu();
    Candidate c;
    c.engine = Engine::frontier;
    c.form = form;
    c.on_gpu = true;
    c.transposed = program.transposed;
    c.cost = cost_of(task, program, form, c.on_gpu);
    describe(c, program, task.nonnegative);
    const char *why_not = form == FrontierForm::dense ? dense_device_why_not(program) : nullptr;
    if (c.why_not.empty() && why_not) {
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = why_not;
    }
    c = task.judged(std::move(c)); // by the GPU that is planned for, here or not
    if (c.refusal == PERM_REFUSED_MEMORY && !choice.gpu && form == FrontierForm::dense)
        c.why_not += "; slices are planned where there is a GPU";
    if (c.refusal == PERM_OK && !choice.gpu) {
        c.refusal = PERM_UNSUPPORTED;
        c.lacks_gpu = true;
        c.why_not = "needs a GPU: " + choice.why_not;
    }
    task.plan.candidates.push_back(std::move(c));
}

// Whether an order is to be found for a GPU. Where that is left open a short search says what a CPU would
// take, for starting a GPU takes as long as many a run.
bool prefers_gpu(const Task &task, const std::array<FrontierSide, 2> &sides, FrontierOrderOptions search) {
    if (!asks_for_gpu(task)) return false;
    if (task.options.device == Device::gpu) return true;
    search.effort *= 0.01;
    const FrontierOrder order = find_frontier_order(sides, search);
    return (!order.feasible || order.seconds > worth_a_gpu) && first_gpu().gpu;
}

// `tree_seconds`: what the tree engine is expected to take.
void add_frontier(Task &task, double tree_seconds) {
    if (frontier_is_hopeless(task, tree_seconds)) return;
    const Options &options = task.options;
    FrontierOrderOptions search;
    search.seed = options.seed;
    search.sparse = sparse_price();
    search.dense = dense_price(task.nonnegative);
    search.limit_seconds = options.refuse_seconds;
    search.effort = task.effort;
    search.poll = [&task] { task.control.poll(); };
    search.other_seconds = std::min(search.other_seconds, std::min(task.least_seconds(), tree_seconds));
    const std::array<FrontierSide, 2> sides = frontier_sides(task.a, task.kinds);
    const bool by_gpu = prefers_gpu(task, sides, search);
    if (by_gpu) search.dense = dense_price(task.nonnegative, planned_gpu());
    search.dense.most_states = memory_limit(by_gpu, options) / // two tables take turns
                               (2.0 * static_cast<double>(number_bytes(task.nonnegative)));
    const FrontierOrder order = find_frontier_order(sides, search);
    if (!order.feasible) {
        Candidate c;
        c.engine = Engine::frontier;
        c.cost.states = c.cost.peak_states = c.cost.operations = c.cost.bytes = c.cost.serial_seconds =
            std::exp2(frontier_out_of_reach);
        judge(c, options);
        c.refusal = PERM_REFUSED_MEMORY;
        c.why_not =
            formatted("found no order of the rows that keeps fewer than 2^{} states", frontier_out_of_reach);
        task.plan.candidates.push_back(std::move(c));
        return;
    }
    const FrontierSide &side = sides[order.transposed ? 1 : 0];
    task.plan.sparse = build_frontier_program(side, order);
    estimate_reachable(task.plan.sparse, side, order, reachability_samples(task.a.rows, task.effort));
    const bool on_cpu = options.device != Device::gpu;
    if (on_cpu) add_frontier_form(task, task.plan.sparse, FrontierForm::sparse);

    task.plan.dense = task.plan.sparse;
    if (task.plan.sparse.counts) { // the dense form has a slot for each column, repeated or not
        const std::array<FrontierSide, 2> single = frontier_sides(task.a, {});
        task.plan.dense = build_frontier_program(single[order.transposed ? 1 : 0], order);
    }
    const bool dense = dense_is_narrow(task.plan.dense);
    if (on_cpu && dense && dense_has_few_blocks(task.plan.dense))
        add_frontier_form(task, task.plan.dense, FrontierForm::dense);
    if (!may_use_gpu(task)) return;
    add_frontier_on_gpu(task, task.plan.sparse, FrontierForm::sparse);
    if (dense) add_frontier_on_gpu(task, task.plan.dense, FrontierForm::dense);
}

// The dense form past the memory of the CPU or the GPU, if that is worth its time.
void add_slices(Task &task, bool on_gpu) {
    const FrontierProgram &program = task.plan.dense;
    auto &candidates = task.plan.candidates;
    const auto whole = std::find_if(candidates.begin(), candidates.end(), [on_gpu](const Candidate &c) {
        return c.engine == Engine::frontier && c.form == FrontierForm::dense && c.on_gpu == on_gpu;
    });
    if (program.steps.empty() || (whole != candidates.end() && whole->refusal != PERM_REFUSED_MEMORY)) return;
    if (on_gpu && (!first_gpu().gpu || dense_device_why_not(program))) return;
    constexpr std::size_t most_rows = 1000; // looking for slices of longer ones takes seconds for each cut
    if (program.steps.size() > most_rows) return;
    SliceSearch search;
    search.most_bytes = memory_limit(on_gpu, task.options);
    search.most_seconds = task.worthwhile_seconds();
    if (task.effort < 1) search.most_slices = most_rough_slices;
    search.poll = [&task] { task.control.poll(); };
    search.needs = [&task, on_gpu](const FrontierProgram &slice) -> SliceNeeds {
        const Cost cost = cost_of(task, slice, FrontierForm::dense, on_gpu);
        const Slowdown slowdown = slowdown_of(Engine::frontier, on_gpu, task.numbers, task.bits);
        return {slowdown.time * (cost.serial_seconds - cost.compile_seconds), slowdown.memory * cost.bytes};
    };
    Candidate c;
    c.engine = Engine::frontier;
    c.form = FrontierForm::dense;
    c.on_gpu = on_gpu;
    c.slices = find_slices(program, search);
    if (c.slices.empty()) {
        if (whole != candidates.end())
            whole->why_not += "; slices that fit would be too many or take too long";
        return;
    }
    c.transposed = program.transposed;
    c.cost = on_gpu ? sliced_cost(program, c.slices, task.nonnegative, planned_gpu())
                    : sliced_cost(program, c.slices, task.nonnegative);
    c.bytes_per_state = number_bytes(task.nonnegative);
    task.add(std::move(c));
}

// An engine with kernels, on the GPU.
void add_on_gpu(Task &task, Engine engine, GrayPlan plan) {
    const GpuChoice choice = first_gpu();
    plan = in_arithmetic(std::move(plan), task.numbers);
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

TreeSearch tree_search(Task &task, double seconds) {
    return {task.options.seed, task.effort * seconds, task.options.refuse_seconds,
            [&task] { task.control.poll(); }, parts_of(task.numbers.arithmetic())};
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
    GrayPlan plan = plan_tree(task.a, at, tree_search(task, task.least_seconds()));
    if (options.device != Device::gpu) {
        c.transposed = plan.transposed;
        c.cost = tree_cost(plan);
        task.add(c);
        task.grays.insert_or_assign(Engine::tree, in_arithmetic(plan, task.numbers));
    }
    if (may_use_gpu(task)) add_on_gpu(task, Engine::tree, std::move(plan));
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
                formatted("n = {}, {} entries: this {}; see perm info", plan.n, plan.nnz, first.why_not);
            plan.why =
                formatted("refused: {}. Times are predicted for an {}", first.why_not, planned_gpu().name);
            return;
        }
        const bool is_impossible =
            std::all_of(plan.candidates.begin(), plan.candidates.end(),
                        [](const Candidate &c) { return c.refusal == PERM_UNSUPPORTED; });
        plan.refusal_text =
            formatted("{} (n = {}, {} entries)",
                      is_impossible ? "impossible here" : "too large for the limits", plan.n, plan.nnz);
        for (const Candidate &c : plan.candidates)
            plan.refusal_text += formatted("\n  engine {} {}", name_of(c), c.why_not);
        if (!is_impossible)
            plan.refusal_text += "\n  raise a limit: memory_limit_bytes (of the CPU) or time_limit_seconds";
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
        plan.why = formatted("{}: the best within the limits; {} {}", name_of(*possible), name_of(first),
                             first.why_not);
    else
        plan.why =
            name_of(first) +
            (fastest ? ": the least predicted time"
                     : ": predicted to take not much longer than a sum over subsets, and more accurate");
}

} // namespace

double predicted_seconds(const Candidate &c, const Options &options) {
    if (!c.on_gpu) return seconds_on(options.threads, c.cost.serial_seconds);
    const int gpus = gpu_count(options);
    // Whole slices, or of the 2^16 pieces at most that sums over subsets have; each compiles for itself.
    const double pieces =
        c.engine == Engine::frontier ? std::max(1.0, static_cast<double>(c.slices.size())) : 65536;
    const double share = std::ceil(pieces / gpus) / pieces;
    return c.cost.compile_seconds + (c.cost.serial_seconds - c.cost.compile_seconds) * share;
}

std::string name_of(const Candidate &c) {
    if (c.engine == Engine::tree && c.on_gpu) return formatted("{} (GPU)", engine_name(c.engine));
    if (c.engine != Engine::frontier) return engine_name(c.engine);
    std::string name = formatted("{} ({}", engine_name(c.engine), form_name(c.form));
    if (!c.slices.empty())
        name += formatted(", {} slice{}", c.slices.size(), c.slices.size() == 1 ? "" : "s");
    return name + (c.on_gpu ? ", GPU)" : ")");
}

GrayPlan in_arithmetic(GrayPlan plan, const Numbers &numbers) {
    const Summation summation = numbers.precision == Precision::kahan ? Summation::kahan
                                : numbers.precision == Precision::dq  ? Summation::dq
                                                                      : Summation::plain;
    return with_arithmetic(std::move(plan), numbers.arithmetic(), summation);
}

BlockPlan plan_block(const Pattern &a, const Kinds &kinds, const BlockValues &values, const Options &options,
                     RunControl &control, double effort) {
    Task task{a,
              kinds,
              values.nonnegative,
              values.numbers,
              permanent_bits(a, values.entry_bits),
              options,
              control,
              effort,
              {}};
    task.plan.n = a.rows;
    task.plan.nnz = a.nnz();
    task.plan.nonnegative = values.nonnegative;
    task.plan.numbers = values.numbers;
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
        if (try_tree) tree_seconds = tree_cost(outline_tree(a, at, tree_search(task, 0))).serial_seconds;
        add_frontier(task, tree_seconds);
    }
    constexpr double optimism = 10; // a longer search may find an order so much better
    if (options.engine == Engine::tree || (try_tree && task.least_seconds() > tree_seconds / optimism) ||
        (wants_tree(task) && options.device == Device::gpu))
        add_tree(task, at);
    add_gpu(task, at);
    if (options.device != Device::gpu) add_slices(task, false);
    if (may_use_gpu(task)) add_slices(task, true);
    choose(task.plan);
    for (Candidate &c : task.plan.candidates) c.second = c.refusal == PERM_OK && c.seconds < second_seconds;
    const Candidate *choice = task.plan.choice(), *best = &task.plan.best();
    const auto is_of_use = [&](FrontierForm form) { // its program: to be run, or to show its kernel
        return std::any_of(task.plan.candidates.begin(), task.plan.candidates.end(), [&](const Candidate &c) {
            return c.engine == Engine::frontier && c.form == form &&
                   (&c == choice || (&c == best && c.on_gpu) ||
                    (choice && has_kernel(choice->engine) && c.second));
        });
    };
    if (!is_of_use(FrontierForm::sparse)) task.plan.sparse = {};
    if (!is_of_use(FrontierForm::dense)) task.plan.dense = {};
    if (const auto gray = task.grays.find(task.plan.best().engine); gray != task.grays.end())
        task.plan.gray = std::move(gray->second);
    return std::move(task.plan);
}

} // namespace libperm
