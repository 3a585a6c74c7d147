#include "lib/run/input_error.hpp"

#include "lib/number/bits.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libperm {
namespace {

bool all_are_magnitudes(const Block &block) {
    return std::all_of(block.values.begin(), block.values.end(),
                       [](const Tracked &x) { return x.value == x.magnitude; });
}

} // namespace

Ball ball_from(const Block &block, double value, double error, std::int64_t exp2) {
    const double roundings = most_roundings(block);
    const double gamma = gamma_bound(roundings);
    const double share = gamma < 0.5 ? gamma / (1 - gamma) : std::numeric_limits<double>::infinity();
    if (roundings > 0 && all_are_magnitudes(block)) { // perm(M) is what has been computed
        error = (error + share * (std::fabs(value) + error)) * (1 + 0x1p-40);
    } else if (roundings > 0) {
        // |perm(A) - perm(values)| <= gamma perm(M), and (1 - gamma) M is at most the magnitudes, for a
        // product with gamma of all its roundings (preprocess/tracked.hpp).
        const PermanentBound most = permanent_bound(block);
        // The values alone may be far smaller: all of it in a unit that holds both.
        const std::int64_t shift = std::max<std::int64_t>(0, most.exp2 - exp2 - 500);
        const int down = ldexp_exponent(-shift);
        value = std::ldexp(value, down);
        error =
            std::ldexp(error, down) + 0x1p-1070 + // for what underflows here
            share * std::max(0x1p-1070, std::ldexp(most.mantissa, ldexp_exponent(most.exp2 - exp2 - shift)));
        error *= 1 + 0x1p-40;
        exp2 += shift;
    }
    return ball_within(value, error, exp2);
}

} // namespace libperm
