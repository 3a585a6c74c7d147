#include "capi/compute.hpp"

#include "capi/caller.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/execute/execute.hpp"
#include "lib/execute/matrix_bounds.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/glynn/multiplicities/exact_multiplicities.hpp"
#include "lib/glynn/multiplicities/line_classes.hpp"
#include "lib/input/call_watch.hpp"
#include "lib/input/graph.hpp"
#include "lib/polynomial/by_power_of_two.hpp"
#include "lib/polynomial/plain_sums.hpp"
#include "lib/run/entry_rounding.hpp"
#include "lib/run/escalation.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace capi {

using libperm::Error;
using libperm::GpuStart;

void require_kept(const perm_plan *plan) {
    if (!plan) throw Error(PERM_BAD_ARGUMENT, "the plan is a null pointer");
    if (plan->is_account)
        throw Error(PERM_BAD_ARGUMENT, "the plan tells of a computation (perm_compute_with_plan): to save or "
                                       "execute one, make it with perm_plan_create");
}

void require_executable(const perm_plan *plan, libperm::ApiCall call) {
    require_kept(plan);
    libperm::require_counting(plan->plan.options, call);
}

libperm::InputPattern pattern_for(const perm_csr *a, libperm::MatrixFunction function) {
    return libperm::read_pattern(a, function, &libperm::call().memory());
}
libperm::Values values_for(const libperm::InputPattern &input, const void *values) {
    return libperm::read_values(input, values, &libperm::call().memory());
}
libperm::Values values_for(const libperm::InputPattern &input, const perm_csr &a) {
    return values_for(input, libperm::GivenValues(input, a).data());
}

