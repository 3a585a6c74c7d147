#include "lib/input/input_pattern.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <limits>

namespace libperm {
namespace {

constexpr std::int64_t most_entries = std::int64_t{1} << 31; // with all that is added
constexpr std::int64_t one = -1;                             // as an entry's source

// Lines that are added to R rows and C columns.
struct Added {
    std::int64_t free_rows = 0, free_columns = 0; // in both: weights, and 1 in the single lines
    std::int64_t single_rows = 0;                 // one for each column that may stay unmatched
    std::int64_t single_columns = 0;              // one for each row
    std::int64_t empty_rows = 0, empty_columns = 0;
};

// How many rows and columns there are, all and those with entries.
struct LineNumbers {
    std::int64_t rows, cols, busy_rows, busy_cols;
};

Added added_to(const LineNumbers &of, bool row_weights, bool col_weights) {
    const std::int64_t rows = of.rows, cols = of.cols;
    Added out;
    if (row_weights && col_weights) {
        if (of.busy_rows <= of.busy_cols) {
            out.free_rows = of.busy_cols;
            out.single_columns = rows;
            out.single_rows = cols - of.busy_cols;
        } else {
            out.free_columns = of.busy_rows;
            out.single_rows = cols;
            out.single_columns = rows - of.busy_rows;
        }
        return out;
    }
    const std::int64_t more = std::max(rows, cols) - std::min(rows, cols);
    if (rows > cols)
        (col_weights ? out.empty_columns : out.free_columns) = more;
    else
        (row_weights ? out.empty_rows : out.free_rows) = more;
    return out;
}

// Nothing is wrong with it, and yet nobody asks for that 0.
void warn_if_none_matches(std::int64_t rows, std::int64_t cols, const Added &added) {
    if (added.empty_rows + added.empty_columns == 0) return;
    const char *longer = rows > cols ? "row" : "column", *weights = rows > cols ? "row" : "col";
    log_warning(
        formatted("the permanent is 0: of {} {}s at most {} can be matched, and each has to be, having "
                  "no weight ({}_unmatched) where the other side has them",
                  std::max(rows, cols), longer, std::min(rows, cols), weights));
}

// The square matrix, a row at a time.
class Writer {
  public:
    Writer(const InputPattern &given, const LineCounts &row_count, const LineCounts &column_count,
           MemoryAccount *account)
        : steps_(),
          given_(given),
          row_count_(row_count),
          column_count_(column_count),
          rows_(row_count.sum()),
          cols_(column_count.sum()),
          lines_(counted_lines()),
          added_(added_to(lines_, given.row_weights, given.col_weights)),
          n_(rows_ + added_.free_rows + added_.single_rows + added_.empty_rows) {
        warn_if_none_matches(rows_, cols_, added_);
        if (n_ > std::numeric_limits<std::int32_t>::max() - 1)
            throw Error(PERM_UNSUPPORTED,
                        formatted("written out, the matrix has {} rows and columns: more than this version "
                                  "can index",
                                  n_));
        const double entries = count_entries();
        if (entries > static_cast<double>(most_entries))
            throw Error(
                PERM_UNSUPPORTED,
                formatted("written out, the matrix is {0}x{0} with {1:.3g} entries{2}: at most 2^31 can "
                          "be",
                          n_, entries,
                          added_.free_rows + added_.free_columns > 0
                              ? " (those for lines that stay unmatched included)"
                              : ""));
        const Charge charge(account, static_cast<std::int64_t>(12 * entries) + 8 * n_);
        out_.pattern.row_ptr.reserve(at(n_) + 1);
        out_.pattern.col.reserve(static_cast<std::size_t>(entries));
        out_.source.reserve(static_cast<std::size_t>(entries));
    }

    InputPattern run() {
        out_.value_type = given_.value_type;
        out_.free_rows = static_cast<std::int32_t>(added_.free_rows);
        out_.free_columns = static_cast<std::int32_t>(added_.free_columns);
        out_.pattern.rows = out_.pattern.cols = static_cast<std::int32_t>(n_);
        put_given_rows();
        for (std::int32_t j = 0; added_.single_rows > 0 && j < given_.pattern.cols; ++j) {
            if (added_.free_rows > 0 && is_busy_column(j)) continue;
            for (std::int64_t copy = 0; copy < column_count_[j]; ++copy, close_row()) {
                put(first_column(j) + copy, column_weight(j));
                for (std::int64_t f = 0; is_busy_column(j) && f < added_.free_columns; ++f)
                    put(first_free_column() + f, one);
            }
        }
        for (std::int64_t f = 0; f < added_.free_rows; ++f, close_row()) {
            for (std::int32_t j = 0; j < given_.pattern.cols; ++j)
                for (std::int64_t copy = 0; is_busy_column(j) && copy < column_count_[j]; ++copy)
                    put(first_column(j) + copy, column_weight(j));
            std::int64_t single = cols_;
            for (std::int32_t i = 0; added_.single_columns > 0 && i < given_.pattern.rows; ++i)
                for (std::int64_t copy = 0; copy < row_count_[i]; ++copy, ++single)
                    if (is_busy_row(i)) put(single, one);
        }
        for (std::int64_t e = 0; e < added_.empty_rows; ++e) close_row();
        return std::move(out_);
    }

