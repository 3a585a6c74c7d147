#include "lib/periodic/answers/periodic_task.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/run/outcome_bytes.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

// All terms, where they are one piece.
struct WholeTerms {
    std::vector<Outcome> outcomes;
};
template <class Archive> void fields(Archive &ar, WholeTerms &terms) { list(ar, terms.outcomes); }

std::string digest_of_matrix(const PeriodicPlan &plan) {
    const PeriodicMatrix a =
        plan.program.transposed ? transposed(plan.matrix) : plan.matrix; // as it was given
    std::string bytes = written(std::vector<std::int32_t>{a.rows, a.reach, a.joined});
    const auto add = [&bytes](const std::vector<PeriodicEntry> &entries,
                              const std::vector<Gaussian> &values) {
        for (std::size_t k = 0; k < entries.size(); ++k)
            bytes += formatted("{} {} {} {} {}\n", entries[k].row, entries[k].column, entries[k].cell,
                               values[k].re.get_str(62), values[k].im.get_str(62));
    };
    add(a.entries, a.values);
    for (const PeriodicEnd *end : {&a.head, &a.tail}) {
        bytes += formatted("{} {}\n", end->rows, end->columns);
        add(end->entries, end->values);
    }
    return digest_of_bytes(bytes);
}

bool allows(const Options &options, TermsWay::Numbers numbers) {
    using enum TermsWay::Numbers;
    const bool automatic = options.precision == Precision::automatic;
    if (options.modulus != 0 || numbers == modulo) return options.modulus != 0 && numbers == modulo;
    return numbers == exact ||
           (numbers == doubles && (automatic || options.precision == Precision::double_)) ||
           (numbers == dd && options.precision == Precision::dd);
}

// Below `soon`, or beyond `late`, how many they are does not matter, and to find out may take longer.
double seconds_exactly(const AskedTerms &asked, double soon, double late) {
    const double factor = factor_bits(integer_entries(*asked.plan), asked.last());
    const auto seconds = [&](double bits) {
        return exact_seconds(*asked.plan, asked.first, asked.count, bits + factor) /
               asked.plan->options.threads;
    };
    const double at_most = seconds(most_term_bits(*asked.plan, asked.last())), at_least = seconds(0);
    if (at_most < soon || at_least > late) return at_least > late ? at_least : at_most;
    return seconds(estimated_bits(*asked.plan, asked.last()));
}

bool is_exactly_soon(const AskedTerms &asked, double most_seconds) {
    const double limit = std::min(asked.plan->options.refuse_seconds, most_seconds);
    return seconds_exactly(asked, limit, limit) <= limit;
}

TermsWay::Numbers numbers_wanted(const AskedTerms &asked, double instant_seconds) {
    using enum TermsWay::Numbers;
    constexpr double times = 4; // those of doubles
    const Options &options = asked.plan->options;
    if (options.modulus != 0) return modulo;
    if (options.precision == Precision::exact) return exact;
    const bool automatic = options.precision == Precision::automatic,
               in_pairs = options.precision == Precision::dd;
    if (!automatic && !in_pairs && options.precision != Precision::double_)
        throw Error(PERM_UNSUPPORTED,
                    "a periodic matrix is computed with precision auto, double, dd, exact or mod:P");
    if (asked.plan->tables) return exact; // whatever is asked: doubles take as long
    if (!automatic) return in_pairs ? dd : doubles;
    const double in_doubles = float_seconds(*asked.plan, asked.first, asked.count, false),
                 soon = instant_seconds;
    return asked.plan->integers && soon > 0 && is_exactly_soon(asked, std::max(soon, times * in_doubles))
               ? exact
               : doubles;
}

// What `bytes` were written of; none: of nothing, or of what the options do not allow.
std::optional<TermsWay> way_of(std::string_view bytes, const Options &options) {
    try {
        const auto way = read_from<TermsWay>(bytes);
        if (bytes.empty() && allows(options, way.numbers)) return way;
    } catch (const cereal::Exception &) { // no more bytes
    } catch (const DamagedField &) {
    }
    return {};
}

