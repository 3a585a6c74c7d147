#include "lib/polynomial/polynomial_task.hpp"

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

constexpr char of_circle = 'c', of_others = 'n'; // before the plan's bytes
constexpr double quick = 0.05;                   // seconds; an exact answer in these is not compared

bool is_refused_plan(const Substitution &way) { return way.plan().refusal != PERM_OK; }

Options in(Precision precision, Options options) {
    options.precision = precision;
    return options;
}

} // namespace

PolynomialTask::PolynomialTask(const perm_csr *a, const void *linear, const Options &options,
                               RunControl &control, const std::string *way)
    : options_(options), entries_(a, linear, control) {
    const std::optional<std::string> kept = plan_in_checkpoint(options, TaskIdentity::polynomial);
    if (way || kept)
        choose_as(way ? *way : *kept, control);
    else
        choose(control);
}

void PolynomialTask::choose(RunControl &control) {
    const Options &o = options_;
    if (o.modulus != 0) substitution_ = by_residues(entries_, o, control);
    if (substitution_) return;
    const bool in_doubles = o.precision == Precision::double_ || o.precision == Precision::dd,
               may_be_doubles = in_doubles || o.precision == Precision::automatic;
    std::unique_ptr<const Substitution> exact;
    const auto make_exact = [&] { exact = by_power_of_two(entries_, o, control); };
    if (!may_be_doubles) {
        make_exact();
    } else if (!in_doubles) {
        within_limits(make_exact);
        if (exact && !is_refused_plan(*exact) &&
            (counts(entries_.input.value_type) || exact->seconds() < quick)) {
            substitution_ = std::move(exact);
            return;
        }
    }
    if (may_be_doubles) {
        std::unique_ptr<const Substitution> circle = on_circle(entries_, o, control);
        if (!circle && in_doubles)
            throw Error(PERM_UNSUPPORTED, "the entries lie too far apart for doubles: leave the precision at "
                                          "auto, or ask for exact");
        const bool is_quicker = circle && !is_refused_plan(*circle) &&
                                (!exact || is_refused_plan(*exact) || circle->seconds() < exact->seconds());
        on_circle_ = circle && (is_quicker || !exact);
        if (on_circle_) substitution_ = std::move(circle);
    }
    if (!substitution_ && !exact) make_exact();
    if (!substitution_) substitution_ = std::move(exact);
}

void PolynomialTask::choose_as(const std::string &way, RunControl &control) {
    if (way.empty() || (way[0] != of_circle && way[0] != of_others))
        throw Error(PERM_BAD_ARGUMENT, "the way that the polynomial was begun in is none: begin anew");
    const std::string plan = way.substr(1);
    on_circle_ = way[0] == of_circle;
    if (on_circle_)
        substitution_ = on_circle(entries_, options_, control, &plan);
    else if (options_.modulus != 0)
        substitution_ = by_residues(entries_, options_, control, &plan);
    if (!substitution_ && on_circle_)
        throw Error(PERM_BAD_ARGUMENT, "the polynomial was begun in doubles, for which these entries lie too "
                                       "far apart: begin anew");
    if (!substitution_) substitution_ = by_power_of_two(entries_, options_, control, &plan);
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
    return (on_circle_ ? of_circle : of_others) + bytes_of(plan_made());
}

bool PolynomialTask::is_plan(const std::string &bytes) const {
    return !bytes.empty() && bytes[0] == (on_circle_ ? of_circle : of_others) &&
           substitution_->task().is_plan(bytes.substr(1));
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
    within_limits([&] { ways[0] = on_circle(entries_, in(Precision::dd, options_), control); }, goes_on);
    within_limits([&] { ways[1] = by_power_of_two(entries_, options_, control); }, goes_on);
    for (auto &way : ways)
        if (way && (is_refused_plan(*way) || way->seconds() > second_run_seconds)) way.reset();
    if (ways[0] && ways[1] && ways[1]->seconds() < ways[0]->seconds()) std::swap(ways[0], ways[1]);
    for (const auto &way : ways) {
        if (!way || is_met(found)) continue;
        log_decision(formatted("a coefficient misses the tolerance: all again in precision {}",
                               precision_name(way->plan().numbers.precision)));
        std::vector<Outcome> more;
        if (!within_limits([&] { more = way->coefficients(nullptr, control); }, goes_on)) continue;
        for (std::size_t k = 0; k < found.size(); ++k)
            if (is_better(more[k], found[k])) found[k] = std::move(more[k]);
    }
}

std::vector<Outcome> PolynomialTask::run(PieceStore *store, RunControl &control, const Told &) const {
    if (is_refused_plan(*substitution_)) throw Error(plan_made().refusal, plan_made().refusal_text);
    std::vector<Outcome> found = substitution_->coefficients(store, control);
    if (found.empty()) return found; // of one shard alone
    if (on_circle_ && options_.precision == Precision::automatic && !is_met(found))
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
