#include "lib/execute/plan_gradient.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/graph_minors.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/glynn/minors/left_out_in_pieces.hpp"
#include "lib/number/doubles.hpp"
#include "lib/run/call.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/placement.hpp"
#include "preprocess/index.hpp"
#include "preprocess/limits.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr double move_seconds = 4.5e-9; // of a gradient along a tape
constexpr double sums_overhead = 5e-6;
constexpr double making = 4; // times what it takes to go along it once: to make a tape
// To make a tape and to go along it a few times: what it is worth beside tables over sets, which need nothing
// made.
constexpr double whole_move_seconds = 5e-8;

// Seconds: nothing else is looked for; where there is no tape yet, or there is one.
constexpr double quick_alone = 0.02, quick_sets = 2e-3, quick_tape = 2e-4;

bool is_complex(const Plan &plan) { return plan.input.value_type == PERM_VALUE_C128; }

// How sums would go for a plan's values.
struct SumsWay {
    double seconds = infinity; // infinite: they are not for this plan
    bool on_gpu = false;
    double weight =
        infinity; // seconds that count against a tape: whatever the threads, so that bits are the same

    bool is_none() const { return seconds == infinity; }
};

LeftOutShape shape_of(const Plan &plan) {
    const std::vector<int> ones(at(columns_for_gradient(plan.n())), 1);
    return {LeftOut::gradients, ones, ones, is_complex(plan)};
}

SumsWay way_of_sums(const Plan &plan) {
    const bool is_square = plan.input.free_lines() == 0;
    if (plan.n() < 1 || plan.n() > most_gradient_order || !is_square || plan.input.pattern.one_sided ||
        plan.options.engine == engine_for(Goal::gradient))
        return {};
    constexpr int usual_threads = 2;
    const LeftOutShape shape = shape_of(plan);
    const auto seconds_by = [&, most = static_cast<int>(shape.share().tasks())](int threads) {
        return sums_overhead + shape.seconds() / std::min(threads, most);
    };
    const double seconds = seconds_by(plan.options.threads), weight = seconds_by(usual_threads);
    const PlanMachine machine(plan.options);
    if (plan.options.device == Device::gpu && !machine.has_gpu()) return {seconds, false, weight};
    if (!goes_to_gpu(plan.options, shape, 1, seconds)) return {seconds, false, weight};
    const double on_gpu = left_out_seconds(shape, machine.gpu());
    return {on_gpu, true, on_gpu};
}

// Throws Error if it would take too long.
SumsWay required_way(const Plan &plan, bool on_gpu, double share) {
    SumsWay way = way_of_sums(plan);
    way.on_gpu &= on_gpu;
    const double seconds = way.seconds * share;
    if (seconds > plan.options.refuse_seconds)
        throw refused_for_time(
            formatted("the derivatives by sums over 2^{} signs are", columns_for_gradient(plan.n()) - 1),
            seconds, plan.options);
    return way;
}

// Reads the plan's matrix, with ones on a diagonal below where it is a small one.
void read_lines(const Plan &plan, const GradientEntries &entries, GridMatrix &lines) {
    const Pattern &pattern = plan.input.pattern;
    const bool complex = is_complex(plan);
    const std::size_t parts = complex ? 2 : 1;
    const std::vector<double> numbers = entries.blocks({entries.arithmetic(), false, 1}, {});
    if (entries.are_rounded()) lines.tell_rounded();
    for (std::int32_t i = 0; i < plan.n(); ++i)
        for (std::int64_t k = pattern.row_begin(i); k < pattern.row_ptr[at(i) + 1]; ++k)
            lines.set(i, pattern.col[at(k)], numbers[at(k) * parts],
                      complex ? numbers[at(k) * parts + 1] : 0);
    for (int i = plan.n(); i < columns_for_gradient(plan.n()); ++i) lines.set(i, i, 1);
    lines.fix(); // finite: they were read
}

LeftOutPieces pieces_of(const LeftOutShape &shape) { return {shape, 1, shape.seconds()}; }

