#include "lib/periodic/cell/found_cells.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

constexpr std::int64_t most_size = 1024, most_sites = 4096;

[[noreturn]] void unknown(const std::string &name) {
    throw Error(
        PERM_BAD_OPTION,
        formatted("unknown lattice '{}': use grid:W, grid:AxB, ring:W, ring:AxB, hexagonal:W, circulant:K or "
                  "toeplitz:A,B with numbers up to {}",
                  name, most_size));
}

// One or two numbers with `between` between them; the second is 1 if it is not there.
std::array<std::int64_t, 2> sizes_of(const std::string &name, std::string_view text, char between,
                                     std::int64_t least, bool two) {
    std::array<std::int64_t, 2> sizes{1, 1};
    for (std::size_t k = 0; k < 2; ++k) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sizes[k]);
        if (error != std::errc{} || sizes[k] < least || sizes[k] > most_size) unknown(name);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty()) {
            if (two && k == 0) unknown(name);
            return sizes;
        }
        if (k == 1 || text.front() != between) unknown(name);
        text.remove_prefix(1);
    }
    unknown(name);
}

// Rows of a cell under construction: entries that fall on one place are added up.
class LatticeRows {
  public:
    LatticeRows(std::int64_t rows, std::int64_t reach)
        : reach_(reach), rows_(static_cast<std::size_t>(rows)) {}

    void add(std::int64_t row, std::int64_t column, std::int64_t cell) {
        const auto r = static_cast<std::int64_t>(rows_.size());
        ++rows_[static_cast<std::size_t>(row)][(cell + reach_) * r + column];
    }
    LatticeCell cell() const {
        LatticeCell a;
        a.rows = static_cast<std::int64_t>(rows_.size());
        a.reach = reach_;
        for (const auto &row : rows_) {
            for (const auto &[column, value] : row) {
                a.col_idx.push_back(column);
                a.values.push_back(value);
            }
            a.row_ptr.push_back(static_cast<std::int64_t>(a.col_idx.size()));
        }
        return a;
    }

  private:
    std::int64_t reach_;
    std::vector<std::map<std::int64_t, std::int64_t>> rows_;
};

// A cross-section of a x b sites; around: the first side is a ring.
struct Section {
    std::int64_t a, b;
    bool around;

    std::int64_t sites() const { return a * b; }
    std::int64_t number(std::int64_t x, std::int64_t y) const { return x * b + y; }
    template <class Tell> void neighbours(std::int64_t x, std::int64_t y, const Tell &tell) const {
        for (const std::int64_t by : {-1, 1}) {
            if (around)
                tell(number((x + by + a) % a, y));
            else if (x + by >= 0 && x + by < a)
                tell(number(x + by, y));
            if (y + by >= 0 && y + by < b) tell(number(x, y + by));
        }
    }
};

// So many layers, one or two, behind each other; next(x, y): the site that lies beside this one in the next
// layer.
template <class Next> LatticeCell layers_cell(const Section &section, std::int64_t layers, const Next &next) {
    const std::int64_t sites = section.sites();
    const auto colour = [&](std::int64_t layer, std::int64_t site) {
        return (site / section.b + site % section.b + layer) % 2;
    };
    std::vector<std::int64_t> number; // of each site among those of its colour
    std::array<std::int64_t, 2> count{0, 0};
    for (std::int64_t k = 0; k < layers * sites; ++k)
        number.push_back(count[static_cast<std::size_t>(colour(k / sites, k % sites))]++);
    LatticeRows rows(count[0], 1);
    for (std::int64_t layer = 0; layer < layers; ++layer)
        for (std::int64_t x = 0; x < section.a; ++x)
            for (std::int64_t y = 0; y < section.b; ++y) {
                const std::int64_t site = section.number(x, y);
                if (colour(layer, site) != 0) continue;
                const auto add = [&](std::int64_t to, std::int64_t to_layer, std::int64_t cell) {
                    rows.add(number[static_cast<std::size_t>(layer * sites + site)],
                             number[static_cast<std::size_t>(to_layer * sites + to)], cell);
                };
                section.neighbours(x, y, [&](std::int64_t to) { add(to, layer, 0); });
                for (const std::int64_t by : {-1, 1}) {
                    const std::int64_t beside = layer + by, cell = beside < 0 ? -1 : beside / layers;
                    add(next(x, y), beside - cell * layers, cell);
                }
            }
    return rows.cell();
}

LatticeCell lattice(const std::string &name, const Section &section) {
    if (section.around && section.a % 2 != 0)
        throw Error(PERM_BAD_OPTION,
                    formatted("lattice '{}': a ring of odd length has no two colours, and its "
                              "matchings no matrix",
                              name));
    if (section.sites() > most_sites)
        throw Error(PERM_BAD_OPTION,
                    formatted("lattice '{}': a cross-section of {} sites, of which {} are the most", name,
                              section.sites(), most_sites));
    if (section.a % 2 != 0 && section.b % 2 != 0)
        return layers_cell(section, 2, [&](std::int64_t x, std::int64_t y) { return section.number(x, y); });
    return layers_cell(section, 1, [&](std::int64_t x, std::int64_t y) { // seen in a mirror
        return section.a % 2 == 0 ? section.number(section.a - 1 - x, y)
                                  : section.number(x, section.b - 1 - y);
    });
}

// A brick wall, W vertices across: zigzag lines, each joined to the next at every other vertex. A cell is two
// lines; of each two vertices at one place the black one lies below at even places, above at odd ones, and is
// joined upwards.
LatticeCell hexagonal(std::int64_t width) {
    LatticeRows rows(width, 1);
    for (std::int64_t x = 0; x < width; ++x) {
        for (const std::int64_t to : {x - 1, x + 1})
            if (to >= 0 && to < width) rows.add(x, to, 0);
        rows.add(x, x, x % 2);
    }
    return rows.cell();
}

LatticeCell band(std::int64_t below, std::int64_t above) {
    const std::int64_t reach = std::max(below, above);
    LatticeRows rows(1, reach);
    for (std::int64_t k = -below; k <= above; ++k) rows.add(0, 0, k);
    return rows.cell();
}

} // namespace

LatticeCell lattice_cell(const std::string &name) {
    const std::size_t colon = name.find(':');
    if (colon == name.npos) unknown(name);
    const std::string_view kind = std::string_view(name).substr(0, colon),
                           rest = std::string_view(name).substr(colon + 1);
    if (kind == "grid" || kind == "ring") {
        const auto [a, b] = sizes_of(name, rest, 'x', 1, false);
        return lattice(name, {a, b, kind == "ring"});
    }
    if (kind == "hexagonal") return hexagonal(sizes_of(name, rest, '\0', 1, false)[0]);
    if (kind == "circulant") return band(0, sizes_of(name, rest, '\0', 1, false)[0] - 1);
    if (kind == "toeplitz") {
        const auto [below, above] = sizes_of(name, rest, ',', 0, true);
        return band(below, above);
    }
    unknown(name);
}

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
