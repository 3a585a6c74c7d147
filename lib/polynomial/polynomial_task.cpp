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

namespace libperm {
namespace {

// Before the plan's bytes; of_whole: whole numbers where residues are asked for.
constexpr char of_circle = 'c', of_signs = 's', of_others = 'n', of_whole = 'w', of_subsets = 'm',
               of_board = 'b';
constexpr double at_once = 1;  // seconds: residues that take longer are compared with whole numbers
constexpr double quick = 0.05; // seconds: what takes no longer is not compared with others

bool is_refused_plan(const Substitution &way) { return way.plan_made().refusal != PERM_OK; }

Options in(Precision precision, Options options) {
    options.precision = precision;
    return options;
}

} // namespace

PolynomialTask::PolynomialTask(const perm_csr *a, const void *linear, const Options &options,
                               const std::string *way)
    : CoefficientTask(LinearEntries(a, linear, options.function), options, TaskIdentity::polynomial) {
    if (const std::optional<Way> named = way_named(way))
        choose_as(*named);
    else
        choose();
}

// Exactly where that is counting, or asked for; else the quickest in doubles, or exactly where this is as
// quick.
void PolynomialTask::choose() {
    const Options &o = options_;
    const bool in_doubles = o.precision == Precision::double_ || o.precision == Precision::dd,
               is_free = o.precision == Precision::automatic,
               is_counted = is_free && counts(entries_.input.value_type);
    if (o.modulus != 0) {
        std::unique_ptr<const Substitution> residues, whole;
        const bool is_refused = !within_limits([&] { residues = by_residues(entries_, o); });
        const bool is_slow = residues && (is_refused_plan(*residues) || residues->seconds() > at_once);
        if (is_refused || is_slow) within_limits([&] { whole = by_power_of_two(entries_, o); });
        if (whole && !is_refused_plan(*whole) &&
            (is_refused || is_refused_plan(*residues) || whole->seconds() < residues->seconds()))
            return take(std::move(whole), of_whole);
        if (is_refused) residues = by_residues(entries_, o); // which says why
        if (residues) return take(std::move(residues), of_others);
    }
    if (!in_doubles && !is_free) return take(by_power_of_two(entries_, o), of_others);

    std::unique_ptr<const Substitution> signs, circle, exact;
    if (!is_counted) signs = by_signs(entries_, o);
    if (signs && signs->seconds() < quick) return take(std::move(signs), of_signs);
    if (is_free) within_limits([&] { exact = by_power_of_two(entries_, o); });
    if (exact && is_refused_plan(*exact)) exact.reset();
    if (exact && (is_counted || exact->seconds() < quick)) return take(std::move(exact), of_others);
    circle = on_circle(entries_, o);
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
    take(exact ? std::move(exact) : by_power_of_two(entries_, o), of_others);
}

void PolynomialTask::choose_as(const Way &way) {
    const std::string *const plan = &way.plan;
    const bool may_be_doubles = options_.modulus == 0 && options_.precision < Precision::exact,
               may_be_exact =
                   options_.precision == Precision::exact || options_.precision == Precision::automatic;
    std::unique_ptr<const Substitution> found;
    if (way.form == of_signs && plan->empty() && may_be_doubles) found = by_signs(entries_, options_);
    if (way.form == of_circle && may_be_doubles) found = on_circle(entries_, options_, plan);
    if (way.form == of_others && options_.modulus != 0) found = by_residues(entries_, options_, plan);
    if ((way.form == of_whole && options_.modulus != 0) || (way.form == of_others && !found && may_be_exact))
        found = by_power_of_two(entries_, options_, plan);
    take(std::move(found), way.form);
}

std::optional<CoefficientTask::Way> CoefficientTask::way_named(const std::string *way) const {
    const std::optional<std::string> kept = plan_in_checkpoint(options_, kind_);
    if (!way && !kept) return {};
    const std::string &bytes = way ? *way : *kept;
    if (bytes.empty()) return Way();
    return Way{bytes[0], bytes.substr(1)};
}

void CoefficientTask::take(std::unique_ptr<const Substitution> substitution, char form) {
    if (!substitution)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("{}: begun in a way that this matrix has not: begin anew", kind_));
    form_ = form;
    substitution_ = std::move(substitution);
}

TaskIdentity CoefficientTask::identity() const {
    return {
        kind_,
        {{entries_.digest, "another matrix"},
         {digest_of(plan_made()), "coefficients, or numbers of matchings, that are computed otherwise, as "
                                  "options, versions or machines differ"}}};
}