// The sums of one plan's values, wherever they are summed: on a GPU, in pieces that are kept, or at once.
class SumsOfPlan {
  public:
    SumsOfPlan(const Plan &plan, const GradientEntries &entries)
        : plan_(plan), entries_(entries), shape_(shape_of(plan)), lines_(shape_.no_lines()) {
        read_lines(plan, entries, lines_);
    }

    // The lines stay here.
    LeftOutSums run(const SumsWay &way, int threads, Outcome &outcome) {
        const auto on_gpus = [&] {
            GpuQueues queues(plan_.options);
            const DeviceQueues all = queues.when_needed();
            begin(way.seconds, PlanMachine(plan_.options).gpu_count());
            outcome.counts.peak_bytes = run_pieces({&all, way.seconds, threads});
            outcome.on_gpu = true;
            outcome.counts.seconds_compile = queues.compile_seconds();
            outcome.counts.kernels_compiled = queues.kernels_compiled();
        };
        if (!way.on_gpu || !run_on_gpu(left_out_work, plan_.options, on_gpus)) {
            begin(shape_.seconds(), threads);
            call().memory().take(shape_.bytes(threads));
            if (!call().pieces().store) return {shape_, lines_, threads};
            with_threads(threads, [&] { run_pieces({}); });
        }
        return {LeftOut::gradients, lines_, sums_ ? std::move(*sums_) : shape_.no_sums()};
    }

  private:
    void begin(double seconds, int workers) const {
        const double all = call().pieces().share() * seconds;
        call().begin(all, all / workers);
    }
    std::int64_t run_pieces(const LeftOutDevices &where) {
        return pieces_of(shape_).run(
            {[&](std::int64_t, GridMatrix &lines) { read_lines(plan_, entries_, lines); },
             [&](std::int64_t, const GridMatrix &, LineSums sums) { sums_ = std::move(sums); }},
            where);
    }

    const Plan &plan_;
    const GradientEntries &entries_;
    const LeftOutShape shape_;
    GridMatrix lines_;
    std::optional<LineSums> sums_; // none where they are of a shard
};

// One of an entry's copies stands for all.
void put_gradient(const Plan &plan, const std::vector<std::int64_t> &places, const PowerScaling &scaling,
                  const LeftOutSums &sums, double *gradient, double *error_bounds) {
    const Pattern &pattern = plan.input.pattern;
    const std::size_t parts = is_complex(plan) ? 2 : 1;
    const auto given_entries =
        static_cast<std::size_t>((plan.input.written ? plan.input.written->pattern : pattern).nnz());
    std::vector<std::int32_t> copies(given_entries, 0), row(given_entries, 0), column(given_entries, 0);
    for (std::int32_t i = 0; i < plan.n(); ++i)
        for (std::int64_t k = pattern.row_begin(i); k < pattern.row_ptr[at(i) + 1]; ++k) {
            const std::size_t place = at(places.empty() ? k : places[at(k)]);
            ++copies[place];
            row[place] = i;
            column[place] = pattern.col[at(k)];
        }
    for (std::size_t c = 0; c < given_entries; ++c) {
        double bound = 0;
        std::fill_n(gradient + c * parts, parts, 0.0);
        if (copies[c] > 0)
            bound = sums.put(row[c], column[c], copies[c],
                             scaling.row[at(row[c])] + scaling.col[at(column[c])] - scaling.total,
                             gradient + c * parts);
        if (error_bounds) error_bounds[c] = bound;
    }
}

TapeAnswer permanent_of(const LeftOutSums &sums, const PowerScaling &scaling, int n, bool complex,
                        Outcome &outcome) {
    TapeAnswer answer = sums.permanent(-scaling.total);
    outcome.value = answer.re;
    outcome.error = answer.error;
    outcome.rel_error_bound = answer.rel_error_bound;
    outcome.exact = answer.exact;
    outcome.counts.subsets = std::ldexp(1.0, n - 1);
    outcome.counts.operations = std::ldexp(n * (complex ? 24.0 : 10.0), n - 1);
    outcome.counts.peak_bytes += call().memory().peak();
    outcome.blocks = outcome.blocks_computed = 1;
    outcome.engine = engine_for(Goal::dense);
    return answer;
}

