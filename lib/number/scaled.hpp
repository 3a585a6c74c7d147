// A real number with an exponent of any size: mantissa * 2^exp2, 0.5 <= |mantissa| < 1 or both zero;
// numbers as text, and text as numbers.
#pragma once

#include "preprocess/numbers.hpp"

#include <cstdint>
#include <gmpxx.h>
#include <optional>
#include <string>
#include <string_view>

namespace libperm {

struct Scaled {
    double mantissa = 0;
    std::int64_t exp2 = 0;
};

Scaled make_scaled(double value, std::int64_t exp2 = 0); // value * 2^exp2
double to_double(const Scaled &x);                       // rounded; inf or 0 when out of range

double to_double_up(const Scaled &x); // of x >= 0: never below it

// The double next to x; what that moves it, or infinity, is added to the bound.
double rounded(const Scaled &x, double &bound);

// Locale-free decimal text in so many significant digits. `every_digit`: integers without an exponent,
// fractions with 17 digits or as many as they have, and 17 where these would be more than three million.
constexpr std::size_t every_digit = 0;
std::string to_text(const Scaled &x, std::size_t digits);
// The same into 32 bytes, without a NUL; where the text ends, or null where it takes longer.
char *quick_text(const Scaled &x, std::size_t digits, char *to);
std::string to_text(const mpq_class &x, std::size_t digits); // in so many significant digits
std::string to_text(const mpq_class &x);                     // all of it: "12", "-1/3"; 17 digits of a giant

// Writes what std::to_chars does in scientific form with precision 16, in a third of the time; null where |x|
// is not from 1e-38 to below 1e17. Takes at most 24 bytes.
char *write_17_digits(double x, char *to);

// "-12", "0.125", "6.02e23", "1/3", and of a complex number the two parts with a blank between them. Nothing
// if the text is anything else, or its exponent beyond +-100000.
std::optional<Gaussian> parse_number(std::string_view text);

} // namespace libperm
