#include "bench/families.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>

namespace perm::families {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double one_if(bool condition) { return condition ? 1.0 : 0.0; }

using Cell = std::array<std::int64_t, 3>;

// Dimers: the cells of even coordinate sum are the rows, the others the columns, neighbours have an entry.
Csr dimers(const std::vector<Cell> &cells, const std::function<double(const Cell &, const Cell &)> &weight) {
    std::vector<Cell> even, odd;
    for (const Cell &c : cells) ((c[0] + c[1] + c[2]) % 2 == 0 ? even : odd).push_back(c);
    return build(std::ssize(even), std::ssize(odd), [&](std::int64_t i, std::int64_t j) {
        const Cell &u = even[at(i)], &v = odd[at(j)];
        const std::int64_t distance = std::abs(u[0] - v[0]) + std::abs(u[1] - v[1]) + std::abs(u[2] - v[2]);
        return distance == 1 ? weight(u, v) : 0.0;
    });
}

std::vector<Cell> box(std::int64_t x, std::int64_t y, std::int64_t z) {
    std::vector<Cell> cells;
    for (std::int64_t i = 0; i < x; ++i)
        for (std::int64_t j = 0; j < y; ++j)
            for (std::int64_t k = 0; k < z; ++k) cells.push_back({i, j, k});
    return cells;
}

// The family of matrices that have a random entry wherever `stored` holds.
Csr random_where(std::int64_t n, Entries entries, Random &random,
                 const std::function<bool(std::int64_t, std::int64_t)> &stored) {
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        return stored(i, j) ? random_entry(entries, random) : 0.0;
    });
}

using Pattern = std::vector<std::set<std::int64_t>>; // of each row the columns

Csr random_on(const Pattern &columns, Entries entries, Random &random) {
    return random_where(std::ssize(columns), entries, random,
                        [&](std::int64_t i, std::int64_t j) { return columns[at(i)].contains(j); });
}

Csr shuffled(const Csr &a, Random &random) {
    const std::vector<std::int64_t> rows = random.permutation(a.n_rows);
    return permute(a, rows, random.permutation(a.n_cols));
}

std::int64_t squared_distance(const Cell &u, const Cell &v) {
    const std::int64_t x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return x * x + y * y + z * z;
}

Csr mesh(const std::vector<Cell> &cells, std::int64_t squared_reach, Entries entries, std::uint64_t seed) {
    Random random(seed);
    return random_where(std::ssize(cells), entries, random, [&](std::int64_t i, std::int64_t j) {
        return squared_distance(cells[at(i)], cells[at(j)]) <= squared_reach;
    });
}

std::vector<Csr> draw_blocks(std::int64_t count, std::int64_t size, double p, Entries entries,
                             Random &random) {
    std::vector<Csr> blocks(at(count));
    for (Csr &block : blocks)
        block = random_where(size, entries, random, [&](std::int64_t i, std::int64_t j) {
            return j == i || j == (i + 1) % size || random.chance(p);
        });
    return blocks;
}

// Each block coupled to the `reach` next ones.
Csr coupled_blocks(std::int64_t count, std::int64_t size, double p, std::int64_t reach, Entries entries,
                   std::uint64_t seed) {
    Random random(seed);
    std::vector<Dense> blocks;
    for (const Csr &block : draw_blocks(count, size, p, entries, random)) blocks.push_back(to_dense(block));
    const auto entry = [&](std::int64_t i, std::int64_t j) {
        const std::int64_t further = j / size - i / size;
        if (further == 0) return blocks[at(i / size)][at(i % size)][at(j % size)];
        if (further < 0 || further > reach) return 0.0;
        const bool at_corner = j == i + 1; // where two blocks meet
        return at_corner || random.chance(p) ? random_entry(entries, random) : 0.0;
    };
    return shuffled(build(count * size, count * size, entry), random);
}

// n as a sum of positive numbers.
std::vector<std::int64_t> composition(std::int64_t n, std::int64_t parts, Random &random) {
    std::vector<std::int64_t> sizes(at(parts), 1);
    for (std::int64_t rest = n - parts; rest > 0; --rest) ++sizes[at(random.integer(0, parts - 1))];
    return sizes;
}

} // namespace

