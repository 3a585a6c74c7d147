// Hafnians and loop hafnians of full graphs on a GPU, through the C API: the bits of the CPU.
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/graph_matchings.hpp"
#include "tests/support/on_gpu.hpp"
#include "tests/support/plan_shards.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace perm::families;

namespace {

// All n x n entries of a symmetric matrix.
struct FullGraph {
    std::int64_t n;
    bool is_complex;
    std::vector<std::int64_t> row_ptr{0}, col;
    std::vector<double> values;

    FullGraph(std::int64_t lines, bool complex, bool whole, Random &random) : n(lines), is_complex(complex) {
        const std::size_t parts = complex ? 2 : 1, side = static_cast<std::size_t>(n);
        values.resize(side * side * parts);
        for (std::size_t i = 0; i < side; ++i) {
            for (std::size_t j = 0; j < side; ++j) {
                col.push_back(static_cast<std::int64_t>(j));
                for (std::size_t part = 0; part < parts; ++part) {
                    double &x = values[(i * side + j) * parts + part];
                    x = j < i ? values[(j * side + i) * parts + part] : random.uniform(-1, 1);
                    if (whole && j >= i) x = std::floor(10 * x) + 0.0;
                }
            }
            row_ptr.push_back(static_cast<std::int64_t>(col.size()));
        }
    }
    perm_csr view() const {
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = a.n_cols = n;
        a.nnz = static_cast<std::int64_t>(col.size());
        a.row_ptr = row_ptr.data();
        a.col_idx = col.data();
        a.values = values.data();
        a.value_type = is_complex ? PERM_VALUE_C128 : PERM_VALUE_F64;
        return a;
    }
};

} // namespace

TEST_CASE("GPU: hafnians have the bits of the CPU") {
    if (!gpu()) return;
    Random random(run::seed(0x686166));
    int compared = 0;
    for (std::int64_t n = 10; n <= 30; ++n)
        for (const bool is_complex : {false, true})
            for (const char *precision : {"double", "dd", "exact"}) {
                if (n > 24 && n % 3 != 0) continue;
                CAPTURE(n);
                CAPTURE(is_complex);
                CAPTURE(precision);
                const FullGraph graph(n, is_complex, std::string(precision) == "exact", random);
                const perm_csr a = graph.view();
                const char *function = n % 2 == 1 || random.chance(0.5) ? "loop_hafnian" : "hafnian";
                CAPTURE(function);
                perm_opts opts = of_function(function, "bjorklund", precision);
                opts.device = "cpu";
                perm::Result here = perm::compute(a, opts);
                opts.device = "gpu";
                perm::Result there = perm::compute(a, opts);
                CHECK(std::string(here->engine) == "bjorklund");
                CHECK(std::string(there->engine) == "bjorklund");
                CHECK(std::string(here->device) == "cpu");
                CHECK(std::string(there->device) == (n >= 11 ? "gpu" : "cpu")); // few lines: by definition
                CHECK(std::string(here->text) == there->text);
                CHECK(here->re == there->re);
                CHECK(here->im == there->im);
                CHECK(here->exact == there->exact);
                CHECK(here->abs_error_bound == there->abs_error_bound);
                ++compared;
            }
    CHECK(compared > 60);
}

TEST_CASE("GPU: shards of a hafnian put together") {
    if (!gpu()) return;
    Random random(run::seed(0x686167));
    const FullGraph graph(36, true, false, random);
    perm_opts opts = of_function("loop_hafnian", "bjorklund", "dd");
    opts.device = "cpu";
    const perm::Plan here(graph.view(), opts);
    opts.device = "gpu";
    const perm::Plan there(graph.view(), opts);
    perm::Result whole = here.execute(graph.values.data());
    check_same_answer(*whole.raw(), *there.execute(graph.values.data()).raw());
    REQUIRE(perm::Task::plan(there, graph.values.data()).shards() > 1);
    check_same_answer(*whole.raw(), *in_shards(there, graph.values.data()).raw());
}
