#include "tests/support/oracle.hpp"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace oracle {

namespace {

struct IntegerEntry {
    std::size_t column;
    mpz_class value;
};

// A double matrix as integers: row i of A is rows[i] * 2^(its own power); the powers add up to exp2.
struct IntegerMatrix {
    std::vector<std::vector<IntegerEntry>> rows;
    long exp2 = 0;
    std::size_t n() const { return rows.size(); }
};

// x = integer * 2^exp2, x not 0, integer odd.
struct OddTimesPower {
    long integer;
    int exp2;
};

OddTimesPower split(double x) {
    int exp2 = 0;
    const long integer = static_cast<long>(std::ldexp(std::frexp(x, &exp2), 53));
    const int zeros = std::countr_zero(static_cast<unsigned long>(integer));
    return {integer >> zeros, exp2 - 53 + zeros};
}

IntegerMatrix to_integers(const perm::Csr &a) {
    if (a.n_rows != a.n_cols) throw std::invalid_argument("oracle: the matrix is not square");
    IntegerMatrix m;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.n_rows); ++i) {
        std::vector<std::pair<std::size_t, OddTimesPower>> entries;
        int lowest = std::numeric_limits<int>::max();
        for (std::int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
            const double value = a.pattern ? 1.0 : a.values[static_cast<std::size_t>(k)];
            if (value == 0.0) continue;
            entries.emplace_back(static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(k)]),
                                 split(value));
            lowest = std::min(lowest, entries.back().second.exp2);
        }
        std::vector<IntegerEntry> row;
        for (const auto &[column, value] : entries) {
            row.push_back({column, mpz_class(value.integer)});
            row.back().value <<= static_cast<mp_bitcnt_t>(value.exp2 - lowest);
        }
        m.rows.push_back(std::move(row));
        if (!entries.empty()) m.exp2 += lowest;
    }
    return m;
}

Exact times_power(const mpz_class &integer, long exp2) {
    Exact x(integer);
    if (exp2 >= 0)
        mpq_mul_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(exp2));
    else
        mpq_div_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(-exp2));
    return x;
}

// The rows in an order that keeps few columns open: next is always the row that leaves the fewest columns met
// but not finished; the first such row if there are several.
std::vector<std::size_t> narrow_order(const IntegerMatrix &m) {
    std::vector<std::size_t> left_in_column(m.n(), 0), order;
    for (const auto &row : m.rows)
        for (const IntegerEntry &e : row) ++left_in_column[e.column];
    std::vector<bool> met(m.n(), false), taken(m.n(), false);
    while (order.size() < m.n()) {
        std::size_t best = m.n();
        long fewest = 0;
        for (std::size_t i = 0; i < m.n(); ++i) {
            if (taken[i]) continue;
            long opened = 0;
            for (const IntegerEntry &e : m.rows[i]) {
                if (!met[e.column]) ++opened;
                if (left_in_column[e.column] == 1) --opened;
            }
            if (best == m.n() || opened < fewest) {
                best = i;
                fewest = opened;
            }
        }
        taken[best] = true;
        order.push_back(best);
        for (const IntegerEntry &e : m.rows[best]) {
            met[e.column] = true;
            --left_in_column[e.column];
        }
    }
    return order;
}

template <std::size_t Columns> mpz_class frontier(const IntegerMatrix &m) {
    using Used = std::bitset<Columns>;
    const std::vector<std::size_t> order = narrow_order(m);
    std::vector<std::size_t> last_row(m.n(), 0); // where in the order a column is met for the last time
    for (std::size_t r = 0; r < m.n(); ++r)
        for (const IntegerEntry &e : m.rows[order[r]]) last_row[e.column] = r;

    Used closed;
    std::unordered_map<Used, mpz_class> ways{{Used(), mpz_class(1)}};
    for (std::size_t r = 0; r < m.n(); ++r) {
        const auto &row = m.rows[order[r]];
        for (const IntegerEntry &e : row)
            if (last_row[e.column] == r) closed.set(e.column);
        std::unordered_map<Used, mpz_class> next;
        for (const auto &[used, sum] : ways)
            for (const IntegerEntry &e : row) {
                if (used.test(e.column)) continue;
                Used now = used;
                now.set(e.column);
                if ((now & closed) == closed) next[now] += sum * e.value;
            }
        ways = std::move(next);
    }
    mpz_class total = 0; // every column used: one state, or none
    for (const auto &[used, sum] : ways) total += sum;
    return total;
}

} // namespace

