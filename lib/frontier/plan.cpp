#include "lib/frontier/plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/system.hpp"
#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/kept_orders.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/input/machine.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/kept_orders.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/branch_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace libperm {
namespace {

constexpr int widest_dense = 40;               // columns: beyond it C(w, w/2) numbers are terabytes
constexpr double most_dense_blocks = 1e8;      // of its table: they are counted through in every row
constexpr std::size_t most_rough_slices = 256; // of a rough plan
constexpr double beside_start_of_gpu = 0.4;    // seconds of search, while it is opened and kernels compile

// Tests of one row's states for being reachable: a matching costs the more, the longer the matrix is.
int reachability_samples(std::int32_t n, double effort) {
    return std::clamp(static_cast<int>(effort * 40000) / std::max(1, n), 4, effort < 1 ? 8 : 64);
}

std::optional<GpuProperties> gpu_of(const Proposals &task, bool on_gpu) {
    return on_gpu ? std::optional(task.machine.gpu()) : std::nullopt;
}

Cost cost_of(const Proposals &task, const FrontierProgram &program, FrontierForm form, bool on_gpu) {
    return frontier_cost(program, form, task.values.nonnegative, gpu_of(task, on_gpu));
}

Slowdown slowdown_of(const Proposals &task, bool on_gpu) {
    return frontier_slowdown(on_gpu, task.values.numbers, task.bits);
}

double runs_of(const Proposals &task, bool on_gpu) {
    if (!task.may_go_on()) return 1;
    return expected_runs(task.a.rows, task.bits, on_gpu, task.values.numbers, task.options.tolerance);
}

std::int64_t bytes_per_state(const FrontierProgram &program, FrontierForm form, bool nonnegative) {
    return number_bytes(nonnegative) + 8 * key_words(form, program);
}

// One in its form, as the task prices it.
Candidate candidate_of(const Proposals &task, Engine self, const std::shared_ptr<const FrontierPlan> &plan,
                       FrontierForm form, bool on_gpu) {
    Candidate c;
    c.engine = self;
    c.form = number_of(form);
    c.on_gpu = on_gpu;
    c.transposed = plan->program.transposed;
    c.plan = plan;
    c.cost = cost_of(task, plan->program, form, on_gpu);
    c.cost.bytes_per_state = bytes_per_state(plan->program, form, task.values.nonnegative);
    c.expected_runs = runs_of(task, on_gpu);
    return c;
}

bool dense_is_narrow(const FrontierProgram &program) {
    return std::none_of(program.steps.begin(), program.steps.end(),
                        [](const FrontierStep &s) { return s.width_after > widest_dense; });
}

bool dense_has_few_blocks(const FrontierProgram &program) {
    const std::vector<DenseShape> shapes = dense_shapes(program);
    return std::none_of(shapes.begin(), shapes.end(),
                        [](const DenseShape &s) { return s.blocks > most_dense_blocks; });
}

// Whether the dense form takes a program as it is; a GPU has no list of all blocks.
bool suits_dense(const FrontierProgram &program, bool on_gpu) {
    return dense_is_narrow(program) && (on_gpu || dense_has_few_blocks(program));
}

// Of what takes so much longer than a short search for a tree found.
bool is_far(double seconds, double branches) {
    return seconds > SearchBudget::far * SearchBudget::far * branches;
}

constexpr double worth_a_search = 5e-3; // seconds of the best other way: less is not worth looking for a tree

// Of a short run only a tree that looks better at once: seconds of the best other way and of the first tree.
bool is_worth_a_search(double other, double outlook) {
    constexpr double short_run = 0.05;
    return other >= worth_a_search && (other >= short_run || 2 * outlook < other);
}

// Of a first search that knows of no other way the time does not grow with what it finds.
std::optional<FoundBranches> find_tree(Proposals &task, double other_seconds, double effort) {
    BranchSearchOptions options;
    options.seed = task.options.seed;
    options.price = branch_price();
    options.most_states =
        task.machine.memory_limit(false) / (3.0 * static_cast<double>(16 + number_bytes(true)));
    options.other_seconds = other_seconds;
    options.budget = task.search_budget(false);
    options.budget.effort *= effort;
    if (effort < 1) options.budget.share = 0;
    options.account = &call().memory();
    return options.budget.of(other_seconds) < worth_looking_up ? find_branches(task.a, options)
                                                               : kept_branches(task, options);
}

// The largest middle set.
std::int32_t width_of(const FrontierProgram &program) {
    std::int32_t width = 0;
    for (const FrontierStep &step : program.steps) width = std::max(width, step.width_after);
    for (const FrontierBranch &branch : program.branches)
        if (branch.joined[0] >= 0) width = std::max(width, branch.join.slots());
    return width;
}

class Proposal {
  public:
    Proposal(Proposals &task, Engine self) : task_(task), self_(self) {}

