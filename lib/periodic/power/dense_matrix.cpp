#include "lib/periodic/power/dense_matrix.hpp"

#include "jit/lanes/dense_product.hpp"
#include "jit/number/arithmetic.hpp"
#include "jit/number/number.hpp"
#include "lib/number/with_fma.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr std::size_t tile_rows = 16 * panel_rows, tile_columns = 16 * panel_columns;

// panels(left, right) of a tile.
template <class Work> void for_each_panel(const DenseTile &tile, const Work &work) {
    for (std::size_t j = 0; j < tile.columns; j += panel_columns)
        for (std::size_t i = 0; i < tile.rows; i += panel_rows)
            work(i, j, std::min(panel_rows, tile.rows - i), std::min(panel_columns, tile.columns - j));
}

template <class A> typename A::Number number_of(const DenseMatrix &x, std::size_t place);
template <>
number::Real<double>::Number number_of<number::Real<double>>(const DenseMatrix &x, std::size_t place) {
    return x.planes[0][place];
}
template <>
number::DD<double>::Number number_of<number::DD<double>>(const DenseMatrix &x, std::size_t place) {
    return {x.planes[0][place], x.planes[1][place]};
}
template <>
number::Complex<number::Real<double>>::Number
number_of<number::Complex<number::Real<double>>>(const DenseMatrix &x, std::size_t place) {
    return {x.planes[0][place], x.planes[1][place]};
}
template <>
number::Complex<number::DD<double>>::Number
number_of<number::Complex<number::DD<double>>>(const DenseMatrix &x, std::size_t place) {
    return {{x.planes[0][place], x.planes[1][place]}, {x.planes[2][place], x.planes[3][place]}};
}

template <class A> DenseNumber trace_in(const DenseMatrix &a, const DenseMatrix *b) {
    std::vector<typename A::Number> of_row(a.rows);
    parallel_for(a.rows, [&](std::uint64_t i) {
        if (!b) {
            of_row[i] = number_of<A>(a, i * a.columns + i);
            return;
        }
        with_fma([&] {
            typename A::Number sum = A::number(0);
            for (std::size_t k = 0; k < a.columns; ++k)
                sum = A::madd(number_of<A>(a, i * a.columns + k), number_of<A>(*b, k * b->columns + i), sum);
            of_row[i] = sum;
        });
    });
    typename A::Number sum = A::number(0);
    for (const auto &x : of_row) sum = A::add(sum, x);
    DenseNumber out{};
    static_assert(sizeof sum <= sizeof out);
    std::copy_n(reinterpret_cast<const double *>(&sum), sizeof sum / sizeof(double), out.begin());
    return out;
}

DenseNumber trace_of(const DenseMatrix &a, const DenseMatrix *b) {
    using number::Complex, number::DD, number::Real;
    if (a.complex) return a.dd ? trace_in<Complex<DD<double>>>(a, b) : trace_in<Complex<Real<double>>>(a, b);
    return a.dd ? trace_in<DD<double>>(a, b) : trace_in<Real<double>>(a, b);
}

} // namespace

PackedPlane PackedPlane::packed(const DensePlane &x, std::size_t lines, std::size_t inner, std::size_t panel,
                                Pack pack, RunControl &control) {
    PackedPlane out;
    out.panel_ = panel;
    out.inner_ = inner;
    const std::size_t panels = panels_of(lines, panel);
    out.packed_.resize(panels * panel * inner);
    parallel_for(panels, [&](std::uint64_t p) {
        control.poll();
        pack(x.data(), lines, inner, p, out.packed_.data() + p * panel * inner);
    });
    return out;
}

PackedPlane PackedPlane::of_rows(const DensePlane &a, std::size_t rows, std::size_t inner,
                                 RunControl &control) {
    return packed(a, rows, inner, panel_rows, pack_rows, control);
}

PackedPlane PackedPlane::of_columns(const DensePlane &b, std::size_t columns, std::size_t inner,
                                    RunControl &control) {
    return packed(b, columns, inner, panel_columns, pack_columns, control);
}

void for_each_tile(std::size_t rows, std::size_t columns,
                   const std::function<void(const DenseTile &)> &work) {
    const std::size_t down = panels_of(rows, tile_rows), across = panels_of(columns, tile_columns);
    parallel_for(down * across, [&](std::uint64_t t) {
        const std::size_t row = t / across * tile_rows, column = t % across * tile_columns;
        work({row, std::min(tile_rows, rows - row), column, std::min(tile_columns, columns - column)});
    });
}

void add_tile_product(const PackedPlane &a, const PackedPlane &b, const DenseTile &tile, std::size_t begin,
                      std::size_t end, double *c, std::size_t stride) {
    for (std::size_t k = begin; k < end; k += dense_chunk)
        for_each_panel(tile, [&](std::size_t i, std::size_t j, std::size_t rows, std::size_t columns) {
            add_panel_product(DensePanels{a.at(tile.first_row + i, k), b.at(tile.first_column + j, k),
                                          std::min(dense_chunk, end - k), c + i * stride + j, stride, rows,
                                          columns});
        });
}

