#include "lib/execute/matrix_bounds.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/execute/block_run.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/plan/block_product.hpp"
#include "lib/run/call.hpp"
#include "preprocess/limits.hpp"

#include <algorithm>
#include <optional>

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

// The algebra of intervals (lib/plan/block_product.hpp).
template <class Value> class BlockBounds {
  public:
    BlockBounds(const InputPattern &input, const Values &values, const Options &options)
        : options_(options_of_exact_blocks(options)), values_(block_values_of<Value>(values, options_)) {
        out_.bounded.interval = {make_scaled(1), make_scaled(1)};
        out_.of_magnitude = !values_.nonnegative;
        multiply_blocks<Value>(input, values, options.passes, *this);
        if (out_.bounded.interval.upper.mantissa == 0)
            out_.bounded.lower_method = out_.bounded.upper_method = "exact";
    }

    const MatrixBounds &result() const { return out_; }

    void number(const Value &x) { multiply({interval_of(ball_of(x))}); }
    void divide(const mpz_class &ways) { out_.bounded.interval = out_.bounded.interval / ways; }
    void zero_block() {
        ++out_.blocks;
        ++out_.blocks_exact;
        multiply({});
    }
    void block(LeafOf<Value> &&leaf) {
        ++out_.blocks;
        if (const std::optional<Interval> exactly = computed(leaf)) {
            ++out_.blocks_exact;
            return multiply({*exactly});
        }
        const Charge charge(&call().memory(), 4 * bytes_of(leaf.block));
        multiply(bounds_of_block(magnitudes_between(std::move(leaf.block))));
    }

  private:
    void multiply(const Bounded &x) {
        out_.bounded.interval = out_.bounded.interval * x.interval;
        const double gap = log2_gap(x.interval);
        if (!(gap > widest_)) return;
        widest_ = gap;
        out_.bounded.lower_method = x.lower_method;
        out_.bounded.upper_method = x.upper_method;
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
                plan_block(leaf.block.pattern, leaf.kinds, values_, options, search_effort);
            spent_ += planning;
            if (plan.refusal != PERM_OK || plan.best().cost.serial_seconds > quick) return {};
            spent_ += plan.best().cost.serial_seconds;
            return interval_of(ball_of_outcome<Value>(
                run_block({plan, options, call().memory(), {}}, BlockOf<Value>(leaf.block))));
        } catch (const Error &error) {
            if (!is_limit(error.status())) throw;
            return {};
        }
    }

    const Options options_;
    BlockValues values_;
    MatrixBounds out_;
    double widest_ = 0, spent_ = 0;
};

} // namespace

MatrixBounds bounds_of(const InputPattern &input, const Values &values, const Options &options) {
    const Charge charge(&call().memory(), bytes_of(input.pattern));
    if (some_complex(values)) return BlockBounds<Gaussian>(input, values, options).result();
    return BlockBounds<Tracked>(input, values, options).result();
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
