#include "lib/periodic/symmetries.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace libperm {
namespace {

using Colours = std::vector<std::uint32_t>; // of rows, then of columns

// A cell as a graph: of each line the lines that it meets, and how.
class CellGraph {
  public:
    CellGraph(const PeriodicMatrix &a, const std::vector<std::uint32_t> &kinds, bool reversed)
        : lines_(2 * static_cast<std::size_t>(a.rows)), met_(lines_) {
        for (std::size_t k = 0; k < a.entries.size(); ++k) {
            const PeriodicEntry &e = a.entries[k];
            const auto row = static_cast<std::uint32_t>(e.row),
                       column = static_cast<std::uint32_t>(a.rows + e.column);
            const std::int32_t cell = reversed ? -e.cell : e.cell;
            met_[row].push_back({cell, kinds[k], column});
            met_[column].push_back({cell, kinds[k], row});
        }
    }

    struct Meeting {
        std::int32_t cell;
        std::uint32_t kind, line;
    };
    std::size_t lines() const { return lines_; }
    const std::vector<Meeting> &met(std::size_t line) const { return met_[line]; }

  private:
    std::size_t lines_;
    std::vector<std::vector<Meeting>> met_;
};

using Signature =
    std::pair<std::uint32_t, std::vector<std::tuple<std::int32_t, std::uint32_t, std::uint32_t>>>;

Signature signature_of(const CellGraph &graph, const Colours &colours, std::size_t line) {
    Signature signature{colours[line], {}};
    for (const auto &m : graph.met(line)) signature.second.emplace_back(m.cell, m.kind, colours[m.line]);
    std::sort(signature.second.begin(), signature.second.end());
    return signature;
}

// Two graphs, coloured alike.
class Matching {
  public:
    Matching(const CellGraph &from, const CellGraph &to, const Poll &poll)
        : from_(&from), to_(&to), poll_(&poll) {}

    // Of each line the one it becomes; none, or none within reach.
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
            (*poll_)();
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
    const Poll *poll_;
    int tries_ = 0;
};

// Discrete colours say nothing wrong: lines that meet alike do so under the map.
CellSymmetry symmetry_of(const Colours &image, std::int32_t rows, bool reversed) {
    CellSymmetry out{{}, reversed};
    for (std::size_t line = image.size() / 2; line < image.size(); ++line)
        out.column.push_back(static_cast<std::int32_t>(image[line]) - rows);
    return out;
}

} // namespace

std::vector<CellSymmetry> symmetries_of(const PeriodicMatrix &a, const Poll &poll) {
    constexpr std::int32_t most_rows = 64;
    constexpr std::size_t most_entries = 4096;
    std::vector<CellSymmetry> out;
    if (a.rows > most_rows || a.entries.size() > most_entries) return out;
    const std::vector<std::uint32_t> kinds = kinds_of(a.values);
    const CellGraph graph(a, kinds, false), reversed(a, kinds, true);
    const auto rows = static_cast<std::size_t>(a.rows);
    Colours colours(2 * rows, 0);
    const auto first_column = colours.begin() + std::ptrdiff_t{a.rows};
    std::fill(first_column, colours.end(), 1);
    // Columns fixed one after the other, and what can become of the next.
    for (std::size_t j = rows; j < 2 * rows; ++j) {
        const std::uint32_t colour = Matching::new_colour(colours);
        for (std::size_t to = j + 1; to < 2 * rows; ++to) {
            Colours x = colours, y = colours;
            x[j] = y[to] = colour;
            if (const auto image = Matching(graph, graph, poll).extended(std::move(x), std::move(y)))
                out.push_back(symmetry_of(*image, a.rows, false));
        }
        colours[j] = colour;
    }
    std::fill(first_column, colours.end(), 1);
    if (const auto image = Matching(graph, reversed, poll).extended(colours, colours))
        out.push_back(symmetry_of(*image, a.rows, true));
    return out;
}

} // namespace libperm
