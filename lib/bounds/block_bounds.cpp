#include "lib/bounds/block_bounds.hpp"

#include "lib/bounds/balance.hpp"
#include "lib/bounds/log_sum.hpp"
#include "lib/bounds/lower_bounds.hpp"
#include "lib/bounds/norm_bound.hpp"
#include "lib/bounds/upper_bounds.hpp"
#include "lib/number/infinity.hpp"
#include "preprocess/matching.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace libperm {
namespace {

struct Best {
    double log2;
    const char *method;

    void rise(double bound, const char *of) { // not to a number that is none
        if (bound > log2) *this = {bound, of};
    }
    void fall(double bound, const char *of) {
        if (bound < log2) *this = {bound, of};
    }
};

std::optional<DoublyStochastic> certificate(const Magnitudes &m, std::vector<double> b) {
    correct_sums(m.pattern, b);
    return DoublyStochastic::near(m.pattern, b);
}

// This holds where nothing finer can be proven: a perfect matching's product, of entries near 1 if there is
// one.
double matching_below(const Magnitudes &m) {
    for (const double least : {0.5, std::numeric_limits<double>::min()}) {
        Pattern large{m.pattern.rows, m.pattern.cols, {0}, {}};
        std::size_t k = 0;
        for (std::int32_t i = 0; i < m.n(); ++i) {
            for (const std::int32_t j : m.pattern.row(i))
                if (m.lower[k++] >= least) large.col.push_back(j);
            large.row_ptr.push_back(std::ssize(large.col));
        }
        const Matching matching = maximum_matching(large);
        if (matching.size == m.n())
            return bethe_below(m, DoublyStochastic::of_matching(m.pattern, matching.col_of_row));
    }
    return -infinity;
}

} // namespace

Bounded bounds_of_block(const Magnitudes &m) {
    Weights w{m.pattern, m.upper};
    if (m.of_one_sign)
        for (std::size_t k = 0; k < w.value.size(); ++k)
            if (m.lower[k] == 0) w.value[k] = 0;
    const Balanced scaled = balanced(w);
    const Beliefs found = beliefs(w, scaled);

    Best lower{-infinity, "none"}, upper{infinity, "none"};
    if (m.of_one_sign) {
        for (const std::vector<double> *b : {&scaled.entry, &found.entry})
            if (const auto exactly = certificate(m, *b)) {
                lower.rise(gurvits_below(m, *exactly), "gurvits");
                lower.rise(bethe_below(m, *exactly), "bethe");
            }
        if (lower.log2 == -infinity) lower.rise(matching_below(m), "matching");
    }
    upper.fall(soules_above(m, scaled), "soules");
    upper.fall(nesting_above(m), "nesting");
    upper.fall(bethe_above(m, found), "bethe");
    if (!m.of_one_sign) upper.fall(norm_above(m), "norm");
    return {{power_of_two_below(lower.log2, m.exp2), power_of_two_above(upper.log2, m.exp2)},
            lower.method,
            upper.method};
}

} // namespace libperm
