#include "lib/glynn/polynomial_sums.hpp"

#include "lib/base/aligned_doubles.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/number/ball.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

constexpr int most_apart = 20;            // bits that a row's sums in C and L may differ by
constexpr std::uint64_t most_pieces = 64; // of as many terms at least as these
constexpr double terms_of_piece = 1 << 13;

// What a coefficient of a row and a term takes on an AMD EPYC with vectors of eight doubles.
constexpr double real_seconds = 0.25e-9, complex_seconds = 0.7e-9, times_in_dd = 10;

// C's rows, and L's below.
std::vector<int> twice(const std::vector<int> &count) {
    std::vector<int> both = count;
    both.insert(both.end(), count.begin(), count.end());
    return both;
}

} // namespace

PolynomialSums::PolynomialSums(PolynomialShape shape, std::int64_t exp2)
    : shape_(std::move(shape)),
      exp2_(exp2),
      lines_(twice(shape_.row_count), shape_.column_count, shape_.is_complex),
      scale_(shape_.row_count.size()) {}

std::unique_ptr<const PolynomialSums> PolynomialSums::of(const PolynomialShape &shape, const Entry &constant,
                                                         const Entry &linear, std::int64_t exp2) {
    if (shape.row_count.size() > most_polynomial_rows || shape.column_count.size() > most_summed_kinds ||
        shape.row_count.empty())
        return nullptr;
    for (const int count : shape.column_count)
        if (count > most_of_kind) return nullptr;
    std::unique_ptr<PolynomialSums> sums(new PolynomialSums(shape, exp2)); // its constructor is private
    if (!sums->fix(constant, linear)) return nullptr;
    return sums;
}

bool PolynomialSums::fix(const Entry &constant, const Entry &linear) {
    const int rows = static_cast<int>(shape_.row_count.size()),
              columns = static_cast<int>(shape_.column_count.size());
    std::vector<char> has_constant(at(rows)), has_linear(at(rows));
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            const std::complex<double> c = constant(i, j), l = linear(i, j);
            lines_.set(i, j, c.real(), c.imag());
            lines_.set(rows + i, j, l.real(), l.imag());
            if (c != 0.0) has_constant[at(i)] = 1;
            if (l != 0.0) has_linear[at(i)] = 1;
        }
    if (!lines_.fix() || lines_.is_moved()) return false;
    for (int j = 0; j < columns; ++j) exp2_of_all_ += shape_.column_count[at(j)] * lines_.column_exp2(j);
    for (int i = 0; i < rows; ++i) {
        const std::int64_t of_linear = lines_.row_exp2(rows + i) - exp2_,
                           of_row = has_constant[at(i)] ? lines_.row_exp2(i) : of_linear;
        if (has_linear[at(i)] && std::abs(of_linear - of_row) > most_apart) return false;
        exp2_of_all_ += shape_.row_count[at(i)] * of_row;
        scale_[at(i)] = has_linear[at(i)] ? std::ldexp(1, static_cast<int>(of_linear - of_row)) : 0;
    }
    return true;
}

LinearColumns PolynomialSums::view() const {
    return {lines_.view(), static_cast<int>(shape_.row_count.size()), shape_.degree, scale_.data(),
            shape_.dd};
}

NumberedPieces PolynomialSums::pieces() const {
    const std::uint64_t steps = count_steps(view().columns);
    const auto wanted = static_cast<std::uint64_t>(std::ceil(terms() / terms_of_piece));
    return NumberedPieces::so_many(steps, std::clamp<std::uint64_t>(wanted, 1, std::min(steps, most_pieces)));
}

LineSums PolynomialSums::piece(NumberRange steps) const {
    const LinearColumns columns = view();
    const AlignedDoubles space = aligned_doubles(polynomial_space(columns));
    LineSums sums = no_sums();
    add_polynomials(columns, steps.first, steps.last, space.get(), sums);
    return sums;
}

double PolynomialSums::seconds() const {
    const double rows = std::accumulate(shape_.row_count.begin(), shape_.row_count.end(), 0.0),
                 degree = shape_.degree + 1, products = degree * (rows - degree / 2) + rows;
    return terms() * products * (shape_.is_complex ? complex_seconds : real_seconds) *
           (shape_.dd ? times_in_dd : 1);
}

// A term is rounded in each row where both products are added (of two rows at once by half a rounding more),
// where a row's sums are put together, by its weight, and where it is added to those of its step. Each row's
// sums are at most 2^20 N, so that what underflows, 2^-1074 at a time, grows to less than 2^-500.
PolynomialSums::Coefficient PolynomialSums::coefficient(const LineSums &sums, int k) const {
    const TermSum sum = sums.sum(k, 0);
    const CountedColumns columns = lines_.view();
    const int n = lines_.columns_in_all();
    const Arithmetic numbers = !shape_.dd          ? columns.arithmetic()
                               : shape_.is_complex ? Arithmetic::complex_dd
                                                   : Arithmetic::dd;
    const double of_row = product_roundings(numbers) + fused_roundings(numbers) + 0.5,
                 of_sums = columns.is_split() && !shape_.dd ? 1 : 0;
    const double steps = static_cast<double>(count_steps(columns)),
                 additions = shape_.dd ? steps * low_lanes() / 8 : polynomial_additions();
    const double gamma = gamma_bound(n * (of_row + of_sums) + product_roundings(numbers) + additions +
                                         static_cast<double>(shape_.column_count.size()),
                                     unit_of(numbers));
    const double share = (gamma / (1 - gamma) + (steps + 600) * (steps + 600) * 0x1p-104) * (1 + 0x1p-20);
    const double of_total = shape_.dd ? 0 : 0x1.05p-53 * size_of(sum);
    const double error = share * sum.mass + of_total + 0x1p-500;
    const std::int64_t exp2 = exp2_of_all_ - n + k * exp2_;
    if (shape_.dd)
        return {make_scaled(sum.re, exp2), make_scaled(sum.re_rest, exp2), make_scaled(sum.im, exp2),
                make_scaled(sum.im_rest, exp2), make_scaled(error * (1 + 0x1p-40), exp2)};
    return {make_scaled(sum.re + sum.re_rest, exp2),
            {},
            make_scaled(sum.im + sum.im_rest, exp2),
            {},
            make_scaled(error * (1 + 0x1p-40), exp2)};
}

} // namespace libperm