Exact by_definition(const perm::Csr &a) {
    const IntegerMatrix m = to_integers(a);
    if (m.n() > 9) throw std::invalid_argument("oracle: n is too large for the definition");
    std::vector<std::map<std::size_t, mpz_class>> row(m.n());
    std::vector<std::size_t> sigma(m.n());
    for (std::size_t i = 0; i < m.n(); ++i) {
        sigma[i] = i;
        for (const IntegerEntry &e : m.rows[i]) row[i][e.column] = e.value;
    }
    mpz_class total = 0;
    do {
        mpz_class product = 1;
        for (std::size_t i = 0; i < m.n() && product != 0; ++i) {
            const auto entry = row[i].find(sigma[i]);
            product = entry == row[i].end() ? mpz_class(0) : mpz_class(product * entry->second);
        }
        total += product;
    } while (std::ranges::next_permutation(sigma).found);
    return times_power(total, m.exp2);
}

Exact by_ryser(const perm::Csr &a) {
    const IntegerMatrix m = to_integers(a);
    if (m.n() > 16) throw std::invalid_argument("oracle: n is too large for Ryser's formula");
    mpz_class total = 0;
    for (unsigned set = 0; set < 1U << m.n(); ++set) {
        mpz_class product = 1;
        for (const auto &row : m.rows) {
            mpz_class sum = 0;
            for (const IntegerEntry &e : row)
                if ((set >> e.column & 1U) != 0) sum += e.value;
            product *= sum;
            if (product == 0) break;
        }
        if ((m.n() - static_cast<std::size_t>(std::popcount(set))) % 2 == 0)
            total += product;
        else
            total -= product;
    }
    return times_power(total, m.exp2);
}

Gaussian by_subsets(const GaussianMatrix &a) {
    if (a.size() > 16) throw std::invalid_argument("oracle: n is too large for Ryser's formula");
    struct Integer {
        mpz_class re = 0, im = 0;
    };
    std::vector<std::vector<Integer>> rows;
    Exact scale = 1;
    for (const auto &row : a) {
        mpz_class multiple = 1;
        for (const Gaussian &x : row) multiple = lcm(multiple, lcm(x.re.get_den(), x.im.get_den()));
        scale /= multiple;
        rows.emplace_back();
        for (const Gaussian &x : row)
            rows.back().push_back({mpz_class(x.re * multiple), mpz_class(x.im * multiple)});
    }
    std::vector<Integer> ways(std::size_t{1} << a.size()); // of the first rows on these columns
    ways[0].re = 1;
    for (std::size_t set = 1; set < ways.size(); ++set) {
        const auto &row = rows[static_cast<std::size_t>(std::popcount(set)) - 1];
        for (std::size_t j = 0; j < row.size(); ++j) {
            if ((set >> j & 1) == 0) continue;
            const Integer &x = ways[set ^ std::size_t{1} << j], &y = row[j];
            ways[set].re += x.re * y.re - x.im * y.im;
            ways[set].im += x.re * y.im + x.im * y.re;
        }
    }
    return {ways.back().re * scale, ways.back().im * scale};
}

Exact by_frontier(const perm::Csr &a) {
    const IntegerMatrix m = to_integers(a);
    if (m.n() <= 64) return times_power(frontier<64>(m), m.exp2);
    if (m.n() <= 512) return times_power(frontier<512>(m), m.exp2);
    throw std::invalid_argument("oracle: n is too large for the frontier sum");
}

Exact determinant(const perm::Csr &a) {
    const IntegerMatrix m = to_integers(a);
    const std::size_t n = m.n();
    std::vector<std::vector<mpz_class>> x(n, std::vector<mpz_class>(n));
    for (std::size_t i = 0; i < n; ++i)
        for (const IntegerEntry &e : m.rows[i]) x[i][e.column] = e.value;

    mpz_class pivot_before = 1;
    int sign = 1;
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t p = k;
        while (p < n && x[p][k] == 0) ++p;
        if (p == n) return 0;
        if (p != k) {
            std::swap(x[p], x[k]);
            sign = -sign;
        }
        for (std::size_t i = k + 1; i < n; ++i)
            for (std::size_t j = k + 1; j < n; ++j) {
                x[i][j] = x[i][j] * x[k][k] - x[i][k] * x[k][j];
                mpz_divexact(x[i][j].get_mpz_t(), x[i][j].get_mpz_t(), pivot_before.get_mpz_t());
            }
        pivot_before = x[k][k];
    }
    return times_power(sign * pivot_before, m.exp2);
}

} // namespace oracle
