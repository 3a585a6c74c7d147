#include "lib/periodic/cell/lattice.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>

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

} // namespace libperm
