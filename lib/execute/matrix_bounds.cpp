#include "lib/execute/matrix_bounds.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/block_run.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/plan/plan.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace libperm {
namespace {

constexpr double quick = 0.01, all_quick = 0.1; // seconds, predicted: of a block, of all
constexpr double planning = 3e-4;               // of a block
constexpr double search_effort = 0.01;
constexpr std::int32_t small_order = 20; // of any pattern; beyond, only a narrow frontier is quick
constexpr double most_expansions = 1e7;  // of one

Options options_of_exact_blocks(const Options &given) {
    Options options;
    static_cast<CallWatch &>(options) = given;
    options.device = Device::cpu;
    options.threads = given.threads;
    options.passes.scaling = true;
    options.seed = given.seed;
    options.refuse_seconds = quick;
    return options;
}

// It transfers states: what others take grows with the order alone.
Engine engine_of_narrow_blocks() {
    return std::find_if(engine_facts.begin(), engine_facts.end(),
                        [](const EngineFacts &e) { return e.transfers_states && computes_blocks(e.id); })
        ->id;
}

template <class Value> class Walk {
  public:
    Walk(const InputPattern &input, const Values &values, const Options &options, RunControl &control)
        : options_(options_of_exact_blocks(options)), control_(control) {
        values_.numbers = numbers_of(options_, !std::is_same_v<Value, Tracked>);
        values_.nonnegative = !some_negative(values);
        values_.may_be_long = some_long(values);
        rule_.passes = options.passes;
        if (!std::is_same_v<Value, Tracked>) rule_.passes.degree_2 = false; // sums of fractions grow
        rule_.poll = poll_;
        rule_.account = &control.memory();
        out_.bounded.interval = {make_scaled(1), make_scaled(1)};
        out_.of_magnitude = !values_.nonnegative;
        Decomposition<Value> decomposition(root_block<Value>(input, values, control), rule_);
        // Nothing is expanded, so all that comes is to be multiplied.
        for (StepOf<Value> step; decomposition.next(step);) {
            control.poll();
            if (auto *leaf = std::get_if<LeafOf<Value>>(&step))
                take(std::move(*leaf));
            else if (const auto *number = std::get_if<Value>(&step))
                multiply({interval_of(ball_of(*number))});
        }
        if (input.free_lines() > 0) {
            mpz_class ways;
            mpz_fac_ui(ways.get_mpz_t(), static_cast<unsigned long>(input.free_lines()));
            out_.bounded.interval = out_.bounded.interval / ways;
        }
        if (out_.bounded.interval.upper.mantissa == 0)
            out_.bounded.lower_method = out_.bounded.upper_method = "exact";
    }

    const MatrixBounds &result() const { return out_; }

  private:
    void multiply(const Bounded &x) {
        out_.bounded.interval = out_.bounded.interval * x.interval;
        const double gap = log2_gap(x.interval);
        if (!(gap > widest_)) return;
        widest_ = gap;
        out_.bounded.lower_method = x.lower_method;
        out_.bounded.upper_method = x.upper_method;
    }

    void take(LeafOf<Value> leaf) {
        ++out_.blocks;
        const bool lacks_matching =
            std::any_of(leaf.block.values.begin(), leaf.block.values.end(),
                        [](const Value &x) { return is_zero(x); }) &&
            maximum_matching(nonzero_pattern(leaf.block), poll_).size < leaf.block.n();
        if (lacks_matching) {
            ++out_.blocks_exact;
            return multiply({});
        }
        if (const std::optional<Interval> exactly = computed(leaf)) {
            ++out_.blocks_exact;
            return multiply({*exactly});
        }
        const Charge charge(&control_.memory(), 4 * bytes_of(leaf.block));
        multiply(bounds_of_block(magnitudes_between(std::move(leaf.block), poll_), poll_));
    }

    std::optional<Interval> computed(const LeafOf<Value> &leaf) {
        const bool is_small = leaf.block.n() <= small_order;
        if (spent_ > all_quick ||
            (!is_small && least_frontier(leaf.block.pattern).expansions > most_expansions))
            return {};
        Options options = options_;
        if (!is_small) options.engine = engine_of_narrow_blocks();
        try {
            const BlockPlan plan =
                plan_block(leaf.block.pattern, leaf.kinds, values_, options, control_, search_effort);
            spent_ += planning;
            if (plan.refusal != PERM_OK || plan.best().cost.serial_seconds > quick) return {};
            spent_ += plan.best().cost.serial_seconds;
            const Outcome outcome = run_block({plan, options, control_, control_.memory(), {}}, leaf.block);
            if constexpr (std::is_same_v<Value, Tracked>)
                return interval_of(Ball{outcome.value, outcome.error});
            else
                return interval_of(WideBall{outcome.wide.value_or(Gaussian()), outcome.error});
        } catch (const Error &error) {
            if (!is_limit(error.status())) throw;
            return {};
        }
    }

    const Options options_;
    RunControl &control_;
    const Poll poll_ = [this] { control_.poll(); };
    BlockValues values_;
    DecompositionRule<Value> rule_;
    MatrixBounds out_;
    double widest_ = 0, spent_ = 0;
};

} // namespace

MatrixBounds bounds_of(const InputPattern &input, const Values &values, const Options &options,
                       RunControl &control) {
    const Charge charge(&control.memory(), bytes_of(input.pattern));
    if (some_complex(values)) return Walk<Gaussian>(input, values, options, control).result();
    return Walk<Tracked>(input, values, options, control).result();
}

std::string text_of(const MatrixBounds &bounds) {
    constexpr std::size_t digits = 6;
    constexpr double outwards = 5.1e-6; // what rounding to so many may move
    const Bounded &b = bounds.bounded;
    const char *what = bounds.of_magnitude ? "|perm(A)|" : "perm(A)";
    const auto moved = [](const Scaled &x, double by) { return make_scaled(x.mantissa * by, x.exp2); };
    if (b.interval.is_point()) return formatted("{} is {}", what, to_text(b.interval.lower, every_digit));
    const std::string upper =
        formatted("{} ({})", to_text(moved(b.interval.upper, 1 + outwards), digits), b.upper_method);
    std::string text =
        b.interval.lower.mantissa == 0
            ? formatted("{} is at most {}", what, upper)
            : formatted("{} lies between {} ({}) and {}", what,
                        to_text(moved(b.interval.lower, 1 - outwards), digits), b.lower_method, upper);
    if (bounds.blocks > 1)
        text += formatted("; {} of {} blocks are exact", bounds.blocks_exact, bounds.blocks);
    return text;
}

} // namespace libperm
