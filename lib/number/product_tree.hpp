// Products of halves of a list of primes, of halves of these, and so on: what turns residues into an integer
// in about as many steps as a few products of such integers take, and not in their square (Borodin and
// Moenck, J. Comput. Syst. Sci. 8 (1974); von zur Gathen and Gerhard, Modern Computer Algebra, section 10.3).
#pragma once

#include "preprocess/poll.hpp"

#include <gmpxx.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace libperm {

// With M the product of the primes p, a number x of 0 .. M - 1 with the residues r is
//
//     x = sum_p M / p (r / (M / p) modulo p)   modulo M
//
// and M / p modulo p is what sum_q M / q leaves modulo p.
class ProductTree {
  public:
    // Odd primes below 2^62, none twice. Large products are made on several threads.
    ProductTree(const std::vector<std::uint64_t> &primes, const Poll &poll);

    const mpz_class &product() const { return root_.product; }

    // 0 .. product() - 1.
    mpz_class from(const std::vector<std::uint64_t> &residues, const Poll &poll) const;

    static std::int64_t bytes(std::size_t primes); // that it holds, and one number beside it

  private:
    struct Node {
        std::size_t begin = 0, end = 0; // of the primes
        mpz_class product;
        std::unique_ptr<Node> low, high; // none of few primes
    };

    void multiply(Node &node, std::size_t begin, std::size_t end, const Poll &poll) const;
    // sum_p c_p P / p, P the node's product.
    mpz_class sum(const Node &node, const std::vector<std::uint64_t> &c, const Poll &poll) const;
    void find_inverses(const Node &node, mpz_class rest, const Poll &poll);

    const std::vector<std::uint64_t> *primes_;
    std::vector<std::uint64_t> inverses_; // 1 / (M / p) modulo p
    Node root_;
};

} // namespace libperm
