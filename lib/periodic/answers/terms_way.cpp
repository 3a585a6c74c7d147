#include "lib/periodic/answers/terms_way.hpp"

#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/periodic/answers/float_terms.hpp"
#include "lib/run/placement.hpp"

#include <algorithm>

namespace libperm {
namespace {

bool allows(const Options &options, TermsWay::Numbers numbers) {
    using enum TermsWay::Numbers;
    const bool automatic = options.precision == Precision::automatic;
    if (options.modulus != 0 || numbers == modulo) return options.modulus != 0 && numbers == modulo;
    return numbers == exact ||
           (numbers == doubles && (automatic || options.precision == Precision::double_)) ||
           (numbers == dd && options.precision == Precision::dd);
}

// Below `soon`, or beyond `late`, how many they are does not matter, and to find out may take longer.
double seconds_exactly(const AskedTerms &asked, double soon, double late, RunControl &control) {
    const double factor =
        factor_bits(integer_entries(*asked.plan, [&control] { control.poll(); }), asked.last());
    const auto seconds = [&](double bits) {
        return exact_seconds(*asked.plan, asked.first, asked.count, bits + factor) /
               asked.plan->options.threads;
    };
    const double at_most = seconds(most_bits(*asked.plan, asked.last())), at_least = seconds(0);
    if (at_most < soon || at_least > late) return at_least > late ? at_least : at_most;
    return seconds(estimated_bits(*asked.plan, asked.last(), control));
}

TermsWay::Numbers numbers_wanted(const AskedTerms &asked, double instant_seconds, RunControl &control) {
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
    return asked.plan->integers && soon > 0 &&
                   is_exactly_soon(asked, std::max(soon, times * in_doubles), control)
               ? exact
               : doubles;
}

} // namespace

std::optional<TermsWay> way_of(std::string_view bytes, const Options &options) {
    try {
        const auto way = read_from<TermsWay>(bytes);
        if (bytes.empty() && allows(options, way.numbers)) return way;
    } catch (const cereal::Exception &) { // no more bytes
    } catch (const DamagedField &) {
    }
    return {};
}

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

void require_device(const AskedTerms &asked) {
    const Options &options = asked.plan->options;
    const bool exact = asked.plan->tables || options.precision == Precision::exact ||
                       (options.precision == Precision::automatic && asked.plan->integers);
    const bool doubles = options.precision == Precision::double_ && options.modulus == 0 &&
                         squares_on_device(*asked.plan, asked.first, asked.count);
    const bool modulo =
        options.modulus != 0 && squares_modulo(*asked.plan, options.modulus, asked.first, asked.count);
    if (options.device == Device::gpu && !doubles && !modulo &&
        !(exact && options.modulus == 0 && walks_on_device(*asked.plan, asked.first)))
        throw Error(PERM_UNSUPPORTED,
                    "of periodic matrices a GPU takes exact numbers of joined ends, not too far out, "
                    "doubles and residues far out, and the growth of operators too large to be "
                    "written out: leave the device to auto");
}

bool is_exactly_soon(const AskedTerms &asked, double most_seconds, RunControl &control) {
    const double limit = std::min(asked.plan->options.refuse_seconds, most_seconds);
    return seconds_exactly(asked, limit, limit, control) <= limit;
}

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

ChosenWay quickest_way(const AskedTerms &asked, double instant_seconds, RunControl &control) {
    const Options &options = asked.plan->options;
    const double limit = options.refuse_seconds;
    TermsWay way{numbers_wanted(asked, instant_seconds, control)};
    if (!way.is_exact()) {
        const double seconds = seconds_by(way, asked);
        refuse_beyond_limit(asked, seconds / options.threads, way.numbers);
        return {way, seconds};
    }
    if (asked.plan->tables || options.precision == Precision::exact) { // else it takes a moment
        const double seconds = seconds_exactly(asked, std::min(limit, 1.0), limit, control);
        refuse_beyond_limit(asked, seconds, way.numbers);
        control.begin(0, seconds);
    }
    way.primes = primes_of_terms(*asked.plan, asked.first, asked.count, control);
    return {way, seconds_by(way, asked)};
}

} // namespace libperm