// Tells whether the operator, which is a table, is to be written out for these terms. Tables have exact
// numbers alone. Where doubles will do, and these are longer in coming than the operator in being written, it
// is.
bool wants_written(const PeriodicPlan &plan, std::int64_t last, double instant_seconds) {
    constexpr double of_move = 300e-9; // seconds; a table's moves are half the operator's
    const Options &options = plan.options;
    const bool automatic = options.precision == Precision::automatic,
               takes_doubles =
                   automatic || options.precision == Precision::double_ || options.precision == Precision::dd;
    if (!plan.tables || !plan.may_be_written || options.device == Device::gpu || options.modulus != 0 ||
        !takes_doubles)
        return false;
    const double by_table = exact_seconds(plan, last, 1, most_term_bits(plan, last)) / options.threads;
    return by_table > std::max(of_move * plan.moves(), automatic ? instant_seconds : 0.0);
}

void require_device(const AskedTerms &asked) {
    const Options &options = asked.plan->options;
    if (options.device == Device::gpu && (options.modulus != 0 || !walks_on_device(*asked.plan)))
        throw Error(PERM_UNSUPPORTED,
                    "of periodic matrices a GPU takes exact numbers and the growth of operators too large to "
                    "be written out: leave the device to auto");
}

// On one thread.
double seconds_by(const TermsWay &way, const AskedTerms &asked) {
    switch (way.numbers) {
    case TermsWay::Numbers::exact:
        return exact_seconds(*asked.plan, asked.first, asked.count, way.primes.product_bits());
    case TermsWay::Numbers::modulo:
        return modular_seconds(*asked.plan, asked.plan->options.modulus, asked.first, asked.count);
    default:
        return float_seconds(*asked.plan, asked.first, asked.count, way.numbers == TermsWay::Numbers::dd);
    }
}

void refuse_beyond_limit(const AskedTerms &asked, double seconds, TermsWay::Numbers numbers) {
    using enum TermsWay::Numbers;
    if (seconds <= asked.plan->options.refuse_seconds) return;
    const char *words = numbers == exact ? "exactly" : numbers == modulo ? "modulo a prime" : "in doubles";
    throw refused_for_time(formatted("{} cells {} are", asked.last(), words), seconds, asked.plan->options,
                           "raise the limit (time_limit_seconds), or ask for the residue modulo a "
                           "prime (precision mod:P)");
}

// The quickest, with what run/escalation.hpp has of precision auto: whole numbers are exact where that takes
// `instant_seconds` at most. Throws Error where it is refused.
TermsWay quickest_way(const AskedTerms &asked, double instant_seconds) {
    const Options &options = asked.plan->options;
    const double limit = options.refuse_seconds;
    TermsWay way{numbers_wanted(asked, instant_seconds)};
    if (!way.is_exact()) {
        refuse_beyond_limit(asked, seconds_by(way, asked) / options.threads, way.numbers);
        return way;
    }
    if (asked.plan->tables || options.precision == Precision::exact) { // else it takes a moment
        const double seconds = seconds_exactly(asked, std::min(limit, 1.0), limit);
        refuse_beyond_limit(asked, seconds, way.numbers);
        call().begin(0, seconds);
    }
    way.primes = primes_of_terms(*asked.plan, asked.first, asked.count);
    return way;
}

// How long the terms are is found, of open ends, by a walk in doubles or by squares, which is not begun where
// it takes too long.
bool are_enough(const TermPrimes &primes, const AskedTerms &asked) {
    const PeriodicPlan &plan = *asked.plan;
    if (!plan.tables && !plan.joined())
        refuse_beyond_limit(asked,
                            float_seconds(plan, asked.first, asked.count, false) / plan.options.threads,
                            TermsWay::Numbers::doubles);
    return tell_terms(primes, plan, asked.first, asked.count);
}

} // namespace

