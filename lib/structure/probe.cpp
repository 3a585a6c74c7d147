#include "lib/structure/probe.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/number/residues.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

constexpr int probe_bits = 62;

std::uint64_t with_sign(std::uint64_t x, bool is_negative) {
    return is_negative && x != 0 ? probe_prime() - x : x;
}

std::uint64_t times_modulo(std::uint64_t x, std::uint64_t y) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(x) * y % probe_prime());
}

std::uint64_t power_of_two(std::int64_t exponent) {
    const std::uint64_t p = probe_prime();
    const auto order = static_cast<std::int64_t>(p - 1); // 2^(p - 1) is 1
    std::int64_t e = exponent % order;
    if (e < 0) e += order;
    std::uint64_t result = 1, square = 2;
    for (; e != 0; e >>= 1, square = times_modulo(square, square))
        if (e & 1) result = times_modulo(result, square);
    return result;
}

std::optional<std::uint64_t> residue_of_rational(const mpq_class &x) {
    const std::uint64_t p = probe_prime();
    const std::uint64_t top = mpz_fdiv_ui(x.get_num_mpz_t(), p);
    if (mpz_cmp_ui(x.get_den_mpz_t(), 1) == 0) return top;
    const Montgomery field(p);
    const std::uint64_t below = mpz_fdiv_ui(x.get_den_mpz_t(), p);
    if (below == 0) return {};
    return field.from(field.multiply(field.to(top), field.power(field.to(below), p - 2)));
}

} // namespace

std::uint64_t probe_prime() {
    static const std::uint64_t prime = primes_below(probe_bits, 1, true).front();
    return prime;
}

std::uint64_t probe_residue(const Tracked &x) {
    if (x.value == 0) return 0;
    const auto digits = static_cast<std::uint64_t>(std::fabs(std::ldexp(x.value, 53)));
    const int zeros = std::countr_zero(digits);
    const std::uint64_t odd = digits >> zeros;
    const std::int64_t exponent = x.exp2 - 53 + zeros;
    const bool fits = exponent >= 0 && std::bit_width(odd) + exponent < probe_bits;
    return with_sign(fits ? odd << exponent : times_modulo(odd, power_of_two(exponent)), x.value < 0);
}

std::optional<std::uint64_t> probe_residue(const Gaussian &x) {
    const auto re = residue_of_rational(x.re);
    if (!re || is_real(x)) return re;
    static const std::uint64_t i = square_root_of_minus_one(probe_prime());
    const auto im = residue_of_rational(x.im);
    if (!im) return {};
    const std::uint64_t p = probe_prime(), sum = *re + times_modulo(*im, i);
    return sum >= p ? sum - p : sum;
}

namespace {

template <class Value> std::uint64_t residue_or_none(const Value &x) {
    if constexpr (std::is_same_v<Value, Tracked>)
        return probe_residue(x);
    else
        return probe_residue(x).value_or(0);
}

} // namespace

template <class Value>
std::vector<std::uint64_t> probe_rows(const BlockOf<Value> &block, std::span<const std::int32_t> rows) {
    const std::size_t n = at(block.n());
    std::vector<std::uint64_t> residues(rows.size() * n);
    PolledSteps steps;
    std::size_t begin = 0;
    for (const std::int32_t i : rows) {
        steps.take(16 * static_cast<std::int64_t>(n));
        std::int64_t k = block.pattern.row_begin(i);
        for (const std::int32_t j : block.pattern.row(i))
            residues[begin + at(j)] = residue_or_none(block.values[at(k++)]);
        begin += n;
    }
    return residues;
}

template std::vector<std::uint64_t> probe_rows(const Block &, std::span<const std::int32_t>);
template std::vector<std::uint64_t> probe_rows(const ExactBlock &, std::span<const std::int32_t>);

} // namespace libperm
