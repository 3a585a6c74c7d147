#include "lib/periodic/cell/recognition.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace libperm {
namespace {

constexpr std::int64_t least_entries = 1 << 12; // of fewer a plan of any kind takes little, or is a tape
constexpr std::int64_t least_cells = 16;
constexpr std::int64_t most_rows = 128;       // of a cell
constexpr std::int64_t most_reach = 1 << 12;  // columns, from a row's first to its last
constexpr std::int64_t most_rows_at_end = 64; // beside those of one cell

// A row of a cell: columns counted from the cell's first row, and which entry has the value.
struct CellEntry {
    std::int64_t offset, entry;
};
using CellRows = std::vector<std::vector<CellEntry>>;

class Recognition {
  public:
    Recognition(const Pattern &a, const Values &values) : a_(&a), values_(&values), n_(a.rows), steps_() {}

    std::optional<RecognizedCells> find() {
        if (a_->rows != a_->cols || a_->nnz() < least_entries) return {};
        for (const std::int64_t middle : {n_ / 2, n_ / 4}) { // one of them may lie where a circulant wraps
            const std::int64_t rows = period_at(middle);
            if (rows == 0) continue;
            take_cell(middle, rows);
            std::optional<RecognizedCells> found = as_circulant();
            if (!found) found = as_toeplitz();
            if (found && is_coupled(found->matrix)) return found;
        }
        return {};
    }

  private:
    std::span<const std::int32_t> row(std::int64_t i) const { return a_->row(static_cast<std::int32_t>(i)); }
    std::int64_t first_entry(std::int64_t i) const { return a_->row_begin(static_cast<std::int32_t>(i)); }

    bool equal_values(std::int64_t x, std::int64_t y) const {
        if (!values_->real.empty()) return values_->real[at(x)] == values_->real[at(y)];
        return values_->wide.empty() || values_->wide[at(x)] == values_->wide[at(y)];
    }
    Gaussian value(std::int64_t entry) const {
        if (!values_->real.empty()) return {mpq_class(values_->real[at(entry)]), 0};
        return values_->wide.empty() ? Gaussian{1, 0} : values_->wide[at(entry)];
    }

    bool is_shifted(std::int64_t i, std::int64_t by) const {
        const auto x = row(i), y = row(i + by);
        if (x.size() != y.size()) return false;
        for (std::size_t k = 0; k < x.size(); ++k)
            if (y[k] - x[k] != by || !equal_values(first_entry(i) + static_cast<std::int64_t>(k),
                                                   first_entry(i + by) + static_cast<std::int64_t>(k)))
                return false;
        return true;
    }

    // 0: none.
    std::int64_t period_at(std::int64_t middle) {
        if (row(middle).empty()) return 0;
        for (std::int64_t rows = 1; rows <= std::min(most_rows, n_ / least_cells); ++rows) {
            std::int64_t i = middle;
            while (i < middle + 2 * rows && is_shifted(i, rows)) ++i;
            steps_.take(i - middle + 1);
            if (i == middle + 2 * rows) return rows;
        }
        return 0;
    }

    void take_cell(std::int64_t first, std::int64_t rows) {
        first_ = first;
        rows_ = rows;
        cell_.assign(at(rows), {});
        for (std::int64_t k = 0; k < rows; ++k)
            for (const std::int32_t j : row(first + k)) {
                const std::int64_t entry = first_entry(first + k) + std::ssize(cell_[at(k)]);
                cell_[at(k)].push_back({j - first, entry});
            }
    }
    // Tells which of the cell's rows row i is.
    std::int64_t row_of_cell(std::int64_t i) const { return ((i - first_) % rows_ + rows_) % rows_; }

    // Row i is the cell's, the columns counted from `base`: those before the first are left out, and those
    // behind the last are too or, by `wrap`, come in again before the others.
    bool fits(std::int64_t i, std::int64_t base, bool wrap) {
        const auto columns = row(i);
        const std::vector<CellEntry> &expected = cell_[at(row_of_cell(i))];
        steps_.take(std::ssize(expected) + 4);
        std::size_t begin = 0, end = expected.size();
        while (begin < end && base + expected[begin].offset < 0) ++begin;
        while (begin < end && base + expected[end - 1].offset >= n_) --end;
        const std::size_t count = (wrap ? expected.size() : end) - begin;
        if (columns.size() != count) return false;
        std::size_t place = 0;
        const auto take = [&](std::size_t from, std::size_t to, std::int64_t origin) {
            for (std::size_t t = from; t < to; ++t, ++place)
                if (columns[place] != origin + expected[t].offset ||
                    !equal_values(first_entry(i) + static_cast<std::int64_t>(place), expected[t].entry))
                    return false;
            return true;
        };
        return (!wrap || take(end, expected.size(), base - n_)) && take(begin, end, base);
    }
    // Tells where the cell of row i begins.
    std::int64_t base_of(std::int64_t i) const { return i - row_of_cell(i); }