PeriodicTask::PeriodicTask(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                           double instant_seconds, const std::string *way)
    : given_(plan), asked_{&plan, first, count} {
    require_length(plan, first);
    constexpr std::int64_t most = std::int64_t{1} << 32;
    if (count < 1 || count > most)
        throw Error(PERM_BAD_ARGUMENT, formatted("count is {}: it must be 1 to 2^32", count));
    require_length(plan, asked_.last());
    const Options &options = plan.options;
    const std::optional<std::string> kept = way ? *way : plan_in_checkpoint(options, TaskIdentity::periodic);
    std::optional<TermsWay> named = kept ? way_of(*kept, options) : std::nullopt;
    if (named && named->is_exact() && !are_enough(named->primes, asked_)) named.reset();
    if (way && !named)
        throw Error(PERM_BAD_ARGUMENT, "the terms were begun in a way that there is not, or not with these "
                                       "options: begin anew");
    if (named ? named->is_in_floats() && plan.tables : wants_written(plan, asked_.last(), instant_seconds))
        asked_.plan = &written_out(plan);
    require_device(asked_);
    way_ = named ? *named : quickest_way(asked_, instant_seconds);
    seconds_ = seconds_by(way_, asked_);
}

TaskIdentity PeriodicTask::identity() const {
    const std::string scale =
        way_.is_exact() ? ExactTerms(*asked_.plan, asked_.first, asked_.count, way_.primes).scale() : "";
    return {TaskIdentity::periodic,
            {{digest_of_matrix(given_), "another periodic matrix"},
             {digest_of_bytes(formatted("{} {}", asked_.first, asked_.count)), "other lengths of it"},
             {digest_of_bytes(plan() + scale + std::to_string(asked_.plan->options.modulus)),
              "terms that are computed otherwise, as options, versions or machines differ"}}};
}

ShardCount PeriodicTask::shards() const {
    double pieces = 1;
    if (way_.is_exact()) pieces = static_cast<double>(pieces_of(way_.primes, asked_.plan->joined()).count());
    return shards_of(seconds_, pieces);
}

KeptAbout PeriodicTask::about() const {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto times_length = [this](std::size_t each, auto exactly) {
        const double all = static_cast<double>(each) * (static_cast<double>(asked_.last()) + 1);
        return all < static_cast<double>(most) ? exactly() : most;
    };
    const PeriodicMatrix &a = asked_.plan->matrix;
    KeptAbout it;
    it.n = times_length(static_cast<std::size_t>(a.rows), [&] { return asked_.plan->order(asked_.last()); });
    it.entries = times_length(a.entries.size(), [&] { return asked_.plan->nnz(asked_.last()); });
    it.way = way_.is_exact() ? formatted("exactly, {} primes below 2^{}", way_.primes.count, way_.primes.bits)
             : way_.numbers == Numbers::modulo  ? formatted("modulo {}", asked_.plan->options.modulus)
             : way_.numbers == Numbers::doubles ? "doubles"
                                                : "dd";
    it.seconds = seconds_ / asked_.plan->options.threads;
    return it;
}

std::string PeriodicTask::plan() const { return written(way_); }

std::vector<Outcome> PeriodicTask::modulo() const {
    std::vector<Outcome> outcomes;
    for (const std::uint64_t residue :
         terms_modulo_prime(*asked_.plan, asked_.plan->options.modulus, asked_.first, asked_.count))
        set_value(outcomes.emplace_back(), WideBall{{mpq_class(mpz_class(residue)), 0}, {}});
    return outcomes;
}

// Of a shard nothing but what is left in the store.
std::vector<Outcome> PeriodicTask::found_by(const TermsWay &way, double serial_seconds,
                                            PieceStore *store) const {
    const double share = store ? store->share() : 1,
                 seconds = share * serial_seconds / asked_.plan->options.threads;
    refuse_beyond_limit(asked_, seconds, way.numbers);
    PieceScope pieces{store, {}};
    if (store) pieces.task.plan = std::stoull(digest_of_bytes(written(way)).substr(16), nullptr, 16);
    if (way.is_exact()) {
        call().begin(share * static_cast<double>(pieces_of(way.primes, asked_.plan->joined()).count()),
                     seconds);
        ExactTerms exact(*asked_.plan, asked_.first, asked_.count, way.primes);
        const CurrentCall own(1, pieces);
        const ResidueTerms residues = exact.residues();
        return store && store->is_of_one_shard() ? std::vector<Outcome>() : exact.outcomes(residues);
    }
    const auto find = [&] {
        return way.numbers == Numbers::modulo
                   ? modulo()
                   : float_terms(*asked_.plan, asked_.first, asked_.count, way.numbers == Numbers::dd);
    };
    call().begin(store ? 1 : 0, seconds);
    if (!store) return find();
    const CurrentCall own(1, pieces);
    const auto at_once = [&](auto, const auto &done) {
        call().begin_piece();
        done(0, WholeTerms{uncounted(find)}); // the piece is what is counted
        call().advance(1);
    };
    std::vector<Outcome> found = std::move(parts_of_pieces(1, 1, WholeTerms(), at_once).front().outcomes);
    if (std::ssize(found) != asked_.count && !store->is_of_one_shard())
        throw Error(PERM_BAD_ARGUMENT, "a part that is known is none of these terms");
    return found;
}