    void run() {
        branches_ = branches_outlook();
        propose_path();
        double other = better(task_.outlook(), task_.best_so_far()).seconds;
        if (by_gpu()) other *= pace_of_gpu; // trees are priced by what a CPU takes
        // A longer search may find what takes a hundredth of the first; it gives up by itself.
        if (std::isfinite(branches_) && is_worth_a_search(other, branches_)) propose_branches(other);
    }

    // Of a graph, for which there is no path: where the best engine so far is not as fast as a search.
    void run_graph() {
        const double other = task_.best_so_far().seconds;
        if (other >= worth_a_search || task_.asks_for(self_)) propose_branches(other);
    }

  private:
    using Plan = std::shared_ptr<const FrontierPlan>;
    static constexpr double pace_of_gpu = 30; // to that of a thread, of large joins

    bool by_gpu() const { return task_.options.device == Device::gpu; }

    // What the first, short search for a tree finds: seconds of one thread, or infinity.
    double branches_outlook() {
        constexpr std::int32_t fewest_rows = 24; // below, a path is as good and found at once
        constexpr double first_effort = 0.1, none = std::numeric_limits<double>::infinity();
        if (task_.a.rows < fewest_rows) return none;
        const double pace = by_gpu() ? pace_of_gpu : 1;
        const auto found = find_tree(task_, pace * task_.best_so_far().seconds, first_effort);
        return found ? found->seconds / pace : none;
    }

    void propose_branches(double other) {
        const auto found = find_tree(task_, other, 1);
        if (!found) return;
        BranchProgram branches = build_branch_program(task_.a, found->tree);
        if (!branches.feasible || branch_key_words(branches.program) == 0)
            return add_too_wide(*found, branches);
        const Plan plan = std::make_shared<const FrontierPlan>(std::move(branches.program));
        if (!by_gpu()) add_branches_on_cpu(plan);
        // Where some of its joins or steps are worth a GPU.
        if (!task_.a.one_sided && task_.may_use_gpu() &&
            place_branches(plan->program, branch_key_words(plan->program), task_.values.nonnegative)
                .uses_device())
            add_on_gpu(plan, FrontierForm::branches);
    }

    void add_too_wide(const FoundBranches &found, const BranchProgram &branches) {
        Candidate c;
        c.engine = self_;
        c.form = number_of(FrontierForm::branches);
        c.on_gpu = by_gpu();
        c.cost.states = c.cost.peak_states = c.cost.operations = found.peak_states;
        c.cost.bytes = found.peak_states * static_cast<double>(number_bytes(true));
        c.cost.serial_seconds = found.seconds;
        task_.judge(c);
        c.refusal = PERM_UNSUPPORTED;
        c.why_not = branches.feasible
                        ? formatted("has states of up to {} lines in the best tree that was found, "
                                    "at most {} can wait at once",
                                    branches.program.slots, widest_list)
                        : formatted("joins states that have more than {} lines in common, in the "
                                    "best tree that was found",
                                    widest_shared);
        task_.candidates.push_back(std::move(c));
    }

    void add_branches_on_cpu(const Plan &plan) {
        add_on_cpu(plan, FrontierForm::branches);
        Candidate &added = task_.candidates.back();
        if (added.refusal == PERM_REFUSED_MEMORY || added.refusal == PERM_REFUSED_TIME)
            added.why_not += formatted("; up to {} lines wait at once in the best tree that was found",
                                       width_of(plan->program));
    }

    void propose_path() {
        if (is_hopeless()) return;
        Charge charge(&call().memory(), frontier_planning_bytes(task_.a));
        const std::array<FrontierSide, 2> sides = frontier_sides(task_.a, task_.kinds);
        const FrontierOrder order = find_order(sides);
        if (!order.feasible) return add_infeasible(order);
        const FrontierSide &side = sides[order.transposed ? 1 : 0];
        FrontierProgram sparse = build_frontier_program(side, order);
        if (!is_far(order.seconds, branches_)) // else nobody asks how far
            estimate_reachable(sparse, side, order, reachability_samples(task_.a.rows, task_.effort));
        const Plan plan = std::make_shared<const FrontierPlan>(std::move(sparse));
        add(plan, dense_of(plan, order, charge));
    }

