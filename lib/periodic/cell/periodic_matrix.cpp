#include "lib/periodic/cell/periodic_matrix.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace libperm {
namespace {

struct Rectangle {
    Pattern pattern;
    std::vector<Gaussian> values;
};

[[noreturn]] void bad_matrix(const std::string &text) { throw Error(PERM_BAD_MATRIX, text); }

// Counts in the call's memory as long as the charge lives.
class Reading {
  public:
    Reading(MemoryAccount *account, Charge &charge) : account_(account), charge_(charge), steps_() {}

    // What goes wrong in it is told with the name of the part; `check` is asked before numbers are read.
    template <class Check> Rectangle part(const perm_csr *given, const char *name, const Check &check) {
        const auto named = [name](const auto &work) {
            try {
                return work();
            } catch (const Error &error) {
                throw Error(error.status(), formatted("the {}: {}", name, error.what()));
            }
        };
        const InputPattern input = named([&] { return read_rectangle(given, account_); });
        check(input.pattern);
        return named([&] {
            charge_.grow(input.pattern.nnz() * of_entry);
            Values values = read_values(input, given->values, account_);
            Rectangle out{input.pattern, std::move(values.wide)};
            for (const double x : values.real) {
                steps_.take(16);
                out.values.push_back({mpq_class(x), 0});
            }
            return out;
        });
    }

    PolledSteps &steps() { return steps_; }

  private:
    // Short numbers, and what they are read into.
    static constexpr std::int64_t of_entry = 2 * sizeof(Gaussian) + 4 * 32 + sizeof(PeriodicEntry);

    MemoryAccount *account_;
    Charge &charge_;
    PolledSteps steps_;
};

void check_cell(const Pattern &cell) {
    const std::int32_t r = cell.rows;
    if (r == 0) bad_matrix("the cell has no rows: it must have one at least");
    if (cell.cols % r != 0 || cell.cols / r % 2 == 0)
        bad_matrix(
            formatted("the cell has {0} rows and {1} columns: {0} (2 d + 1) it must have, the blocks for "
                      "the cells -d to d side by side",
                      r, cell.cols));
}

// Of the part's columns so many stand before the first one of cell 0; entries that are 0 are left out.
template <class Part>
void take_entries(Part &out, Rectangle given, std::int32_t rows_of_cell, std::int64_t before,
                  PolledSteps &steps) {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < given.pattern.rows; ++i)
        for (const std::int32_t j : given.pattern.row(i)) {
            steps.take(16);
            Gaussian &value = given.values[k++];
            if (is_zero(value)) continue;
            const std::int64_t at = j - before, cell = at / rows_of_cell - (at % rows_of_cell < 0);
            out.entries.push_back(
                {i, static_cast<std::int32_t>(at - cell * rows_of_cell), static_cast<std::int32_t>(cell)});
            out.values.push_back(std::move(value));
        }
}

void take_cell(PeriodicMatrix &out, Rectangle cell, PolledSteps &steps) {
    const std::int32_t r = out.rows = cell.pattern.rows;
    out.reach = cell.pattern.cols / r / 2;
    take_entries(out, std::move(cell), r, std::int64_t{out.reach} * r, steps);
}

// The head's own columns come first, the tail's last; between them, those of the `reach` cells next to it.
PeriodicEnd end_of(const PeriodicMatrix &a, const perm_csr *given, bool is_head, Reading &reading) {
    const std::int64_t inner = std::int64_t{a.reach} * a.rows;
    const char *name = is_head ? "head" : "tail";
    Rectangle part = reading.part(given, name, [&](const Pattern &end) {
        if (end.cols < inner || end.cols > 2 * inner)
            bad_matrix(formatted("the {} has {} columns: {} of the cells next to it, and up to {} of its own",
                                 name, end.cols, inner, inner));
    });
    PeriodicEnd out;
    out.rows = part.pattern.rows;
    out.columns = part.pattern.cols - inner;
    // Counted from the first column of the first cell, or of the one behind the last.
    take_entries(out, std::move(part), a.rows, is_head ? out.columns : inner, reading.steps());
    return out;
}

template <class Is> bool all_values(const PeriodicMatrix &a, const Is &is) {
    return std::all_of(a.values.begin(), a.values.end(), is) &&
           std::all_of(a.head.values.begin(), a.head.values.end(), is) &&
           std::all_of(a.tail.values.begin(), a.tail.values.end(), is);
}

} // namespace