// In numbers that tell more, for those that miss the tolerance.
void PeriodicTask::escalate(std::vector<Outcome> &outcomes, PieceStore *store) const {
    const Escalation escalation(asked_.plan->options);
    const auto misses = [&](const Outcome &x) { return !escalation.is_met(x.rel_error_bound); };
    const auto again = [&](const auto &other) {
        std::vector<Outcome> others;
        const bool goes_on = store && store->spares_pieces();
        const auto find = [&] {
            const TermsWay way = other();
            others = found_by(way, seconds_by(way, asked_), store);
        };
        if (!within_limits(find, goes_on)) return;
        for (std::size_t k = 0; k < outcomes.size(); ++k)
            if (is_better(others[k], outcomes[k])) outcomes[k] = others[k];
    };
    if (std::none_of(outcomes.begin(), outcomes.end(), misses)) return;
    again([] { return TermsWay{Numbers::dd}; });
    if (std::any_of(outcomes.begin(), outcomes.end(), misses) &&
        is_exactly_soon(asked_, Escalation::exact.most_seconds))
        again([&] {
            return TermsWay{Numbers::exact, primes_of_terms(*asked_.plan, asked_.first, asked_.count)};
        });
}

void PeriodicTask::run_shard(const Shard &, PieceStore &store) const {
    const Charge of_plan(&call().memory(), held_bytes(*asked_.plan));
    found_by(way_, seconds_, &store);
}

std::vector<Outcome> PeriodicTask::run(PieceStore *store, const Told &) const {
    const Charge of_plan(&call().memory(), held_bytes(*asked_.plan));
    const Charge of_outcomes(&call().memory(), asked_.count * static_cast<std::int64_t>(2 * sizeof(Outcome)));
    std::vector<Outcome> outcomes = found_by(way_, seconds_, store);
    if (way_.numbers == Numbers::doubles && asked_.plan->options.precision == Precision::automatic)
        escalate(outcomes, store);
    for (Outcome &outcome : outcomes) {
        outcome.engine = engine_for(Goal::terms);
        outcome.transposed = asked_.plan->program.transposed;
        outcome.blocks = outcome.blocks_computed = 1;
        outcome.counts.peak_states = static_cast<double>(asked_.plan->states());
        outcome.counts.peak_bytes = call().memory().peak();
    }
    return outcomes;
}

std::vector<Outcome> periodic_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                                    double instant_seconds) {
    require_length(plan, first);
    if (count < 0) throw Error(PERM_BAD_ARGUMENT, formatted("count is {}: it must be 0 or more", count));
    if (count == 0) return {};
    return PeriodicTask(plan, first, count, instant_seconds).run(nullptr, {});
}

double periodic_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                        double instant_seconds) {
    const Options &options = plan.options;
    const bool is_exact = options.precision == Precision::exact,
               is_open = options.precision == Precision::automatic;
    if (options.modulus != 0) return modular_seconds(plan, options.modulus, first, count) / options.threads;
    const double bits = most_term_bits(plan, first + count - 1),
                 exactly = exact_seconds(plan, first, count, bits) / options.threads;
    if (is_exact || (is_open && plan.integers && exactly <= instant_seconds)) return exactly;
    return float_seconds(plan, first, count, options.precision == Precision::dd) / options.threads;
}

} // namespace libperm
