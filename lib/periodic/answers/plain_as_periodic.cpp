#include "lib/periodic/answers/periodic_plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/periodic/answers/periodic_task.hpp"
#include "lib/periodic/cell/found_cells.hpp"
#include "lib/run/escalation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

bool is_usual(const InputPattern &input, const Options &o) {
    const bool has_numbers = o.precision == Precision::automatic || o.precision == Precision::double_ ||
                             o.precision == Precision::dd || o.precision == Precision::exact;
    return o.passes.periodic && has_numbers && !o.names_engine() && o.device != Device::gpu &&
           o.reckoned_gpus == 0 && !o.machine && o.checkpoint.empty() && !o.decompose_as_published &&
           !input.written && !input.repeats && input.free_lines() == 0;
}

// Seconds of an entry that is taken apart, and of a move that is written: measured on one core of an AMD
// EPYC.
constexpr double of_entry = 1.5e-6, of_move = 150e-9;

// Whoever counts wants the last digit as well (lib/execute).
double instant_seconds(const InputPattern &input) { return counts(input.value_type) ? unnoticed_seconds : 0; }

} // namespace

std::shared_ptr<const PlainAsPeriodic> PlainAsPeriodic::of(const InputPattern &input, const Values &values,
                                                           const Options &options,
                                                           const std::function<double()> &others) {
    if (input.pattern.one_sided || !is_usual(input, options)) return nullptr;
    if (values.empty() && input.value_type != PERM_VALUE_PATTERN) return nullptr; // they may be any
    std::optional<RecognizedCells> found = recognized_cells(input.pattern, values);
    if (!found || (options.modulus != 0 && !found->matrix.is_real())) return nullptr;
    // Cells soon take longer than to take the matrix apart does: then the other plan is looked at first.
    const double soon = of_entry * static_cast<double>(input.pattern.nnz());
    std::optional<double> known;
    const auto is_best = [&](double seconds) {
        if (seconds <= soon) return true;
        if (!known) known = others();
        return seconds < *known;
    };
    auto plan = std::make_shared<PlainAsPeriodic>();
    plan->length_ = found->length;
    const bool fits = within_limits([&] {
        PeriodProgram program = plan_period(found->matrix);
        plan->seconds_ = of_move * program.moves;
        if (!is_best(plan->seconds_)) return;
        plan->cells_ = make_periodic_plan(std::move(found->matrix), std::move(program), options);
        plan->seconds_ += periodic_seconds(plan->cells_, plan->length_, 1, instant_seconds(input));
    });
    if (!fits || plan->seconds_ > options.refuse_seconds || !is_best(plan->seconds_)) return nullptr;
    return plan;
}

std::optional<Outcome> PlainAsPeriodic::execute(const InputPattern &input, const Values &values) const {
    std::optional<RecognizedCells> found = recognized_cells(input.pattern, values);
    if (!found) return {};
    std::optional<PeriodicPlan> others; // cells of other values
    if (!((cells_.program.transposed ? transposed(found->matrix) : found->matrix) == cells_.matrix)) {
        // What the limits refuse goes the way of blocks.
        const bool fits =
            within_limits([&] { others = make_periodic_plan(std::move(found->matrix), cells_.options); });
        if (!fits || periodic_seconds(*others, found->length, 1, instant_seconds(input)) >
                         cells_.options.refuse_seconds)
            return {};
    }
    Outcome outcome =
        periodic_terms(others ? *others : cells_, found->length, 1, instant_seconds(input)).front();
    outcome.engine = Engine::periodic;
    outcome.predicted_seconds = seconds_;
    return outcome;
}

double PlainAsPeriodic::bytes() const { return static_cast<double>(held_bytes(cells_)); }

std::string PlainAsPeriodic::text() const {
    const PeriodicMatrix &a = cells_.matrix;
    const auto count = [](std::int64_t n, const char *one) {
        return formatted("{} {}{}", n, one, n == 1 ? "" : "s");
    };
    std::string text = formatted("periodic: {} of {}, {} ends", count(length_, "equal cell"),
                                 count(a.rows, "row"), a.joined ? "joined" : "open");
    if (a.head.rows + a.tail.rows > 0)
        text += formatted(", {} before them and {} behind", count(a.head.rows, "row"), a.tail.rows);
    return text + formatted("; {}, {:.0f} moves a cell; predicted to take {}",
                            count(static_cast<std::int64_t>(cells_.states()), "state"), cells_.moves(),
                            readable_seconds(seconds_));
}

} // namespace libperm
