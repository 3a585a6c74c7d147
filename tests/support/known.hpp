// Matrices whose permanent is known from outside this repository (OEIS, closed forms, the literature).
#pragma once

#include <perm.hpp>

#include <string>
#include <vector>

struct Known {
    std::string name;
    perm::Csr matrix;
    std::string permanent;      // a decimal integer
    bool slow_to_check = false; // the exact oracles would take seconds
};

// Dense ones have n <= 20, sparse ones up to n = 240: every engine whose sum over 2^n subsets is short can do
// the former, a sum over the frontier can do all.
std::vector<Known> known_permanents();
