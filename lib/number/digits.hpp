// The 17 digits of a double, in exact integer arithmetic.
#pragma once

namespace libperm {

// Writes what std::to_chars does in scientific form with precision 16, in a third of the time; null where |x|
// is not from 1e-38 to below 1e17. Takes at most 24 bytes.
char *write_17_digits(double x, char *to);

} // namespace libperm
