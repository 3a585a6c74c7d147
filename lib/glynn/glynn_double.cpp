#include "lib/glynn/glynn_double.hpp"

#include "lib/base/threads.hpp"
#include "lib/glynn/fixed_columns.hpp"
#include "lib/glynn/pieces.hpp"
#include "lib/glynn/term_answer.hpp"
#include "lib/number/ball.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace libperm {
namespace {

TermSum sum_of(const SignColumns &columns, int threads) {
    const std::uint64_t steps = sign_steps(columns), piece = steps_of_piece(columns.n, steps);
    if (piece >= steps) return sum_over_signs(columns, 0, steps);
    std::array<TermSum, most_sign_pieces> sums;
    in_pieces(steps / piece, threads,
              [&](std::uint64_t k) { sums[k] = sum_over_signs(columns, k * piece, (k + 1) * piece); });
    TermSum all;
    for (std::uint64_t k = 0; k < steps / piece; ++k) add(sums[k], all);
    return all;
}

// Only the rows that were given count: those that were added round nothing.
double roundings_of(const SignColumns &columns, int given) {
    const int of_step = std::bit_width(static_cast<unsigned>(vectors_of_step(columns))) - 1;
    return roundings_of_term(columns, given) + of_step;
}

// Proof: docs/accuracy.md, "Sums over signs".
double error_of(const TermSum &sum, const SignColumns &columns, int given, double moved) {
    const double gamma = gamma_bound(roundings_of(columns, given)), underflow = columns.n * 0x1p-1040;
    const double error =
        (gamma / (1 - gamma) + 0x1p-80) * sum.mass * (1 + 0x1p-20) + 0x1.01p-53 * size_of(sum) + underflow;
    return moved == 0 ? error : error + std::ldexp(moved, columns.n - 1);
}

} // namespace

bool glynn_double(const SmallMatrix &a, int threads, TapeAnswer &answer) {
    FixedColumns fixed;
    if (!fix_columns(a, fixed)) return false;
    const SignColumns columns{fixed.of(a), a.order};
    const TermSum sum = sum_of(columns, threads);
    answer = answer_of(sum, error_of(sum, columns, a.given, fixed.moved), fixed.exp2 - (a.order - 1));
    return true;
}

} // namespace libperm
