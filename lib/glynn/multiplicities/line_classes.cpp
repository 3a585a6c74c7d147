#include "lib/glynn/multiplicities/line_classes.hpp"

#include "jit/lanes/sign_sum.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/number/ball.hpp"
#include "lib/run/numbered_sum.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

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

namespace {

constexpr std::int64_t least_entries = 1 << 18; // of fewer the general way makes a plan in a moment

bool is_large_and_full(const perm_csr &a) {
    return a.struct_size == sizeof(perm_csr) && !a.row_multiplicity && !a.col_multiplicity &&
           !a.row_unmatched && !a.col_unmatched && a.n_rows > 0 && a.n_cols > 0 && a.nnz >= least_entries &&
           a.nnz / a.n_rows <= a.n_cols && a.nnz / a.n_rows >= a.n_cols / 2 && a.row_ptr && a.col_idx &&
           (a.index_type == PERM_INDEX_I64 || a.index_type == PERM_INDEX_I32) &&
           (a.value_type == PERM_VALUE_PATTERN ||
            (a.values && a.value_type >= PERM_VALUE_F64 && a.value_type <= PERM_VALUE_I64));
}

} // namespace

template <class Same>
bool MergedLines::sort(std::int64_t lines, const Same &same, Kinds &kinds, PolledSteps &steps) {
    for (std::int64_t line = 0; line < lines; ++line) {
        steps.take();
        const auto known = std::find_if(kinds.first.begin(), kinds.first.end(),
                                        [&](std::int64_t first) { return same(first, line); });
        if (known != kinds.first.end()) {
            ++kinds.count[at(known - kinds.first.begin())];
            continue;
        }
        if (std::ssize(kinds.first) == most_lines_read) return false;
        kinds.first.push_back(line);
        kinds.count.push_back(1);
    }
    return true;
}

template <class Index> bool MergedLines::merge(const perm_csr &a, std::size_t value_bytes) {
    const auto *row_ptr = static_cast<const Index *>(a.row_ptr), *col = static_cast<const Index *>(a.col_idx);
    const auto *values = static_cast<const std::byte *>(a.values);
    if (row_ptr[0] != 0 || row_ptr[a.n_rows] != a.nnz) return false;
    for (std::int64_t i = 0; i < a.n_rows; ++i)
        if (row_ptr[i + 1] < row_ptr[i] || row_ptr[i + 1] > a.nnz) return false;
    PolledSteps steps;
    const auto are_same = [](const auto *x, const auto *y, std::size_t bytes) {
        return bytes == 0 || std::memcmp(x, y, bytes) == 0;
    };
    const auto same_row = [&](std::int64_t x, std::int64_t y) {
        const auto entries = at(row_ptr[x + 1] - row_ptr[x]), from = at(row_ptr[x]), to = at(row_ptr[y]);
        if (entries != at(row_ptr[y + 1] - row_ptr[y])) return false;
        steps.take(static_cast<std::int64_t>(entries));
        return are_same(col + from, col + to, entries * sizeof(Index)) &&
               are_same(values + from * value_bytes, values + to * value_bytes, entries * value_bytes);
    };
    if (!sort(a.n_rows, same_row, rows_, steps)) return false;
    constexpr std::int64_t none = -1;
    const std::size_t kinds = rows_.first.size();
    std::vector<std::int64_t> entry(at(a.n_cols) * kinds, none); // of each column in a row of each kind
    for (std::size_t r = 0; r < kinds; ++r)
        for (Index k = row_ptr[rows_.first[r]]; k < row_ptr[rows_.first[r] + 1]; ++k) {
            if (col[k] < 0 || col[k] >= a.n_cols || entry[at(col[k]) * kinds + r] != none) return false;
            entry[at(col[k]) * kinds + r] = k;
        }
    const auto same_column = [&](std::int64_t x, std::int64_t y) {
        for (std::size_t r = 0; r < kinds; ++r) {
            const std::int64_t of_x = entry[at(x) * kinds + r], of_y = entry[at(y) * kinds + r];
            if ((of_x == none) != (of_y == none)) return false;
            if (of_x != none &&
                !are_same(values + at(of_x) * value_bytes, values + at(of_y) * value_bytes, value_bytes))
                return false;
        }
        return true;
    };
    if (!sort(a.n_cols, same_column, columns_, steps)) return false;
    row_ptr_.push_back(0);
    for (std::size_t r = 0; r < kinds; ++r) {
        for (std::size_t c = 0; c < columns_.first.size(); ++c) {
            const std::int64_t k = entry[at(columns_.first[c]) * kinds + r];
            if (k == none) continue;
            col_.push_back(static_cast<std::int64_t>(c));
            values_.insert(values_.end(), values + at(k) * value_bytes, values + at(k + 1) * value_bytes);
        }
        row_ptr_.push_back(std::ssize(col_));
    }
    value_type_ = a.value_type;
    return true;
}

