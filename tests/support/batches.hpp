// Plans of patterns, batches of their values, and the results of these.
#pragma once

#include "bench/families.hpp"

#include <perm.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using PlanOf = std::unique_ptr<perm_plan, perm_status (*)(perm_plan *)>;

PlanOf plan_of(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT);
// Of the pattern alone.
PlanOf plan_of(const perm::Csr &a, const perm_opts &opts = PERM_OPTS_INIT);

struct Results {
    explicit Results(std::int64_t count) : all(at(count), perm_result PERM_RESULT_INIT) {}
    Results(const Results &) = delete;
    Results &operator=(const Results &) = delete;
    ~Results() {
        for (perm_result &r : all) perm_result_clear(&r);
    }
    perm_result &operator[](std::int64_t k) { return all[at(k)]; }

    std::vector<perm_result> all;
};

// Whether it is as a call leaves it that fails.
bool is_clear(const perm_result &r);

inline bool same(double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

// Of the same values: by perm_plan_execute and from a batch.
void check_as_executed(const perm_result &alone, const perm_result &of_batch);

// Values for the entries of a, of one of the kinds 0 to 11: integers, fractions, of very different sizes, ...
std::vector<double> row_values(const perm::Csr &a, int kind, perm::families::Random &random);
constexpr int kinds = 12;

// Their values, `stride` apart, NaN between them.
std::vector<double> side_by_side(const std::vector<std::vector<double>> &matrices, std::size_t stride);

struct Way {
    const char *engine, *precision;
    double tolerance;
};
perm_opts options_of(const Way &way);
