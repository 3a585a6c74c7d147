// How terms of a periodic matrix are found, and what that takes.
#pragma once

#include "lib/periodic/answers/exact_terms.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace libperm {

// It is chosen by predicted time, so by the machine as well: what is kept of one way is of no use to another.
struct TermsWay {
    enum class Numbers { exact, doubles, dd, modulo } numbers = Numbers::exact;
    TermPrimes primes{residue_bits, 1}; // of exact ones

    bool is_exact() const { return numbers == Numbers::exact; }
    bool is_in_floats() const { return numbers == Numbers::doubles || numbers == Numbers::dd; }

    template <class Archive> void serialize(Archive &ar) {
        choice(ar, numbers, Numbers::modulo);
        ar(primes);
    }
};

struct AskedTerms {
    const PeriodicPlan *plan;
    std::int64_t first, count; // of lengths

    std::int64_t last() const { return first + count - 1; }
};

// What `bytes` were written of; none: of nothing, or of what the options do not allow.
std::optional<TermsWay> way_of(std::string_view bytes, const Options &options);

// Tells whether the operator, which is a table, is to be written out for these terms.
bool wants_written(const PeriodicPlan &plan, std::int64_t last, double instant_seconds);

// The quickest, with what run/escalation.hpp has of precision auto: whole numbers are exact where that takes
// `instant_seconds` at most. Throws Error where it is refused, or takes no device that is named.
struct ChosenWay {
    TermsWay way;
    double seconds = 0; // on one thread
};
ChosenWay quickest_way(const AskedTerms &asked, double instant_seconds, RunControl &control);

void require_device(const AskedTerms &asked);
bool is_exactly_soon(const AskedTerms &asked, double most_seconds, RunControl &control);
double seconds_by(const TermsWay &way, const AskedTerms &asked); // on one thread
void refuse_beyond_limit(const AskedTerms &asked, double seconds, TermsWay::Numbers numbers);

} // namespace libperm