std::optional<MergedLines> MergedLines::of(const perm_csr &a) {
    if (!is_large_and_full(a)) return {};
    const std::size_t value_bytes =
        a.value_type == PERM_VALUE_PATTERN ? 0 : size_of(static_cast<perm_value_type>(a.value_type));
    MergedLines merged;
    const bool is_merged = a.index_type == PERM_INDEX_I64 ? merged.merge<std::int64_t>(a, value_bytes)
                                                          : merged.merge<std::int32_t>(a, value_bytes);
    return is_merged ? std::optional(std::move(merged)) : std::nullopt;
}

perm_csr MergedLines::csr() const {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = std::ssize(rows_.first);
    a.n_cols = std::ssize(columns_.first);
    a.nnz = std::ssize(col_);
    a.row_ptr = row_ptr_.data();
    a.col_idx = col_.data();
    a.values = value_type_ == PERM_VALUE_PATTERN ? nullptr : values_.data();
    a.value_type = value_type_;
    a.row_multiplicity = rows_.count.data();
    a.col_multiplicity = columns_.count.data();
    return a;
}

namespace {

CountedColumns columns_of(const SmallLineClasses &a, const SmallGrid &fixed) {
    const auto rows =
        std::count_if(a.row_count.of.begin(), a.row_count.of.end(), [](int count) { return count > 0; });
    return {fixed.of(a.matrix), static_cast<int>(rows), a.columns, a.row_count.of.data(),
            a.column_count.data()};
}

// Every term is a multiple of 2 to this where the entries stand on the first grid alone.
int unit_of_terms(const CountedColumns &a) {
    int unit = 0;
    for (int i = 0; i < a.rows; ++i) unit += a.row_count[i] * unit_of_row(a, a.columns, i);
    return unit;
}

// What share of the terms' absolute values the roundings of doubles are.
double share_in_doubles(const CountSum &sum, const CountedColumns &columns, int n) {
    const double gamma = gamma_bound(roundings_of_term(columns, n) + columns.columns + sum.step_roundings);
    const double additions = sum.steps + 8;
    return gamma / (1 - gamma) + additions * additions * 0x1p-104;
}

double share_in_dd(const CountSum &sum, const CountedColumns &columns, int n) {
    const double of_product = columns.is_complex() ? 13 : 6;
    return ((n - 1) * of_product + 12 + 5 * (sum.step_roundings + sum.steps) + 150) * 0x1p-106;
}

constexpr std::uint64_t terms_of_piece = 1 << 15; // tenths of a millisecond, or milliseconds in dd
constexpr int additions_of_piece = 8;             // of its lanes

// The pieces follow from the classes alone.
CountSum sum_of(const CountedColumns &columns, bool dd, int threads) {
    const std::uint64_t steps = count_steps(columns);
    const std::uint64_t piece = terms_of_piece / static_cast<std::uint64_t>(low_kinds(columns).lanes);
    return sum_of_pieces(
        NumberedPieces::of_length(steps, piece), threads, [] { return CountSum(); },
        [&](NumberRange some) { return sum_over_counts(columns, dd, some.first, some.last); },
        [](const CountSum &part, CountSum &all) {
            add(part, all);
            all.steps += part.steps + additions_of_piece;
            all.step_roundings = part.step_roundings;
        });
}

constexpr double of_result = 0x1.05p-53; // the last addition, and the size's rounding
constexpr double most_dd = 0x1p22;       // products: tenths of a second

// Whether the weights of steps are doubles, whichever kinds a step sums over.
bool has_exact_weights(const SmallLineClasses &a) {
    double most = 2;
    for (int j = 1; j < a.columns; ++j) {
        const auto count = static_cast<std::size_t>(a.column_count[static_cast<std::size_t>(j)]);
        most *= binomials.of[count][count / 2];
    }
    return most < 0x1p53;
}

} // namespace

// Proofs: docs/accuracy.md, "Sums over counts".
bool glynn_multiplicity(const SmallLineClasses &a, double tolerance, bool may_be_dd, int threads,
                        TapeAnswer &answer) {
    SmallGrid fixed;
    if (!put_on_grid(a.matrix, a.row_count, fixed)) return false;
    const CountedColumns columns = columns_of(a, fixed);
    const int n = a.row_count.total;
    const auto compute = [&](bool dd) {
        const CountSum sum = sum_of(columns, dd, threads);
        const double mass = sum.mass * (1 + (sum.steps + sum.step_roundings + 16) * 0x1p-52);
        const double share = dd ? share_in_dd(sum, columns, n) : share_in_doubles(sum, columns, n);
        const double underflow = (n + 2) * std::exp2(1.5 * n - 1066);
        const double error =
            share * mass * (1 + 0x1p-20) + of_result * size_of(sum) + underflow + std::ldexp(fixed.moved, n);
        bool is_exact = false;
        if (!dd && !fixed.is_split && fixed.moved == 0) {
            const int unit = unit_of_terms(columns);
            is_exact = unit > -900 && mass < std::ldexp(1.0, unit + 52);
        }
        answer = answer_of(sum, is_exact ? 0 : error, fixed.exp2 - n);
    };
    compute(false);
    if (!(answer.rel_error_bound <= tolerance) && may_be_dd && a.terms * n <= most_dd && has_exact_weights(a))
        compute(true);
    return true;
}

} // namespace libperm
