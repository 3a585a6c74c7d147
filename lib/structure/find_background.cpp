#include "lib/structure/find_background.hpp"

#include "lib/number/wide_value.hpp"
#include "lib/structure/background_lines.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>

namespace libperm {
namespace {

constexpr std::int32_t guesses = 5; // at a column in which a row is not changed

// Of the columns those in which y is x times y_k / x_k, both not 0.
template <class Value>
std::int32_t in_proportion(const Probe<Value> &probe, std::span<const std::uint64_t> x,
                           std::span<const std::uint64_t> y, std::int32_t k) {
    if (x[at(k)] == 0 || y[at(k)] == 0) return 0;
    std::int32_t count = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
        count += x[j] != 0 && probe.times(x[j], y[at(k)]) == probe.times(y[j], x[at(k)]);
    return count;
}

// The column by which y agrees with x at most places; -1: nowhere at half of them.
template <class Value>
std::int32_t best_column(const Probe<Value> &probe, std::span<const std::uint64_t> x,
                         std::span<const std::uint64_t> y, std::int32_t first) {
    const auto n = static_cast<std::int32_t>(x.size());
    std::int32_t best = -1, most = 0;
    for (std::int32_t guess = 0; guess < guesses && 4 * most < 3 * n; ++guess) {
        const std::int32_t k = (first + guess * (n / guesses)) % n;
        const std::int32_t count = in_proportion(probe, x, y, k);
        if (count > most) best = k, most = count;
    }
    return 2 * most >= n ? best : -1;
}

std::array<std::int32_t, 3> some_rows(std::int32_t n) { return {0, n / 3, 2 * n / 3}; }

// Rows, of which the first is the base, that agree with each other at most places.
struct Alike {
    std::vector<std::int32_t> rows;
    std::vector<std::vector<std::uint64_t>> residues;
};

template <class Value> Alike rows_alike(const Probe<Value> &probe) {
    const std::int32_t n = probe.n();
    std::vector<std::vector<std::uint64_t>> rows;
    for (const std::int32_t i : some_rows(n)) {
        rows.emplace_back(at(n));
        probe.row(i, rows.back());
    }
    for (const std::size_t base : {std::size_t{0}, std::size_t{1}}) {
        Alike alike{{some_rows(n)[base]}, {rows[base]}};
        for (std::size_t other = base + 1; other < rows.size(); ++other) {
            if (best_column(probe, rows[base], rows[other], static_cast<std::int32_t>(other)) < 0) continue;
            alike.rows.push_back(some_rows(n)[other]);
            alike.residues.push_back(rows[other]);
        }
        if (alike.rows.size() > 1) return alike;
    }
    return {};
}

// Where it is not u_i v_j modulo the prime, by row; none: too many such entries.
class ModularBackground {
  public:
    ModularBackground(std::int32_t n, const Montgomery &field, const std::vector<std::uint64_t> &residues)
        : n_(n),
          field_(field),
          a_(residues),
          u_(at(n)),
          v_(at(n)),
          row_of_col_(at(n), -1),
          col_of_row_(at(n), -1) {}

    template <class Value> void scale_rows(const Probe<Value> &probe, std::int32_t base, const Poll &poll) {
        PolledSteps steps(poll);
        for (std::int32_t i = 0; i < n_; ++i) {
            steps.take(4 * n_);
            const std::int32_t k = best_column(probe, row(base), row(i), i);
            if (k < 0) continue;
            const std::uint64_t below = row(base)[at(k)];
            u_[at(i)] = field_.multiply(row(i)[at(k)], field_.power(below, field_.prime() - 2));
        }
    }

    // Each column by that of the rows `alike` with which most others agree.
    void scale_columns(const std::vector<std::int32_t> &alike, const Poll &poll) {
        PolledSteps steps(poll);
        for (const std::int32_t r : alike) {
            if (u_[at(r)] == 0) continue;
            const std::uint64_t inverse = field_.power(u_[at(r)], field_.prime() - 2);
            std::vector<std::uint64_t> v(at(n_));
            std::vector<std::int32_t> count(at(n_));
            for (std::int32_t j = 0; j < n_; ++j) v[at(j)] = field_.multiply(row(r)[at(j)], inverse);
            for (std::int32_t i = 0; i < n_; ++i) {
                steps.take(4 * n_);
                if (u_[at(i)] == 0) continue;
                for (std::int32_t j = 0; j < n_; ++j)
                    count[at(j)] += field_.multiply(u_[at(i)], v[at(j)]) == row(i)[at(j)];
            }
            if (count_.empty()) count_.assign(at(n_), n_ / 2);
            for (std::int32_t j = 0; j < n_; ++j) {
                if (v[at(j)] == 0 || count[at(j)] <= count_[at(j)]) continue;
                count_[at(j)] = count[at(j)];
                v_[at(j)] = v[at(j)];
                row_of_col_[at(j)] = r;
            }
        }
    }

