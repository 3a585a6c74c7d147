#include "tests/support/batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

using namespace perm::families;

PlanOf plan_of(const perm_csr &a, const perm_opts &opts) {
    perm_plan *plan = nullptr;
    const perm_status status = perm_plan_create(&a, &opts, &plan);
    REQUIRE_MESSAGE(status == PERM_OK, perm_last_error());
    return {plan, perm_plan_destroy};
}

PlanOf plan_of(const perm::Csr &a, const perm_opts &opts) {
    perm_csr view = a.view();
    view.values = nullptr;
    return plan_of(view, opts);
}

bool is_clear(const perm_result &r) {
    perm_result clear = PERM_RESULT_INIT;
    clear.struct_size = r.struct_size;
    return std::memcmp(&r, &clear, sizeof r) == 0;
}

void check_as_executed(const perm_result &alone, const perm_result &of_batch) {
    CHECK(same(alone.re, of_batch.re));
    CHECK(same(alone.im, of_batch.im));
    CHECK(same(alone.mantissa_re, of_batch.mantissa_re));
    CHECK(same(alone.mantissa_im, of_batch.mantissa_im));
    CHECK(alone.exp2 == of_batch.exp2);
    CHECK(same(alone.rel_error_bound, of_batch.rel_error_bound));
    CHECK(same(alone.abs_error_bound, of_batch.abs_error_bound));
    CHECK(alone.exact == of_batch.exact);
    CHECK(alone.tolerance_met == of_batch.tolerance_met);
    CHECK(std::string(alone.engine) == of_batch.engine);
    CHECK(std::string(alone.device) == of_batch.device);
    CHECK(alone.n == of_batch.n);
    CHECK(alone.nnz == of_batch.nnz);
    CHECK(alone.threads == of_batch.threads);
    CHECK(alone.transposed == of_batch.transposed);
    CHECK(alone.blocks == of_batch.blocks);
    CHECK(alone.blocks_computed == of_batch.blocks_computed);
    CHECK(same(alone.operations, of_batch.operations));
    CHECK(same(alone.states, of_batch.states));
    CHECK(of_batch.seconds_total == 0);
    CHECK(of_batch.seconds_run == 0);
    if (of_batch.text) CHECK(std::string(of_batch.text) == alone.text);
}

std::vector<double> row_values(const perm::Csr &a, int kind, Random &random) {
    std::vector<double> values;
    std::vector<double> column(at(a.n_rows));
    for (double &x : column) x = random.uniform(-1, 1);
    const std::int64_t special = random.integer(0, a.n_rows - 1);
    const auto sign = [&] { return random.chance(0.5) ? 1.0 : -1.0; };
    const auto exponent = [&](std::int64_t e) { return static_cast<int>(random.integer(-e, e)); };
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        const int scale = exponent(1000);
        for (std::int64_t k = a.row_ptr[at(i)]; k < a.row_ptr[at(i) + 1]; ++k)
            values.push_back([&]() -> double {
                switch (kind) {
                case 0:
                    return random.uniform(-1, 1);
                case 1:
                    return random_entry(Entries::integers, random);
                case 2: // dyadic fractions
                    return std::ldexp(static_cast<double>(random.integer(-1000, 1000)), exponent(20));
                case 3:
                    return std::ldexp(random.uniform(-1, 1), exponent(1000)); // 1e+-300
                case 4: // rows that differ in signs: much cancels
                    return column[at(a.col_idx[at(k)])] * sign();
                case 5:
                    return random.chance(0.3) ? sign() * 0.0 : random.uniform(-1, 1);
                case 6:
                    return i == special ? sign() * 0.0 : random.uniform(-1, 1);
                case 7: // a row among the subnormal numbers
                    return i == special ? std::ldexp(static_cast<double>(random.integer(-999, 999)), -1074)
                                        : random.uniform(-1, 1);
                case 8: // beside which doubles lose the others
                    return random.chance(0.2) ? std::ldexp(1.0, std::min(exponent(1070), 1000))
                                              : random.uniform(-1, 1);
                case 9: // integers about as large as leave the sum exact
                    return static_cast<double>(random.integer(-(1LL << 45 / a.n_rows), 1LL << 53 / a.n_rows));
                case 10:
                    return random.uniform();
                default:
                    return std::ldexp(static_cast<double>(random.integer(-3, 3)), scale);
                }
            }());
    }
    return values;
}

std::vector<double> side_by_side(const std::vector<std::vector<double>> &matrices, std::size_t stride) {
    std::vector<double> all;
    for (const auto &values : matrices) {
        all.insert(all.end(), values.begin(), values.end());
        all.resize(all.size() + stride - values.size(), std::nan(""));
    }
    return all;
}

perm_opts options_of(const Way &way) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = way.engine;
    opts.precision = way.precision;
    opts.tolerance = way.tolerance;
    opts.device = "cpu";
    return opts;
}
