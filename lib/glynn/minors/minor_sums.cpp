#include "lib/glynn/minors/minor_sums.hpp"

#include <utility>

namespace libperm {
namespace {

constexpr std::uint64_t terms_of_piece = 1 << 14; // tenths of a millisecond

// What a row and term take on an AMD EPYC with vectors of eight doubles.
constexpr double real_row_seconds = 0.4e-9, complex_row_seconds = 1.1e-9;

LineSums no_minors(const CountedColumns &a) { return {a.rows, 1, a.is_complex()}; }

LineSums summed_minors(const CountedColumns &a, int threads, RunControl &control) {
    return sum_of_pieces(
        minor_share(a).in_tasks(), threads, [&] { return no_minors(a); },
        [&](NumberRange task) { return minor_task(a, task, control); }, add_task);
}

SumShape shape_of(const CountedColumns &a, int columns_in_all) {
    return {columns_in_all, static_cast<double>(minor_additions(a) + a.columns),
            static_cast<double>(count_steps(a)) + 600};
}

} // namespace

double minor_seconds(int rows, double terms, bool is_complex) {
    return rows * terms * (is_complex ? complex_row_seconds : real_row_seconds);
}

StepPieces minor_share(const CountedColumns &a) {
    return {count_steps(a), terms_of_piece / static_cast<std::uint64_t>(low_kinds(a).lanes)};
}

LineSums minor_task(const CountedColumns &a, NumberRange task, RunControl &control) {
    const StepPieces share = minor_share(a);
    const double work = minor_seconds(a.rows, low_kinds(a).lanes, a.is_complex());
    return sum_of_task(share.piece, task, minor_space(a), no_minors(a),
                       [&](NumberRange steps, double *space, LineSums &to) {
                           add_minors(a, steps.first, steps.last, space, to);
                           if (share.steps > share.piece) control.advance(work * steps.size());
                       });
}

MinorSums::MinorSums(const GridMatrix &lines, LineSums sums)
    : lines_(lines), sums_(std::move(sums)), bounds_(lines, shape_of(lines.view(), lines.columns_in_all())) {}

MinorSums::MinorSums(const GridMatrix &lines, int threads, RunControl &control)
    : MinorSums(lines, summed_minors(lines.view(), threads, control)) {}

} // namespace libperm
