#include "lib/bounds/upper_bounds.hpp"

#include "lib/bounds/potential.hpp"
#include "lib/number/doubles.hpp"
#include "preprocess/binomials.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace libperm {
namespace {

// delta(k), within a part in 2^43: as the C library has lgamma and exp, of arguments below 2^31.
std::vector<double> deltas(std::size_t most) {
    std::vector<double> delta(most + 1, 0.0);
    for (std::size_t k = 1; k <= most; ++k) {
        const auto count = static_cast<double>(k);
        delta[k] = std::exp(log_factorial(count) / count);
    }
    return delta;
}
constexpr double delta_share = 0x1p-43;

struct Ranked {
    double size;
    std::int32_t column;
};

// The bound by rows, and how far each column's factor is from the best there is nearby.
class Soules {
  public:
    Soules(const Pattern &a, const std::vector<double> &upper) : a_(a), upper_(upper) {
        std::size_t most = 0;
        for (std::int32_t i = 0; i < a.rows; ++i) most = std::max(most, a.row(i).size());
        delta_ = deltas(most);
    }

    // The logarithm at factors e, and of each column the sum of its shares of the rows: 1 where e is best.
    double above(const std::vector<double> &e, std::vector<double> &shares) {
        shares.assign(e.size(), 0.0);
        LogSum log;
        std::size_t k = 0;
        for (std::int32_t i = 0; i < a_.rows; ++i) {
            row_.clear();
            for (const std::int32_t j : a_.row(i))
                if (const double x = upper_[k++]; x > 0) row_.push_back({x * e[at(j)], j});
            std::sort(row_.begin(), row_.end(), [](const Ranked &x, const Ranked &y) {
                return x.size != y.size ? x.size > y.size : x.column < y.column;
            });
            double sum = 0;
            for (std::size_t r = 0; r < row_.size(); ++r)
                sum += (row_[r].size - (r + 1 < row_.size() ? row_[r + 1].size : 0)) * delta_[r + 1];
            // A product, a difference, a product and the sums, all of numbers >= 0.
            log.add_log2(sum, 1, delta_share + (static_cast<double>(row_.size()) + 4) * 0x1p-53);
            for (std::size_t r = 0; r < row_.size(); ++r)
                shares[at(row_[r].column)] += row_[r].size * (delta_[r + 1] - delta_[r]) / sum;
        }
        for (const double x : e) log.add_log2(x, -1);
        return log.above();
    }

    // The search begins from several starts, and takes some turns from each.
    double best(std::vector<std::vector<double>> starts) {
        const int turns = std::max(3, affordable_turns(8 * a_.nnz()) / 4);
        constexpr double worthwhile = 1e-3; // of the logarithm
        double least = infinity;
        std::vector<double> shares;
        for (std::vector<double> &e : starts)
            for (int turn = 0; turn < turns; ++turn) {
                poll();
                const double bound = above(e, shares);
                if (!(bound < infinity)) break; // not a number: factors out of range
                if (bound > least - worthwhile && turn > 2) break;
                least = std::min(least, bound);
                for (std::size_t j = 0; j < e.size(); ++j) e[j] /= std::sqrt(shares[j]);
            }
        return least;
    }

  private:
    const Pattern &a_;
    const std::vector<double> &upper_;
    std::vector<double> delta_;
    std::vector<Ranked> row_;
};

// Of a row with entries v: b > 0 with sum 1, up to roundings, where  sum_j b_j log(v_j / b_j) + (1 - b_j)
// log(1 - b_j) is largest: b_j (1 - b_j) = s v_j, and at most one b_j is above 1/2.
class RowMaximum {
  public:
    void find(const std::vector<double> &v, std::vector<double> &b) {
        const std::size_t top = static_cast<std::size_t>(std::max_element(v.begin(), v.end()) - v.begin());
        double rest = 0;
        for (std::size_t j = 0; j < v.size(); ++j)
            if (j != top) rest += v[j] / v[top];
        b.assign(v.size(), 0.0);
        if (!(rest > 1 + 0x1p-20)) { // at a corner, or near
            constexpr double aside = 0x1p-24;
            for (std::size_t j = 0; j < v.size(); ++j)
                b[j] = j == top ? 1 - aside : aside * v[j] / v[top] / rest;
            return;
        }
        const auto others = [&](double s) { // s as a share of 1 / v[top]
            double sum = 0;
            for (std::size_t j = 0; j < v.size(); ++j)
                if (j != top) sum += lower_root(v[j] / v[top] * s);
            return sum;
        };
        const bool is_top_large = others(0.25) < 0.5;
        double low = 0, high = 0.25;
        for (int turn = 0; turn < 55; ++turn) {
            const double s = 0.5 * (low + high), sum = others(s), of_top = lower_root(s);
            const bool is_low = is_top_large ? sum > of_top : sum + of_top < 1;
            (is_low ? low : high) = s;
        }
        for (std::size_t j = 0; j < v.size(); ++j) b[j] = lower_root(v[j] / v[top] * low);
        if (is_top_large) b[top] = 1 - b[top];
    }