bool within_time(const SetGradient &sets, const Options &options) {
    return sets.seconds(options.threads) <= options.refuse_seconds;
}

Error refused_for_memory(const SetGradient &sets, const Options &options) {
    const auto readable = [](std::int64_t bytes) { return readable_bytes(static_cast<double>(bytes)); };
    return {PERM_REFUSED_MEMORY,
            formatted("the marginals take tables over sets of {:.3g} lines that wait at once, {}; {} is the "
                      "limit\n  raise the limit: memory_limit_bytes",
                      std::log2(sets.peak_states()), readable(sets.bytes()), readable(options.memory_limit))};
}

bool is_asked_for_inverse(const Plan &plan) { return plan.options.engine == engine_for(Goal::inverse); }

// Whether the tape takes longer than so many seconds for certain, or what it takes to make one.
bool is_beyond_tape(const Plan &plan, const TapePlan *direct, double seconds) {
    if (direct) return static_cast<double>(direct->tape().moves.size()) * move_seconds > seconds;
    return least_frontier(plan.input.pattern).expansions > making * seconds / move_seconds;
}

// Whether the frontier takes longer than one determinant for the block that takes longest: both are gone
// along thrice.
bool is_best_planar(const Plan &plan, const TapePlan *direct) {
    if (!PlanarGradient::may_serve(plan)) return false;
    if (is_asked_for_inverse(plan)) return true;
    const BlockPlan *block = direct ? nullptr : plan.main_block();
    const auto *planar = block ? plan_as<PlanarPlan>(block->best()) : nullptr;
    return planar && planar->sum.terms.size() == 1;
}

// Whether to look for a drawing before there is a tape: it takes time and memory.
bool is_drawing_worth(const Plan &plan, const TapePlan *direct) {
    constexpr double of_entry = 2e-6; // seconds
    return is_best_planar(plan, direct) ||
           (direct && is_beyond_tape(plan, direct, of_entry * static_cast<double>(plan.input.pattern.nnz())));
}

// The quickest way but for a tape.
struct OtherWay {
    const PlanarGradient *planar = nullptr; // null: by sums
    SumsWay sums;

    bool is_none() const { return !planar && sums.is_none(); }
    double weight() const { return planar ? planar->seconds() : sums.weight; }
    double seconds() const { return planar ? planar->seconds() : sums.seconds; }
    bool is_certain(const Plan &plan, const TapePlan *direct) const {
        return (planar && is_best_planar(plan, direct)) || is_beyond_tape(plan, direct, weight());
    }
};

// `planar` may be null.
OtherWay other_than_tape(const Plan &plan, const PlanarGradient *planar, Goal goal) {
    OtherWay other;
    if (goal == Goal::gradient) other.sums = way_of_sums(plan);
    if (planar && (is_asked_for_inverse(plan) || planar->seconds() < other.sums.weight))
        other.planar = planar;
    return other;
}

// The tape, where an inverse does not tell.
const Gradient &tape_instead(const GradientWay &way, const Plan &plan) {
    try {
        return way.of->tape(plan, way.direct);
    } catch (const Error &error) {
        if (!is_refused(error)) throw;
        throw Error(error.status(),
                    formatted("the permanent is 0, or so near to it that no inverse tells its "
                              "derivatives; {}",
                              error.what()));
    }
}

// Of a graph, for certain.
bool goes_by_minors(const Plan &plan, bool is_tape_too_large) {
    const Engine asked = plan.options.engine;
    if (asked == engine_for(Goal::gradient)) return false;
    return is_tape_too_large || plan.options.names_engine();
}

