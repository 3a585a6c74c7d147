#include "lib/number/chinese_remainder.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/number/product_tree.hpp"
#include "lib/number/residues.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

constexpr std::size_t few_primes = 200; // until then the square of how many they are is less

// One prime after the other (Garner, IRE Trans. Electronic Computers EC-8 (1959)).
class Garner {
  public:
    void add(std::uint64_t p, std::uint64_t residue) {
        const Montgomery field(p);
        const std::uint64_t inverse = field.power(field.to(mpz_fdiv_ui(modulus_.get_mpz_t(), p)), p - 2);
        const std::uint64_t apart = field.subtract(residue, mpz_fdiv_ui(value_.get_mpz_t(), p));
        value_ += modulus_ * field.multiply(apart, inverse);
        modulus_ *= p;
    }
    mpz_class value() && { return std::move(value_); }
    const mpz_class &modulus() const { return modulus_; }

  private:
    mpz_class value_ = 0, modulus_ = 1;
};

mpz_class symmetric_of(mpz_class value, const mpz_class &modulus) {
    if (2 * value > modulus) value -= modulus;
    return value;
}

} // namespace

ChineseRemainder::ChineseRemainder(const std::vector<std::uint64_t> &primes, bool gaussian, const Poll &poll,
                                   MemoryAccount *account)
    : gaussian_(gaussian), charge_(account) {
    for (std::size_t k = 0; k < primes.size(); k += gaussian ? 2 : 1) primes_.push_back(primes[k]);
    if (primes_.size() <= few_primes) return;
    charge_.resize(ProductTree::bytes(primes_.size()));
    tree_ = std::make_unique<const ProductTree>(primes_, poll);
}

ChineseRemainder::~ChineseRemainder() = default;

mpz_class ChineseRemainder::symmetric(const std::vector<std::uint64_t> &residues, const Poll &poll) const {
    if (tree_) return symmetric_of(tree_->from(residues, poll), tree_->product());
    Garner number;
    for (std::size_t k = 0; k < primes_.size(); ++k) {
        poll();
        number.add(primes_[k], residues[k]);
    }
    const mpz_class modulus = number.modulus();
    return symmetric_of(std::move(number).value(), modulus);
}

Gaussian ChineseRemainder::from(const std::vector<std::uint64_t> &residues, const Poll &poll) const {
    if (!gaussian_) return {symmetric(residues, poll), 0};
    std::vector<std::uint64_t> re, im;
    for (std::size_t k = 0; k < primes_.size(); ++k) {
        poll();
        // x + s y and x - s y, and 1 / s is -s.
        const Montgomery field(primes_[k]);
        const std::uint64_t x = residues[2 * k], y = residues[2 * k + 1];
        const std::uint64_t half = field.to((primes_[k] + 1) / 2),
                            root = field.to(square_root_of_minus_one(primes_[k])), sum = field.add(x, y),
                            apart = field.subtract(y, x);
        re.push_back(field.multiply(sum, half));
        im.push_back(field.multiply(field.multiply(apart, half), root));
    }
    return {symmetric(re, poll), symmetric(im, poll)};
}

Gaussian from_residues(const std::vector<std::uint64_t> &primes, const std::vector<std::uint64_t> &residues,
                       bool gaussian, const Poll &poll, MemoryAccount *account) {
    return ChineseRemainder(primes, gaussian, poll, account).from(residues, poll);
}

double chinese_remainder_seconds(double primes, double numbers) {
    // Measured on one core of an AMD EPYC from 256 primes to 258064; a third is the number's own.
    constexpr double of_prime = 0.4e-6, of_levels = 0.044e-6, of_number = 1.0 / 3;
    const double levels = std::max(0.0, std::log2(primes / 32));
    return primes * (of_prime + of_levels * levels * levels) * (1 - of_number + of_number * numbers);
}

} // namespace libperm
