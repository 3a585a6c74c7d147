#include "lib/polynomial/kronecker.hpp"

#include "lib/base/error.hpp"
#include "preprocess/gaussian.hpp"

namespace libperm {

std::vector<mpz_class> digits_of(mpz_class sum, std::size_t count, unsigned long bits, const Poll &poll) {
    std::vector<mpz_class> digits(count);
    const mpz_class half = mpz_class(1) << (bits - 1);
    for (mpz_class &digit : digits) {
        poll();
        mpz_fdiv_r_2exp(digit.get_mpz_t(), sum.get_mpz_t(), bits);
        if (digit >= half) digit -= mpz_class(1) << bits;
        sum -= digit;
        mpz_fdiv_q_2exp(sum.get_mpz_t(), sum.get_mpz_t(), bits);
    }
    if (sum != 0) throw Error(PERM_INTERNAL, "the coefficients do not fit into the polynomial's value");
    return digits;
}

mpq_class exact_number(const Scaled &x) { return shifted(mpq_class(x.mantissa), x.exp2); }

} // namespace libperm
