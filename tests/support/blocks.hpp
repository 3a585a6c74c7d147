// Matrices of many blocks, plans made in different ways, and what they say of themselves: for the tests of
// the reductions.
#pragma once

#include "bench/families.hpp"
#include "tests/support/oracle.hpp"

#include <nlohmann/json_fwd.hpp>
#include <perm.hpp>

#include <functional>
#include <string>
#include <vector>

// Options with these reductions left out.
perm_opts without(const char *names, const char *engine = "auto");
// With decompose: paper.
perm_opts as_published();

// The plan's JSON, and one of the counts of its reductions.
nlohmann::json explained(const perm::Plan &plan);
std::int64_t reduction(const nlohmann::json &plan, const char *what);

// A plan that was told nothing of the values.
perm::Plan plan_of_pattern(const perm::Csr &a, const perm_opts &opts = PERM_OPTS_INIT);

std::vector<double> random_values(const perm::Csr &a, perm::families::Entries entries,
                                  perm::families::Random &random);
perm::Csr with_values(perm::Csr a, const std::vector<double> &values);

// The blocks on the diagonal. Unlike block_sum it takes thousands of them.
perm::Csr diagonal_of(const std::vector<perm::Csr> &blocks);
oracle::Exact product_of(const std::vector<perm::Csr> &blocks);

// Dense, so that no line is of degree 1 or 2, and random, so that none is a multiple of another.
perm::Csr dense_block(std::int64_t n, perm::families::Entries entries, perm::families::Random &random);

// Families of small matrices for which each reduction does something.
struct Family {
    std::string name;
    std::function<perm::Csr(perm::families::Entries entries, perm::families::Random &random)> make; // n <= 9
};
const std::vector<Family> &small_families();

oracle::Exact factorial(std::int64_t n);
oracle::Exact power(const oracle::Exact &x, std::int64_t n);