    std::pair<std::int64_t, std::int64_t> extent() const { // of the offsets
        std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = -least;
        for (const auto &some : cell_)
            for (const CellEntry &e : some) {
                least = std::min(least, e.offset);
                most = std::max(most, e.offset);
            }
        return {least, most};
    }

    std::optional<RecognizedCells> as_circulant() {
        if (n_ % rows_ != 0) return {};
        const auto [least, most] = extent();
        if (most - least > std::min(most_reach, n_ / 2)) return {};
        for (std::int64_t i = 0; i < n_; ++i) // the least offset within the matrix
            if (!fits(i, base_of(i) - floor_of(base_of(i) + least, n_) * n_, true)) return {};
        RecognizedCells out;
        out.length = n_ / rows_;
        out.matrix.joined = true;
        write_cell(out.matrix, 0, least); // of a circulant columns may be counted from any one of them
        return out;
    }

    std::optional<RecognizedCells> as_toeplitz() {
        const auto [least, most] = extent();
        if (std::max(std::abs(least), std::abs(most)) > most_reach) return {};
        std::int64_t begin = first_, end = first_;
        while (begin > 0 && fits(begin - 1, base_of(begin - 1), false)) --begin;
        while (end < n_ && fits(end, base_of(end), false)) ++end;
        const std::int64_t most_at_end = most_rows_at_end + rows_;
        if (begin > most_at_end || n_ - end > most_at_end || (end - begin) / rows_ < least_cells) return {};
        RecognizedCells out;
        out.length = (end - begin) / rows_;
        write_cell(out.matrix, begin, 0);
        end = begin + out.length * rows_;
        return write_end(out.matrix, out.matrix.head, 0, begin, begin) &&
                       write_end(out.matrix, out.matrix.tail, end, n_, end)
                   ? std::optional(std::move(out))
                   : std::nullopt;
    }

    // Else the cells are blocks of their own, which the reductions find.
    static bool is_coupled(const PeriodicMatrix &a) {
        return std::ranges::any_of(a.entries, [](const PeriodicEntry &e) { return e.cell != 0; });
    }

    static std::int64_t floor_of(std::int64_t x, std::int64_t y) { return x / y - (x % y < 0); }

    // Its rows begin with row `first`; its columns with the same, `shift` further.
    void write_cell(PeriodicMatrix &out, std::int64_t first, std::int64_t shift) const {
        out.rows = static_cast<std::int32_t>(rows_);
        for (std::int64_t i = 0; i < rows_; ++i) {
            const std::int64_t k = row_of_cell(first + i);
            for (const CellEntry &e : cell_[at(k)]) {
                Gaussian x = value(e.entry);
                if (is_zero(x)) continue;
                add(out, i, i - k + e.offset - shift, out.entries);
                out.values.push_back(std::move(x));
            }
        }
    }
    // Rows begin ... end - 1, their columns counted from `origin`.
    bool write_end(PeriodicMatrix &out, PeriodicEnd &part, std::int64_t begin, std::int64_t end,
                   std::int64_t origin) const {
        part.rows = static_cast<std::int32_t>(end - begin);
        part.columns = end - begin;
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t entry = first_entry(i); entry < first_entry(i + 1); ++entry) {
                const std::int64_t place = a_->col[at(entry)] - origin;
                if (std::abs(place) > most_reach) return false;
                Gaussian x = value(entry);
                if (is_zero(x)) continue;
                add(out, i - begin, place, part.entries);
                part.values.push_back(std::move(x));
            }
        return true;
    }
    void add(PeriodicMatrix &out, std::int64_t i, std::int64_t place, std::vector<PeriodicEntry> &to) const {
        const std::int64_t cell = floor_of(place, rows_);
        to.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(place - cell * rows_),
                      static_cast<std::int32_t>(cell)});
        out.reach = std::max(out.reach, static_cast<std::int32_t>(std::abs(cell)));
    }

    const Pattern *a_;
    const Values *values_;
    std::int64_t n_;
    PolledSteps steps_;
    std::int64_t first_ = 0, rows_ = 0; // of the cell that is compared with
    CellRows cell_;
};

} // namespace

std::optional<RecognizedCells> recognized_cells(const Pattern &a, const Values &values) {
    return Recognition(a, values).find();
}

} // namespace libperm
