#include "lib/glynn/multiplicities/glynn_multiplicity.hpp"

#include "jit/lanes/sign_grids.hpp"
#include "lib/glynn/term_answer.hpp"
#include "lib/number/ball.hpp"
#include "lib/run/numbered_sum.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

CountedColumns columns_of(const SmallLineClasses &a, const SmallGrid &fixed) {
    const auto rows =
        std::count_if(a.row_count.of.begin(), a.row_count.of.end(), [](int count) { return count > 0; });
    return {fixed.of(a.matrix), static_cast<int>(rows), a.columns, a.row_count.of.data(),
            a.column_count.data()};
}

// Every term is a multiple of 2 to this where the entries stand on the first grid alone.
int unit_of_terms(const CountedColumns &a) {
    int unit = 0;
    for (int i = 0; i < a.rows; ++i) unit += a.row_count[i] * unit_of_row(a, a.columns, i);
    return unit;
}

// What share of the terms' absolute values the roundings of doubles are.
double share_in_doubles(const CountSum &sum, const CountedColumns &columns, int n) {
    const double gamma = gamma_bound(roundings_of_term(columns, n) + columns.columns + sum.step_roundings);
    const double additions = sum.steps + 8;
    return gamma / (1 - gamma) + additions * additions * 0x1p-104;
}

double share_in_dd(const CountSum &sum, const CountedColumns &columns, int n) {
    const double of_product = columns.is_complex() ? 13 : 6;
    return ((n - 1) * of_product + 12 + 5 * (sum.step_roundings + sum.steps) + 150) * 0x1p-106;
}

constexpr std::uint64_t terms_of_piece = 1 << 15; // tenths of a millisecond, or milliseconds in dd
constexpr int additions_of_piece = 8;             // of its lanes

// The pieces follow from the classes alone.
CountSum sum_of(const CountedColumns &columns, bool dd, int threads) {
    const std::uint64_t steps = count_steps(columns);
    const std::uint64_t piece = terms_of_piece / static_cast<std::uint64_t>(low_kinds(columns).lanes);
    return sum_of_pieces(
        NumberedPieces::of_length(steps, piece), threads, [] { return CountSum(); },
        [&](NumberRange some) { return sum_over_counts(columns, dd, some.first, some.last); },
        [](const CountSum &part, CountSum &all) {
            add(part, all);
            all.steps += part.steps + additions_of_piece;
            all.step_roundings = part.step_roundings;
        });
}

constexpr double of_result = 0x1.05p-53; // the last addition, and the size's rounding
constexpr double most_dd = 0x1p22;       // products: tenths of a second

// Whether the weights of steps are doubles, whichever kinds a step sums over.
bool has_exact_weights(const SmallLineClasses &a) {
    double most = 2;
    for (int j = 1; j < a.columns; ++j) {
        const auto count = static_cast<std::size_t>(a.column_count[static_cast<std::size_t>(j)]);
        most *= binomials.of[count][count / 2];
    }
    return most < 0x1p53;
}

} // namespace

// Proofs: docs/accuracy.md, "Sums over counts".
bool glynn_multiplicity(const SmallLineClasses &a, double tolerance, bool may_be_dd, int threads,
                        TapeAnswer &answer) {
    SmallGrid fixed;
    if (!put_on_grid(a.matrix, a.row_count, fixed)) return false;
    const CountedColumns columns = columns_of(a, fixed);
    const int n = a.row_count.total;
    const auto compute = [&](bool dd) {
        const CountSum sum = sum_of(columns, dd, threads);
        const double mass = sum.mass * (1 + (sum.steps + sum.step_roundings + 16) * 0x1p-52);
        const double share = dd ? share_in_dd(sum, columns, n) : share_in_doubles(sum, columns, n);
        const double underflow = (n + 2) * std::exp2(1.5 * n - 1066);
        const double error =
            share * mass * (1 + 0x1p-20) + of_result * size_of(sum) + underflow + std::ldexp(fixed.moved, n);
        bool is_exact = false;
        if (!dd && !fixed.is_split && fixed.moved == 0) {
            const int unit = unit_of_terms(columns);
            is_exact = unit > -900 && mass < std::ldexp(1.0, unit + 52);
        }
        answer = answer_of(sum, is_exact ? 0 : error, fixed.exp2 - n);
    };
    compute(false);
    if (!(answer.rel_error_bound <= tolerance) && may_be_dd && a.terms * n <= most_dd && has_exact_weights(a))
        compute(true);
    return true;
}

} // namespace libperm