namespace {

// Of a call that had no time to tell more.
void tell_end(const perm_opts *opts) {
    if (!opts || !opts->progress) return;
    libperm::CallWatch watch;
    watch.progress = opts->progress;
    watch.progress_user = opts->progress_user;
    watch.tell(1, 0);
}

double rounding_of(const perm_csr &a, libperm::MatrixFunction function, const perm_result &r) {
    const libperm::PolledScope answered(nullptr); // nothing stops a call that has its answer
    return function == libperm::MatrixFunction::permanent ? libperm::entry_rounding(a, r)
                                                          : libperm::graph_entry_rounding(a, function, r);
}

std::optional<libperm::ExactMultiplicities> exact_multiplicities(const perm_csr *a,
                                                                 const libperm::Options &options) {
    auto kinds = libperm::compute_exact_multiplicities(a, options);
    if (kinds || !a) return kinds;
    const auto merged = libperm::MergedLines::of(*a);
    if (!merged) return {};
    const perm_csr of_kinds = merged->csr();
    try {
        return libperm::compute_exact_multiplicities(&of_kinds, options);
    } catch (const Error &error) {
        if (error.status() != PERM_BAD_MATRIX) throw;
        return {}; // the general way names the caller's line
    }
}

// Thousands of each kind: exactly, and never written out, or looked at once.
bool compute_line_classes(const perm_csr *a, const libperm::Options &options, perm_result &r) {
    if (options.function != libperm::MatrixFunction::permanent) return false;
    Stopwatch watch;
    auto kinds = exact_multiplicities(a, options);
    if (!kinds) return false;
    fill(r, options, *std::move(kinds));
    r.seconds_run = r.seconds_total = watch.lap();
    return true;
}

// Where all lines of a sparse matrix may stay unmatched the graph of its lines: engines of graphs serve any
// of its numbers.
std::optional<libperm::InputPattern> graph_for(const perm_csr *a, const libperm::Options &options) {
    if (options.function != libperm::MatrixFunction::permanent || options.names_engine() ||
        options.device == libperm::Device::gpu)
        return {};
    return libperm::read_as_two_sided_graph(a, &libperm::call().memory());
}

// The options' function becomes that of the graph.
libperm::InputPattern input_for(const perm_csr *a, libperm::Options &options) {
    auto graph = graph_for(a, options);
    if (!graph) return pattern_for(a, options.function);
    options.function = libperm::MatrixFunction::loop_hafnian;
    return *std::move(graph);
}

// To be executed once: without a tape, which takes longer to write down than the plan's own way. In the
// arena of its threads `work` follows, given the plan and the values.
template <class Work>
std::unique_ptr<perm_plan> plan_for_once(const perm_csr *a, const libperm::Options &given_options,
                                         const Work &work) {
    Stopwatch watch;
    auto made = std::make_unique<perm_plan>();
    made->is_account = true;
    libperm::Options options = given_options;
    libperm::InputPattern input = input_for(a, options);
    libperm::Values values = values_for(input, *a);
    libperm::simplify(input, values);
    made->seconds_check = watch.lap();
    libperm::with_threads(options.threads, [&] {
        // A checkpoint is of one plan, which is not made again.
        const auto start = options.checkpoint.empty() ? GpuStart::beside : GpuStart::awaited;
        made->plan = libperm::make_kept_plan(std::move(input), options, values, start);
        made->seconds_plan = watch.lap();
        try {
            work(made->plan, values);
        } catch (const Error &error) {
            const bool may_lack_gpu = error.status() == PERM_UNSUPPORTED && is_for_gpu_here(made->plan);
            if (start == GpuStart::awaited || !may_lack_gpu) throw;
            libperm::log_decision(std::string("planned again: ") + error.what());
            made->plan = libperm::make_plan(made->plan.input, options, values);
            made->seconds_plan += watch.lap();
            work(made->plan, values);
        }
    });
    return made;
}

perm_csr known_csr(const perm_csr *a) {
    if (!a) throw Error(PERM_BAD_ARGUMENT, "the matrix is a null pointer");
    return libperm::read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
}

libperm::InputPattern given_pattern(const perm_csr *a) {
    return libperm::read_once(a, &libperm::call().memory());
}

// Where the matrix has a structure that it loses among lines that may stay unmatched, and with it takes less
// than so many seconds. `plan`: a saved one of it, or null.
std::optional<libperm::RankOneAdded> with_structure(const perm_csr *a, const libperm::Options &options,
                                                    double seconds, const std::string *plan = nullptr) {
    const libperm::InputPattern given = given_pattern(a);
    const perm_csr csr = known_csr(a);
    if (!libperm::RankOneAdded::may_serve(given, csr.row_multiplicity || csr.col_multiplicity, options))
        return {};
    if (plan && !libperm::RankOneAdded::is_plan_of(*plan, given)) return {};
    const libperm::Values values = values_for(given, csr);
    return libperm::RankOneAdded::of(given, values, options, seconds, plan);
}

// Beside a checkpoint.
std::optional<libperm::RankOneAdded> structure_before_plan(const perm_csr *a,
                                                           const libperm::Options &options) {
    const auto kept = libperm::plan_in_checkpoint(options, libperm::TaskIdentity::plan);
    using libperm::RankOneAdded;
    return kept ? with_structure(a, options, RankOneAdded::any_seconds, &*kept)
                : with_structure(a, options, RankOneAdded::before_a_search);
}

std::optional<libperm::RankOneAdded> structure_beside_plan(const perm_csr *a, const libperm::Options &options,
                                                           const libperm::Plan &plan) {
    const double seconds = libperm::RankOneAdded::seconds_beside(plan);
    if (plan.input.pattern.one_sided || plan.input.free_lines() == 0 || seconds == 0) return {};
    return with_structure(a, options, seconds);
}

void fill_by_structure(perm_result &r, const libperm::RankOneAdded &matchings,
                       const libperm::Options &options) {
    const libperm::PlanTask task(matchings.plan(), matchings.values());
    libperm::Outcome outcome = run_kept(task, matchings.plan().options);
    libperm::Gaussian sum = matchings.sum(outcome);
    libperm::set_value(outcome, libperm::WideBall{std::move(sum), {}});
    libperm::round_off(options, outcome);
    const bool fractions = options.precision != libperm::Precision::mpfr;
    fill(r, matchings.plan(), outcome, libperm::answer_of(outcome, fractions));
}

// Nested rows, before they are written out with the lines that stay unmatched.
struct Board {
    libperm::InputPattern given;
    mpq_class sum;
};

std::optional<Board> board_of(const perm_csr *a, const libperm::Options &options) {
    if (options.function != libperm::MatrixFunction::permanent || options.names_engine() ||
        options.device == libperm::Device::gpu || !options.passes.structure)
        return {};
    constexpr std::int64_t least_order = 24; // below, any way is short
    const perm_csr csr = known_csr(a);
    if (!csr.row_unmatched || !csr.col_unmatched || std::min(csr.n_rows, csr.n_cols) < least_order) return {};
    libperm::InputPattern given = given_pattern(a);
    const libperm::Values values = values_for(given, csr);
    auto sum = libperm::ferrers_sum(given, values, {csr.row_multiplicity, csr.n_rows, "row"},
                                    {csr.col_multiplicity, csr.n_cols, "col"});
    if (!sum) return {};
    return Board{std::move(given), *std::move(sum)};
}

bool compute_board(const perm_csr *a, const libperm::Options &options, perm_plan &made, perm_result &r) {
    Stopwatch watch;
    std::optional<Board> board = board_of(a, options);
    if (!board) return false;
    made.plan.input = std::move(board->given);
    libperm::Pattern &square = made.plan.input.pattern;
    square.rows = square.cols = std::max(square.rows, square.cols);
    square.row_ptr.resize(static_cast<std::size_t>(square.rows) + 1, square.nnz());
    made.plan.options = options;
    made.plan.structure =
        "nested rows, each with one number in all of its entries: by its numbers of matchings";
    libperm::Outcome outcome;
    libperm::set_value(outcome, libperm::WideBall{libperm::Gaussian{board->sum, 0}, {}});
    libperm::round_off(options, outcome);
    fill(r, made.plan, outcome);
    libperm::call().finish();
    r.seconds_run = r.seconds_total = watch.lap();
    return true;
}

std::unique_ptr<perm_plan> compute_by_plan(const perm_csr *a, const libperm::Options &options,
                                           perm_result &r) {
    Stopwatch watch;
    auto made = std::make_unique<perm_plan>();
    made->is_account = true;
    if (compute_board(a, options, *made, r)) return made;
    std::optional<libperm::RankOneAdded> matchings;
    const bool is_kept = !options.checkpoint.empty();
    if (is_kept && options.function == libperm::MatrixFunction::permanent)
        libperm::with_threads(options.threads, [&] {
            matchings = structure_before_plan(a, options);
            made->seconds_plan = watch.lap();
            if (matchings) fill_by_structure(r, *matchings, options);
            r.seconds_run = watch.lap();
        });
    if (!matchings)
        made = plan_for_once(a, options, [&](const libperm::Plan &plan, const libperm::Values &values) {
            watch.lap();
            matchings = structure_beside_plan(a, options, plan);
            if (matchings)
                fill_by_structure(r, *matchings, options);
            else
                fill(r, plan, run_kept(libperm::PlanTask(plan, values), plan.options));
            r.seconds_run = watch.lap();
        });
    if (matchings) made->plan = matchings->plan();
    r.seconds_check = made->seconds_check;
    r.seconds_plan = made->seconds_plan;
    r.seconds_total = r.seconds_check + r.seconds_plan + r.seconds_run;
    return made;
}

} // namespace

