#include "bench/operators.hpp"

#include "capi/command/lattice.hpp"
#include "lib/periodic/periodic_plan.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace bench {
namespace {

using namespace libperm;

// Row by row, numbers by column.
struct Product {
    std::vector<double> sum;
    std::vector<std::uint32_t> columns;

    explicit Product(std::size_t width) : sum(width, 0) {}
    void add(std::uint32_t j, double x) {
        if (sum[j] == 0) columns.push_back(j);
        sum[j] += x;
    }
    void end_row(Rows &out) {
        std::sort(columns.begin(), columns.end());
        for (const std::uint32_t j : columns) out.add(j, std::exchange(sum[j], 0));
        columns.clear();
        out.end_row();
    }
};

} // namespace

Rows operator_of(const std::string &lattice) {
    const perm::Csr cell = perm::lattice_cell(lattice);
    const perm_csr view = cell.view();
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &view;
    a.joined = 1;
    const Options options = read_options(nullptr);
    RunControl control(options);
    const PeriodicPlan plan = make_periodic_plan(read_periodic(
                                                     &a, [] {}, nullptr),
                                                 options, control);
    const PeriodBlock &block =
        *std::max_element(plan.loops.begin(), plan.loops.end(),
                          [](const PeriodBlock &x, const PeriodBlock &y) { return x.states < y.states; });
    const auto states = static_cast<std::uint32_t>(block.states);
    Rows out{"T of " + lattice, states, {0}, {}, {}, {}};
    for (std::uint32_t s = 0; s < states; ++s) {
        out.add(s, 1);
        out.end_row();
    }
    for (const PeriodLevel &level : block.levels) {
        Rows next{out.name, states, {0}, {}, {}, {}};
        Product product(states);
        for (std::size_t t = 0; t < level.states(); ++t) {
            for (std::uint32_t m = level.first[t]; m < level.first[t + 1]; ++m) {
                const std::uint32_t s = level.moves[m].source;
                for (std::uint32_t k = out.first[s]; k < out.first[s + 1]; ++k)
                    product.add(out.column[k], out.value[k]);
            }
            product.end_row(next);
        }
        out = std::move(next);
    }
    out.factors = lane_levels(block.levels, [] {});
    return out;
}

Rows square_of(const Rows &a, std::size_t most) {
    Rows out{a.name, a.columns, {0}, {}, {}, a.factors};
    Product product(a.columns);
    for (std::uint32_t i = 0; i < a.rows(); ++i) {
        for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k)
            for (std::uint32_t l = a.first[a.column[k]]; l < a.first[a.column[k] + 1]; ++l)
                product.add(a.column[l], a.value[k] * a.value[l]);
        product.end_row(out);
        if (out.column.size() > most) return {};
    }
    return out;
}

} // namespace bench