bool PeriodicMatrix::is_nonnegative() const {
    return all_values(*this, [](const Gaussian &x) { return libperm::is_real(x) && x.re > 0; });
}
bool PeriodicMatrix::is_real() const {
    return all_values(*this, [](const Gaussian &x) { return libperm::is_real(x); });
}
bool PeriodicMatrix::has_integers() const {
    return all_values(*this, [](const Gaussian &x) { return is_integer(x); });
}

std::vector<std::uint32_t> kinds_of(const std::vector<Gaussian> &values) {
    const auto less = [](const Gaussian *x, const Gaussian *y) {
        const int re = cmp(x->re, y->re);
        return re != 0 ? re < 0 : cmp(x->im, y->im) < 0;
    };
    std::map<const Gaussian *, std::uint32_t, decltype(less)> known(less);
    std::vector<std::uint32_t> kinds;
    for (const Gaussian &value : values)
        kinds.push_back(known.try_emplace(&value, static_cast<std::uint32_t>(known.size())).first->second);
    return kinds;
}

PeriodicMatrix read_periodic(const perm_periodic *given, MemoryAccount *account, Charge &charge) {
    if (!given) throw Error(PERM_BAD_ARGUMENT, "the periodic matrix is a null pointer");
    const perm_periodic a = read_known(*given, sizeof(perm_periodic), "perm_periodic");
    if (!a.cell) throw Error(PERM_BAD_ARGUMENT, "perm_periodic.cell is a null pointer");
    if (a.joined != 0 && a.joined != 1)
        throw Error(PERM_BAD_ARGUMENT, formatted("perm_periodic.joined is {}: use 0 or 1", a.joined));
    if (a.reserved != 0)
        throw Error(PERM_BAD_ARGUMENT, "perm_periodic.reserved must be 0: start from PERM_PERIODIC_INIT");
    if (a.joined && (a.head || a.tail)) bad_matrix("joined ends have neither a head nor a tail");
    PeriodicMatrix out;
    out.joined = a.joined != 0;
    charge = Charge(account);
    Reading reading(account, charge);
    take_cell(out, reading.part(a.cell, "cell", check_cell), reading.steps());
    if (a.head) out.head = end_of(out, a.head, true, reading);
    if (a.tail) out.tail = end_of(out, a.tail, false, reading);
    const std::int64_t rows = std::int64_t{out.head.rows} + out.tail.rows,
                       columns = out.head.columns + out.tail.columns;
    if (rows != columns)
        bad_matrix(formatted("head and tail have {} rows and {} columns of their own: as many of both there "
                             "must be, for the whole to be square",
                             rows, columns));
    return out;
}

namespace {

using Colours = std::vector<std::uint32_t>; // of rows, then of columns

struct Meeting {
    std::int32_t cell;
    std::uint32_t kind, line;
};
using CellGraph = std::vector<std::vector<Meeting>>; // of each line the lines that it meets, and how

// seen(entry) has the entry as who looks at the cell sees it.
template <class Seen>
CellGraph graph_of(const PeriodicMatrix &a, const std::vector<std::uint32_t> &kinds, const Seen &seen) {
    CellGraph graph(2 * static_cast<std::size_t>(a.rows));
    for (std::size_t k = 0; k < a.entries.size(); ++k) {
        const PeriodicEntry e = seen(a.entries[k]);
        const auto row = static_cast<std::uint32_t>(e.row),
                   column = static_cast<std::uint32_t>(a.rows + e.column);
        graph[row].push_back({e.cell, kinds[k], column});
        graph[column].push_back({e.cell, kinds[k], row});
    }
    return graph;
}
PeriodicEntry as_it_is(const PeriodicEntry &e) { return e; }

using Signature =
    std::pair<std::uint32_t, std::vector<std::tuple<std::int32_t, std::uint32_t, std::uint32_t>>>;

Signature signature_of(const CellGraph &graph, const Colours &colours, std::size_t line) {
    Signature signature{colours[line], {}};
    for (const Meeting &m : graph[line]) signature.second.emplace_back(m.cell, m.kind, colours[m.line]);
    std::sort(signature.second.begin(), signature.second.end());
    return signature;
}

// Two graphs, coloured alike.
class Matching {
  public:
    Matching(const CellGraph &from, const CellGraph &to) : from_(&from), to_(&to) {}