bool compute_by_sum(const perm_csr *a, const perm_opts *opts, perm_result *result) {
    require_result(result);
    clear(*result);
    if (result->struct_size != sizeof(perm_result)) return false;
    Stopwatch watch;
    const auto function = libperm::compute_small(a, opts, *result);
    if (!function) return false;
    try {
        tell_end(opts);
    } catch (...) {
        clear(*result);
        throw;
    }
    result->entry_rounding = rounding_of(*a, *function, *result);
    result->seconds_run = result->seconds_total = watch.lap();
    return true;
}

std::unique_ptr<perm_plan> compute_otherwise(const perm_csr *a, const libperm::Options &options,
                                             perm_result &r, WithPlan wanted) {
    std::unique_ptr<perm_plan> plan;
    const auto work = [&] {
        if (wanted == WithPlan::yes || !compute_line_classes(a, options, r))
            plan = compute_by_plan(a, options, r);
        r.entry_rounding = rounding_of(*a, options.function, r);
    };
    telling_interval(options, work, a);
    return plan;
}

std::string way_beside_plan(const perm_csr *a, const libperm::Options &options, const libperm::Plan &plan) {
    const bool is_short = libperm::RankOneAdded::seconds_beside(plan) == 0;
    if (plan.input.pattern.one_sided || plan.input.free_lines() == 0 || is_short) return {};
    std::string way;
    const auto look = [&] {
        if (graph_for(a, options)) {
            way = "a single computation goes by the graph of the matrix's lines, in which those that stay "
                  "unmatched need none";
        } else if (plan.values_known && board_of(a, options)) {
            way = "a single computation goes by the numbers of matchings of nested rows, at once";
        } else if (const auto matchings =
                       plan.values_known ? structure_beside_plan(a, options, plan) : std::nullopt) {
            way = "a single computation goes by the matrix's own structure, without lines for those that "
                  "stay unmatched: " +
                  libperm::readable_seconds(matchings->plan().seconds) + " predicted";
        }
    };
    libperm::within_limits(look); // a plan is one without that, too
    return way;
}

