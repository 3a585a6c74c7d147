#include "bench/blocks/operators.hpp"

#include "jit/text/text.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"

#include <perm.hpp>

#include <algorithm>
#include <cmath>
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

// Of joined ends, the largest block.
PeriodBlock block_of(const std::string &lattice) {
    const perm::Csr cell = perm::lattice_cell(lattice);
    const perm_csr view = cell.view();
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &view;
    a.joined = 1;
    const Options options = read_options(nullptr);
    CurrentCall control(options);
    Charge held;
    PeriodicMatrix matrix = read_periodic(&a, nullptr, held);
    const PeriodicPlan plan = make_periodic_plan(std::move(matrix), options);
    return *std::max_element(plan.loops.begin(), plan.loops.end(),
                             [](const PeriodBlock &x, const PeriodBlock &y) { return x.states < y.states; });
}

Rows rows_of(const PeriodLevel &level, std::uint32_t columns) {
    Rows out{"", columns, {0}, {}, {}, {}};
    Product product(columns);
    for (std::size_t t = 0; t < level.states(); ++t) {
        for (std::uint32_t m = level.first[t]; m < level.first[t + 1]; ++m)
            product.add(level.moves[m].source, 1);
        product.end_row(out);
    }
    return out;
}

} // namespace

std::vector<Rows> levels_of(const std::string &lattice) {
    const PeriodBlock block = block_of(lattice);
    std::vector<Rows> out;
    auto columns = static_cast<std::uint32_t>(block.states);
    for (const PeriodLevel &level : block.levels) {
        out.push_back(rows_of(level, columns));
        columns = out.back().rows();
    }
    return out;
}

Rows operator_of(const std::string &lattice) {
    const std::vector<Rows> levels = levels_of(lattice);
    Rows out = levels.front();
    for (std::size_t k = 1; k < levels.size(); ++k) out = product_of(levels[k], out);
    out.name = "T of " + lattice;
    out.factors = lane_levels(block_of(lattice).levels);
    return out;
}

Rows product_of(const Rows &a, const Rows &b, std::size_t most) {
    Rows out{"", b.columns, {0}, {}, {}, {}};
    Product product(b.columns);
    for (std::uint32_t i = 0; i < a.rows(); ++i) {
        for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k)
            for (std::uint32_t l = b.first[a.column[k]]; l < b.first[a.column[k] + 1]; ++l)
                product.add(b.column[l], a.value[k] * b.value[l]);
        product.end_row(out);
        if (out.column.size() > most) return {};
    }
    return out;
}

// Blocks of delta x delta, a share theta of them with entries, a share rho of theirs; rows in any order.
Rows synthetic(std::uint32_t n, std::uint32_t delta, double theta, double rho,
               perm::families::Random &random) {
    const std::uint32_t side = n / delta;
    const auto some = [&](std::int64_t all, double share) { // the first of a permutation
        std::vector<std::int64_t> order = random.permutation(all);
        order.resize(static_cast<std::size_t>(std::lround(share * static_cast<double>(all))));
        std::sort(order.begin(), order.end());
        return order;
    };
    std::vector<std::vector<std::uint32_t>> lines(n);
    for (const std::int64_t block : some(std::int64_t{side} * side, theta)) {
        const auto row = static_cast<std::uint32_t>(block / side) * delta,
                   column = static_cast<std::uint32_t>(block % side) * delta;
        for (const std::int64_t k : some(std::int64_t{delta} * delta, rho))
            lines[row + static_cast<std::uint32_t>(k / delta)].push_back(
                column + static_cast<std::uint32_t>(k % delta));
    }
    Rows a{formatted("A({}, {}, {})", delta, theta, rho), n, {0}, {}, {}, {}};
    for (const std::int64_t i : random.permutation(n)) {
        for (const std::uint32_t j : lines[static_cast<std::size_t>(i)])
            a.add(j, static_cast<double>(random.integer(1, 3)));
        a.end_row();
    }
    return a;
}

Rows square_of(const Rows &a, std::size_t most) {
    Rows out = product_of(a, a, most);
    if (out.rows() == 0) return out;
    out.name = a.name;
    out.factors = a.factors;
    return out;
}

} // namespace bench