DenseMatrix DenseMatrix::unwritten(std::size_t rows, std::size_t columns, bool complex, bool dd) {
    DenseMatrix out{complex, dd, rows, columns, {}};
    out.planes.resize((complex ? 2 : 1) * (dd ? 2 : 1));
    for (DensePlane &plane : out.planes) plane.resize(rows * columns);
    return out;
}

double DenseMatrix::largest() const {
    std::vector<double> of_row(rows, 0);
    parallel_for(rows, [&](std::uint64_t i) {
        for (const auto &plane : planes)
            for (std::size_t k = i * columns; k < (i + 1) * columns; ++k)
                of_row[i] = std::max(of_row[i], std::fabs(plane[k]));
    });
    return rows == 0 ? 0 : *std::max_element(of_row.begin(), of_row.end());
}

std::pair<double, double> DenseMatrix::taken_out(int power) {
    const int half = power / 2; // 2^-power need not be a double
    const double one = std::ldexp(1.0, -half), other = std::ldexp(1.0, half - power);
    lost = lost * one * other + 0x1p-1073;
    exp2 += power;
    return {one, other};
}

void DenseMatrix::take_out(int power) {
    const auto [one, other] = taken_out(power);
    parallel_for(rows, [&, x = one, y = other](std::uint64_t i) {
        for (auto &plane : planes)
            for (std::size_t k = i * columns; k < (i + 1) * columns; ++k) plane[k] = plane[k] * x * y;
    });
}

std::vector<PartProduct> parts_of_product(bool complex) {
    if (!complex) return {{0, 0, 0, false}};
    return {{0, 0, 0, false}, {1, 1, 0, true}, {0, 1, 1, false}, {1, 0, 1, false}};
}

DenseMatrix product(const DenseMatrix &a, const DenseMatrix &b, RunControl &control) {
    const std::size_t inner = a.columns, of_part = a.dd ? 2 : 1;
    Charge charge(&control.memory(),
                  static_cast<std::int64_t>(8 * (a.rows * inner + (inner + a.rows) * b.columns) * of_part *
                                            (a.complex ? 2 : 1)));
    DenseMatrix c = DenseMatrix::unwritten(a.rows, b.columns, a.complex, a.dd);
    c.exp2 = a.exp2 + b.exp2;
    std::vector<PackedPlane> left, negated, right;
    for (const auto &plane : a.planes) left.push_back(PackedPlane::of_rows(plane, a.rows, inner, control));
    for (const auto &plane : b.planes)
        right.push_back(PackedPlane::of_columns(plane, b.columns, inner, control));
    for (std::size_t p = of_part; p < a.planes.size(); ++p) {
        DensePlane plane = a.planes[p];
        for (double &x : plane) x = -x;
        negated.push_back(PackedPlane::of_rows(plane, a.rows, inner, control));
    }
    const std::vector<PartProduct> parts = parts_of_product(a.complex);
    for_each_tile(a.rows, b.columns, [&](const DenseTile &tile) {
        const std::size_t first = tile.first_row * b.columns + tile.first_column;
        for (DensePlane &plane : c.planes)
            for (std::size_t i = 0; i < tile.rows; ++i)
                std::fill_n(plane.begin() + static_cast<std::ptrdiff_t>(first + i * b.columns), tile.columns,
                            0.0);
        for (const PartProduct &part : parts) {
            control.poll();
            const PackedPlane *x = part.negative ? negated.data() : left.data() + part.a * of_part,
                              *y = right.data() + part.b * of_part;
            const auto to = [&](std::size_t half) {
                return c.planes[part.c * of_part + half].data() + first;
            };
            if (!a.dd) {
                add_tile_product(x[0], y[0], tile, 0, inner, to(0), b.columns);
                continue;
            }
            for (std::size_t k = 0; k < inner; k += dense_chunk)
                for_each_panel(tile,
                               [&](std::size_t i, std::size_t j, std::size_t rows, std::size_t columns) {
                                   const std::size_t row = tile.first_row + i, column = tile.first_column + j,
                                                     place = i * b.columns + j;
                                   add_panel_product(DenseDdPanels{{x[0].at(row, k), y[0].at(column, k),
                                                                    std::min(dense_chunk, inner - k),
                                                                    to(0) + place, b.columns, rows, columns},
                                                                   x[1].at(row, k),
                                                                   y[1].at(column, k),
                                                                   to(1) + place});
                               });
        }
        control.advance(static_cast<double>(tile.rows * tile.columns) * static_cast<double>(inner));
    });
    return c;
}

double product_roundings(std::size_t inner, bool complex, bool dd) {
    constexpr double chunk = dense_chunk;
    const auto n = static_cast<double>(inner);
    // A part of a complex number is a sum of two, and both parts err.
    const double sum = dd ? fused_roundings(Arithmetic::dd) * n : std::min(n, chunk) + n / chunk + 2;
    return complex ? 3 * sum : sum;
}

double product_seconds(double multiplications, bool complex, bool dd) {
    constexpr double of_double = 0.03e-9, of_pair = 0.3e-9;
    return multiplications * (dd ? of_pair : of_double) * (complex ? 4 : 1);
}

DenseNumber trace(const DenseMatrix &a) { return trace_of(a, nullptr); }
DenseNumber trace_of_product(const DenseMatrix &a, const DenseMatrix &b) { return trace_of(a, &b); }

} // namespace libperm
