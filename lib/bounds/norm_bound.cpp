#include "lib/bounds/norm_bound.hpp"

#include "lib/bounds/balance.hpp"
#include "lib/bounds/log_sum.hpp"
#include "lib/number/infinity.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace libperm {
namespace {

using Complex = std::complex<double>;

constexpr double work_of_bound = 2e8; // multiply-adds
constexpr int most_squarings = 10;    // what is left to gain is n^(n / 2^12)
constexpr double up = 1 + 0x1p-40;    // more than the roundings of computing a bound

// A square matrix by rows; real and imaginary parts apart, so that loops are vectors. Without the latter it
// is real.
struct Square {
    std::size_t n = 0;
    std::vector<double> re, im;

    bool is_real() const { return im.empty(); }
    double frobenius() const { // up
        double sum = 0;
        for (const double x : re) sum += x * x;
        for (const double x : im) sum += x * x;
        return std::sqrt(sum) * (1 + static_cast<double>(re.size() + im.size()) * 0x1p-53) * up;
    }
};

// X^* X, Hermitian to the last bit.
Square gram(const Square &x) {
    const std::size_t n = x.n;
    Square out{n, std::vector<double>(n * n, 0.0), std::vector<double>(x.im.size(), 0.0)};
    for (std::size_t k = 0; k < n; ++k) { // row k of X, with itself
        poll();
        const double *const re = x.re.data() + k * n, *const im = x.is_real() ? nullptr : x.im.data() + k * n;
        for (std::size_t i = 0; i < n; ++i) {
            double *const to = out.re.data() + i * n;
            for (std::size_t j = i; j < n; ++j) to[j] += re[i] * re[j];
            if (!im) continue;
            double *const to_im = out.im.data() + i * n;
            for (std::size_t j = i; j < n; ++j) {
                to[j] += im[i] * im[j];
                to_im[j] += re[i] * im[j] - im[i] * re[j];
            }
        }
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j) {
            out.re[i * n + j] = out.re[j * n + i];
            if (!x.is_real()) out.im[i * n + j] = -out.im[j * n + i];
        }
    return out;
}

// ||X||, up. With X_0 = X and X_k+1 = X_k^* X_k / s_k, as computed within gamma ||X_k||_F^2 / s_k of that,
//   ||X_k||^2 <= s_k ||X_k+1|| + gamma ||X_k||_F^2,
// from the last one back, of which its Frobenius norm is taken: at most n^(1/2) too large, and that to the
// power 2^-k.
double norm_of(Square x, int squarings) {
    // Sums of 2 n products, each part; of both parts together half as much again.
    const double gamma = 1.5 * (2 * static_cast<double>(x.n) + 4) * 0x1p-53 * up;
    std::vector<std::pair<double, double>> steps; // s_k, and gamma ||X_k||_F^2
    for (int k = 0; k < squarings; ++k) {
        const double size = x.frobenius();
        x = gram(x);
        const double scale = std::exp2(std::floor(std::log2(x.frobenius()))); // a power of two: no rounding
        for (double &entry : x.re) entry /= scale;
        for (double &entry : x.im) entry /= scale;
        steps.emplace_back(scale, gamma * size * size * up);
    }
    double norm = x.frobenius();
    for (auto step = steps.rbegin(); step != steps.rend(); ++step)
        norm = std::sqrt(step->first * norm + step->second) * up;
    return norm;
}

bool are_real(const std::vector<Complex> &entries) {
    return std::all_of(entries.begin(), entries.end(), [](const Complex &x) { return x.imag() == 0; });
}

// As many as there is time for; 0: too few to be worth it.
int squarings_of(std::int32_t n, bool is_real, double most_work) {
    const double cube = std::pow(static_cast<double>(n), 3),
                 squarings = std::min<double>(most_squarings, most_work / (cube * (is_real ? 0.5 : 2)));
    return squarings < 3 ? 0 : static_cast<int>(squarings);
}

} // namespace

double spectral_norm_above(const Pattern &a, const std::vector<Complex> &entries, double most_work) {
    const auto n = at(a.rows);
    const bool is_real = are_real(entries);
    const int squarings = squarings_of(a.rows, is_real, most_work);
    if (squarings == 0) return infinity;
    Square x{n, std::vector<double>(n * n, 0.0), std::vector<double>(is_real ? 0 : n * n, 0.0)};
    for_entries(a, [&](std::size_t i, std::size_t j, std::size_t k) {
        x.re[i * n + j] = entries[k].real();
        if (!is_real) x.im[i * n + j] = entries[k].imag();
    });
    return norm_of(std::move(x), squarings);
}

double norm_above(const Magnitudes &m) {
    if (squarings_of(m.n(), are_real(m.value), work_of_bound) == 0) return infinity;
    Weights squares{m.pattern, m.upper};
    for (double &x : squares.value) x *= x;
    Balanced scaling = balanced(squares);
    LogSum log;
    for (std::vector<double> *factors : {&scaling.row, &scaling.column})
        for (double &x : *factors) {
            x = std::exp2(0.5 * std::log2(x));
            if (!(x > 0x1p-400 && x < 0x1p400)) return infinity;
            log.add_log2(x, -1);
        }
    std::vector<Complex> entries(m.value.size());
    double off = 0; // the square of how far they are from the truth, at most
    for_entries(m.pattern, [&](std::size_t i, std::size_t j, std::size_t k) {
        const double factor = scaling.row[i] * scaling.column[j],
                     here = (m.radius(k) + 0x1p-50 * m.upper[k]) * factor;
        entries[k] = m.value[k] * factor;
        off += here * here * up;
    });
    const double norm =
        spectral_norm_above(m.pattern, entries, work_of_bound) + std::sqrt(off) * (1 + 0x1p-20);
    if (!(norm > 0 && norm < infinity)) return infinity;
    log.add_log2(norm, static_cast<double>(m.n()), 0x1p-50);
    return log.above();
}

} // namespace libperm
