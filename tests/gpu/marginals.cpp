// Marginals of matchings on a GPU, through the C API: the bits of the CPU, and exact ones where these are
// known.
#include "bench/families.hpp"
#include "tests/support/on_gpu.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <gmpxx.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace perm::families;

namespace {

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

struct Gates {
    std::int64_t rows, cols;
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<double> values, row_weights, col_weights;

    perm_csr view() const {
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = rows;
        a.n_cols = cols;
        a.nnz = std::ssize(col);
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.values = values.data();
        a.value_type = PERM_VALUE_F64;
        a.row_unmatched = row_weights.data();
        a.col_unmatched = col_weights.data();
        return a;
    }
};

template <class Entry, class Weight>
Gates gates_of(std::int64_t rows, std::int64_t cols, double density, Random &random, const Entry &entry,
               const Weight &row_weight, const Weight &col_weight) {
    Gates made{rows, cols, {0}, {}, {}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j)
            if (density == 1 || random.chance(density)) {
                made.col.push_back(j);
                made.values.push_back(entry(i, j));
            }
        made.row_ptr.push_back(std::ssize(made.col));
        made.row_weights.push_back(row_weight(i));
    }
    for (std::int64_t j = 0; j < cols; ++j) made.col_weights.push_back(col_weight(j));
    return made;
}

struct Marginals {
    std::vector<double> marginals, bounds;
    perm::Result result;
};

Marginals marginals_of(const Gates &gates, const char *device) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = device;
    const perm_csr a = gates.view();
    Marginals found;
    found.marginals.resize(size(a.nnz + a.n_rows + a.n_cols));
    found.bounds.resize(found.marginals.size());
    const perm_status status =
        perm_marginals(&a, &opts, found.marginals.data(), found.bounds.data(), found.result.raw());
    REQUIRE_MESSAGE(status == PERM_OK, perm_last_error());
    return found;
}

bool same(const std::vector<double> &x, const std::vector<double> &y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

// Of two engines: the CPU's bits.
Marginals check_same(const Gates &gates) {
    Marginals here = marginals_of(gates, "cpu"), there = marginals_of(gates, "gpu");
    CHECK(std::string(here.result->device) == "cpu");
    CHECK(std::string(there.result->device) == "gpu");
    CHECK(same(here.marginals, there.marginals));
    CHECK(same(here.bounds, there.bounds));
    CHECK(here.result->re == there.result->re);
    return there;
}

mpq_class binomial(std::int64_t n, std::int64_t k) {
    mpz_class out;
    mpz_bin_uiui(out.get_mpz_t(), static_cast<unsigned long>(n), static_cast<unsigned long>(k));
    return out;
}

// Where every entry, and every weight, has its lines' factors: matchings of as many entries are all alike.
struct Alike {
    mpq_class entry, row, col;

    Alike(std::int64_t m, std::int64_t n, const mpq_class &row_weight, const mpq_class &col_weight) {
        const auto power = [](const mpq_class &x, std::int64_t k) {
            mpq_class out = 1;
            for (; k > 0; --k) out *= x;
            return out;
        };
        mpq_class whole = 0, factorial = 1;
        for (std::int64_t k = 0; k <= std::min(m, n); ++k) {
            if (k > 0) factorial *= static_cast<long>(k);
            const mpq_class weight = binomial(m, k) * binomial(n, k) * factorial * power(row_weight, m - k) *
                                     power(col_weight, n - k);
            whole += weight;
            entry += weight * static_cast<long>(k) / static_cast<long>(m * n);
            row += weight * static_cast<long>(m - k) / static_cast<long>(m);
            col += weight * static_cast<long>(n - k) / static_cast<long>(n);
        }
        entry /= whole;
        row /= whole;
        col /= whole;
    }
};

} // namespace

TEST_CASE("GPU: marginals of full gates have the CPU's bits, and their bounds hold") {
    if (!gpu()) return;
    Random random(run::seed(0x6d617267));
    std::size_t compared = 0;
    for (const auto &[m, n] : {std::pair<std::int64_t, std::int64_t>{14, 20}, {20, 60}, {40, 18}}) {
        CAPTURE(m);
        CAPTURE(n);
        std::vector<double> of_row, of_col;
        for (std::int64_t i = 0; i < m; ++i) of_row.push_back(static_cast<double>(random.integer(1, 9)));
        for (std::int64_t j = 0; j < n; ++j) of_col.push_back(static_cast<double>(random.integer(1, 9)));
        const std::function<double(std::int64_t)> row_weight = [&](std::int64_t i) {
            return 3 * of_row[size(i)];
        };
        const std::function<double(std::int64_t)> col_weight = [&](std::int64_t j) {
            return 0.5 * of_col[size(j)];
        };
        const Marginals found = check_same(gates_of(
            m, n, 1, random,
            [&](std::int64_t i, std::int64_t j) { return of_row[size(i)] * of_col[size(j)]; }, row_weight,
            col_weight));
        const Alike exact(m, n, 3, mpq_class(1, 2));
        for (std::size_t k = 0; k < found.marginals.size(); ++k) {
            const mpq_class &truth = k < size(m * n)       ? exact.entry
                                     : k < size(m * n + m) ? exact.row
                                                           : exact.col;
            CHECK(abs(mpq_class(found.marginals[k]) - truth) <= mpq_class(found.bounds[k]));
            CHECK(found.bounds[k] < 1e-12);
            ++compared;
        }
    }
    CHECK(compared > 1000);
}

TEST_CASE("GPU: marginals of sparse gates have the CPU's bits, and each line is matched or not") {
    if (!gpu()) return;
    Random random(run::seed(0x6d617268));
    int on_gpu = 0;
    for (const double density : {0.12, 0.15}) {
        CAPTURE(density);
        const auto number = [&](auto...) { return 1 - random.uniform(); };
        const std::function<double(std::int64_t)> weight = [&](std::int64_t) { return 1 - random.uniform(); };
        const Gates gates = gates_of(26, 60, density, random, number, weight, weight);
        const Marginals found = check_same(gates);
        for (std::int64_t i = 0; i < gates.rows; ++i) {
            const std::size_t of_row = gates.col.size() + size(i);
            double sum = found.marginals[of_row], bound = found.bounds[of_row] + 1e-14;
            for (std::int64_t k = gates.row_ptr[size(i)]; k < gates.row_ptr[size(i) + 1]; ++k) {
                sum += found.marginals[size(k)];
                bound += found.bounds[size(k)];
            }
            CHECK(std::abs(sum - 1) <= bound);
        }
        ++on_gpu;
    }
    CHECK(on_gpu == 2);
}
