#include "lib/glynn/calls/glynn_result.hpp"

#include "lib/number/bits.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace libperm {
namespace {

char *copy_of(std::string_view text) {
    auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}

char *text_of(Int128 x) {
    std::array<char, 48> text{};
    char *first = text.end();
    UInt128 left = x < 0 ? -static_cast<UInt128>(x) : static_cast<UInt128>(x);
    do {
        *--first = static_cast<char>('0' + static_cast<int>(left % 10));
        left /= 10;
    } while (left != 0);
    if (x < 0) *--first = '-';
    return copy_of({first, static_cast<std::size_t>(text.end() - first)});
}

char *text_of(const mpz_class &x) {
    auto *text = static_cast<char *>(std::malloc(mpz_sizeinbase(x.get_mpz_t(), 10) + 2)); // sign and end
    if (!text) throw std::bad_alloc();
    return mpz_get_str(text, 10, x.get_mpz_t());
}

} // namespace

char *text_of(const TapeAnswer &answer) {
    std::array<char, 80> text{};
    const std::size_t digits = answer.digits();
    char *end = quick_text(answer.re, digits, text.data());
    if (end && answer.im.mantissa != 0) {
        if (answer.im.mantissa > 0) *end++ = '+';
        end = quick_text(answer.im, digits, end);
        if (end) *end++ = 'i';
    }
    if (end) return copy_of({text.data(), static_cast<std::size_t>(end - text.data())});
    return copy_of(answer_of(answer, true).text);
}

char *text_of(const DenseSum &sum) {
    return sum.mpz ? text_of(*sum.mpz) : sum.integer ? text_of(*sum.integer) : text_of(sum.value);
}

SmallAccount account_of(const DenseSum &sum, int n, std::int64_t nnz, int threads) {
    if (sum.engine != Engine::glynn)
        return {n, nnz, threads, 0, sum.operations, sizeof(SmallMatrix), sum.engine};
    if (sum.is_by_definition) {
        const double permutations = n < 2 ? 1 : n == 2 ? 2 : 6;
        return {n, nnz, threads, permutations, permutations * n, sizeof(SmallMatrix)};
    }
    const int order = std::max(n, least_sign_order);
    const double subsets = power_of_two(order - 1);
    return {n, nnz, threads, subsets, subsets * order, sizeof(SmallMatrix)};
}

void fill(perm_result &result, const TapeAnswer &value, bool tolerance_met, const SmallAccount &account) {
    put(answer_of(value, false), result);
    result.rel_error_bound = value.rel_error_bound;
    result.exact = value.exact;
    result.tolerance_met = tolerance_met;
    result.engine = engine_name(account.engine);
    result.device = "cpu";
    result.n = account.n;
    result.nnz = account.nnz;
    result.threads = account.threads;
    result.subsets = account.subsets;
    result.operations = account.operations;
    result.peak_bytes = static_cast<std::int64_t>(account.bytes);
    result.blocks = result.blocks_computed = 1;
}

} // namespace libperm
