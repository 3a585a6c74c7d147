#include "lib/periodic/answers/residue_terms.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/table/table_walk.hpp"
#include "lib/run/pieces.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <span>
#include <utility>

namespace libperm {
namespace {

// A table's terms, whose primes have so many bits together, shared among all GPUs that the options name.
Work table_work(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, double bits) {
    const double primes = (bits / modular_bits + 1) * (plan.real ? 1 : 2);
    return placed_table(plan, exact_seconds(plan, first, count, bits),
                        primes * table_seconds(plan, first + count) / 150,
                        table_device_bytes(*plan.tables, plan.tables->used, Arithmetic::modular, 1), true);
}

// The terms modulo the primes of a piece.
struct PieceTerms {
    ResidueTerms by_prime;
};
template <class Archive> void fields(Archive &ar, PieceTerms &part) { ar(part.by_prime); }

// What was read of a kept part may be anything.
void require_terms(const ResidueTerms &all, const std::vector<std::uint64_t> &primes, std::int64_t count) {
    bool are = all.size() == primes.size();
    for (std::size_t k = 0; are && k < all.size(); ++k)
        are = std::ssize(all[k]) == count &&
              std::all_of(all[k].begin(), all[k].end(), [&](std::uint64_t x) { return x < primes[k]; });
    if (!are) throw Error(PERM_BAD_ARGUMENT, "a part that is known has no residues of these terms");
}

// Below 2^this are the whole numbers that the terms are, but for their signs.
double bits_to_tell(const PeriodicPlan &plan, std::int64_t first, std::int64_t count) {
    const IntegerEntries entries = integer_entries(plan);
    const Charge of_terms(&call().memory(), count * static_cast<std::int64_t>(sizeof(Outcome)));
    // The whole numbers are larger than the terms by their factor.
    const std::vector<std::int64_t> bits = term_bits(plan, first, count);
    double most = 0;
    for (std::size_t k = 0; k < bits.size(); ++k)
        most = std::max(most, static_cast<double>(bits[k]) +
                                  factor_bits(entries, first + static_cast<std::int64_t>(k)));
    constexpr double most_bits = 4e9;
    if (!(most < most_bits))
        throw Error(PERM_UNSUPPORTED,
                    formatted("the number has {:.3g} bits: ask for it in doubles (precision double) "
                              "or modulo a prime (precision mod:P)",
                              most));
    return most;
}

constexpr double below_length = 0.01; // by so much the bits of a prime are fewer

} // namespace

bool walks_on_device(const PeriodicPlan &plan) { return plan.tables && !plan.joined(); }

TermPrimes primes_of_terms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count) {
    const double most = bits_to_tell(plan, first, count);
    const bool on_gpu =
        walks_on_device(plan) && place(table_work(plan, first, count, most), plan.options).on_gpu;
    const int length = on_gpu ? modular_bits : bits_of_primes(plan, most);
    return {length, static_cast<std::int64_t>((most + 2) / (length - below_length)) + 1};
}

// A bit for the sign; another is spare, for machines whose logarithms differ in the last place.
bool tell_terms(const TermPrimes &primes, const PeriodicPlan &plan, std::int64_t first, std::int64_t count) {
    return static_cast<double>(primes.count) * (primes.bits - below_length) >=
           bits_to_tell(plan, first, count) + 1;
}

ExactTerms::ExactTerms(const PeriodicPlan &plan, std::int64_t first, std::int64_t count,
                       const TermPrimes &primes)
    : plan_(plan), first_(first), count_(count), primes_(primes), entries_(integer_entries(plan)) {
    if (plan.options.device == Device::gpu && primes.bits > modular_bits)
        throw Error(PERM_UNSUPPORTED,
                    "the numbers were begun with primes that a GPU does not take: begin them with a "
                    "GPU, or leave the device to auto");
}

NumberedPieces pieces_of(const TermPrimes &primes, bool joined) {
    constexpr std::uint64_t most = 4096;
    const auto count = static_cast<std::uint64_t>(primes.count);
    // Those that a processor walks with at once; with joined ends, and on a GPU, starts stand side by side.
    const std::uint64_t together = primes.bits == modular_bits || joined ? 1 : residue_lanes;
    return NumberedPieces::of_length(count, together * ((count + together * most - 1) / (together * most)));
}

