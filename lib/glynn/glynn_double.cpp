#include "lib/glynn/glynn_double.hpp"

#include "lib/glynn/sign_pieces.hpp"
#include "lib/glynn/small_grid.hpp"
#include "lib/glynn/term_answer.hpp"
#include "lib/number/ball.hpp"

#include <bit>
#include <cmath>

namespace libperm {
namespace {

TermSum sum_of(const SignColumns &columns, int threads) {
    return sum_of_pieces(
        sign_pieces(columns.n, sign_steps(columns)), threads, [] { return TermSum(); },
        [&](NumberRange steps) { return sum_over_signs(columns, steps.first, steps.last); },
        [](const TermSum &part, TermSum &all) { add(part, all); });
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
    SmallGrid fixed;
    if (!put_on_grid(a, fixed)) return false;
    const SignColumns columns{fixed.of(a), a.order};
    const TermSum sum = sum_of(columns, threads);
    answer = answer_of(sum, error_of(sum, columns, a.given, fixed.moved), fixed.exp2 - (a.order - 1));
    return true;
}

} // namespace libperm
