#include "tests/support/blocks.hpp"

#include "tests/support/random_matrix.hpp"

#include <nlohmann/json.hpp>

using namespace perm::families;
using nlohmann::json;
using oracle::Exact;

perm_opts without(const char *names, const char *engine) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.without = names;
    return opts;
}

perm_opts as_published() {
    perm_opts opts = PERM_OPTS_INIT;
    opts.decompose = "paper";
    return opts;
}

json explained(const perm::Plan &plan) { return json::parse(plan.explain(PERM_FORMAT_JSON)); }

std::int64_t reduction(const json &plan, const char *what) {
    return plan.at("reductions").at(what).get<std::int64_t>();
}

perm::Plan plan_of_pattern(const perm::Csr &a, const perm_opts &opts) {
    perm_csr view = a.view();
    view.values = nullptr;
    return perm::Plan(view, opts);
}

std::vector<double> random_values(const perm::Csr &a, Entries entries, Random &random) {
    std::vector<double> values(a.col_idx.size());
    for (double &value : values) value = random_entry(entries, random);
    return values;
}

perm::Csr with_values(perm::Csr a, const std::vector<double> &values) {
    a.values = values;
    return a;
}

perm::Csr diagonal_of(const std::vector<perm::Csr> &blocks) {
    perm::Csr sum;
    for (const perm::Csr &b : blocks) {
        for (std::size_t i = 1; i < b.row_ptr.size(); ++i)
            sum.row_ptr.push_back(b.row_ptr[i] + std::ssize(sum.col_idx));
        for (const std::int64_t j : b.col_idx) sum.col_idx.push_back(sum.n_cols + j);
        sum.values.insert(sum.values.end(), b.values.begin(), b.values.end());
        sum.n_rows += b.n_rows;
        sum.n_cols += b.n_cols;
    }
    return sum;
}

Exact product_of(const std::vector<perm::Csr> &blocks) {
    Exact product = 1;
    for (const perm::Csr &b : blocks) product *= oracle::by_frontier(b);
    return product;
}

perm::Csr dense_block(std::int64_t n, Entries entries, Random &random) {
    return erdos_renyi(n, 1, entries, random.bits());
}

Exact factorial(std::int64_t n) { return Exact(mpz_class::factorial(n)); }

Exact power(const Exact &x, std::int64_t n) {
    Exact product = 1;
    for (std::int64_t i = 0; i < n; ++i) product *= x;
    return product;
}

const std::vector<Family> &small_families() {
    static const std::vector<Family> table{
        {"random", [](Entries, Random &r) { return random_matrix(r.integer(0, 9), r); }},
        {"block_triangular",
         [](Entries e, Random &r) {
             return block_triangular(r.integer(1, 3), r.integer(1, 3), 0.5, e, r.bits());
         }},
        {"chain_of_blocks",
         [](Entries e, Random &r) {
             return chain_of_blocks(r.integer(1, 3), r.integer(1, 3), 0.5, e, r.bits());
         }},
        {"degree_chains",
         [](Entries e, Random &r) { return degree_chains(r.integer(4, 9), 3, e, r.bits()); }},
        {"repeated_lines",
         [](Entries e, Random &r) {
             return repeated_lines(r.integer(4, 9), r.integer(1, 4), r.integer(1, 4), e, r.bits());
         }},
        {"proportional_lines",
         [](Entries e, Random &r) {
             return proportional_lines(r.integer(4, 9), r.integer(1, 4), r.integer(1, 4), e, r.bits());
         }},
        {"process", [](Entries e, Random &r) { return process(r.integer(1, 9), e, r.bits()); }},
        {"power_network", [](Entries e, Random &r) { return power_network(r.integer(1, 9), e, r.bits()); }},
        {"mesh", [](Entries e, Random &r) {
             return r.chance(0.5) ? mesh2d(r.integer(1, 3), r.integer(1, 3), e, r.bits())
                                  : mesh3d(2, 2, r.integer(1, 2), e, r.bits());
         }}};
    return table;
}