std::string ExactTerms::scale() const {
    return digest_of_bytes(entries_.per_cell.get_str(62) + " " + entries_.of_ends.get_str(62));
}

ResidueTerms ExactTerms::residues() {
    const std::size_t times = plan_.real ? 1 : 2; // each prime
    const NumberedPieces pieces = pieces_of(primes_, plan_.joined());
    const double bytes = 16.0 * static_cast<double>(primes_.count) * static_cast<double>(count_);
    charge_ = Charge(&call().memory(), static_cast<std::int64_t>(std::min(bytes, 0x1p62)));
    all_ = primes_below(primes_.bits, static_cast<std::size_t>(primes_.count), !plan_.real);
    const auto find = [&](std::span<const std::uint64_t> todo, const auto &done) {
        const auto walk = [&](const DeviceQueues *queues) {
            on_gpu_ = queues != nullptr;
            // The primes of pieces, one behind the other: of each equally many, but for the last. A piece is
            // done with the last of its primes.
            const std::size_t each = times * (pieces[0].last - pieces[0].first);
            std::vector<std::uint64_t> chosen;
            std::vector<PieceTerms> parts(todo.size());
            std::vector<std::atomic<std::size_t>> left(todo.size());
            for (std::size_t t = 0; t < todo.size(); ++t) {
                const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(each * todo[t]);
                left[t] = std::min(each, static_cast<std::size_t>(all_.end() - begin));
                parts[t].by_prime.resize(left[t]);
                chosen.insert(chosen.end(), begin, begin + static_cast<std::ptrdiff_t>(left[t].load()));
            }
            Call &of_pieces = call(); // these are what is counted
            const CurrentCall walking(0);
            const TellTerms tell = [&](std::size_t k, std::vector<std::uint64_t> terms) {
                const std::size_t t = k / each;
                parts[t].by_prime[k % each] = std::move(terms);
                if (--left[t] > 0) return;
                done(todo[t], std::move(parts[t]));
                of_pieces.advance(1);
            };
            find_by_recurrence(plan_, entries_, chosen, first_, count_, tell, queues);
        };
        const double share = static_cast<double>(todo.size()) / static_cast<double>(pieces.count());
        if (primes_.bits <= modular_bits && walks_on_device(plan_))
            run_placed(table_work(plan_, first_, count_, share * primes_.product_bits()), plan_.options,
                       walk);
        else
            walk(nullptr);
    };
    std::vector<PieceTerms> parts = parts_of_pieces(pieces.count(), 1, PieceTerms(), find);
    ResidueTerms terms;
    const bool is_of_one_shard = call().pieces().store && call().pieces().store->is_of_one_shard();
    if (is_of_one_shard) return terms;
    for (PieceTerms &part : parts)
        std::move(part.by_prime.begin(), part.by_prime.end(), std::back_inserter(terms));
    require_terms(terms, all_, count_);
    return terms;
}

std::vector<Outcome> ExactTerms::outcomes(const ResidueTerms &terms) const {
    const ChineseRemainder numbers(all_, !plan_.real, &call().memory());
    std::vector<Outcome> outcomes(static_cast<std::size_t>(count_));
    parallel_for(outcomes.size(), [&](std::uint64_t t) {
        std::vector<std::uint64_t> residues(all_.size());
        for (std::size_t k = 0; k < all_.size(); ++k) residues[k] = terms[k][t];
        mpz_class factor;
        mpz_pow_ui(factor.get_mpz_t(), entries_.per_cell.get_mpz_t(),
                   static_cast<unsigned long>(first_) + static_cast<unsigned long>(t));
        factor *= entries_.of_ends;
        const Gaussian whole = numbers.from(residues);
        set_value(outcomes[t], WideBall{whole / Gaussian{factor, 0}, {}});
        outcomes[t].exact = true;
        outcomes[t].on_gpu = on_gpu_;
    });
    return outcomes;
}

} // namespace libperm
