#include "lib/polynomial/polynomial_task.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/execute/execute.hpp"
#include "lib/run/escalation.hpp"
#include "lib/saved/bytes.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <utility>

namespace libperm {
namespace {

// Before the plan's bytes; of_whole: whole numbers where residues are asked for.
constexpr char of_circle = 'c', of_signs = 's', of_others = 'n', of_whole = 'w';
constexpr double at_once = 1;  // seconds: residues that take longer are compared with whole numbers
constexpr double quick = 0.05; // seconds: what takes no longer is not compared with others

bool is_refused_plan(const Substitution &way) { return way.plan().refusal != PERM_OK; }

Options in(Precision precision, Options options) {
    options.precision = precision;
    return options;
}

} // namespace

PolynomialTask::PolynomialTask(const perm_csr *a, const void *linear, const Options &options,
                               RunControl &control, const std::string *way)
    : options_(options), entries_(a, linear, options.function, control) {
    const std::optional<std::string> kept = plan_in_checkpoint(options, TaskIdentity::polynomial);
    if (way || kept)
        choose_as(way ? *way : *kept, control);
    else
        choose(control);
}

// Exactly where that is counting, or asked for; else the quickest in doubles, or exactly where this is as
// quick.
void PolynomialTask::choose(RunControl &control) {
    const Options &o = options_;
    const bool in_doubles = o.precision == Precision::double_ || o.precision == Precision::dd,
               is_free = o.precision == Precision::automatic,
               is_counted = is_free && counts(entries_.input.value_type);
    const auto take = [&](std::unique_ptr<const Substitution> way, char form) {
        form_ = form;
        substitution_ = std::move(way);
    };
    if (o.modulus != 0) {
        std::unique_ptr<const Substitution> residues, whole;
        const bool is_refused = !within_limits([&] { residues = by_residues(entries_, o, control); });
        const bool is_slow = residues && (is_refused_plan(*residues) || residues->seconds() > at_once);
        if (is_refused || is_slow) within_limits([&] { whole = by_power_of_two(entries_, o, control); });
        if (whole && !is_refused_plan(*whole) &&
            (is_refused || is_refused_plan(*residues) || whole->seconds() < residues->seconds()))
            return take(std::move(whole), of_whole);
        if (is_refused) residues = by_residues(entries_, o, control); // which says why
        take(std::move(residues), of_others);
        if (substitution_) return;
    }
    if (!in_doubles && !is_free) return take(by_power_of_two(entries_, o, control), of_others);

    std::unique_ptr<const Substitution> signs, circle, exact;
    if (!is_counted) signs = by_signs(entries_, o);
    if (signs && signs->seconds() < quick) return take(std::move(signs), of_signs);
    if (is_free) within_limits([&] { exact = by_power_of_two(entries_, o, control); });
    if (exact && is_refused_plan(*exact)) exact.reset();
    if (exact && (is_counted || exact->seconds() < quick)) return take(std::move(exact), of_others);
    circle = on_circle(entries_, o, control);
    const auto is_slower = [](const auto &way, const auto &other) {
        return way && other && !is_refused_plan(*other) && other->seconds() < way->seconds();
    };
    if (is_slower(circle, signs) || is_slower(circle, exact) || (circle && exact && is_refused_plan(*circle)))
        circle.reset();
    if (circle) return take(std::move(circle), of_circle);
    if (signs && !is_slower(signs, exact)) return take(std::move(signs), of_signs);
    if (in_doubles)
        throw Error(PERM_UNSUPPORTED, "the entries lie too far apart for doubles: leave the precision at "
                                      "auto, or ask for exact");
    take(exact ? std::move(exact) : by_power_of_two(entries_, o, control), of_others);
}

void PolynomialTask::choose_as(const std::string &way, RunControl &control) {
    const std::string plan = way.empty() ? "" : way.substr(1);
    form_ = way.empty() ? '\0' : way[0];
    const bool may_be_doubles = options_.modulus == 0 && options_.precision != Precision::exact;
    if (form_ == of_signs && plan.empty() && may_be_doubles) substitution_ = by_signs(entries_, options_);
    if (form_ == of_circle && may_be_doubles) substitution_ = on_circle(entries_, options_, control, &plan);
    if (form_ == of_others && options_.modulus != 0)
        substitution_ = by_residues(entries_, options_, control, &plan);
    if (form_ == of_whole && options_.modulus != 0)
        substitution_ = by_power_of_two(entries_, options_, control, &plan);
    const bool may_be_exact =
        options_.precision == Precision::exact || options_.precision == Precision::automatic;
    if (form_ == of_others && !substitution_ && may_be_exact)
        substitution_ = by_power_of_two(entries_, options_, control, &plan);
    if (!substitution_)
        throw Error(PERM_BAD_ARGUMENT,
                    "the polynomial was begun in a way that this matrix has not: begin anew");
}

TaskIdentity PolynomialTask::identity() const {
    return {
        TaskIdentity::polynomial,
        {{entries_.digest, "another matrix"},
         {digest_of(plan_made()), "a polynomial that is computed otherwise, as options, versions or machines "
                                  "differ"}}};
}

KeptAbout PolynomialTask::about() const {
    KeptAbout it = substitution_->task().about();
    it.seconds = substitution_->seconds();
    return it;
}

std::string PolynomialTask::plan() const {
    return form_ + (substitution_->is_planned() ? bytes_of(plan_made()) : std::string());
}

bool PolynomialTask::is_plan(const std::string &bytes) const {
    return !bytes.empty() && bytes[0] == form_ && substitution_->task().is_plan(bytes.substr(1));
}

bool PolynomialTask::is_met(const std::vector<Outcome> &found) const {
    const Escalation escalation(options_);
    return std::all_of(found.begin(), found.end(),
                       [&](const Outcome &one) { return escalation.is_met(one.rel_error_bound, one.exact); });
}

// In dd and exactly, the quicker first, while that is worth it.
void PolynomialTask::run_again(std::vector<Outcome> &found, PieceStore *store, RunControl &control) const {
    const bool goes_on = store && store->spares_pieces();
    std::unique_ptr<const Substitution> ways[2];
    control.begin(0, 0);
    const Options dd = in(Precision::dd, options_);
    within_limits([&] { ways[0] = by_signs(entries_, dd); }, goes_on);
    if (!ways[0]) within_limits([&] { ways[0] = on_circle(entries_, dd, control); }, goes_on);
    within_limits([&] { ways[1] = by_power_of_two(entries_, options_, control); }, goes_on);
    for (auto &way : ways)
        if (way && (is_refused_plan(*way) || way->seconds() > second_run_seconds)) way.reset();
    if (ways[0] && ways[1] && ways[1]->seconds() < ways[0]->seconds()) std::swap(ways[0], ways[1]);
    for (const auto &way : ways) {
        if (!way || is_met(found)) continue;
        log_decision(formatted("a coefficient misses the tolerance: all again in precision {}",
                               precision_name(way->plan().options.precision)));
        std::vector<Outcome> more;
        if (!within_limits([&] { more = way->coefficients(nullptr, control); }, goes_on)) continue;
        for (std::size_t k = 0; k < found.size(); ++k)
            if (is_better(more[k], found[k])) found[k] = std::move(more[k]);
    }
}

// Below the lowest power that there is.
void PolynomialTask::set_zeros(std::vector<Outcome> &found) const {
    for (std::size_t k = 0; k < found.size() && k < at(entries_.lowest); ++k) set_value(found[k], WideBall{});
}

std::vector<Outcome> PolynomialTask::run(PieceStore *store, RunControl &control, const Told &) const {
    if (is_refused_plan(*substitution_)) throw Error(plan_made().refusal, plan_made().refusal_text);
    std::vector<Outcome> found = substitution_->coefficients(store, control);
    if (found.empty()) return found; // of one shard alone
    set_zeros(found);
    if (form_ != of_others && form_ != of_whole && options_.precision == Precision::automatic &&
        !is_met(found))
        run_again(found, store, control);
    Outcome zero = found[0];
    set_value(zero, WideBall{});
    found.resize(at(count()), zero);
    for (Outcome &one : found) {
        round_off(options_, one);
        if (!one.on_gpu) one.counts.peak_bytes = std::max(one.counts.peak_bytes, control.memory().peak());
    }
    return found;
}

} // namespace libperm
