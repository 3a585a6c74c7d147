#include "lib/periodic/answers/answers.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/periodic/answers/float_terms.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/run/placement.hpp"

#include <algorithm>

namespace libperm {
namespace {

class Asked {
  public:
    Asked(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, RunControl &control,
          double instant_seconds)
        : plan_(&plan), first_(first), count_(count), control_(&control), instant_seconds_(instant_seconds) {}

    std::vector<Outcome> answered() const {
        const Options &options = plan_->options;
        require_device();
        if (options.modulus != 0) return modulo(options.modulus);
        const bool by_tables = plan_->tables.has_value(); // exactly, whatever is asked: doubles take as long
        switch (options.precision) {
        case Precision::exact:
            return exactly();
        case Precision::automatic:
            return by_tables ? exactly() : automatically();
        case Precision::double_:
        case Precision::dd:
            return by_tables ? exactly() : in_floats(options.precision == Precision::dd);
        default:
            throw Error(PERM_UNSUPPORTED,
                        "a periodic matrix is computed with precision auto, double, dd, exact or "
                        "mod:P");
        }
    }

  private:
    void require_device() const {
        const Options &options = plan_->options;
        const bool exact = plan_->tables || options.precision == Precision::exact ||
                           (options.precision == Precision::automatic && plan_->integers);
        const bool doubles = options.precision == Precision::double_ && options.modulus == 0 &&
                             squares_on_device(*plan_, first_, count_);
        const bool modulo = options.modulus != 0 && squares_modulo(*plan_, options.modulus, first_, count_);
        if (options.device == Device::gpu && !doubles && !modulo &&
            !(exact && options.modulus == 0 && walks_on_device(*plan_, first_)))
            throw Error(PERM_UNSUPPORTED,
                        "of periodic matrices a GPU takes exact numbers of joined ends, not too far out, "
                        "doubles and residues "
                        "far out, and the growth of operators too large to be written out: leave the device "
                        "to auto");
    }

    std::int64_t last() const { return first_ + count_ - 1; }

    // Below `soon`, or beyond `late`, how many they are does not matter, and to find out may take longer.
    double seconds_exactly(double soon, double late) const {
        const double factor = factor_bits(integer_entries(*plan_, [this] { control_->poll(); }), last());
        const auto seconds = [&](double bits) {
            return exact_seconds(*plan_, first_, count_, bits + factor) / plan_->options.threads;
        };
        const double at_most = seconds(most_bits(*plan_, last())), at_least = seconds(0);
        if (at_most < soon || at_least > late) return at_least > late ? at_least : at_most;
        return seconds(estimated_bits(*plan_, last(), *control_));
    }

    void refuse_beyond(double here, const char *numbers) const {
        if (here > plan_->options.refuse_seconds)
            throw refused_for_time(formatted("{} cells {} are", last(), numbers), here, plan_->options,
                                   "raise the limit (time_limit_seconds), or ask for the residue modulo a "
                                   "prime (precision mod:P)");
        control_->begin(0, here);
    }

    std::vector<Outcome> modulo(std::uint64_t prime) const {
        refuse_beyond(modular_seconds(*plan_, prime, first_, count_) / plan_->options.threads,
                      "modulo a prime");
        std::vector<Outcome> outcomes;
        bool on_gpu = false;
        for (const std::uint64_t residue :
             terms_modulo_prime(*plan_, prime, first_, count_, *control_, on_gpu)) {
            outcomes.emplace_back();
            set_value(outcomes.back(), WideBall{{mpq_class(mpz_class(residue)), 0}, {}});
            outcomes.back().on_gpu = on_gpu;
        }
        return outcomes;
    }

    std::vector<Outcome> exactly() const {
        const double limit = plan_->options.refuse_seconds;
        refuse_beyond(seconds_exactly(std::min(limit, 1.0), limit), "exactly");
        return exact_terms(*plan_, first_, count_, *control_);
    }

    std::vector<Outcome> in_floats(bool dd) const {
        refuse_beyond(float_seconds(*plan_, first_, count_, dd) / plan_->options.threads, "in doubles");
        return float_terms(*plan_, first_, count_, dd, *control_);
    }