// ---------------------------------------------------------------- random numbers

std::int64_t Random::integer(std::int64_t low, std::int64_t high) {
    const double numbers = static_cast<double>(high) - static_cast<double>(low) + 1; // may be beyond 2^63
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) +
                                     static_cast<std::uint64_t>(uniform() * numbers));
}

std::vector<std::int64_t> Random::permutation(std::int64_t n) {
    std::vector<std::int64_t> p(at(n));
    std::iota(p.begin(), p.end(), std::int64_t{0});
    for (std::int64_t i = n - 1; i > 0; --i) std::swap(p[at(i)], p[at(integer(0, i))]);
    return p;
}

double random_entry(Entries entries, Random &random) {
    switch (entries) {
    case Entries::ones:
        return 1.0;
    case Entries::nonnegative:
        return 1.0 - random.uniform();
    case Entries::real:
        return (1.0 - random.uniform()) * (random.chance(0.5) ? 1.0 : -1.0);
    case Entries::counts:
        return static_cast<double>(random.integer(1, 9));
    case Entries::integers:
        return static_cast<double>(random.integer(1, 9)) * (random.chance(0.5) ? 1.0 : -1.0);
    }
    return 0.0;
}

// ---------------------------------------------------------------- building

Csr build(std::int64_t n_rows, std::int64_t n_cols, const Entry &entry) {
    Csr a;
    a.n_rows = n_rows;
    a.n_cols = n_cols;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        for (std::int64_t j = 0; j < n_cols; ++j) {
            const double value = entry(i, j);
            if (value == 0.0) continue;
            a.col_idx.push_back(j);
            a.values.push_back(value);
        }
        a.row_ptr.push_back(std::ssize(a.col_idx));
    }
    return a;
}

Csr from_dense(const Dense &rows) {
    const std::int64_t n_cols = rows.empty() ? 0 : std::ssize(rows.front());
    return build(std::ssize(rows), n_cols,
                 [&](std::int64_t i, std::int64_t j) { return rows[at(i)][at(j)]; });
}

Dense to_dense(const Csr &a) {
    Dense rows(at(a.n_rows), std::vector<double>(at(a.n_cols), 0.0));
    for (std::int64_t i = 0; i < a.n_rows; ++i)
        for (std::int64_t k = a.row_ptr[at(i)]; k < a.row_ptr[at(i + 1)]; ++k)
            rows[at(i)][at(a.col_idx[at(k)])] = a.pattern ? 1.0 : a.values[at(k)];
    return rows;
}

// ---------------------------------------------------------------- dense families

Csr constant(std::int64_t n, double a) {
    return build(n, n, [&](std::int64_t, std::int64_t) { return a; });
}

Csr derangements(std::int64_t n) {
    return build(n, n, [](std::int64_t i, std::int64_t j) { return one_if(i != j); });
}

Csr menage(std::int64_t n) {
    return build(n, n, [&](std::int64_t i, std::int64_t j) { return one_if(j != i && j != (i + 1) % n); });
}

Csr ones_and_diagonal(std::int64_t n, double x, double y) {
    return build(n, n, [&](std::int64_t i, std::int64_t j) { return i == j ? x + y : x; });
}

Csr outer(const std::vector<double> &u, const std::vector<double> &v) {
    return build(std::ssize(u), std::ssize(v),
                 [&](std::int64_t i, std::int64_t j) { return u[at(i)] * v[at(j)]; });
}

Csr ones_without_pairs(std::int64_t n) {
    return build(n, n, [](std::int64_t i, std::int64_t j) { return one_if(i / 2 != j / 2); });
}

Csr negated_block(std::int64_t n, std::int64_t p, std::int64_t q) {
    return build(n, n, [&](std::int64_t i, std::int64_t j) { return i < p && j < q ? -1.0 : 1.0; });
}

