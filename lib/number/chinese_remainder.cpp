#include "lib/number/chinese_remainder.hpp"

#include "lib/number/residues.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gmpxx.h>
#include <utility>

namespace libperm {
namespace {

constexpr std::size_t primes_of_a_leaf = 16; // whose products are made word by word

constexpr std::size_t primes_of_a_thread = 1024; // of more the halves are done at the same time

template <class Low, class High> void both(std::size_t primes, const Low &low, const High &high) {
    if (primes <= primes_of_a_thread) {
        low();
        high();
        return;
    }
    parallel_for(2, [&](std::uint64_t k) { k == 0 ? low() : high(); });
}

} // namespace

// Products of halves of a list of primes, of halves of these, and so on: what turns residues into an integer
// in about as many steps as a few products of such integers take, and not in their square (Borodin and
// Moenck, J. Comput. Syst. Sci. 8 (1974); von zur Gathen and Gerhard, Modern Computer Algebra, section 10.3).
//
// With M the product of the primes p, a number x of 0 .. M - 1 with the residues r is
//
//     x = sum_p M / p (r / (M / p) modulo p)   modulo M
//
// and M / p modulo p is what sum_q M / q leaves modulo p.
class ProductTree {
  public:
    // Odd primes below 2^62, none twice. Large products are made on several threads.
    ProductTree(const std::vector<std::uint64_t> &primes)
        : primes_(&primes), fields_(primes.begin(), primes.end()), inverses_(primes.size(), 1) {
        multiply(root_, 0, primes.size());
        find_inverses(root_, sum(root_, inverses_));
    }

    const mpz_class &product() const { return root_.product; }

    // 0 .. product() - 1.
    mpz_class from(const std::vector<std::uint64_t> &residues) const {
        std::vector<std::uint64_t> c(residues.size());
        for (std::size_t k = 0; k < c.size(); ++k) c[k] = fields_[k].multiply(residues[k], inverses_[k]);
        mpz_class x = sum(root_, c);
        mpz_tdiv_r(x.get_mpz_t(), x.get_mpz_t(), root_.product.get_mpz_t());
        return x;
    }

    // That it holds, and one number beside it.
    static std::int64_t bytes(std::size_t primes) {
        const auto levels = static_cast<std::int64_t>(std::bit_width(primes / primes_of_a_leaf));
        constexpr std::int64_t numbers_beside = 11; // fields, the number, its halves, and GMP's own
        return static_cast<std::int64_t>(8 * primes) * (levels + numbers_beside);
    }

  private:
    struct Node {
        std::size_t begin = 0, end = 0; // of the primes
        mpz_class product;
        std::unique_ptr<Node> low, high; // none of few primes
    };

    void multiply(Node &node, std::size_t begin, std::size_t end) const {
        node.begin = begin;
        node.end = end;
        if (end - begin <= primes_of_a_leaf) {
            poll();
            node.product = 1;
            for (std::size_t k = begin; k < end; ++k) node.product *= (*primes_)[k];
            return;
        }
        const std::size_t middle = begin + (end - begin) / 2;
        node.low = std::make_unique<Node>();
        node.high = std::make_unique<Node>();
        both(
            end - begin, [&] { multiply(*node.low, begin, middle); },
            [&] { multiply(*node.high, middle, end); });
        poll();
        node.product = node.low->product * node.high->product;
    }

    // sum_p c_p P / p, P the node's product.
    mpz_class sum(const Node &node, const std::vector<std::uint64_t> &c) const {
        mpz_class low, high;
        if (!node.low) {
            poll();
            mpz_class product = 1; // of those that have been added
            for (std::size_t k = node.begin; k < node.end; ++k) {
                low *= (*primes_)[k];
                mpz_addmul_ui(low.get_mpz_t(), product.get_mpz_t(), c[k]);
                product *= (*primes_)[k];
            }
            return low;
        }
        both(
            node.end - node.begin,
            [&] {
                low = sum(*node.low, c);
                low *= node.high->product;
            },
            [&] {
                high = sum(*node.high, c);
                high *= node.low->product;
            });
        poll();
        low += high;
        return low;
    }