    // A plan of its own, as it is saved, with a slot for each column, repeated or not. Null: there are more
    // slots than a set has.
    Plan dense_of(const Plan &sparse, const FrontierOrder &order, Charge &charge) const {
        if (!sparse->program.counts) {
            if (sparse->program.slots > most_dense_slots) return nullptr;
            charge.grow(sparse->bytes());
            return std::make_shared<const FrontierPlan>(*sparse);
        }
        const Pattern &lines = order.transposed ? task_.at : task_.a;
        for (std::int32_t i = 0; i < lines.rows; ++i)
            if (std::ssize(lines.row(i)) > most_dense_slots) return nullptr;
        charge.grow(frontier_planning_bytes(task_.a));
        const std::array<FrontierSide, 2> single = frontier_sides(task_.a, {});
        FrontierProgram program = build_frontier_program(single[order.transposed ? 1 : 0], order);
        if (program.slots > most_dense_slots) return nullptr;
        return std::make_shared<const FrontierPlan>(std::move(program));
    }

    // Says so at once when no order can fit the memory, and slices would take too long; a search would only
    // find out later.
    bool is_hopeless() {
        if (!task_.kinds.of_row.empty() || !task_.kinds.of_col.empty()) return false;
        Candidate c;
        c.engine = self_;
        const LeastFrontier least = least_frontier(task_.a);
        c.cost.states = c.cost.peak_states = least.peak_states;
        c.cost.operations = least.expansions;
        c.cost.bytes = c.cost.peak_states * static_cast<double>(number_bytes(true));
        c.cost.serial_seconds = c.cost.operations * dense_price(true).expansion;
        task_.judge(c);
        if (c.refusal == PERM_REFUSED_MEMORY && task_.may_use_gpu()) { // a GPU may have more
            c.on_gpu = true;
            c.refusal = PERM_OK;
            c.cost.serial_seconds = c.cost.operations * dense_price(true, task_.machine.gpu()).expansion;
            task_.judge(c);
        }
        if (c.refusal != PERM_REFUSED_MEMORY) return false;
        const double most_seconds =
            std::min(task_.worthwhile_seconds(), std::max(task_.outlook().seconds, second_run_seconds));
        if (c.cost.serial_seconds < most_seconds) return false;
        c.at_least = true;
        c.why_not =
            formatted("needs at the very least {} of memory, whatever the order of the rows; in slices "
                      "that fit it would take {} or more",
                      readable_bytes(c.cost.bytes), readable_seconds(c.seconds));
        task_.candidates.push_back(std::move(c));
        return true;
    }

    // What a CPU takes, by a short search: before anything asks for a GPU, where that is left open.
    void look_ahead(const std::array<FrontierSide, 2> &sides, FrontierOrderOptions search) {
        if (task_.options.device == Device::gpu) return;
        const double pace = slowdown_of(task_, false).time * runs_of(task_, false);
        task_.expect_on_cpu(branches_ * pace);
        if (!task_.asks_for_gpu()) return;
        search.budget.share =
            0; // 20 ms: what takes longer than a GPU is worth after that may be asked for one
        search.other_seconds = worth_a_gpu / pace;
        const FrontierOrder order = kept_frontier_order(task_, sides, search);
        if (order.feasible) task_.expect_on_cpu(order.seconds * pace);
    }

    FrontierOrder find_order(const std::array<FrontierSide, 2> &sides) {
        const bool nonnegative = task_.values.nonnegative;
        FrontierOrderOptions search;
        search.account = &call().memory();
        search.most_bytes = std::max(static_cast<double>(MemoryBudget::unnoticed_bytes) / 2,
                                     task_.machine.memory_limit(false) / 4);
        search.seed = task_.options.seed;
        search.sparse = sparse_price();
        search.dense = dense_price(nonnegative);
        search.limit_seconds = task_.options.refuse_seconds;
        search.budget = task_.search_budget(false);
        search.branches_seconds = branches_;
        look_ahead(sides, search);
        const Outlook other = better(task_.outlook(), task_.best_so_far());
        search.other_seconds = std::min(other.seconds, branches_);
        search.other_search = other.worth_searching;
        // Both are priced in doubles: others, and residues, may take one longer by more than the other.
        search.may_fall_behind = task_.values.numbers.precision == Precision::double_ ||
                                 task_.values.numbers.precision == Precision::dd;
        const bool by_gpu = task_.may_use_gpu();
        if (by_gpu) {
            search.dense = dense_price(nonnegative, task_.machine.gpu());
            search.budget = task_.search_budget(true);
            search.budget.start = beside_start_of_gpu;
        }
        search.dense.widest = widest_dense;
        search.dense.most_states = task_.machine.memory_limit(by_gpu) / // two tables take turns
                                   (2.0 * static_cast<double>(number_bytes(nonnegative)));
        return found_order(sides, search);
    }