Csr hadamard(std::int64_t n) {
    return build(n, n, [](std::int64_t i, std::int64_t j) {
        return std::popcount(static_cast<std::uint64_t>(i & j)) % 2 == 0 ? 1.0 : -1.0;
    });
}

Csr counting(std::int64_t n) {
    return build(n, n, [&](std::int64_t i, std::int64_t j) { return static_cast<double>(i * n + j + 1); });
}

Csr gcds(std::int64_t n) {
    return build(n, n,
                 [](std::int64_t i, std::int64_t j) { return static_cast<double>(std::gcd(i + 1, j + 1)); });
}

Csr minima(std::int64_t n) {
    return build(n, n,
                 [](std::int64_t i, std::int64_t j) { return static_cast<double>(std::min(i, j) + 1); });
}

Csr sums(std::int64_t n) {
    return build(n, n, [](std::int64_t i, std::int64_t j) { return static_cast<double>(i + j + 1); });
}

Csr block_constant(const Dense &value, const std::vector<std::int64_t> &row_counts,
                   const std::vector<std::int64_t> &column_counts) {
    Dense rows;
    for (std::size_t i = 0; i < row_counts.size(); ++i) {
        std::vector<double> row;
        for (std::size_t j = 0; j < column_counts.size(); ++j)
            row.insert(row.end(), at(column_counts[j]), value[i][j]);
        rows.insert(rows.end(), at(row_counts[i]), row);
    }
    return from_dense(rows);
}

Csr ferrers(const std::vector<std::int64_t> &b) {
    const std::int64_t n = std::ssize(b);
    return build(n, n, [&](std::int64_t i, std::int64_t j) { return one_if(j < b[at(i)]); });
}

Csr hessenberg(std::int64_t n) {
    return build(n, n, [](std::int64_t i, std::int64_t j) { return one_if(j <= i + 1); });
}

Csr triangular(std::int64_t n, Entries entries, std::uint64_t seed) {
    Random random(seed);
    return random_where(n, entries, random, [](std::int64_t i, std::int64_t j) { return i <= j; });
}

// ---------------------------------------------------------------- sparse families

Csr tridiagonal(std::int64_t n, double a, double b, double c) {
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        return i == j ? a : j == i + 1 ? b : i == j + 1 ? c : 0.0;
    });
}

Csr two_cycles(std::int64_t n, double a, double b) {
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        return (i == j ? a : 0.0) + (j == (i + 1) % n ? b : 0.0);
    });
}

Csr circulant(std::int64_t n, const std::vector<std::int64_t> &offsets) {
    return build(n, n, [&](std::int64_t i, std::int64_t j) {
        return one_if(std::ranges::any_of(offsets, [&](std::int64_t d) { return (i + d) % n == j; }));
    });
}

Csr fano() { return circulant(7, {0, 1, 3}); }

Csr hypercube(int d) {
    std::vector<std::uint64_t> even, odd;
    for (std::uint64_t v = 0; v < std::uint64_t{1} << d; ++v)
        (std::popcount(v) % 2 == 0 ? even : odd).push_back(v);
    return build(std::ssize(even), std::ssize(odd), [&](std::int64_t i, std::int64_t j) {
        return one_if(std::has_single_bit(even[at(i)] ^ odd[at(j)]));
    });
}

Csr grid(std::int64_t x, std::int64_t y, std::int64_t z) {
    return dimers(box(x, y, z), [](const Cell &, const Cell &) { return 1.0; });
}

Csr aztec_diamond(std::int64_t k) {
    std::vector<Cell> cells; // moved by (k, k) out of the centre, so that no coordinate is negative
    for (const Cell &c : box(2 * k, 2 * k, 1))
        if (std::abs(2 * c[0] + 1 - 2 * k) + std::abs(2 * c[1] + 1 - 2 * k) <= 2 * k) cells.push_back(c);
    return dimers(cells, [](const Cell &, const Cell &) { return 1.0; });
}

