#include "lib/glynn/calls/glynn_text.hpp"

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

} // namespace

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

} // namespace libperm
