// Gradients and sub-permanents of dense matrices on a GPU, through the C API: the bits of the CPU.
#include "tests/support/batches.hpp"
#include "tests/support/on_gpu.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

perm_opts on(const char *device) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = device;
    return opts;
}

struct DenseMatrices {
    std::int64_t rows, cols, count;
    bool is_complex;
    std::vector<double> values;

    DenseMatrices(std::int64_t m, std::int64_t n, std::int64_t matrices, bool complex, Random &random)
        : rows(m), cols(n), count(matrices), is_complex(complex), values(size(doubles())) {
        for (double &x : values) x = random.uniform(-1, 1);
        values.front() = 0;
    }
    std::int64_t doubles() const { return rows * cols * count * (is_complex ? 2 : 1); }
    perm_dense view() const {
        perm_dense a = PERM_DENSE_INIT;
        a.n_rows = rows;
        a.n_cols = cols;
        a.count = count;
        a.values = values.data();
        a.value_type = is_complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
        return a;
    }
};

bool same(const std::vector<double> &x, const std::vector<double> &y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

} // namespace

TEST_CASE("GPU: gradients and sub-permanents have the bits of the CPU") {
    if (!gpu()) return;
    Random random(run::seed(0x6d696e));
    const perm_opts here = on("cpu"), there = on("gpu");
    for (const bool is_complex : {false, true})
        for (const std::int64_t n : {12, 15, 20}) {
            CAPTURE(n);
            CAPTURE(is_complex);
            const DenseMatrices square(n, n, 20, is_complex, random), tall(n + 1, n, 20, is_complex, random);
            const perm_dense a = square.view(), b = tall.view();
            std::vector<double> x(size(square.doubles())), y(x.size()), x_bounds(size(n * n * 20)),
                y_bounds(x_bounds.size()), x_whole(40), y_whole(40), x_error(20), y_error(20);
            REQUIRE(perm_gradients(&a, &here, x.data(), x_bounds.data(), x_whole.data(), x_error.data()) ==
                    PERM_OK);
            REQUIRE(perm_gradients(&a, &there, y.data(), y_bounds.data(), y_whole.data(), y_error.data()) ==
                    PERM_OK);
            CHECK(same(x, y));
            CHECK(same(x_bounds, y_bounds));
            CHECK(same(x_whole, y_whole));
            CHECK(same(x_error, y_error));
            REQUIRE(perm_sub_permanents(&b, &here, x.data(), x_bounds.data()) == PERM_OK);
            REQUIRE(perm_sub_permanents(&b, &there, y.data(), y_bounds.data()) == PERM_OK);
            CHECK(same(x, y));
            CHECK(same(x_bounds, y_bounds));
        }
}

TEST_CASE("GPU: a plan's gradient says that it was there") {
    if (!gpu()) return;
    Random random(run::seed(0x6d696f));
    const perm::Csr a = erdos_renyi(18, 1, Entries::real, random.bits());
    std::vector<double> x(a.col_idx.size()), y(x.size());
    const perm::Result here = perm::Plan(a, on("cpu")).gradient(a.values.data(), x.data());
    const perm::Result there = perm::Plan(a, on("gpu")).gradient(a.values.data(), y.data());
    CHECK(std::string(here->engine) == "glynn");
    CHECK(std::string(there->engine) == "glynn");
    CHECK(std::string(here->device) == "cpu");
    CHECK(std::string(there->device) == "gpu");
    CHECK(same(x, y));
    CHECK(here->re == there->re);
}