// Mycielski 1955: to vertices v_i add u_i, joined to the neighbours of v_i, and one w joined to every u_i.
Csr mycielskian(int k) {
    Dense graph{{0.0, 1.0}, {1.0, 0.0}};
    for (; k > 2; --k) {
        const std::size_t n = graph.size();
        Dense next(2 * n + 1, std::vector<double>(2 * n + 1, 0.0));
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) next[i][j] = next[n + i][j] = next[j][n + i] = graph[i][j];
            next[n + i][2 * n] = next[2 * n][n + i] = 1.0;
        }
        graph = std::move(next);
    }
    return from_dense(graph);
}

WeightedGrid weighted_grid(std::int64_t rows, std::int64_t columns, Entries entries, std::uint64_t seed) {
    WeightedGrid g;
    Random random(seed), same_random(seed);
    g.weights = dimers(box(rows, columns, 1),
                       [&](const Cell &, const Cell &) { return random_entry(entries, random); });
    g.kasteleyn = dimers(box(rows, columns, 1), [&](const Cell &u, const Cell &v) {
        const double weight = random_entry(entries, same_random);
        return u[0] != v[0] && u[1] % 2 == 1 ? -weight : weight;
    });
    return g;
}

// ---------------------------------------------------------------- random

Csr erdos_renyi(std::int64_t n, double p, Entries entries, std::uint64_t seed) {
    Random random(seed);
    return random_where(n, entries, random, [&](std::int64_t, std::int64_t) { return random.chance(p); });
}

Csr banded(std::int64_t n, std::int64_t below, std::int64_t above, Entries entries, std::uint64_t seed) {
    Random random(seed);
    return random_where(n, entries, random,
                        [&](std::int64_t i, std::int64_t j) { return i - j <= below && j - i <= above; });
}

Csr arrow(std::int64_t n, Entries entries, std::uint64_t seed) {
    Random random(seed);
    return random_where(n, entries, random,
                        [](std::int64_t i, std::int64_t j) { return i == 0 || j == 0 || i == j; });
}

Csr permutation_plus(std::int64_t n, std::int64_t extra, Entries entries, std::uint64_t seed) {
    Random random(seed);
    const std::vector<std::int64_t> p = random.permutation(n);
    Pattern columns(at(n));
    for (std::int64_t i = 0; i < n; ++i) {
        columns[at(i)].insert(p[at(i)]);
        for (std::int64_t k = 0; k < extra; ++k) columns[at(i)].insert(random.integer(0, n - 1));
    }
    return random_on(columns, entries, random);
}

// ---------------------------------------------------------------- random, shaped as in applications

Csr mesh2d(std::int64_t rows, std::int64_t columns, Entries entries, std::uint64_t seed) {
    return mesh(box(rows, columns, 1), 1, entries, seed);
}

Csr mesh2d9(std::int64_t rows, std::int64_t columns, Entries entries, std::uint64_t seed) {
    return mesh(box(rows, columns, 1), 2, entries, seed);
}

Csr mesh3d(std::int64_t x, std::int64_t y, std::int64_t z, Entries entries, std::uint64_t seed) {
    return mesh(box(x, y, z), 1, entries, seed);
}

Csr power_network(std::int64_t n, Entries entries, std::uint64_t seed) {
    Random random(seed);
    std::vector<Cell> points(at(n));
    for (Cell &p : points)
        for (int axis = 0; axis < 2; ++axis) p[at(axis)] = random.integer(0, 1 << 20);
    return random_where(n, entries, random, [&](std::int64_t i, std::int64_t j) {
        const Cell &u = points[at(i)], &v = points[at(j)];
        const std::int64_t length = squared_distance(u, v);
        return std::ranges::none_of(points, [&](const Cell &w) {
            return squared_distance(u, w) < length && squared_distance(v, w) < length;
        });
    });
}

