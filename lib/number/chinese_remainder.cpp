#include "lib/number/chinese_remainder.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/number/residues.hpp"

namespace libperm {
namespace {

// One prime after the other (Garner, IRE Trans. Electronic Computers EC-8 (1959)).
class ChineseRemainder {
  public:
    void add(std::uint64_t p, std::uint64_t residue) {
        const Montgomery field(p);
        const std::uint64_t inverse = field.power(field.to(mpz_fdiv_ui(modulus_.get_mpz_t(), p)), p - 2);
        const std::uint64_t apart = field.subtract(residue, mpz_fdiv_ui(value_.get_mpz_t(), p));
        value_ += modulus_ * field.multiply(apart, inverse);
        modulus_ *= p;
    }
    mpz_class symmetric() const { return 2 * value_ > modulus_ ? mpz_class(value_ - modulus_) : value_; }

  private:
    mpz_class value_ = 0, modulus_ = 1;
};

} // namespace

Gaussian from_residues(const std::vector<std::uint64_t> &primes, const std::vector<std::uint64_t> &residues,
                       bool gaussian, const Poll &poll) {
    ChineseRemainder re, im;
    for (std::size_t k = 0; k < primes.size(); k += gaussian ? 2 : 1) {
        poll();
        if (!gaussian) {
            re.add(primes[k], residues[k]);
            continue;
        }
        // x + s y and x - s y, and 1 / s is -s.
        const Montgomery field(primes[k]);
        const std::uint64_t half = field.to((primes[k] + 1) / 2),
                            root = field.to(square_root_of_minus_one(primes[k])),
                            sum = field.add(residues[k], residues[k + 1]),
                            apart = field.subtract(residues[k + 1], residues[k]);
        re.add(primes[k], field.multiply(sum, half));
        im.add(primes[k], field.multiply(field.multiply(apart, half), root));
    }
    return {re.symmetric(), im.symmetric()};
}

} // namespace libperm