// Of a graph's tape beside its minors; of another, or where it is named, as many as there may be.
double most_moves_of_graph(const Plan &plan) {
    constexpr double always = 1e5, worth = 2; // moves; times what the minors take, for it is kept
    if (!plan.input.pattern.one_sided || plan.options.names_engine()) return 0x1p32;
    return std::max(always, worth * seconds_of_minors(plan) / whole_move_seconds);
}

} // namespace

GradientForecast PlanGradient::forecast(const Plan &plan, const TapePlan *direct) const {
    if (plan.input.pattern.one_sided)
        return {goes_by_minors(plan, is_tape_too_large_[3]) ? engine_for(Goal::minors)
                                                            : engine_for(Goal::gradient),
                false};
    const PlanarGradient *planar = planar_.if_known();
    if (!planar && is_best_planar(plan, direct)) return {engine_for(Goal::inverse), false};
    const OtherWay other = other_than_tape(plan, planar, Goal::gradient);
    if (other.is_none()) return {};
    if (!is_tape_too_large_[other.planar ? 1 : 0] && !other.is_certain(plan, direct)) return {};
    return other.planar ? GradientForecast{engine_for(Goal::inverse), false}
                        : GradientForecast{engine_for(Goal::dense), other.sums.on_gpu};
}

ShardCount shards_of_sums(const Plan &plan) { return pieces_of(shape_of(plan)).shards(); }

GradientWay PlanGradient::way_by(Engine engine, const Plan &plan, const TapePlan *direct) const {
    const auto begun = [](const char *how) {
        return Error(PERM_BAD_ARGUMENT, formatted("the derivatives were begun {}, which this plan's matrix "
                                                  "with these options has not: begin anew",
                                                  how));
    };
    if (engine == engine_for(Goal::gradient))
        return along(tape(plan, direct, most_moves_of_graph(plan)), direct);
    if (engine == engine_for(Goal::inverse)) {
        const PlanarGradient *planar = this->planar(plan);
        if (!planar) throw begun("by an inverse at the entries");
        return {.planar = planar, .of = this, .direct = direct};
    }
    if (engine == engine_for(Goal::minors)) {
        if (!plan.input.pattern.one_sided) throw begun("by the hafnians of what is left");
        return GradientWay{.by_minors = true};
    }
    const SumsWay sums = way_of_sums(plan);
    if (sums.is_none()) throw begun("by sums over signs");
    return {.on_gpu = sums.on_gpu};
}

GradientWay PlanGradient::way(const Plan &plan, const TapePlan *direct, Goal goal) const {
    if (plan.input.pattern.one_sided) return way_of_graph(plan, direct, goal);
    const PlanarGradient *planar = is_drawing_worth(plan, direct) ? this->planar(plan) : planar_.if_known();
    const OtherWay other = other_than_tape(plan, planar, goal);
    if (goal == Goal::marginals)
        if (const auto found = way_of_marginals(plan, direct, other.seconds())) return *found;
    if (other.is_none()) return by_tape(plan, direct, goal);
    const GradientWay without_tape{
        .planar = other.planar, .on_gpu = !other.planar && other.sums.on_gpu, .of = this, .direct = direct};
    std::atomic<bool> &is_too_large = is_tape_too_large_[other.planar ? 1 : 0];
    if (is_too_large || other.is_certain(plan, direct)) return without_tape;
    const double most_moves = making * other.weight() / move_seconds;
    try {
        return along(tape(plan, direct, most_moves, goal), direct);
    } catch (const Error &error) {
        if (!is_refused(error) || other.seconds() > plan.options.refuse_seconds) throw;
        is_too_large = true;
        return without_tape;
    }
}

// Along a tape where that takes no longer than the minors.
GradientWay PlanGradient::way_of_graph(const Plan &plan, const TapePlan *direct, Goal goal) const {
    if (goes_by_minors(plan, is_tape_too_large_[3])) return GradientWay{.by_minors = true};
    try {
        return along(tape(plan, direct, most_moves_of_graph(plan), goal), direct);
    } catch (const Error &error) {
        if (!is_refused(error) || plan.options.names_engine()) throw;
        is_tape_too_large_[3] = true;
        return GradientWay{.by_minors = true};
    }
}

