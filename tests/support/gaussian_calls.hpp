// Gaussian matrices through the C API, and results held against exact permanents.
#pragma once

#include "tests/support/oracle.hpp"

#include <perm.hpp>

#include <string>
#include <vector>

// A result's text, all of it: "12", "-1/3", "1.25e-07", "1/2-3i".
oracle::Gaussian number_of(const std::string &text);

// A matrix of the C API, and what it refers to.
struct Given {
    std::vector<std::int64_t> row_ptr{0}, col_idx;
    std::vector<double> complex;    // re, im
    std::vector<std::string> texts; // instead
    std::vector<const char *> pointers;
    perm_csr csr = PERM_CSR_INIT;
};

enum class As { complex, text };

// Without its zeros.
Given given(const oracle::GaussianMatrix &a, As as);

perm_opts in_precision(const char *engine, const char *precision, const char *device = "cpu");

// Value and doubles are within the bound, `exact` means equal.
void check_gaussian(const perm_result &r, const oracle::Gaussian &truth);
