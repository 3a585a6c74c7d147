#include "lib/glynn/multiplicities/line_classes.hpp"

#include "lib/glynn/entries.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr int most_lines_written = 100;
constexpr double most_terms = 0x1p22;        // tens of milliseconds
constexpr double any_density_terms = 0x1p12; // up to which the sum is sooner done than the pattern looked at

// The lines that count, and where in the matrix each of the caller's lines stands: -1 of those left out.
struct Lines {
    int kinds = 0, total = 0;
    double terms = 1;
    std::array<int, most_small_order> count{}, line{};
    std::array<int, most_lines_read> place{};
};

bool read_lines(const std::int64_t *given, std::int64_t lines, Lines &out) {
    for (int i = 0; i < static_cast<int>(lines); ++i) {
        const std::int64_t count = given ? given[i] : 1;
        out.place[static_cast<std::size_t>(i)] = -1;
        if (count == 0) continue;
        if (count < 0 || count > most_lines_written || out.kinds == most_small_order) return false;
        const auto k = static_cast<std::size_t>(out.kinds++);
        out.line[k] = i;
        out.count[k] = static_cast<int>(count);
        out.total += out.count[k];
        out.terms *= static_cast<double>(count + 1);
    }
    // The largest first, the others as they stand.
    for (int a = 1; a < out.kinds; ++a)
        for (auto b = static_cast<std::size_t>(a); b > 0 && out.count[b] > out.count[b - 1]; --b) {
            std::swap(out.count[b], out.count[b - 1]);
            std::swap(out.line[b], out.line[b - 1]);
        }
    for (int k = 0; k < out.kinds; ++k)
        out.place[static_cast<std::size_t>(out.line[static_cast<std::size_t>(k)])] = k;
    return out.total > 0 && out.total <= most_lines_written;
}

// Whose sum takes a moment. Whether it is over the rows.
bool transposes(const Lines &rows, const Lines &columns) { return rows.terms < columns.terms; }
bool are_few(const Lines &rows, const Lines &columns) {
    const Lines &summed = transposes(rows, columns) ? rows : columns;
    return rows.total == columns.total && summed.terms <= most_terms && summed.count[0] <= most_of_kind;
}
bool is_worth_summing(const Lines &rows, const Lines &columns, std::int64_t nnz) {
    return std::min(rows.terms, columns.terms) <= any_density_terms ||
           10 * nnz >= 6 * std::int64_t{rows.kinds} * columns.kinds;
}

bool has_plain_multiplicities(const perm_csr &a) {
    return (a.row_multiplicity || a.col_multiplicity) && !a.row_unmatched && !a.col_unmatched &&
           a.n_rows >= 1 && a.n_rows <= most_lines_read && a.n_cols >= 1 && a.n_cols <= most_lines_read &&
           a.nnz >= 0 && a.nnz <= a.n_rows * a.n_cols && a.row_ptr && a.col_idx && a.values &&
           (a.index_type == PERM_INDEX_I64 || a.index_type == PERM_INDEX_I32) &&
           (a.value_type == PERM_VALUE_F64 || a.value_type == PERM_VALUE_C128);
}

} // namespace

bool read_line_classes(const perm_csr &a, SmallLineClasses &out) {
    if (!has_plain_multiplicities(a)) return false;
    Lines rows, columns;
    if (!read_lines(a.row_multiplicity, a.n_rows, rows) ||
        !read_lines(a.col_multiplicity, a.n_cols, columns) || !are_few(rows, columns))
        return false;
    const bool by_rows = transposes(rows, columns);
    const Lines &summed = by_rows ? rows : columns, &multiplied = by_rows ? columns : rows;
    out.columns = summed.kinds;
    out.column_count = summed.count;
    out.row_count = {multiplied.count, multiplied.total};
    out.terms = summed.terms;

    SmallMatrix &matrix = out.matrix;
    matrix.given = matrix.order = std::max(rows.kinds, columns.kinds);
    matrix.stride = (matrix.order + 3) / 4 * 4;
    const bool has_pairs = a.value_type == PERM_VALUE_C128;
    std::fill_n(matrix.re.begin(), matrix.size(), 0.0);
    std::fill_n(matrix.im.begin(), has_pairs ? matrix.size() : 0, 0.0);
    const auto *values = static_cast<const double *>(a.values);
    double check = 0; // infinities and NaN make it NaN
    const bool is_read = for_each_entry(a, [&](std::size_t k, int i, int j) {
        const double re = has_pairs ? values[2 * k] : values[k], im = has_pairs ? values[2 * k + 1] : 0;
        check += 0 * re + 0 * im;
        const int row = rows.place[static_cast<std::size_t>(i)],
                  column = columns.place[static_cast<std::size_t>(j)];
        if (row < 0 || column < 0 || (re == 0 && im == 0)) return;
        const std::size_t to = by_rows ? matrix.at(column, row) : matrix.at(row, column);
        matrix.re[to] = re;
        if (has_pairs) matrix.im[to] = im;
        matrix.is_complex |= im != 0;
        ++matrix.nnz;
        out.nnz += std::int64_t{rows.count[static_cast<std::size_t>(row)]} *
                   columns.count[static_cast<std::size_t>(column)];
    });
    return is_read && check == 0 && is_worth_summing(rows, columns, matrix.nnz);
}

std::optional<double> terms_of_line_classes(const InputPattern &input) {
    if (!input.written || input.free_lines() > 0 || input.pattern.rows > most_lines_written) return {};
    if (input.written->row_weights || input.written->col_weights) return {};
    const Pattern &written = input.written->pattern;
    if (written.rows > most_lines_read || written.cols > most_lines_read) return {};
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    std::array<std::int64_t, most_lines_read> row_count{}, column_count{};
    for (std::int32_t i = 0, given = 0; i < input.pattern.rows; ++i) {
        if (input.pattern.row(i).empty()) return {};
        const std::size_t begin = at(input.pattern.row_begin(i)), end = at(input.pattern.row_begin(i + 1));
        while (written.row_begin(given + 1) <= input.source[begin]) ++given;
        if (row_count[at(given)]++ > 0) continue;
        // An entry stands there once for each column of its kind.
        for (std::size_t k = begin; k < end; ++k) {
            std::int64_t &count = column_count[at(written.col[at(input.source[k])])];
            count = k > begin && input.source[k] == input.source[k - 1] ? count + 1 : 1;
        }
    }
    Lines rows, columns;
    if (!read_lines(row_count.data(), written.rows, rows) ||
        !read_lines(column_count.data(), written.cols, columns) || columns.total != input.pattern.cols ||
        !are_few(rows, columns))
        return {};
    std::int64_t nnz = 0;
    for (std::int32_t i = 0; i < written.rows; ++i)
        for (const std::int32_t j : written.row(i)) nnz += row_count[at(i)] > 0 && column_count[at(j)] > 0;
    if (!is_worth_summing(rows, columns, nnz)) return {};
    return std::min(rows.terms, columns.terms);
}

} // namespace libperm
