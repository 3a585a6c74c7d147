#include "lib/glynn/minors/gradient_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

constexpr std::uint64_t pieces_at_once = 8;

// What a row and sign take on an AMD EPYC with vectors of eight doubles.
constexpr double real_seconds = 0.45e-9, complex_seconds = 1.2e-9;

SumShape shape_of(const CountedColumns &a) {
    const auto pieces = static_cast<double>(gradient_pieces(a));
    return {a.columns - 1, static_cast<double>(gradient_additions(a)), pieces + 100};
}

} // namespace

double gradient_seconds(int rows, int columns, bool is_complex) {
    return std::ldexp(rows * (is_complex ? complex_seconds : real_seconds), columns - 1);
}

namespace {

CountedColumns shape_alone(int rows, int columns, bool is_complex) {
    static const double nothing = 0;
    CountedColumns a;
    a.re = &nothing;
    a.im = is_complex ? &nothing : nullptr;
    a.rows = rows;
    a.columns = columns;
    return a;
}
std::uint64_t tasks_in(int rows, int columns, bool is_complex) {
    return gradient_share(shape_alone(rows, columns, is_complex)).tasks();
}

LineSums no_derivatives(const CountedColumns &a) { return {a.rows, a.columns, a.is_complex()}; }

LineSums summed_gradient(const CountedColumns &a, int threads, RunControl &control) {
    return sum_of_pieces(
        gradient_share(a).in_tasks(), threads, [&] { return no_derivatives(a); },
        [&](NumberRange task) { return gradient_task(a, task, control); }, add_task);
}

} // namespace

StepPieces gradient_share(const CountedColumns &a) { return {gradient_pieces(a), pieces_at_once}; }

int gradient_threads(int rows, int columns, bool is_complex) {
    return static_cast<int>(tasks_in(rows, columns, is_complex));
}

std::int64_t gradient_bytes(int rows, int columns, bool is_complex, int threads) {
    const auto tasks = static_cast<std::int64_t>(tasks_in(rows, columns, is_complex));
    const std::int64_t table = std::int64_t{rows} * columns * (is_complex ? 32 : 16),
                       of_thread = std::int64_t{rows} * 32 * 8 * 16;
    return table * (tasks + 1) + of_thread * std::min<std::int64_t>(threads, tasks);
}

LineSums gradient_task(const CountedColumns &a, NumberRange task, RunControl &control) {
    const std::uint64_t pieces = gradient_pieces(a);
    const double work = gradient_seconds(a.rows, a.columns, a.is_complex()) / static_cast<double>(pieces);
    return sum_of_task(pieces_at_once, task, gradient_space(a), no_derivatives(a),
                       [&](NumberRange some, double *space, LineSums &to) {
                           add_gradient(a, some.first, some.last, space, to);
                           if (pieces > 1) control.advance(work * some.size());
                       });
}

GradientSums::GradientSums(const GridMatrix &lines, int threads, RunControl &control)
    : GradientSums(lines, summed_gradient(lines.view(), threads, control)) {}

GradientSums::GradientSums(const GridMatrix &lines, LineSums sums)
    : lines_(lines), sums_(std::move(sums)), bounds_(lines, shape_of(lines.view())) {}

TapeAnswer GradientSums::permanent(std::int64_t exp2) const {
    return answer_of(sums_.whole, bounds_.error(sums_.whole, -1),
                     exp2 + lines_.exp2() - (lines_.view().columns - 1));
}

} // namespace libperm