    // Maps each line to the one it becomes; none, or none within reach.
    std::optional<Colours> extended(Colours x, Colours y) {
        if (++tries_ > most_tries || !refine(x, y)) return {};
        std::map<std::uint32_t, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> cells;
        for (std::uint32_t k = 0; k < x.size(); ++k) {
            cells[x[k]].first.push_back(k);
            cells[y[k]].second.push_back(k);
        }
        for (const auto &[colour, lines] : cells) {
            if (lines.first.size() == 1) continue;
            for (const std::uint32_t image : lines.second) {
                Colours with_x = x, with_y = y;
                with_x[lines.first.front()] = with_y[image] = new_colour(x);
                if (auto found = extended(std::move(with_x), std::move(with_y))) return found;
            }
            return {};
        }
        Colours image(x.size());
        for (const auto &[colour, lines] : cells) image[lines.first.front()] = lines.second.front();
        return image;
    }

    static std::uint32_t new_colour(const Colours &colours) {
        return *std::max_element(colours.begin(), colours.end()) + 1;
    }

  private:
    static constexpr int most_tries = 2000;

    // Until lines of one colour meet alike. False if the two differ.
    bool refine(Colours &x, Colours &y) const {
        for (std::size_t before = 0;;) {
            poll();
            std::map<Signature, std::uint32_t> numbers;
            const auto recolour = [&](const CellGraph &graph, const Colours &old) {
                Colours next(old.size());
                for (std::size_t k = 0; k < old.size(); ++k)
                    next[k] = numbers
                                  .try_emplace(signature_of(graph, old, k),
                                               static_cast<std::uint32_t>(numbers.size()))
                                  .first->second;
                return next;
            };
            x = recolour(*from_, x);
            y = recolour(*to_, y);
            if (!std::is_permutation(x.begin(), x.end(), y.begin())) return false;
            if (numbers.size() == before) return true;
            before = numbers.size();
        }
    }

    const CellGraph *from_, *to_;
    int tries_ = 0;
};

// Discrete colours say nothing wrong: lines that meet alike do so under the map.
CellSymmetry symmetry_of(const Colours &image, std::int32_t rows, bool reversed) {
    CellSymmetry out{{}, reversed};
    for (std::size_t line = image.size() / 2; line < image.size(); ++line)
        out.column.push_back(static_cast<std::int32_t>(image[line]) - rows);
    return out;
}

bool is_searched(const PeriodicMatrix &a) {
    constexpr std::int32_t most_rows = 64;
    constexpr std::size_t most_entries = 4096;
    return a.rows <= most_rows && a.entries.size() <= most_entries;
}

Colours columns_apart(std::size_t rows) {
    Colours colours(2 * rows, 0);
    std::fill(colours.begin() + static_cast<std::ptrdiff_t>(rows), colours.end(), 1);
    return colours;
}

ColumnMap product(const ColumnMap &x, const ColumnMap &y) { // y first
    ColumnMap out;
    for (const std::int32_t j : y) out.push_back(x[static_cast<std::size_t>(j)]);
    return out;
}

// All products of the maps, the identity first; of large groups some.
std::vector<ColumnMap> generated(const std::vector<ColumnMap> &maps, std::int32_t columns) {
    constexpr std::size_t most = 256;
    ColumnMap identity(static_cast<std::size_t>(columns));
    std::iota(identity.begin(), identity.end(), 0);
    std::vector<ColumnMap> out{identity};
    for (std::size_t k = 0; k < out.size() && out.size() < most; ++k)
        for (const ColumnMap &map : maps) {
            ColumnMap next = product(map, out[k]);
            if (std::find(out.begin(), out.end(), next) == out.end()) out.push_back(std::move(next));
        }
    return out;
}

bool is_involution(const ColumnMap &x) {
    for (std::size_t j = 0; j < x.size(); ++j)
        if (x[static_cast<std::size_t>(x[j])] != static_cast<std::int32_t>(j)) return false;
    return true;
}

// Of even cells' columns and, behind them, of odd cells'.
ColumnMap of_both(const ColumnMap &even, const ColumnMap &odd) {
    ColumnMap out = even;
    for (const std::int32_t j : odd) out.push_back(static_cast<std::int32_t>(even.size()) + j);
    return out;
}

// A group of commuting involutions: the products of its generators, by the bits of those in them.
class Involutions {
  public:
    explicit Involutions(const ColumnMap &identity) : all_{identity} {}