  private:
    // Where both sides may stay unmatched, a line without entries does: it keeps its weight, and takes part
    // in nothing else. 10^5 lines with 50 entries would else have 10^10 of them when they are written out.
    LineNumbers counted_lines() {
        LineNumbers lines{rows_, cols_, rows_, cols_};
        const Pattern &a = given_.pattern;
        const bool are_too_many = rows_ + cols_ >= std::numeric_limits<std::int32_t>::max();
        if (!given_.row_weights || !given_.col_weights || are_too_many ||
            a.nnz() >= std::int64_t{a.rows} * a.cols)
            return lines;
        is_used_.resize(at(a.cols));
        lines.busy_rows = lines.busy_cols = 0;
        for (std::int32_t i = 0; i < a.rows; ++i) {
            steps_.take(1 + std::ssize(a.row(i)));
            if (!a.row(i).empty()) lines.busy_rows += row_count_[i];
            for (const std::int32_t j : a.row(i)) is_used_[at(j)] = true;
        }
        for (std::int32_t j = 0; j < a.cols; ++j)
            if (is_used_[at(j)]) lines.busy_cols += column_count_[j];
        return lines;
    }
    bool is_busy_row(std::int32_t i) const { return is_used_.empty() || !given_.pattern.row(i).empty(); }
    bool is_busy_column(std::int32_t j) const { return is_used_.empty() || is_used_[at(j)]; }
    std::int64_t first_free_column() const { return cols_ + added_.single_columns; }

    std::int64_t row_weight(std::int32_t i) const {
        return given_.row_weights ? given_.pattern.nnz() + i : one;
    }
    std::int64_t column_weight(std::int32_t j) const {
        const std::int64_t of_rows = given_.row_weights ? given_.pattern.rows : 0;
        return given_.col_weights ? given_.pattern.nnz() + of_rows + j : one;
    }

    std::int64_t first_column(std::int32_t j) {
        if (first_.empty()) { // of no use to a matrix without entries, and too long for some of them
            first_.assign(at(given_.pattern.cols) + 1, 0);
            for (std::int32_t k = 0; k < given_.pattern.cols; ++k)
                first_[at(k) + 1] = first_[at(k)] + column_count_[k];
        }
        return first_[at(j)];
    }

    double count_entries() const {
        const auto rows = static_cast<double>(lines_.busy_rows), cols = static_cast<double>(lines_.busy_cols);
        const bool both = given_.row_weights && given_.col_weights;
        double entries = static_cast<double>(added_.free_rows) * (cols + (both ? rows : 0)) +
                         static_cast<double>(added_.free_columns) * (rows + (both ? cols : 0)) +
                         static_cast<double>(added_.single_rows + added_.single_columns);
        for (std::int32_t i = 0; i < given_.pattern.rows; ++i)
            for (const std::int32_t j : given_.pattern.row(i))
                entries += static_cast<double>(row_count_[i]) * static_cast<double>(column_count_[j]);
        return entries;
    }

    void put_given_rows() {
        std::int64_t single = cols_; // the next row's
        for (std::int32_t i = 0; i < given_.pattern.rows; ++i)
            for (std::int64_t copy = 0; copy < row_count_[i]; ++copy, close_row()) {
                std::int64_t k = given_.pattern.row_begin(i);
                for (const std::int32_t j : given_.pattern.row(i)) {
                    for (std::int64_t c = 0; c < column_count_[j]; ++c) put(first_column(j) + c, k);
                    ++k;
                }
                if (added_.single_columns > 0 && (added_.free_columns == 0 || !is_busy_row(i)))
                    put(single++, row_weight(i));
                for (std::int64_t f = 0; is_busy_row(i) && f < added_.free_columns; ++f)
                    put(first_free_column() + f, row_weight(i));
            }
    }

    void put(std::int64_t column, std::int64_t source) {
        steps_.take(4);
        out_.pattern.col.push_back(static_cast<std::int32_t>(column));
        out_.source.push_back(source);
    }
    void close_row() {
        steps_.take();
        out_.pattern.row_ptr.push_back(static_cast<std::int64_t>(out_.pattern.col.size()));
    }

    PolledSteps steps_;
    const InputPattern &given_;
    const LineCounts &row_count_, &column_count_;
    const std::int64_t rows_, cols_; // counted
    std::vector<bool> is_used_;      // of each column, whether it has entries; none: no line is without
    const LineNumbers lines_;
    const Added added_;
    const std::int64_t n_;
    std::vector<std::int64_t> first_; // of each column's copies
    InputPattern out_;
};

} // namespace

LineCounts::LineCounts(const std::int64_t *given, std::int64_t lines, const char *what)
    : given_(given), sum_(given ? 0 : lines) {
    if (!given) return;
    for (std::int64_t i = 0; i < lines; ++i) {
        if (given[i] < 0 || given[i] > most_entries)
            throw Error(PERM_BAD_MATRIX, formatted("{}_multiplicity[{}] is {}: it must lie in 0..{}", what, i,
                                                   given[i], most_entries));
        sum_ += given[i]; // of at most 2^31 lines: below 2^62
    }
}

InputPattern written_out(InputPattern given, const LineCounts &row_count, const LineCounts &column_count,
                         MemoryAccount *account) {
    const auto written = std::make_shared<const InputPattern>(std::move(given));
    InputPattern out = Writer(*written, row_count, column_count, account).run();
    out.written = written;
    return out;
}

} // namespace libperm
