#include "lib/glynn/minors/left_out_sums.hpp"

#include "lib/base/aligned_doubles.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/doubles.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

constexpr std::uint64_t terms_of_piece = 1 << 14; // of minors: tenths of a millisecond
constexpr std::uint64_t pieces_at_once = 8;       // of derivatives

constexpr double of_result = 0x1.05p-53; // the last addition

CountedColumns columns_alone(const LeftOutShape &shape) {
    static constexpr double nothing = 0;
    CountedColumns a;
    a.re = &nothing;
    a.im = shape.is_complex ? &nothing : nullptr;
    a.rows = shape.rows();
    a.columns = shape.columns();
    a.row_count = shape.row_count.data();
    a.column_count = shape.column_count.data();
    return a;
}

// What a row and a term or sign take on an AMD EPYC with vectors of eight doubles.
double seconds_of_term(const LeftOutShape &shape) {
    if (shape.what == LeftOut::gradients) return shape.is_complex ? 1.2e-9 : 0.45e-9;
    return shape.is_complex ? 1.1e-9 : 0.4e-9;
}

LineSums summed(const LeftOutShape &shape, const GridMatrix &lines, int threads) {
    return sum_of_pieces(
        shape.share().in_tasks(), threads, [&] { return shape.no_sums(); },
        [&](NumberRange task) { return sums_of_task(shape, lines, task); }, add_task);
}

} // namespace

StepPieces LeftOutShape::share() const {
    const CountedColumns a = columns_alone(*this);
    if (what == LeftOut::gradients) return {gradient_pieces(a), pieces_at_once};
    return {count_steps(a), terms_of_piece / static_cast<std::uint64_t>(low_kinds(a).lanes)};
}

double LeftOutShape::seconds() const {
    const double terms = std::accumulate(column_count.begin(), column_count.end(), 0.5,
                                         [](double all, int count) { return all * (count + 1); });
    return rows() * terms * seconds_of_term(*this);
}

std::int64_t LeftOutShape::bytes(int threads) const {
    const auto tasks = static_cast<std::int64_t>(share().tasks());
    const std::int64_t table = std::int64_t{rows()} * columns() * (is_complex ? 32 : 16),
                       of_thread = std::int64_t{rows()} * 32 * 8 * 16;
    return table * (tasks + 1) + of_thread * std::min<std::int64_t>(threads, tasks);
}

LineSums sums_of_task(const LeftOutShape &shape, const GridMatrix &lines, NumberRange task) {
    const CountedColumns a = lines.view();
    const bool gradients = shape.what == LeftOut::gradients;
    const StepPieces share = shape.share();
    const bool is_long = share.steps > (gradients ? 1 : share.piece);
    const double work = is_long ? shape.seconds() / static_cast<double>(share.steps) : 0;
    const AlignedDoubles space = aligned_doubles(gradients ? gradient_space(a) : minor_space(a));
    LineSums sums = shape.no_sums();
    for (std::uint64_t k = task.first; k < task.last; k += share.piece) {
        const NumberRange some{k, std::min(k + share.piece, task.last)};
        if (gradients)
            add_gradient(a, some.first, some.last, space.get(), sums);
        else
            add_minors(a, some.first, some.last, space.get(), sums);
        if (is_long) call().advance(work * some.size());
    }
    return sums;
}

void add_task(const LineSums &task, LineSums &all) {
    all.add(task);
    add(task.whole, all.whole);
}

LeftOutSums::LeftOutSums(const LeftOutShape &shape, const GridMatrix &lines, int threads)
    : LeftOutSums(shape.what, lines, summed(shape, lines, threads)) {}

LeftOutSums::LeftOutSums(LeftOut what, const GridMatrix &lines, LineSums sums)
    : what_(what),
      lines_(lines),
      sums_(std::move(sums)),
      halvings_(lines.columns_in_all() - (what == LeftOut::gradients ? 1 : 0)) {
    const CountedColumns a = lines.view();
    const bool gradients = what == LeftOut::gradients;
    const double additions = static_cast<double>(gradients ? gradient_pieces(a) + 100 : count_steps(a) + 600),
                 of_sums = additions * additions * 0x1p-104;
    const int on_the_way = gradients ? gradient_additions(a) : minor_additions(a) + a.columns;
    const int factors = lines.rows_in_all(), n = std::max(factors, lines.columns_in_all());
    const auto share = [&](int of_factors) {
        // A weight stands before the product: one multiplication more.
        const double gamma =
            gamma_bound(roundings_of_term(a, of_factors) + product_roundings(a.arithmetic()) + on_the_way);
        return (gamma / (1 - gamma) + of_sums) * (1 + 0x1p-20);
    };
    share_ = share(factors - 1);
    share_of_whole_ = share(factors);
    underflow_ = (n + 2) * std::exp2(1.5 * n - 1066);
    for (int i = -1; i < a.rows; ++i) {
        const double moved = lines.moved_without(i);
        moved_.push_back(moved == 0 ? 0 : std::ldexp(moved, halvings_));
        units_.push_back(lines.unit_without(i));
    }
}

double LeftOutSums::error(const TermSum &sum, int i) const {
    const auto k = static_cast<std::size_t>(i) + 1; // -1: of the permanent
    const int unit = units_[k];
    if (unit > -900 && sum.mass < std::ldexp(1.0, unit + 52)) return 0;
    return (i < 0 ? share_of_whole_ : share_) * sum.mass + of_result * size_of(sum) + underflow_ + moved_[k];
}

double LeftOutSums::put(int i, int j, double factor, std::int64_t exp2, double *to) const {
    exp2 += lines_.exp2() - lines_.row_exp2(i);
    if (what_ == LeftOut::gradients) exp2 -= lines_.column_exp2(j);
    return put_number(sums_.sum(i, j), i, exp2, factor, to);
}

TapeAnswer LeftOutSums::permanent(std::int64_t exp2) const {
    return answer_of(sums_.whole, error(sums_.whole, -1), exp2 + lines_.exp2() - halvings_);
}

double LeftOutSums::put_permanent(double *to) const {
    return put_number(sums_.whole, -1, lines_.exp2(), 1, to);
}

double LeftOutSums::put_number(const TermSum &sum, int i, std::int64_t exp2, double factor,
                               double *to) const {
    const bool is_complex = lines_.view().is_complex();
    const std::int64_t shift = exp2 - halvings_;
    const double re = sum.re + sum.re_rest, im = sum.im + sum.im_rest;
    double error_here = error(sum, i) * factor;
    if (factor != 1) error_here += (std::fabs(re) + std::fabs(im)) * factor * 0x1p-53;
    const double size = std::fabs(re) + std::fabs(im);
    const bool is_usual = std::abs(shift) < 800 && (size == 0 || (size > 0x1p-150 && size < 0x1p150)) &&
                          error_here < 0x1p150 && (error_here == 0 || error_here > 0x1p-150) &&
                          (re == 0 || std::fabs(re) > 0x1p-180) && (im == 0 || std::fabs(im) > 0x1p-180);
    if (is_usual) {
        const double by = power_of_two(static_cast<int>(shift)); // nothing rounds
        to[0] = re * factor * by;
        if (is_complex) to[1] = im * factor * by;
        return error_here * by * (1 + 0x1p-40);
    }
    double bound = to_double_up(make_scaled(error_here * (1 + 0x1p-40), shift));
    to[0] = rounded(make_scaled(re * factor, shift), bound);
    if (is_complex) to[1] = rounded(make_scaled(im * factor, shift), bound);
    return bound;
}

} // namespace libperm
