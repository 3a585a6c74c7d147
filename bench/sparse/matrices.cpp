#include "bench/sparse/matrices.hpp"

#include "lib/periodic/answers/periodic_plan.hpp"

#include <perm.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace libperm;
using perm::families::Random;

namespace bench {
namespace {

std::uint64_t below(Random &random, std::uint64_t n) {
    return static_cast<std::uint64_t>(random.integer(0, static_cast<std::int64_t>(n) - 1));
}

struct Shape {
    std::string name;
    std::uint32_t rows, columns;
    std::uint64_t reach; // of entries from the diagonal; 0: anywhere

    Shape within(std::uint32_t most) const {
        const bool is_wide = rows < columns;
        return {name, std::min(rows, is_wide && columns > most ? most / 4 : most), std::min(columns, most),
                reach};
    }
};

// `length(i)` entries in row i, at random.
template <class Length> Csr random_rows(const Shape &shape, Random &random, const Length &length) {
    const auto &[name, rows, columns, reach] = shape;
    Csr a{name, false, columns, {0}, {}, {}};
    std::vector<std::uint64_t> places;
    for (std::uint32_t i = 0; i < rows; ++i) {
        const std::uint64_t size = std::min<std::uint64_t>(length(i), columns);
        const std::uint64_t middle = std::uint64_t{i} * columns / rows,
                            low = reach == 0 || middle < reach ? 0 : middle - reach,
                            high =
                                reach == 0 ? columns : std::min<std::uint64_t>(columns, middle + reach + 1);
        places.clear();
        for (std::uint64_t k = 0; k < size; ++k) places.push_back(low + below(random, high - low));
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        for (const std::uint64_t j : places) a.add(j, static_cast<double>(random.integer(1, 9)));
        a.end_row();
    }
    return a;
}

Csr full_matrix(std::uint32_t n) {
    Csr dense{"dense 2000 x 2000", false, n, {0}, {}, {}};
    for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t j = 0; j < n; ++j) dense.add(j, 1);
        dense.end_row();
    }
    return dense;
}

} // namespace

std::vector<Csr> synthetic_matrices(Random &random, std::uint32_t most) {
    std::vector<Csr> all{full_matrix(std::min(2000U, most))};
    const auto add = [&](const Shape &shape, const auto &length) {
        all.push_back(random_rows(shape.within(most), random, length));
    };
    const auto constant = [](std::uint64_t n) { return [n](std::uint32_t) { return n; }; };
    add({"banded, 120 a row", 36000, 36000, 300}, constant(120));
    add({"banded, 55 a row", 217000, 217000, 600}, constant(55));
    add({"banded, 5 a row", 1000000, 1000000, 8}, constant(5));
    add({"random, 6 a row", 207000, 207000, 0}, constant(6));
    add({"random, 22 a row", 121000, 121000, 0}, constant(22));
    add({"circuit, a few dense rows", 171000, 171000, 0},
        [](std::uint32_t i) { return i % 17100 == 7 ? std::uint64_t{40000} : std::uint64_t{5}; });
    // Of row lengths k as k^-2.1: a web's links.
    add({"power law", 1000000, 1000000, 0}, [&](std::uint32_t) {
        const double u = std::max(random.uniform(), 1e-6);
        return static_cast<std::uint64_t>(std::pow(u, -1 / 1.1));
    });
    add({"LP, 4284 x 1.1e6", 4284, 1092610, 0},
        [](std::uint32_t i) { return i % 7 == 0 ? std::uint64_t{15000} : std::uint64_t{600}; });
    add({"rows of 0 or 400", 400000, 400000, 0},
        [](std::uint32_t i) { return i % 64 == 0 ? std::uint64_t{400} : std::uint64_t{0}; });
    return all;
}

Csr operator_of(const std::string &lattice) {
    const perm::Csr cell = perm::lattice_cell(lattice);
    const perm_csr view = cell.view();
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &view;
    const Options options = read_options(nullptr);
    CurrentCall control(options);
    Charge held;
    PeriodicMatrix matrix = read_periodic(&a, nullptr, held);
    const PeriodicPlan plan = make_periodic_plan(std::move(matrix), options);
    const PeriodBlock &block = plan.open.period;
    Csr out{"T of " + lattice, true, static_cast<std::uint32_t>(block.states), {0}, {}, {}};
    using Row = std::vector<std::pair<std::uint32_t, double>>;
    std::vector<Row> rows(block.states);
    for (std::uint32_t s = 0; s < block.states; ++s) rows[s] = {{s, 1}};
    for (const PeriodLevel &level : block.levels) {
        std::vector<Row> next(level.states());
        for (std::size_t t = 0; t < next.size(); ++t) {
            Row sum;
            for (std::uint32_t m = level.first[t]; m < level.first[t + 1]; ++m)
                sum.insert(sum.end(), rows[level.moves[m].source].begin(), rows[level.moves[m].source].end());
            std::sort(sum.begin(), sum.end());
            for (const auto &[j, x] : sum)
                if (!next[t].empty() && next[t].back().first == j)
                    next[t].back().second += x;
                else
                    next[t].push_back({j, x});
        }
        rows = std::move(next);
    }
    for (const Row &row : rows) {
        for (const auto &[j, x] : row) out.add(j, x);
        out.end_row();
    }
    return out;
}

Csr moved(const Csr &a) {
    Csr b{a.name, a.is_operator, a.columns, a.first, a.column, a.value};
    for (std::uint32_t i = 0; i < a.rows(); ++i) {
        const auto begin = b.column.begin() + a.first[i], end = b.column.begin() + a.first[i + 1];
        for (auto j = begin; j != end; ++j) *j = (*j + 1) % a.columns;
        if (begin != end && *(end - 1) == 0) std::rotate(begin, end - 1, end);
    }
    return b;
}

Csr transposed(const Csr &a) {
    Csr b{a.name, a.is_operator, a.rows(), std::vector<std::uint32_t>(std::size_t{a.columns} + 1), {}, {}};
    for (const std::uint32_t j : a.column) ++b.first[j + 1];
    for (std::uint32_t j = 0; j < a.columns; ++j) b.first[j + 1] += b.first[j];
    b.column.resize(a.column.size());
    b.value.resize(a.value.size());
    std::vector<std::uint32_t> next(b.first.begin(), b.first.end() - 1);
    for (std::uint32_t i = 0; i < a.rows(); ++i)
        for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k) {
            const std::uint32_t to = next[a.column[k]]++;
            b.column[to] = i;
            b.value[to] = a.value[k];
        }
    return b;
}

} // namespace bench