KeptAbout CoefficientTask::about() const {
    KeptAbout it = substitution_->task().about();
    it.seconds = substitution_->seconds();
    return it;
}

std::string CoefficientTask::plan() const {
    return form_ + (substitution_->is_planned() ? bytes_of(plan_made()) : std::string());
}

bool CoefficientTask::is_plan(const std::string &bytes) const {
    return !bytes.empty() && bytes[0] == form_ && substitution_->task().is_plan(bytes.substr(1));
}

bool PolynomialTask::is_met(const std::vector<Outcome> &found) const {
    const Escalation escalation(options_);
    return std::all_of(found.begin(), found.end(),
                       [&](const Outcome &one) { return escalation.is_met(one.rel_error_bound, one.exact); });
}

// In dd and exactly, the quicker first, while that is worth it.
void PolynomialTask::improve(std::vector<Outcome> &found, PieceStore *store) const {
    const bool is_in_doubles = form_ == of_circle || form_ == of_signs;
    if (!is_in_doubles || options_.precision != Precision::automatic || is_met(found)) return;
    const bool goes_on = store && store->spares_pieces();
    std::unique_ptr<const Substitution> ways[2];
    call().begin(0, 0);
    const Options dd = in(Precision::dd, options_);
    within_limits([&] { ways[0] = by_signs(entries_, dd); }, goes_on);
    if (!ways[0]) within_limits([&] { ways[0] = on_circle(entries_, dd); }, goes_on);
    within_limits([&] { ways[1] = by_power_of_two(entries_, options_); }, goes_on);
    for (auto &way : ways)
        if (way && (is_refused_plan(*way) || way->seconds() > second_run_seconds)) way.reset();
    if (ways[0] && ways[1] && ways[1]->seconds() < ways[0]->seconds()) std::swap(ways[0], ways[1]);
    for (const auto &way : ways) {
        if (!way || is_met(found)) continue;
        log_decision(formatted("a coefficient misses the tolerance: all again in precision {}",
                               precision_name(way->plan_made().options.precision)));
        std::vector<Outcome> more;
        if (!within_limits([&] { more = way->coefficients(nullptr); }, goes_on)) continue;
        for (std::size_t k = 0; k < found.size(); ++k)
            if (is_better(more[k], found[k])) found[k] = std::move(more[k]);
    }
}

// Nested rows at once; else the quickest. A named way goes the same.
void MatchingTask::choose(const std::optional<Way> &way) {
    constexpr double as_planning = 0.005; // seconds
    const auto may_be = [&way](char form) { return !way || way->form == form; };
    if (may_be(of_board))
        if (auto board = of_nested_rows(entries_, options_)) return take(std::move(board), of_board);
    std::unique_ptr<const Substitution> sums, other;
    if (may_be(of_subsets)) sums = by_subsets(entries_, options_);
    if (sums && (way || sums->seconds() < as_planning)) return take(std::move(sums), of_subsets);
    if (may_be(of_others)) other = by_power_of_two(entries_, options_, way ? &way->plan : nullptr);
    if (sums && (is_refused_plan(*other) || sums->seconds() < other->seconds()))
        return take(std::move(sums), of_subsets);
    take(std::move(other), of_others);
}

MatchingTask::MatchingTask(const perm_csr *a, const Options &options, const std::string *way)
    : CoefficientTask(LinearEntries::of_matchings(a, options.function), options, TaskIdentity::matchings) {
    choose(way_named(way));
}

std::vector<Outcome> CoefficientTask::run(PieceStore *store, const Told &) const {
    if (is_refused_plan(*substitution_)) throw Error(plan_made().refusal, plan_made().refusal_text);
    std::vector<Outcome> found = substitution_->coefficients(store);
    if (found.empty()) return found; // of one shard alone
    mpz_class unit = 1;
    for (std::size_t k = 0; k < found.size(); ++k, unit *= entries_.unit) {
        Outcome &one = found[k];
        if (k < at(entries_.lowest)) set_value(one, WideBall{}); // below the lowest power that there is
        if (unit != 1) set_value(one, WideBall{exact_number(one), {}} / unit);
    }
    improve(found, store);
    Outcome zero = found[0];
    set_value(zero, WideBall{});
    found.resize(at(count()), zero);
    for (Outcome &one : found) {
        round_off(options_, one);
        if (!one.on_gpu) one.counts.peak_bytes = std::max(one.counts.peak_bytes, call().memory().peak());
    }
    return found;
}

} // namespace libperm
