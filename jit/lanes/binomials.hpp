// Binomial coefficients that doubles hold.
#pragma once

namespace libperm {

constexpr int most_binomial = 56; // C(56, 28) < 2^53

struct Binomials {
    double of[most_binomial + 1][most_binomial + 1] = {}; // C(n, k) at [n][k]

    constexpr Binomials() {
        for (int n = 0; n <= most_binomial; ++n) {
            of[n][0] = of[n][n] = 1;
            for (int k = 1; k < n; ++k) of[n][k] = of[n - 1][k - 1] + of[n - 1][k];
        }
    }
};
inline constexpr Binomials binomials;

} // namespace libperm