std::unique_ptr<perm_plan> plan_beside_sum(const perm_csr *a, const perm_opts *opts) {
    perm_opts general = PERM_OPTS_INIT;
    if (opts) general = *opts;
    general.engine = nullptr; // that road has an engine of its own, which no plan has
    const libperm::Options options = libperm::read_options(&general, libperm::ApiCall::compute);
    const libperm::CurrentCall current(options);
    return plan_for_once(a, options, [](const auto &...) {});
}

namespace {

constexpr std::int64_t most_entries = 300000;          // of more it would take longer than a moment
constexpr std::int64_t most_bytes = 64 * most_entries; // of a pattern with no more than these

constexpr const char *at_leisure =
    "\n  perm_bounds (perm bounds FILE, libperm.bounds) tells what it lies between";

// The call's own time is over, and its progress told.
libperm::Options without_clock(libperm::Options options) {
    options.stop_seconds = std::numeric_limits<double>::infinity();
    options.progress = nullptr;
    return options;
}

// `read` leaves the matrix in its arguments.
template <class Read> std::string line_of(const libperm::Options &given, const Read &read) noexcept {
    try {
        const libperm::Options options = without_clock(given);
        const libperm::CurrentCall current(options);
        libperm::InputPattern input;
        libperm::Values values;
        read(input, values);
        if (input.pattern.nnz() > most_entries) return at_leisure;
        libperm::simplify(input, values);
        std::string text;
        libperm::with_threads(options.threads, [&] {
            text = "\n  " + libperm::text_of(libperm::bounds_of(input, values, options));
        });
        return text;
    } catch (const libperm::Error &error) {
        return error.status() == PERM_REFUSED_MEMORY ? at_leisure : "";
    } catch (...) { // what was refused is what counts
        return {};
    }
}

} // namespace

std::string interval_beside(const libperm::Options &options, const perm_csr *a) noexcept {
    if (options.function != libperm::MatrixFunction::permanent) return {};
    return line_of(options, [&](libperm::InputPattern &input, libperm::Values &values) {
        // Refused before it is written out where it has more entries.
        libperm::MemoryBudget of_pattern(std::min(most_bytes, options.memory_limit));
        input = libperm::read_pattern(a, &of_pattern);
        values =
            libperm::read_values(input, libperm::GivenValues(input, *a).data(), &libperm::call().memory());
    });
}

std::string interval_beside(const libperm::Options &options, const libperm::InputPattern &of_plan,
                            const void *given) noexcept {
    if (of_plan.pattern.one_sided) return {};
    return line_of(options, [&](libperm::InputPattern &input, libperm::Values &values) {
        input = of_plan;
        values = libperm::read_values(input, given, &libperm::call().memory());
    });
}

} // namespace capi
