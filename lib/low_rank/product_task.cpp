#include "lib/low_rank/product_task.hpp"

#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/low_rank/permanent_of_forms.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/enough_primes.hpp"
#include "lib/number/residue_numbers.hpp"
#include "lib/run/cost.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

using Part = std::array<std::uint64_t, 2>; // by root of -1 modulo the prime; of integers the first

std::int64_t bytes_of_numbers(const IntegerBlock &a) {
    std::int64_t bytes = bytes_of(a.pattern);
    for (const auto *part : {&a.re, &a.im})
        for (const mpz_class &x : *part) bytes += integer_bytes(x);
    return bytes;
}

std::int64_t entries_of(const IntegerBlock &a) {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < a.re.size(); ++k) count += a.re[k] != 0 || (!a.im.empty() && a.im[k] != 0);
    return count;
}

std::vector<std::uint64_t> in_field(std::vector<std::uint64_t> values, const Montgomery &field) {
    for (std::uint64_t &x : values) x = field.to(x);
    return values;
}

} // namespace

ProductTask::ProductTask(const perm_factors *given, const Options &options)
    : options_(options), charge_(&call().memory()) {
    Factors read = read_factors(given, &call().memory());
    of_doubles_ = read.value_type == PERM_VALUE_F64 || read.value_type == PERM_VALUE_C128;
    digest_ = std::move(read.digest);
    charge_.resize(read.charge.bytes());
    factors_ = integer_factors(std::move(read.u), std::move(read.v));
    charge_.resize(bytes_of_numbers(factors_.u) + bytes_of_numbers(factors_.v));
    entries_ = entries_of(factors_.u) + entries_of(factors_.v);
    if (is_known()) return;
    bits_ = permanent_bits(factors_);
    require_limits();
}

double ProductTask::residues() const {
    return static_cast<double>(bits_ / residue_bits + 1) * (factors_.is_gaussian() ? 2 : 1);
}

double ProductTask::products() const { return products_of_forms(factors_.n(), factors_.rank()); }

double ProductTask::serial_seconds() const {
    return is_known() ? 0 : call_seconds + product_seconds * products() * residues();
}

void ProductTask::require_limits() const {
    const double monomials = monomial_count(factors_.n(), factors_.rank()),
                 bytes = bytes_of_forms(factors_.n(), factors_.rank(), 1);
    const std::string what = formatted("polynomials in {} variables of degree {} with {:.3g} monomials",
                                       factors_.rank(), n(), monomials);
    if (monomials > most_monomials)
        throw Error(
            PERM_REFUSED_MEMORY,
            formatted("{}, {}; 2^24 monomials are the most\n  where n is small, compute the matrix U V^T "
                      "and take its permanent (perm_compute)",
                      what, readable_bytes(bytes)));
    if (bytes > static_cast<double>(options_.memory_limit))
        throw refused_for_memory(what + ": " + readable_bytes(bytes),
                                 static_cast<double>(options_.memory_limit),
                                 "raise the limit: memory_limit_bytes");
    const double seconds = serial_seconds() / std::min<double>(residues(), options_.threads);
    if (seconds > options_.refuse_seconds)
        throw refused_for_time(formatted("{}, modulo {:.3g} primes:", what, residues()), seconds, options_);
}

TaskIdentity ProductTask::identity() const { return {TaskIdentity::product, {{digest_, "other factors"}}}; }

ShardCount ProductTask::shards() const {
    constexpr double least_seconds = 0.01;
    const double seconds = serial_seconds(), most = factors_.is_gaussian() ? residues() / 2 : residues();
    ShardCount shards;
    shards.count =
        static_cast<std::int64_t>(std::clamp(std::floor(seconds / least_seconds), 1.0, std::max(most, 1.0)));
    shards.seconds = seconds / static_cast<double>(shards.count);
    return shards;
}

KeptAbout ProductTask::about() const {
    KeptAbout it;
    it.n = n();
    it.entries = entries_;
    it.way = engine_name(is_known() ? Engine::none : Engine::low_rank);
    it.seconds = serial_seconds() / options_.threads;
    return it;
}

Gaussian ProductTask::permanent(PieceStore *store) const {
    const std::size_t each = factors_.is_gaussian() ? 2 : 1;
    const std::vector<std::uint64_t> primes = enough_primes(bits_, {residue_bits, each == 2});
    const double share = store ? store->share() : 1, work = static_cast<double>(each) * products();
    const double all = static_cast<double>(primes.size()) * products();
    log_decision(formatted("a product of rank {}: {:.3g} monomials, modulo {} primes", factors_.rank(),
                           monomial_count(factors_.n(), factors_.rank()), primes.size() / each));
    call().begin(share * all, share * serial_seconds() / options_.threads);
    CurrentCall own(1, PieceScope{store, {}});
    const double shared = bytes_of_forms(factors_.n(), factors_.rank(), 0),
                 of_prime = bytes_of_forms(factors_.n(), factors_.rank(), 1) - shared;
    const Charge charge(&call().memory(), static_cast<std::int64_t>(shared));
    const Monomials monomials(factors_.n(), factors_.rank());
    const auto modulo = [&](std::uint64_t k) {
        const std::vector<std::uint64_t> prime(each, primes[each * k]);
        const Residues u = residues_of(factors_.u.pattern, factors_.u.re, factors_.u.im, prime),
                       v = residues_of(factors_.v.pattern, factors_.v.re, factors_.v.im, prime);
        const Montgomery field(prime[0]);
        Part part{};
        for (std::size_t m = 0; m < each; ++m)
            part[m] = permanent_of_forms(monomials, field, in_field(u.values[m], field),
                                         in_field(v.values[m], field), products());
        return part;
    };
    const std::vector<Part> parts =
        parts_of_pieces(primes.size() / each, work, Part{}, each_on_its_thread(modulo, of_prime));
    std::vector<std::uint64_t> residues;
    for (const Part &part : parts) residues.insert(residues.end(), part.begin(), part.begin() + each);
    return from_residues(primes, residues, each == 2, &call().memory()) *
           Gaussian{factors_.u.factor * factors_.v.factor, 0};
}

Outcome ProductTask::run(PieceStore *store, const Told &) const {
    Outcome outcome;
    outcome.predicted_seconds = serial_seconds();
    if (is_known()) {
        set_value(outcome, WideBall{{n() == 0 ? 1 : 0, 0}, {}});
    } else {
        set_value(outcome, WideBall{permanent(store), {}});
        outcome.engine = Engine::low_rank;
        outcome.blocks = outcome.blocks_computed = 1;
        outcome.counts.operations = products() * residues();
    }
    outcome.counts.peak_bytes = call().memory().peak();
    if (!of_doubles_ || options_.precision == Precision::exact) return outcome;
    Outcome in_doubles = outcome;
    round_value(in_doubles);
    const bool is_enough = Escalation(options_).is_met(in_doubles.rel_error_bound, in_doubles.exact);
    return is_enough ? in_doubles : outcome;
}

} // namespace libperm