    FrontierOrder found_order(const std::array<FrontierSide, 2> &sides, const FrontierOrderOptions &search) {
        if (search.budget.of(search.other_seconds) < worth_looking_up)
            return find_frontier_order(sides, search);
        return kept_frontier_order(task_, sides, search);
    }

    void add_infeasible(const FrontierOrder &order) {
        Candidate c;
        c.engine = self_;
        c.cost.states = c.cost.peak_states = c.cost.operations = c.cost.bytes = c.cost.serial_seconds =
            std::exp2(frontier_out_of_reach);
        task_.judge(c);
        c.refusal = order.too_wide ? PERM_UNSUPPORTED : PERM_REFUSED_MEMORY;
        c.why_not =
            order.too_wide
                ? formatted("has keys of more than {} bits in every order of the rows that was looked at",
                            widest_frontier)
                : formatted("found no order of the rows that keeps fewer than 2^{} states",
                            frontier_out_of_reach);
        task_.candidates.push_back(std::move(c));
    }

    void add(const Plan &sparse, const Plan &dense) {
        const bool on_cpu = task_.options.device != Device::gpu;
        if (on_cpu) add_on_cpu(sparse, FrontierForm::sparse);
        if (on_cpu && dense && suits_dense(dense->program, false)) add_on_cpu(dense, FrontierForm::dense);
        task_.expect_no_more();
        task_.sliceable = dense;
        if (!task_.may_use_gpu()) return;
        add_on_gpu(sparse, FrontierForm::sparse);
        if (dense && suits_dense(dense->program, true)) add_on_gpu(dense, FrontierForm::dense);
    }

    Candidate candidate(const Plan &plan, FrontierForm form, bool on_gpu) const {
        poll();
        Candidate c = candidate_of(task_, self_, plan, form, on_gpu);
        if (form == FrontierForm::sparse && sparse_key_words(plan->program) == 0) {
            c.refusal = PERM_UNSUPPORTED;
            c.why_not = formatted("has keys of {} bits, at most 4096 can be", plan->program.slots);
        }
        return c;
    }

    void add_on_cpu(const Plan &plan, FrontierForm form) {
        task_.add(candidate(plan, form, false), slowdown_of(task_, false));
    }

    // Throws nothing: what no GPU can do is said in the candidate.
    void add_on_gpu(const Plan &plan, FrontierForm form) {
        const bool has_gpu = task_.machine.has_gpu();
        Candidate c = candidate(plan, form, true);
        const char *why_not = form == FrontierForm::dense ? dense_device_why_not(plan->program) : nullptr;
        if (c.why_not.empty() && why_not) {
            c.refusal = PERM_UNSUPPORTED;
            c.why_not = why_not;
        }
        c = task_.judged(std::move(c), slowdown_of(task_, true)); // of the GPU planned for, here or not
        if (c.refusal == PERM_REFUSED_MEMORY && !has_gpu && form == FrontierForm::dense)
            c.why_not += "; slices are planned where there is a GPU";
        task_.require_gpu(c);
        task_.candidates.push_back(std::move(c));
    }

    Proposals &task_;
    const Engine self_;
    double branches_ = 0; // seconds that a tree is expected to take
};

} // namespace

void propose_frontier(Proposals &task, Engine self) {
    if (!task.asks_for(self) && task.options.names_engine()) return;
    Proposal proposal(task, self);
    task.a.one_sided ? proposal.run_graph() : proposal.run();
}