    bool may_take(const ColumnMap &map) const {
        return is_involution(map) && std::find(all_.begin(), all_.end(), map) == all_.end() &&
               std::all_of(all_.begin(), all_.end(),
                           [&](const ColumnMap &x) { return product(x, map) == product(map, x); });
    }
    void take(const ColumnMap &map) {
        for (std::size_t k = 0, before = all_.size(); k < before; ++k) all_.push_back(product(map, all_[k]));
    }
    const std::vector<ColumnMap> &all() const { return all_; }

  private:
    std::vector<ColumnMap> all_;
};

} // namespace

std::vector<TurningSymmetry> commuting_symmetries(const PeriodicMatrix &a) {
    constexpr std::size_t most = 4; // more are of no use: the sectors are small by then
    std::vector<TurningSymmetry> out;
    std::vector<ColumnMap> maps;
    for (const CellSymmetry &symmetry : symmetries_of(a))
        if (!symmetry.reversed) maps.push_back(symmetry.column);
    if (maps.empty()) return out;
    const std::vector<ColumnMap> group = generated(maps, a.rows);
    Involutions taken(of_both(group.front(), group.front()));
    const auto take = [&](const ColumnMap &map, const ColumnMap &of_odd_cells, std::size_t twist) {
        const ColumnMap both = of_both(map, of_odd_cells);
        if (out.size() == most || !taken.may_take(both)) return;
        taken.take(both);
        out.push_back({map, of_odd_cells, static_cast<std::uint32_t>(twist)});
    };
    for (const ColumnMap &map : group) take(map, map, 0);
    const std::vector<std::uint32_t> kinds = kinds_of(a.values);
    const CellGraph graph = graph_of(a, kinds, as_it_is);
    const Colours colours = columns_apart(static_cast<std::size_t>(a.rows));
    const std::size_t twists = taken.all().size();
    for (std::size_t k = 1; k < twists; ++k) {
        ColumnMap twist = taken.all()[k];
        twist.resize(static_cast<std::size_t>(a.rows));
        // Of odd cells the columns are met as they are after the twist, its own inverse.
        const CellGraph twisted = graph_of(a, kinds, [&twist](PeriodicEntry e) {
            if (e.cell % 2 != 0) e.column = twist[static_cast<std::size_t>(e.column)];
            return e;
        });
        const auto image = Matching(graph, twisted).extended(colours, colours);
        if (!image) continue;
        const ColumnMap turning = symmetry_of(*image, a.rows, false).column;
        for (const ColumnMap &map : group)
            take(product(map, turning), product(twist, product(map, turning)), k);
    }
    return out;
}

std::vector<CellSymmetry> symmetries_of(const PeriodicMatrix &a) {
    std::vector<CellSymmetry> out;
    if (!is_searched(a)) return out;
    const std::vector<std::uint32_t> kinds = kinds_of(a.values);
    const CellGraph graph = graph_of(a, kinds, as_it_is), reversed = graph_of(a, kinds, [](PeriodicEntry e) {
                                                              e.cell = -e.cell;
                                                              return e;
                                                          });
    const auto rows = static_cast<std::size_t>(a.rows);
    Colours colours = columns_apart(rows);
    // Columns fixed one after the other, and what can become of the next.
    for (std::size_t j = rows; j < 2 * rows; ++j) {
        const std::uint32_t colour = Matching::new_colour(colours);
        for (std::size_t to = j + 1; to < 2 * rows; ++to) {
            Colours x = colours, y = colours;
            x[j] = y[to] = colour;
            if (const auto image = Matching(graph, graph).extended(std::move(x), std::move(y)))
                out.push_back(symmetry_of(*image, a.rows, false));
        }
        colours[j] = colour;
    }
    colours = columns_apart(rows);
    if (const auto image = Matching(graph, reversed).extended(colours, colours))
        out.push_back(symmetry_of(*image, a.rows, true));
    return out;
}

} // namespace libperm
