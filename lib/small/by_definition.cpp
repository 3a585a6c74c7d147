#include "lib/small/by_definition.hpp"

#include "lib/number/double_double.hpp"

#include <cmath>

namespace libperm {
namespace {

constexpr double least = 0x1p-300, most = 0x1p300; // of entries: no product of three leaves doubles' range

DoubleDouble product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
}
// Relative error at most 2^-104 (Joldes, Muller and Popescu, DWTimesFP1).
DoubleDouble operator*(DoubleDouble x, double y) {
    const DoubleDouble p = product(x.hi, y);
    return two_sum(p.hi, p.lo + x.lo * y);
}
DoubleDouble operator-(DoubleDouble x) { return {-x.hi, -x.lo}; }

struct Entry {
    double re, im;
};
struct Term {
    DoubleDouble re{1, 0}, im;
    double size = 1; // of the product of |re| + |im|
};

Term operator*(const Term &x, Entry y) {
    return {x.re * y.re + -(x.im * y.im), x.re * y.im + x.im * y.re,
            x.size * (std::fabs(y.re) + std::fabs(y.im))};
}
void add(const Term &x, Term &sum) {
    sum.re = sum.re + x.re;
    sum.im = sum.im + x.im;
    sum.size += x.size;
}

} // namespace

bool permanent_by_definition(const DenseMatrix &a, double *number, double &bound) {
    const int n = a.given;
    Entry entry[most_by_definition][most_by_definition];
    bool in_range = true, whole = true;
    const auto look_at = [&](double x) {
        in_range = in_range && (x == 0 || (std::fabs(x) >= least && std::fabs(x) <= most));
        whole = whole && x == std::trunc(x);
        return x;
    };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            entry[i][j] = {look_at(a.re[a.at(i, j)]), a.is_complex ? look_at(a.im[a.at(i, j)]) : 0};
    if (!in_range) return false;
    Term sum{{0, 0}, {0, 0}, 0};
    for (int j = 0; j < n; ++j) {
        const Term one = Term() * entry[0][j];
        if (n == 1) add(one, sum);
        for (int k = 0; k < n && n > 1; ++k) {
            if (k == j) continue;
            const Term two = one * entry[1][k];
            add(n == 2 ? two : two * entry[2][3 - j - k], sum);
        }
    }
    // Each of at most six terms has ten roundings of 2^-104 at most, of its size; whole numbers below 2^53
    // have none.
    const double error = whole && sum.size <= 0x1p53 ? 0 : sum.size * 0x1p-97;
    number[0] = sum.re.hi;
    if (a.is_complex) number[1] = sum.im.hi;
    bound = error + std::fabs(sum.re.lo) + std::fabs(sum.im.lo);
    if (bound != 0) bound = std::nextafter(bound * (1 + 0x1p-50), HUGE_VAL);
    return true;
}

} // namespace libperm