Csr roads(std::int64_t n, Entries entries, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::array<double, 2>> points;
    for (std::int64_t i = 0; i < n; ++i) points.push_back({random.uniform(0, 1), random.uniform(0, 1)});
    const auto apart = [&](std::int64_t i, std::int64_t j) {
        return std::hypot(points[at(i)][0] - points[at(j)][0], points[at(i)][1] - points[at(j)][1]);
    };
    Pattern columns(at(n));
    const auto connect = [&](std::int64_t i, std::int64_t j) {
        columns[at(i)].insert(j);
        columns[at(j)].insert(i);
    };
    // The nearest of the points [0, end) that there is no road to yet; -1: none.
    const auto nearest = [&](std::int64_t i, std::int64_t end) {
        std::int64_t best = -1;
        for (std::int64_t j = 0; j < end; ++j)
            if (j != i && !columns[at(i)].contains(j) && (best < 0 || apart(i, j) < apart(i, best))) best = j;
        return best;
    };
    for (std::int64_t i = 0; i < n; ++i) {
        columns[at(i)].insert(i);
        if (i > 0) connect(i, nearest(i, i));
    }
    for (std::int64_t k = 0; k < n / 3; ++k) {
        const std::int64_t i = random.integer(0, n - 1);
        if (const std::int64_t j = nearest(i, n); j >= 0) connect(i, j);
    }
    return random_on(columns, entries, random);
}

Csr block_tree(std::int64_t blocks, std::int64_t size, Entries entries, std::uint64_t seed) {
    Random random(seed);
    Pattern columns(at(blocks * size));
    for (std::int64_t block = 0; block < blocks; ++block) {
        const auto line_of = [&](std::int64_t of) { return of * size + random.integer(0, size - 1); };
        for (std::int64_t i = block * size; i < (block + 1) * size; ++i)
            for (std::int64_t j = block * size; j < (block + 1) * size; ++j) columns[at(i)].insert(j);
        const std::int64_t above = (block - 1) / 2;
        for (int k = 0; k < 2 && block > 0; ++k) {
            const std::int64_t i = line_of(block), j = line_of(above);
            columns[at(i)].insert(j);
            columns[at(line_of(above))].insert(line_of(block));
        }
    }
    return random_on(columns, entries, random);
}

Csr divisors(std::int64_t n) {
    return build(n, n, [](std::int64_t i, std::int64_t j) {
        return (i + 1) % (j + 1) == 0 || (j + 1) % (i + 1) == 0 ? 1.0 : 0.0;
    });
}

Csr process(std::int64_t n, Entries entries, std::uint64_t seed) {
    Random random(seed);
    Pattern columns(at(n));
    for (std::int64_t i = 0; i < n; ++i) {
        columns[at(i)].insert(i);
        for (int k = 0; k < 5; ++k) {
            const bool recycled = random.chance(0.025);
            columns[at(i)].insert(recycled ? random.integer(0, n - 1)
                                           : std::clamp(i + random.integer(-3, 5), std::int64_t{0}, n - 1));
        }
    }
    return shuffled(random_on(columns, entries, random), random);
}

std::vector<Csr> indecomposable_blocks(std::int64_t count, std::int64_t size, double p, Entries entries,
                                       std::uint64_t seed) {
    Random random(seed);
    return draw_blocks(count, size, p, entries, random);
}

Csr block_triangular(std::int64_t count, std::int64_t size, double p, Entries entries, std::uint64_t seed) {
    return coupled_blocks(count, size, p, count, entries, seed);
}

Csr chain_of_blocks(std::int64_t count, std::int64_t size, double p, Entries entries, std::uint64_t seed) {
    return coupled_blocks(count, size, p, 1, entries, seed);
}

// A chain enters column i from `before`, a row of the core or of the chain, and goes on by row i. Where it is
// cut instead, column i goes to row q of the core and row i starts at column q: then (q, i) and (i, q) match
// in place of (q, q) and (i, i), so each q serves once.
Csr degree_chains(std::int64_t n, std::int64_t core, Entries entries, std::uint64_t seed) {
    Random random(seed);
    Pattern columns(at(n));
    for (std::int64_t i = 0; i < core; ++i)
        for (std::int64_t j = 0; j < core; ++j)
            if (i == j || random.chance(0.5)) columns[at(i)].insert(j);
    const auto in_core = [&] { return random.integer(0, core - 1); };
    std::int64_t cuts = 0, before = in_core();
    for (std::int64_t i = core; i < n; ++i) {
        columns[at(before)].insert(i);
        if (cuts < core && random.chance(0.1)) {
            columns[at(cuts)].insert(i);
            columns[at(i)].insert(cuts++);
        } else {
            columns[at(i)].insert(i);
        }
        before = i;
        if (i + 1 < n && !random.chance(0.1)) continue;
        if (!random.chance(0.25)) columns[at(i)].insert(in_core());
        before = in_core();
    }
    return shuffled(random_on(columns, entries, random), random);
}