  private:
    static double lower_root(double x) {
        return 2 * x / (1 + std::sqrt(std::max(0.0, 1 - 4 * x)));
    } // b (1 - b) = x
};

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

double soules_above(const Magnitudes &m, const Balanced &start) {
    const auto n = at(m.n());
    const std::vector<double> ones(n, 1.0);
    double least = Soules(m.pattern, m.upper).best({ones, start.column});
    const Transposed t = transpose(m.pattern);
    std::vector<double> upper;
    upper.reserve(m.upper.size());
    for (const std::int64_t k : t.source) upper.push_back(m.upper[at(k)]);
    least = std::min(least, Soules(t.pattern, upper).best({ones, start.row}));
    return least;
}

// With factors z, the maximum M is at most prod_i M_i / prod_j z_j, M_i being the maximum over b_i with sum 1
// of row i alone, with entries v = a_ij z_j. Its logarithm is concave there (Vontobel), so the tangent at any
// b > 0 with sum 1 bounds it:
//   log M_i <= sum_j log(1 - b_j) + max_j log(v_j / (b_j (1 - b_j))).
double bethe_above(const Magnitudes &m, const Beliefs &found) {
    constexpr double unit = 0x1p-50; // of b, so that its sum, and 1 - b, are without a rounding
    LogSum log;
    RowMaximum maximum;
    std::vector<double> v, b;
    PolledSteps steps;
    std::size_t k = 0;
    for (std::int32_t i = 0; i < m.n(); ++i) {
        v.clear();
        for (const std::int32_t j : m.pattern.row(i)) {
            steps.take(100);
            if (const double x = m.upper[k++]; x > 0) v.push_back(x * found.column[at(j)]);
        }
        if (v.size() == 1) {
            log.add_log2(v.front(), 1, 0x1p-52);
            continue;
        }
        maximum.find(v, b);
        const auto top = static_cast<std::size_t>(std::max_element(b.begin(), b.end()) - b.begin());
        double rest = 1;
        for (std::size_t j = 0; j < b.size(); ++j)
            if (j != top) {
                b[j] = std::max(unit, std::ceil(b[j] / unit) * unit);
                rest -= b[j];
            }
        b[top] = rest;
        if (!(rest > 0 && rest < 1)) return infinity;
        double most = 0;
        for (std::size_t j = 0; j < b.size(); ++j) {
            most = std::max(most, v[j] / (b[j] * (1 - b[j])));
            log.add_log2(1 - b[j]);
        }
        if (!(most > 0 && most < infinity)) return infinity;
        log.add_log2(most, 1, 0x1p-50);
    }
    for (const double z : found.column) {
        if (!(z > 0 && z < infinity)) return infinity;
        log.add_log2(z, -1);
    }
    return std::nextafter(log.above() + 0.5 * static_cast<double>(m.n()), HUGE_VAL);
}

double nesting_above(const Magnitudes &m) {
    const LogMatrix a = log_matrix(m.pattern, [&](std::size_t k) { return std::log(m.upper[k]); });
    const double by_columns = Potential(a).log2_above(LogSum::log_share);
    return std::min(by_columns, Potential(transposed(a)).log2_above(LogSum::log_share));
}

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