    // `rest`: what sum_q M / q leaves modulo the node's product, or a multiple of it more.
    void find_inverses(const Node &node, mpz_class rest) {
        poll();
        if (!node.low) {
            for (std::size_t k = node.begin; k < node.end; ++k) {
                const std::uint64_t p = (*primes_)[k];
                const std::uint64_t others = fields_[k].to(mpz_fdiv_ui(rest.get_mpz_t(), p));
                inverses_[k] = fields_[k].power(others, p - 2);
            }
            return;
        }
        const auto go_on = [&](const Node &half) {
            mpz_class left;
            mpz_tdiv_r(left.get_mpz_t(), rest.get_mpz_t(), half.product.get_mpz_t());
            find_inverses(half, std::move(left));
        };
        both(
            node.end - node.begin, [&] { go_on(*node.low); }, [&] { go_on(*node.high); });
    }

    const std::vector<std::uint64_t> *primes_;
    std::vector<Montgomery> fields_;
    std::vector<std::uint64_t> inverses_; // 2^64 / (M / p) modulo p
    Node root_;
};

ChineseRemainder::ChineseRemainder(const std::vector<std::uint64_t> &primes, bool gaussian,
                                   MemoryAccount *account)
    : gaussian_(gaussian), charge_(account) {
    for (std::size_t k = 0; k < primes.size(); k += gaussian ? 2 : 1) primes_.push_back(primes[k]);
    charge_.resize(ProductTree::bytes(primes_.size()));
    tree_ = std::make_unique<const ProductTree>(primes_);
}

ChineseRemainder::~ChineseRemainder() = default;

mpz_class ChineseRemainder::symmetric(const std::vector<std::uint64_t> &residues) const {
    mpz_class value = tree_->from(residues);
    if (2 * value > tree_->product()) value -= tree_->product();
    return value;
}

Gaussian ChineseRemainder::from(const std::vector<std::uint64_t> &residues) const {
    if (!gaussian_) return {symmetric(residues), 0};
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
    return {symmetric(re), symmetric(im)};
}

Gaussian from_residues(const std::vector<std::uint64_t> &primes, const std::vector<std::uint64_t> &residues,
                       bool gaussian, MemoryAccount *account) {
    return ChineseRemainder(primes, gaussian, account).from(residues);
}

double chinese_remainder_seconds(double primes, double numbers) {
    // Measured on one core of an AMD EPYC from 256 primes to 258064; a third is the number's own.
    constexpr double of_prime = 0.4e-6, of_levels = 0.044e-6, of_number = 1.0 / 3;
    const double levels = std::max(0.0, std::log2(primes / 32));
    return primes * (of_prime + of_levels * levels * levels) * (1 - of_number + of_number * numbers);
}

std::vector<std::uint64_t> enough_primes(std::int64_t bits, const WhichPrimes &which) {
    const auto is_left_out = [&which](std::uint64_t prime) {
        return std::find(which.left_out.begin(), which.left_out.end(), prime) != which.left_out.end();
    };
    for (auto count = static_cast<std::size_t>((bits + 1) / which.bits + 1);; ++count) {
        std::vector<std::uint64_t> primes = primes_below(which.bits, count, which.gaussian);
        primes.erase(std::remove_if(primes.begin(), primes.end(), is_left_out), primes.end());
        mpz_class product = 1;
        for (std::size_t k = 0; k < primes.size(); k += which.gaussian ? 2 : 1) {
            poll();
            product *= static_cast<unsigned long>(primes[k]);
        }
        if (static_cast<std::int64_t>(mpz_sizeinbase(product.get_mpz_t(), 2)) > bits + 2) return primes;
    }
}

} // namespace libperm