namespace {

// Looking for slices of longer ones takes seconds for each cut.
bool is_long(const FrontierProgram &program) {
    constexpr std::size_t most_rows = 1000, most_steps_of_tree = 10000;
    return program.steps.size() > (program.branches.empty() ? most_rows : most_steps_of_tree);
}

// Of a tree, which is built again; of a list, whose states are counted again; of tables.
double seconds_of_cut(const FrontierProgram &program, FrontierForm form) {
    return (form == FrontierForm::dense ? 2.5e-6 : 1.5e-5) * static_cast<double>(program.steps.size());
}

// Lists may be longer than was drawn for a guess. On a tree they are bounded, but what a join holds beside
// its lists is not priced.
double most_bytes_of_slice(const Proposals &task, FrontierForm form, bool on_gpu) {
    const double share = form == FrontierForm::sparse ? 0.7 : form == FrontierForm::branches ? 0.8 : 1;
    return share * task.machine.memory_limit(on_gpu);
}

Candidate *whole_of(Proposals &task, Engine self, FrontierForm form, bool on_gpu) {
    const auto whole = std::find_if(task.candidates.begin(), task.candidates.end(), [&](const Candidate &c) {
        return c.engine == self && form_of(c) == form && c.on_gpu == on_gpu;
    });
    return whole == task.candidates.end() ? nullptr : &*whole;
}

// What does not fit the memory as it is; null: nothing is to be cut.
std::shared_ptr<const FrontierPlan> plan_to_cut(Proposals &task, Engine self, FrontierForm form,
                                                bool on_gpu) {
    const Candidate *whole = whole_of(task, self, form, on_gpu);
    if (whole && whole->refusal != PERM_REFUSED_MEMORY) return nullptr;
    const auto plan =
        std::dynamic_pointer_cast<const FrontierPlan>(form == FrontierForm::dense ? task.sliceable
                                                      : whole                     ? whole->plan
                                                                                  : nullptr);
    return plan && !plan->program.steps.empty() && !is_long(plan->program) ? plan : nullptr;
}

void propose_slices_of(Proposals &task, Engine self, FrontierForm form, bool on_gpu) {
    const std::shared_ptr<const FrontierPlan> plan = plan_to_cut(task, self, form, on_gpu);
    if (!plan) return;
    const FrontierProgram &program = plan->program;
    if (on_gpu && (!task.machine.has_gpu() || dense_device_why_not(program))) return;
    SliceSearch search;
    search.ranked = form == FrontierForm::dense;
    search.most_bytes = most_bytes_of_slice(task, form, on_gpu);
    search.most_seconds = task.worthwhile_seconds();
    if (task.effort < 1) search.most_slices = most_rough_slices;
    search.cut_seconds = seconds_of_cut(program, form);
    const Slowdown slowdown = slowdown_of(task, on_gpu);
    // Else no slice is: columns that are fixed leave tables narrower.
    const bool is_too_wide = form == FrontierForm::dense && !suits_dense(program, on_gpu);
    search.needs = [&](const FrontierProgram &slice) -> SliceNeeds {
        const Cost cost = cost_of(task, slice, form, on_gpu);
        if (form == FrontierForm::branches && branch_key_words(slice) == 0) return {0, 1e300};
        double bytes = slowdown.memory * cost.bytes;
        // The whole is no candidate, be it small: it is cut on.
        if (is_too_wide && !suits_dense(slice, on_gpu)) bytes = std::max(bytes, 2 * search.most_bytes);
        return {slowdown.time * (cost.serial_seconds - cost.compile_seconds), bytes};
    };
    const auto cut = cut_into(find_slices(program, search));
    if (!cut) {
        if (Candidate *whole = whole_of(task, self, form, on_gpu))
            whole->why_not += "; slices that fit would be too many or take too long";
        return;
    }
    Candidate c = candidate_of(task, self, plan, form, on_gpu);
    c.cut = cut;
    const auto bytes_per_state = c.cost.bytes_per_state;
    c.cost = sliced_cost(program, form, slices_of(c), task.values.nonnegative, gpu_of(task, on_gpu));
    c.cost.bytes_per_state = bytes_per_state;
    task.add(std::move(c), slowdown);
}

} // namespace

// What exceeds the memory least first: it is cut soonest, and what its slices take bounds what is worth a
// search of others.
void propose_slices(Proposals &task, Engine self) {
    if (task.a.one_sided) return;
    std::vector<std::pair<double, FrontierForm>> forms;
    if (task.options.device != Device::gpu)
        for (const FrontierForm form : {FrontierForm::dense, FrontierForm::branches, FrontierForm::sparse})
            if (const auto plan = plan_to_cut(task, self, form, false))
                forms.emplace_back(cost_of(task, plan->program, form, false).bytes, form);
    std::stable_sort(forms.begin(), forms.end(),
                     [](const auto &x, const auto &y) { return x.first < y.first; });
    for (const auto &[bytes, form] : forms) propose_slices_of(task, self, form, false);
    if (task.may_use_gpu()) propose_slices_of(task, self, FrontierForm::dense, true);
}

const FrontierProgram *program_of(const std::vector<Candidate> &candidates, FrontierForm form) {
    for (const Candidate &c : candidates)
        if (const auto *plan = plan_as<FrontierPlan>(c); plan && form_of(c) == form) return &plan->program;
    return nullptr;
}

} // namespace libperm