// Where a tape of as many moves as take the same time would do, it is tried first: of a sparse matrix few of
// the sets are met.
std::optional<GradientWay> PlanGradient::way_of_marginals(const Plan &plan, const TapePlan *direct,
                                                          double other_seconds) const {
    const Options &options = plan.options;
    if (!may_go_by_sets(plan.input, options)) return {};
    if (direct && static_cast<double>(direct->tape().moves.size()) * move_seconds < quick_tape) return {};
    const SetGradient *sets = sets_.of([&] { return SetGradient::of(as_given(plan.input), options); });
    if (!sets || other_seconds <= sets->serial_seconds()) return {};
    const double seconds = sets->serial_seconds();
    const bool may_be = sets->fits(options) && within_time(*sets, options);
    if (may_be &&
        (is_tape_too_large_[2] || seconds < quick_sets ||
         (direct ? is_beyond_tape(plan, direct, seconds) : are_quickest(*sets, plan.input.pattern, options))))
        return GradientWay{.sets = sets, .of = this, .direct = direct};
    try {
        const double most_moves = may_be ? seconds / whole_move_seconds : 0x1p32;
        return along(tape(plan, direct, most_moves, Goal::marginals), direct);
    } catch (const Error &error) {
        if (!is_refused(error)) throw;
        if (!may_be)
            if (const PlanarGradient *planar = instead_of_tape(plan))
                return GradientWay{.planar = planar, .of = this, .direct = direct};
        if (!sets->fits(options)) throw refused_for_memory(*sets, options);
        if (!within_time(*sets, options))
            throw refused_for_time("the marginals by tables over sets of lines are",
                                   sets->seconds(options.threads), options);
        is_tape_too_large_[2] = true;
        return GradientWay{.sets = sets, .of = this, .direct = direct};
    }
}

GradientWay PlanGradient::by_tape(const Plan &plan, const TapePlan *direct, Goal goal) const {
    try {
        return along(tape(plan, direct, 0x1p32, goal), direct);
    } catch (const Error &error) {
        if (!is_refused(error)) throw;
        const PlanarGradient *planar = this->planar(plan);
        if (!planar || planar->seconds() > plan.options.refuse_seconds) throw;
        is_tape_too_large_[1] = true;
        return {.planar = planar, .of = this, .direct = direct};
    }
}

bool may_go_by_sets(const InputPattern &input, const Options &options) {
    return !input.pattern.one_sided && !input.multiplied && input.value_type != PERM_VALUE_C128 &&
           options.engine != engine_for(Goal::inverse);
}

bool are_quickest(const SetGradient &sets, const Pattern &pattern, const Options &options) {
    if (!sets.fits(options) || !within_time(sets, options)) return false;
    const double seconds = sets.serial_seconds();
    return seconds < quick_alone || least_frontier(pattern).expansions > seconds / whole_move_seconds;
}

TapeAnswer answer_of_sets(const SetValue &of) {
    TapeAnswer answer;
    answer.re = of.value;
    answer.exact = of.value.mantissa == 0;
    answer.set_error(of.value,
                     make_scaled(of.value.mantissa * of.rel_error_bound * (1 + 0x1p-40), of.value.exp2));
    return answer;
}

Engine GradientWay::engine() const {
    return engine_for(tape || sets ? Goal::gradient
                      : planar     ? Goal::inverse
                      : by_minors  ? Goal::minors
                                   : Goal::dense);
}

const PlanarGradient *PlanGradient::instead_of_tape(const Plan &plan) const {
    const PlanarGradient *found = nullptr;
    static_cast<void>(within_limits([&] { found = planar(plan); }));
    return found && found->seconds() <= plan.options.refuse_seconds ? found : nullptr;
}