Csr repeated_lines(std::int64_t n, std::int64_t row_kinds, std::int64_t column_kinds, Entries entries,
                   std::uint64_t seed) {
    Random random(seed);
    const std::vector<std::int64_t> rows = composition(n, row_kinds, random),
                                    columns = composition(n, column_kinds, random);
    Dense value(at(row_kinds), std::vector<double>(at(column_kinds), 0.0));
    std::int64_t row_end = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        row_end += rows[i];
        std::int64_t column_end = 0;
        for (std::size_t j = 0; j < columns.size(); ++j) {
            column_end += columns[j];
            // Where block (i, j) meets the diagonal it is full, so that there is a matching.
            const bool diagonal = row_end - rows[i] < column_end && column_end - columns[j] < row_end;
            if (diagonal || random.chance(0.5)) value[i][j] = random_entry(entries, random);
        }
    }
    return shuffled(block_constant(value, rows, columns), random);
}

Csr proportional_lines(std::int64_t n, std::int64_t row_kinds, std::int64_t column_kinds, Entries entries,
                       std::uint64_t seed) {
    Random random(~seed); // others than those of repeated_lines
    std::vector<double> rows(at(n)), columns(at(n));
    for (std::vector<double> *lines : {&rows, &columns})
        for (double &factor : *lines) {
            const auto digit = static_cast<double>(random.integer(1, 9));
            factor = std::ldexp(digit, static_cast<int>(random.integer(-8, 8)));
        }
    Csr a = repeated_lines(n, row_kinds, column_kinds, entries, seed);
    for (double &value : a.values) value = static_cast<float>(value);
    return scale(a, rows, columns);
}

// ---------------------------------------------------------------- transforms

Csr transpose(const Csr &a) {
    const Dense rows = to_dense(a);
    return build(a.n_cols, a.n_rows, [&](std::int64_t i, std::int64_t j) { return rows[at(j)][at(i)]; });
}

Csr permute(const Csr &a, const std::vector<std::int64_t> &rows, const std::vector<std::int64_t> &columns) {
    const Dense old = to_dense(a);
    return build(a.n_rows, a.n_cols,
                 [&](std::int64_t i, std::int64_t j) { return old[at(rows[at(i)])][at(columns[at(j)])]; });
}

Csr scale(const Csr &a, const std::vector<double> &rows, const std::vector<double> &columns) {
    const Dense old = to_dense(a);
    return build(a.n_rows, a.n_cols, [&](std::int64_t i, std::int64_t j) {
        return old[at(i)][at(j)] * rows[at(i)] * columns[at(j)];
    });
}

Csr block_sum(const Csr &a, const Csr &b) {
    const Dense first = to_dense(a), second = to_dense(b);
    return build(a.n_rows + b.n_rows, a.n_cols + b.n_cols, [&](std::int64_t i, std::int64_t j) {
        if (i < a.n_rows && j < a.n_cols) return first[at(i)][at(j)];
        if (i >= a.n_rows && j >= a.n_cols) return second[at(i - a.n_rows)][at(j - a.n_cols)];
        return 0.0;
    });
}

Csr minor_of(const Csr &a, std::int64_t row, std::int64_t column) {
    const Dense old = to_dense(a);
    return build(a.n_rows - 1, a.n_cols - 1, [&](std::int64_t i, std::int64_t j) {
        return old[at(i + (i >= row))][at(j + (j >= column))];
    });
}

Csr with_row(const Csr &a, std::int64_t row, const std::vector<double> &entries) {
    Dense rows = to_dense(a);
    rows[at(row)] = entries;
    return from_dense(rows);
}

} // namespace perm::families
