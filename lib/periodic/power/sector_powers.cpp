#include "lib/periodic/power/sector_powers.hpp"

#include "jit/lanes/dense_product.hpp"
#include "jit/number/arithmetic.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace libperm {
namespace {

constexpr std::size_t tile_rows = 16 * panel_rows, tile_columns = 16 * panel_columns;

// One plane as a left or a right factor: its rows, or its columns, in panels.
struct PackedPlane {
    std::size_t panel, inner;
    DensePlane numbers;

    const double *at(std::size_t line, std::size_t inner_index) const { // of a panel's first line
        return numbers.data() + line * inner + inner_index * panel;
    }
};

using Pack = void (*)(const double *x, std::size_t lines, std::size_t inner, std::size_t panel, double *to);

PackedPlane packed(const DensePlane &x, std::size_t lines, std::size_t inner, std::size_t panel, Pack pack) {
    const std::size_t panels = panels_of(lines, panel);
    PackedPlane out{panel, inner, DensePlane(panels * panel * inner)};
    parallel_for(panels, [&](std::uint64_t p) {
        poll();
        pack(x.data(), lines, inner, p, out.numbers.data() + p * panel * inner);
    });
    return out;
}

// Products of real and imaginary parts: which of a, of b, and to which they are added, in this order.
struct PartProduct {
    std::size_t a, b, c;
    bool negative;
};
std::vector<PartProduct> parts_of_product(bool complex) {
    if (!complex) return {{0, 0, 0, false}};
    return {{0, 0, 0, false}, {1, 1, 0, true}, {0, 1, 1, false}, {1, 0, 1, false}};
}

} // namespace

DenseMatrix DenseMatrix::unwritten(std::size_t rows, std::size_t columns, bool complex, bool dd) {
    DenseMatrix out{complex, dd, rows, columns, {}};
    out.planes.resize((complex ? 2 : 1) * (dd ? 2 : 1));
    for (DensePlane &plane : out.planes) plane.resize(rows * columns);
    return out;
}

void DenseMatrix::normalise() {
    const auto for_each_row = [this](const auto &work) {
        parallel_for(rows, [&](std::uint64_t i) {
            for (auto &plane : planes) work(i, std::span(plane.data() + i * columns, columns));
        });
    };
    std::vector<double> of_row(rows, 0);
    for_each_row([&](std::uint64_t i, std::span<double> numbers) {
        for (const double x : numbers) of_row[i] = std::max(of_row[i], std::fabs(x));
    });
    const double largest = rows == 0 ? 0 : *std::max_element(of_row.begin(), of_row.end());
    const int power = largest > 0 ? std::ilogb(largest) + 1 : 0, half = power / 2;
    const double one = std::ldexp(1.0, -half), other = std::ldexp(1.0, half - power); // 2^-power may be none
    lost = lost * one * other + 0x1p-1073;
    exp2 += power;
    for_each_row([one, other](std::uint64_t, std::span<double> numbers) {
        for (double &x : numbers) x = x * one * other;
    });
}

DenseMatrix product(const DenseMatrix &a, const DenseMatrix &b) {
    const std::size_t inner = a.columns, of_part = a.dd ? 2 : 1;
    Charge charge(&call().memory(),
                  static_cast<std::int64_t>(8 * (a.rows * inner + (inner + a.rows) * b.columns) * of_part *
                                            (a.complex ? 2 : 1)));
    DenseMatrix c = DenseMatrix::unwritten(a.rows, b.columns, a.complex, a.dd);
    c.exp2 = a.exp2 + b.exp2;
    std::vector<PackedPlane> left, negated, right;
    for (const auto &plane : a.planes) left.push_back(packed(plane, a.rows, inner, panel_rows, pack_rows));
    for (const auto &plane : b.planes)
        right.push_back(packed(plane, b.columns, inner, panel_columns, pack_columns));
    for (std::size_t p = of_part; p < a.planes.size(); ++p) {
        DensePlane plane = a.planes[p];
        for (double &x : plane) x = -x;
        negated.push_back(packed(plane, a.rows, inner, panel_rows, pack_rows));
    }
    const std::vector<PartProduct> parts = parts_of_product(a.complex);
    const std::size_t down = panels_of(a.rows, tile_rows), across = panels_of(b.columns, tile_columns);
    parallel_for(down * across, [&](std::uint64_t t) {
        const std::size_t row = t / across * tile_rows, end_row = std::min(row + tile_rows, a.rows),
                          column = t % across * tile_columns,
                          end_column = std::min(column + tile_columns, b.columns);
        for (DensePlane &plane : c.planes)
            for (std::size_t i = row; i < end_row; ++i)
                std::fill(plane.data() + i * b.columns + column, plane.data() + i * b.columns + end_column,
                          0.0);
        const auto add_panel = [&](const PartProduct &part, std::size_t i, std::size_t j, std::size_t k) {
            const PackedPlane *x = part.negative ? negated.data() : left.data() + part.a * of_part,
                              *y = right.data() + part.b * of_part;
            const auto to = [&](std::size_t half) {
                return c.planes[part.c * of_part + half].data() + i * b.columns + j;
            };
            const DensePanels panels{x[0].at(i, k),
                                     y[0].at(j, k),
                                     std::min(dense_chunk, inner - k),
                                     to(0),
                                     b.columns,
                                     std::min(panel_rows, end_row - i),
                                     std::min(panel_columns, end_column - j)};
            if (a.dd)
                add_panel_product(DenseDdPanels{panels, x[1].at(i, k), y[1].at(j, k), to(1)});
            else
                add_panel_product(panels);
        };
        for (const PartProduct &part : parts) {
            poll();
            for (std::size_t k = 0; k < inner; k += dense_chunk)
                for (std::size_t j = column; j < end_column; j += panel_columns)
                    for (std::size_t i = row; i < end_row; i += panel_rows) add_panel(part, i, j, k);
        }
        call().advance(static_cast<double>((end_row - row) * (end_column - column)) *
                       static_cast<double>(inner));
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

} // namespace libperm
