// Products and sums that take the place of a factor or a term: whole numbers of any length are then neither
// copied nor reduced to lowest terms.
#pragma once

#include "preprocess/gaussian.hpp"
#include "preprocess/tracked.hpp"

namespace libperm {

inline void multiply_by(Tracked &x, const Tracked &y) { x = x * y; }
inline void add_to(Tracked &x, const Tracked &y) { x = x + y; }

inline bool are_whole_and_real(const Gaussian &x, const Gaussian &y) {
    const auto whole = [](const mpq_class &q) { return mpz_cmp_ui(q.get_den_mpz_t(), 1) == 0; };
    return is_real(x) && is_real(y) && whole(x.re) && whole(y.re);
}
inline void multiply_by(Gaussian &x, const Gaussian &y) {
    mpz_class &whole = x.re.get_num();
    if (are_whole_and_real(x, y))
        whole *= y.re.get_num();
    else
        x = x * y;
}
inline void add_to(Gaussian &x, const Gaussian &y) {
    mpz_class &whole = x.re.get_num();
    if (are_whole_and_real(x, y))
        whole += y.re.get_num();
    else
        x = x + y;
}

} // namespace libperm
