#include "lib/number/product_tree.hpp"

#include "lib/number/montgomery.hpp"
#include "preprocess/parallel.hpp"

#include <bit>
#include <utility>

namespace libperm {
namespace {

constexpr std::size_t primes_of_a_leaf = 16;     // whose products are made word by word
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

ProductTree::ProductTree(const std::vector<std::uint64_t> &primes, const Poll &poll)
    : primes_(&primes), inverses_(primes.size(), 1) {
    multiply(root_, 0, primes.size(), poll);
    find_inverses(root_, sum(root_, inverses_, poll), poll);
}

std::int64_t ProductTree::bytes(std::size_t primes) {
    const auto levels = static_cast<std::int64_t>(std::bit_width(primes / primes_of_a_leaf));
    constexpr std::int64_t numbers_beside = 8; // the number, its halves, and GMP's own
    return static_cast<std::int64_t>(8 * primes) * (levels + numbers_beside);
}

void ProductTree::multiply(Node &node, std::size_t begin, std::size_t end, const Poll &poll) const {
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
        end - begin, [&] { multiply(*node.low, begin, middle, poll); },
        [&] { multiply(*node.high, middle, end, poll); });
    poll();
    node.product = node.low->product * node.high->product;
}

mpz_class ProductTree::sum(const Node &node, const std::vector<std::uint64_t> &c, const Poll &poll) const {
    mpz_class low, high;
    if (!node.low) {
        poll();
        mpz_class product = (*primes_)[node.begin]; // of those that have been added
        low = c[node.begin];
        for (std::size_t k = node.begin + 1; k < node.end; ++k) {
            low *= (*primes_)[k];
            mpz_addmul_ui(low.get_mpz_t(), product.get_mpz_t(), c[k]);
            if (k + 1 < node.end) product *= (*primes_)[k];
        }
        return low;
    }
    both(
        node.end - node.begin,
        [&] {
            low = sum(*node.low, c, poll);
            low *= node.high->product;
        },
        [&] {
            high = sum(*node.high, c, poll);
            high *= node.low->product;
        });
    poll();
    low += high;
    return low;
}

// `rest`: what sum_q M / q leaves modulo the node's product, or a multiple of it more.
void ProductTree::find_inverses(const Node &node, mpz_class rest, const Poll &poll) {
    poll();
    if (!node.low) {
        for (std::size_t k = node.begin; k < node.end; ++k) {
            const std::uint64_t p = (*primes_)[k];
            const Montgomery field(p);
            const std::uint64_t others = field.to(mpz_fdiv_ui(rest.get_mpz_t(), p));
            inverses_[k] = field.from(field.power(others, p - 2));
        }
        return;
    }
    const auto go_on = [&](const Node &half) {
        mpz_class left;
        mpz_tdiv_r(left.get_mpz_t(), rest.get_mpz_t(), half.product.get_mpz_t());
        find_inverses(half, std::move(left), poll);
    };
    both(
        node.end - node.begin, [&] { go_on(*node.low); }, [&] { go_on(*node.high); });
}

mpz_class ProductTree::from(const std::vector<std::uint64_t> &residues, const Poll &poll) const {
    std::vector<std::uint64_t> c(residues.size());
    for (std::size_t k = 0; k < c.size(); ++k) {
        const Montgomery field((*primes_)[k]);
        c[k] = field.multiply(field.to(residues[k]), inverses_[k]);
    }
    mpz_class x = sum(root_, c, poll);
    mpz_tdiv_r(x.get_mpz_t(), x.get_mpz_t(), root_.product.get_mpz_t());
    return x;
}

} // namespace libperm