    std::vector<Outcome> automatically() const {
        constexpr double times = 4; // those of doubles
        const auto is_soon = [&](double most) {
            const double limit = std::min(plan_->options.refuse_seconds, most);
            return seconds_exactly(limit, limit) <= limit;
        };
        const double in_doubles = float_seconds(*plan_, first_, count_, false), soon = instant_seconds_;
        if (plan_->integers && soon > 0 && is_soon(std::max(soon, times * in_doubles))) return exactly();
        std::vector<Outcome> outcomes = in_floats(false);
        const Escalation escalation(plan_->options);
        const auto misses = [&](const Outcome &x) { return !escalation.is_met(x.rel_error_bound); };
        if (std::none_of(outcomes.begin(), outcomes.end(), misses)) return outcomes;
        const auto again = [&](auto &&work) {
            std::vector<Outcome> others;
            if (!within_limits([&] { others = work(); })) return;
            for (std::size_t k = 0; k < outcomes.size(); ++k)
                if (is_better(others[k], outcomes[k])) outcomes[k] = others[k];
        };
        again([&] { return in_floats(true); });
        if (std::any_of(outcomes.begin(), outcomes.end(), misses) && is_soon(Escalation::exact.most_seconds))
            again([&] { return exactly(); });
        return outcomes;
    }

    const PeriodicPlan *plan_;
    std::int64_t first_, count_;
    RunControl *control_;
    double instant_seconds_;
};

// Tables have exact numbers alone. Where doubles will do, and these are longer in coming than the operator in
// being written, it is.
bool wants_written(const PeriodicPlan &plan, std::int64_t last, double instant_seconds) {
    constexpr double of_move = 300e-9; // seconds; a table's moves are half the operator's
    const Options &options = plan.options;
    const bool automatic = options.precision == Precision::automatic,
               takes_doubles =
                   automatic || options.precision == Precision::double_ || options.precision == Precision::dd;
    if (!plan.tables || !plan.may_be_written || options.device == Device::gpu || options.modulus != 0 ||
        !takes_doubles)
        return false;
    const double by_table = exact_seconds(plan, last, 1, most_bits(plan, last)) / options.threads;
    return by_table > std::max(of_move * plan.moves(), automatic ? instant_seconds : 0.0);
}

} // namespace

std::vector<Outcome> periodic_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                    RunControl &control, double instant_seconds) {
    require_length(plan, first);
    if (count < 0) throw Error(PERM_BAD_ARGUMENT, formatted("count is {}: it must be 0 or more", count));
    if (count == 0) return {};
    require_length(plan, first + count - 1);
    if (wants_written(plan, first + count - 1, instant_seconds))
        return periodic_terms(written_out(plan, control), first, count, control, instant_seconds);
    const Charge of_plan(&control.memory(), held_bytes(plan));
    const Charge of_outcomes(&control.memory(), count * static_cast<std::int64_t>(2 * sizeof(Outcome)));
    std::vector<Outcome> outcomes = Asked(plan, first, count, control, instant_seconds).answered();
    for (Outcome &outcome : outcomes) {
        outcome.engine = engine_for(Goal::terms);
        outcome.transposed = plan.program.transposed;
        outcome.blocks = outcome.blocks_computed = 1;
        outcome.counts.peak_states = static_cast<double>(plan.states());
        outcome.counts.peak_bytes = control.memory().peak();
    }
    return outcomes;
}

double periodic_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                        double instant_seconds) {
    const Options &options = plan.options;
    const bool is_exact = options.precision == Precision::exact,
               is_open = options.precision == Precision::automatic;
    if (options.modulus != 0) return modular_seconds(plan, options.modulus, first, count) / options.threads;
    const double bits = most_bits(plan, first + count - 1),
                 exactly = exact_seconds(plan, first, count, bits) / options.threads;
    if (is_exact || (is_open && plan.integers && exactly <= instant_seconds)) return exactly;
    return float_seconds(plan, first, count, options.precision == Precision::dd) / options.threads;
}

} // namespace libperm