// Doubles may lose all digits along a tape, an inverse tells nothing where the permanent may be 0.
template <class By> TapeAnswer GradientWay::by_either(const Plan &plan, const By &by) const {
    if (planar)
        if (const auto found = by(*planar)) return *found;
    const TapeAnswer answer = by(tape   ? *tape
                                 : sets ? of->tape(plan, direct, 0x1p32, Goal::marginals)
                                        : tape_instead(*this, plan));
    if (planar || answer.exact || answer.rel_error_bound < 1) return answer;
    const PlanarGradient *other = of->instead_of_tape(plan);
    const auto found = other ? by(*other) : std::nullopt;
    return found ? *found : answer;
}

namespace {

// A tape reads one half alone, and nothing that does not count.
void require_graph(const Plan &plan, const void *values) {
    if (plan.input.pattern.one_sided && plan.input.value_type != PERM_VALUE_PATTERN)
        static_cast<void>(read_values(plan.input, values));
}

} // namespace

TapeAnswer GradientWay::run(const Plan &plan, int threads, const void *values, double *gradient,
                            double *error_bounds, Outcome &outcome) const {
    if (tape || planar) {
        require_graph(plan, values);
        const auto by = [&](const auto &way) {
            return way.run(plan, values, gradient, error_bounds, outcome);
        };
        return by_either(plan, by);
    }
    if (by_minors) {
        TapeAnswer answer;
        with_threads(threads,
                     [&] { answer = gradient_by_minors(plan, values, gradient, error_bounds, outcome); });
        return answer;
    }
    poll();
    const SumsWay way = required_way(plan, on_gpu, call().pieces().share());
    const std::vector<std::int64_t> places = caller_places(plan.input);
    const GradientEntries entries(plan.input, places, values);
    SumsOfPlan of_plan(plan, entries);
    const LeftOutSums sums = of_plan.run(way, threads, outcome);
    put_gradient(plan, places, entries.scaling(), sums, gradient, error_bounds);
    return permanent_of(sums, entries.scaling(), columns_for_gradient(plan.n()), is_complex(plan), outcome);
}

std::optional<TapeAnswer> marginals_by_sets(const SetGradient &sets, const InputPattern &given,
                                            const void *values, MarginalNumbers to, const Options &options,
                                            Outcome &outcome) {
    std::vector<double> own;
    const double *plain = plain_weights(given, values, own);
    if (!plain) return {};
    std::optional<SetValue> found;
    bool on_gpu = false;
    run_placed(sets.work(options), options, [&](const DeviceQueues *gpus) {
        on_gpu = gpus != nullptr;
        found = sets.run(plain, to.marginals, to.bounds, on_gpu ? &(*gpus)[0] : nullptr);
    });
    if (!found) return {};
    TapeAnswer answer = answer_of_sets(*found);
    outcome = {};
    outcome.on_gpu = on_gpu;
    outcome.value = answer.re;
    outcome.error = answer.error;
    outcome.rel_error_bound = answer.rel_error_bound;
    outcome.engine = engine_for(Goal::gradient);
    outcome.blocks = outcome.blocks_computed = 1;
    outcome.counts.states = sets.states();
    outcome.counts.peak_states = sets.peak_states();
    outcome.counts.operations = sets.operations();
    outcome.counts.peak_bytes = call().memory().peak() + (on_gpu ? sets.device_bytes() : 0);
    return answer;
}

TapeAnswer GradientWay::marginals(const Plan &plan, const void *values, double *marginals,
                                  double *error_bounds, Outcome &outcome) const {
    const auto one_by_one = [&] {
        return marginals_by_minors(plan, values, marginals, error_bounds, outcome);
    };
    if (by_minors) return one_by_one();
    require_graph(plan, values);
    const auto by = [&](const auto &way) {
        return way.marginals(plan, values, marginals, error_bounds, outcome);
    };
    const TapeAnswer answer = by_either(plan, by);
    const bool has_others = plan.input.pattern.one_sided && !plan.options.names_engine();
    return has_others && !answer.exact && answer.rel_error_bound >= 1 ? one_by_one() : answer;
}

} // namespace libperm