    // Those of the rows `alike` by columns that follow from the base row.
    void choose_columns(std::int32_t base, const std::vector<std::int32_t> &alike) {
        for (std::int32_t i = 0; i < n_; ++i) {
            if (u_[at(i)] == 0) continue;
            const bool comes_first = std::find(alike.begin(), alike.end(), i) != alike.end();
            for (std::int32_t step = 0; step < n_ && col_of_row_[at(i)] < 0; ++step) {
                const std::int32_t j = (i + 1 + step) % n_;
                if (v_[at(j)] != 0 && agrees(i, j) && (!comes_first || row_of_col_[at(j)] == base))
                    col_of_row_[at(i)] = j;
            }
            if (col_of_row_[at(i)] < 0) u_[at(i)] = 0;
        }
    }

    bool agrees(std::int32_t i, std::int32_t j) const {
        return row(i)[at(j)] == (v_[at(j)] == 0 ? 0 : field_.multiply(u_[at(i)], v_[at(j)]));
    }
    std::vector<std::int32_t> &row_of_col() { return row_of_col_; }
    std::vector<std::int32_t> &col_of_row() { return col_of_row_; }

  private:
    std::span<const std::uint64_t> row(std::int32_t i) const {
        return std::span(a_).subspan(at(i) * at(n_), at(n_));
    }

    std::int32_t n_;
    const Montgomery &field_;
    const std::vector<std::uint64_t> &a_;
    std::vector<std::uint64_t> u_, v_;
    std::vector<std::int32_t> row_of_col_, col_of_row_, count_;
};

const Gaussian &exact_entry(const ExactBlock &block, std::int32_t i, std::int32_t j) {
    static const Gaussian zero{};
    const auto row = block.pattern.row(i);
    const auto place = std::lower_bound(row.begin(), row.end(), j);
    if (place == row.end() || *place != j) return zero;
    return block.values[at(block.pattern.row_begin(i) + (place - row.begin()))];
}

bool is_product(const Gaussian &x, const Gaussian &u, const Gaussian &v) {
    if (is_zero(u) || is_zero(v)) return is_zero(x);
    if (u.im == 0 && u.re == 1) return x == v;
    if (v.im == 0 && v.re == 1) return x == u;
    return x == u * v;
}

} // namespace

template <class Value> bool may_have_background(const Probe<Value> &probe) {
    return !rows_alike(probe).rows.empty();
}

template <class Value>
Background find_background(const BlockOf<Value> &block, const Probe<Value> &probe,
                           const std::vector<std::uint64_t> &residues, const Poll &poll) {
    const std::int32_t n = block.n();
    const Alike alike = rows_alike(probe);
    if (alike.rows.empty()) return {};
    Background found;
    found.base = alike.rows.front();
    ModularBackground modular(n, probe.field(), residues);
    modular.scale_rows(probe, found.base, poll);
    modular.scale_columns(alike.rows, poll);
    modular.choose_columns(found.base, alike.rows);
    found.row_of_col = modular.row_of_col();
    found.col_of_row = modular.col_of_row();

    const ExactBlock &exact = exact_block(block);
    std::vector<Gaussian> u(at(n)), v(at(n));
    background_lines(
        found, [&](std::int32_t i, std::int32_t j) { return exact_entry(exact, i, j); },
        [](const Gaussian &x, const Gaussian &y) { return x / y; }, Gaussian{1, 0}, u, v);
    PolledSteps steps(poll);
    Pattern beside;
    beside.rows = beside.cols = n;
    const std::int64_t most = std::int64_t{n} * n / 4;
    for (std::int32_t i = 0; i < n; ++i) {
        std::int64_t k = exact.pattern.row_begin(i);
        const auto row = exact.pattern.row(i);
        std::size_t place = 0;
        const Gaussian zero{};
        for (std::int32_t j = 0; j < n; ++j) {
            steps.take(16);
            const bool is_there = place < row.size() && row[place] == j;
            const Gaussian &x = is_there ? exact.values[at(k + static_cast<std::int64_t>(place))] : zero;
            place += is_there;
            if (!is_product(x, u[at(i)], v[at(j)])) beside.col.push_back(j);
        }
        if (std::ssize(beside.col) > most) return {};
        beside.row_ptr.push_back(std::ssize(beside.col));
    }
    found.beside = std::move(beside);
    return found;
}

template bool may_have_background(const Probe<Tracked> &probe);
template bool may_have_background(const Probe<Gaussian> &probe);
template Background find_background(const Block &block, const Probe<Tracked> &probe,
                                    const std::vector<std::uint64_t> &residues, const Poll &poll);
template Background find_background(const ExactBlock &block, const Probe<Gaussian> &probe,
                                    const std::vector<std::uint64_t> &residues, const Poll &poll);

} // namespace libperm
