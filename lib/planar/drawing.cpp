#include "lib/planar/drawing.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boyer_myrvold_planar_test.hpp>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                                    boost::property<boost::edge_index_t, std::int32_t>>;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

// An edge's index is its entry.
Graph graph_of(const PatternGraph &lines) {
    Graph graph(at(lines.lines()));
    for (std::int32_t entry = 0; entry < lines.entries(); ++entry)
        boost::add_edge(at(lines.row_of(entry)), at(lines.column_of(entry)), entry, graph);
    return graph;
}

bool has_too_many_entries(const Pattern &a) {
    const std::int64_t lines = a.lines(), most = a.one_sided ? 3 * lines - 6 : 2 * lines - 4;
    return lines > 2 && a.nnz() > most;
}

// How many sets of darts are joined by these steps, step(d, meet) for each meet(other).
template <class Step> std::int32_t sets_of_darts(std::size_t darts, const Step &step) {
    std::vector<char> is_met(darts, 0);
    std::vector<Dart> todo;
    const auto meet = [&](Dart d) {
        if (is_met[at(d)]) return;
        is_met[at(d)] = 1;
        todo.push_back(d);
    };
    std::int32_t sets = 0;
    for (std::size_t first = 0; first < darts; ++first) {
        if (is_met[first]) continue;
        ++sets;
        for (meet(static_cast<Dart>(first)); !todo.empty();) {
            const Dart d = todo.back();
            todo.pop_back();
            step(d, meet);
        }
    }
    return sets;
}

using Cycle = std::vector<Dart>; // that follow each other

struct ShortestCycles {
    std::int32_t length = 0; // 0: too long to be looked for
    std::vector<Cycle> cycles;
};

// The shortest cycles through each entry.
class CycleSearch {
  public:
    static constexpr std::int32_t longest = 12;

    explicit CycleSearch(const PatternGraph &graph) : graph_(graph), distance_(at(graph.lines()), -1) {}

    ShortestCycles through(std::int32_t entry) {
        const std::int32_t row = graph_.row_of(entry), column = graph_.column_of(entry);
        met_.assign(1, column);
        distance_[at(column)] = 0;
        for (std::size_t k = 0; k < met_.size() && distance_[at(row)] == -1 && met_.size() < most_lines;
             ++k) {
            const std::int32_t next = distance_[at(met_[k])] + 1;
            if (next >= longest) break;
            for (const Dart d : graph_.around(met_[k])) {
                const std::int32_t other = graph_.line_of(across(d));
                if (entry_of(d) == entry || distance_[at(other)] != -1) continue;
                distance_[at(other)] = next;
                met_.push_back(other);
            }
        }
        ShortestCycles found;
        if (distance_[at(row)] > 0) {
            found.length = distance_[at(row)] + 1;
            path_.clear();
            walk(row, 2 * entry + 1, found);
        }
        for (const std::int32_t line : met_) distance_[at(line)] = -1;
        return found;
    }

  private:
    static constexpr std::size_t most_lines = 300, most_cycles = 12; // looked at; of one entry

    // Down to the column, and back by the last dart.
    void walk(std::int32_t line, Dart last, ShortestCycles &found) {
        if (found.cycles.size() == most_cycles) return;
        if (distance_[at(line)] == 0) {
            found.cycles.push_back(path_);
            found.cycles.back().push_back(last);
            return;
        }
        for (const Dart d : graph_.around(line)) {
            const std::int32_t other = graph_.line_of(across(d));
            if (distance_[at(other)] != distance_[at(line)] - 1 || entry_of(d) == entry_of(last)) continue;
            path_.push_back(d);
            walk(other, last, found);
            path_.pop_back();
        }
    }

    const PatternGraph &graph_;
    std::vector<std::int32_t> distance_; // by line, from the column; -1: not met
    std::vector<std::int32_t> met_;
    Cycle path_;
};

struct Guess { // of a face
    Cycle cycle;
    std::vector<std::int32_t> entries; // ascending
    std::int32_t too_many = 0;         // guesses that its entries are in, beyond two of each
};

// By some of the entries, whether cycles are short enough for so many faces, or nearly.
bool may_have_faces(const PatternGraph &graph, double least_faces) {
    constexpr std::int32_t step = 8;
    constexpr double share = 0.75, few = 20; // of them; faces, of small graphs
    CycleSearch search(graph);
    double faces = 0;
    for (std::int32_t entry = 0; entry < graph.entries(); entry += step) {
        const std::int32_t length = search.through(entry).length;
        faces += step * 2.0 / (length > 0 ? length : CycleSearch::longest);
    }
    return faces + few >= share * least_faces;
}

// What may be a face, the most certain ones first. None: however the graph is drawn it has more handles, as a
// face has as many entries as the shortest cycle through each of them, at least.
std::vector<Guess> guesses_of(const PatternGraph &graph, double least_faces) {
    CycleSearch search(graph);
    double most_faces = 0;
    std::vector<Guess> guesses;
    for (std::int32_t entry = 0; entry < graph.entries(); ++entry) {
        if (entry % 64 == 0) poll();
        ShortestCycles found = search.through(entry);
        most_faces += 2.0 / (found.length > 0 ? found.length : CycleSearch::longest);
        if (most_faces + 0.5 * (graph.entries() - entry - 1) < least_faces) return {};
        for (Cycle &cycle : found.cycles) {
            Guess guess{std::move(cycle), {}};
            for (const Dart d : guess.cycle) guess.entries.push_back(entry_of(d));
            std::sort(guess.entries.begin(), guess.entries.end());
            guesses.push_back(std::move(guess));
        }
    }
    const auto by_entries = [](const Guess &x, const Guess &y) { return x.entries < y.entries; };
    std::stable_sort(guesses.begin(), guesses.end(), by_entries);
    const auto is_same = [](const Guess &x, const Guess &y) { return x.entries == y.entries; };
    guesses.erase(std::unique(guesses.begin(), guesses.end(), is_same), guesses.end());
    std::vector<std::int32_t> count(at(graph.entries()), 0);
    for (const Guess &guess : guesses)
        for (const std::int32_t entry : guess.entries) ++count[at(entry)];
    for (Guess &guess : guesses)
        for (const std::int32_t entry : guess.entries) guess.too_many += std::max(0, count[at(entry)] - 2);
    std::stable_sort(guesses.begin(), guesses.end(), [](const Guess &x, const Guess &y) {
        return std::pair(x.cycle.size(), x.too_many) < std::pair(y.cycle.size(), y.too_many);
    });
    return guesses;
}

// A forest of sets whose members each have one of two sides.
class Sides {
  public:
    explicit Sides(std::size_t count) : parent_(count), flipped_(count, 0) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }
    std::pair<std::size_t, bool> root(std::size_t x) { // and whether x is on its other side
        bool flipped = false;
        for (; parent_[x] != x; x = parent_[x]) {
            const std::size_t up = parent_[x];
            if (parent_[up] != up) {
                flipped_[x] ^= flipped_[up];
                parent_[x] = parent_[up];
            }
            flipped ^= flipped_[x] != 0;
        }
        return {x, flipped};
    }
    void join(std::size_t root, std::size_t to, bool flipped) {
        parent_[root] = to;
        flipped_[root] = flipped;
    }

  private:
    std::vector<std::size_t> parent_;
    std::vector<char> flipped_;
};

// Faces that fit together: no entry is in three, round each line they close only with all of its entries, and
// all of them can be gone round so that two go along an entry in both directions.
class FittingFaces {
  public:
    FittingFaces(const PatternGraph &graph, std::size_t most)
        : graph_(graph),
          chains_(at(graph.darts())),
          size_(at(graph.darts()), 1),
          faces_at_(at(graph.darts()), 0),
          first_(at(graph.darts()), none),
          sides_(most) {}

    void add_if_it_fits(const Cycle &cycle) {
        if (!has_corners(cycle) || !has_sides(cycle)) return;
        const std::size_t face = faces_.size();
        for (std::size_t k = 0; k < cycle.size(); ++k) {
            const auto [x, y] = corner(cycle, k);
            ++faces_at_[at(x)], ++faces_at_[at(y)];
            const std::size_t from = chains_.root(at(x)).first, to = chains_.root(at(y)).first;
            if (from == to) continue;
            chains_.join(from, to, false);
            size_[to] += size_[from];
        }
        for (const auto &[root, flipped] : needed_) sides_.join(root, face, flipped);
        for (const Dart d : cycle) first_[at(d)] = face;
        faces_.push_back(cycle);
    }

    // Of darts without a next one: -1.
    Rotation corners() {
        Rotation rotation(at(graph_.darts()), -1);
        for (std::size_t face = 0; face < faces_.size(); ++face) {
            const bool flipped = sides_.root(face).second;
            for (std::size_t k = 0; k < faces_[face].size(); ++k) {
                const auto [x, y] = corner(faces_[face], k);
                rotation[at(flipped ? y : x)] = flipped ? x : y;
            }
        }
        return rotation;
    }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    static std::pair<Dart, Dart> corner(const Cycle &cycle, std::size_t k) {
        return {across(cycle[k]), cycle[(k + 1) % cycle.size()]};
    }

    bool has_corners(const Cycle &cycle) {
        for (std::size_t k = 0; k < cycle.size(); ++k) {
            const auto [x, y] = corner(cycle, k);
            if (faces_at_[at(x)] == 2 || faces_at_[at(y)] == 2) return false;
            const std::size_t chain = chains_.root(at(x)).first;
            if (chain != chains_.root(at(y)).first) continue;
            if (size_[chain] != graph_.around(graph_.line_of(x)).size()) return false;
        }
        return true;
    }

    // Finds needed_: for the sets of faces at its entries, whether they are to be on the other side.
    bool has_sides(const Cycle &cycle) {
        needed_.clear();
        for (const Dart d : cycle)
            for (const Dart of : {d, across(d)}) {
                if (first_[at(of)] == none) continue;
                const auto [root, flipped] = sides_.root(first_[at(of)]);
                const bool other = flipped != (of == d);
                const auto known = std::find_if(needed_.begin(), needed_.end(),
                                                [&, root = root](const auto &x) { return x.first == root; });
                if (known == needed_.end())
                    needed_.emplace_back(root, other);
                else if (known->second != other)
                    return false;
            }
        return true;
    }

    const PatternGraph &graph_;
    Sides chains_;                   // of darts round a line that faces join
    std::vector<std::size_t> size_;  // of such a chain
    std::vector<char> faces_at_;     // by dart
    std::vector<std::size_t> first_; // by dart: a face along it
    std::vector<Cycle> faces_;
    Sides sides_; // of the faces
    std::vector<std::pair<std::size_t, bool>> needed_;
};

// Chains of darts round a line that are known to follow each other: one after the other, in any order.
void join_round(const PatternGraph &graph, std::int32_t line, Rotation &rotation) {
    const std::span<const Dart> around = graph.around(line);
    Rotation first, last; // of each chain
    for (const Dart d : around) {
        if (std::any_of(around.begin(), around.end(), [&](Dart x) { return rotation[at(x)] == d; })) continue;
        first.push_back(d);
        last.push_back(d);
        while (rotation[at(last.back())] != -1) last.back() = rotation[at(last.back())];
    }
    for (std::size_t k = 0; k < first.size(); ++k) rotation[at(last[k])] = first[(k + 1) % first.size()];
}

// Taken out of its lines, which leaves it alone on a sphere.
void take_out(Rotation &rotation, std::int32_t entry) {
    for (const Dart d : {2 * entry, 2 * entry + 1}) {
        Dart before = d;
        while (rotation[at(before)] != d) before = rotation[at(before)];
        rotation[at(before)] = rotation[at(d)];
        rotation[at(d)] = d;
    }
}

class Handles {
  public:
    Handles(const PatternGraph &graph, Rotation rotation)
        : rotation_(std::move(rotation)), genus_(genus_of(rotation_, faces_of(rotation_))) {
        CycleSearch search(graph);
        for (std::int32_t e = 0; e < graph.entries(); ++e) {
            const std::int32_t length = search.through(e).length;
            way_round_.push_back(length > 0 ? length : CycleSearch::longest + 1);
            longest_first_.push_back(e);
        }
        std::stable_sort(longest_first_.begin(), longest_first_.end(), [&](std::int32_t x, std::int32_t y) {
            return way_round_[at(x)] > way_round_[at(y)];
        });
    }

    std::int32_t genus() const { return genus_; }

    // With it a handle goes, or at least what is unlike most entries. -1: neither is there.
    std::int32_t take_one() {
        constexpr int most_tries = 32;
        const Faces faces = faces_of(rotation_);
        int tries = 0;
        for (const std::int32_t e : longest_first_) {
            const std::int32_t face = faces.of_dart[at(2 * e)];
            if (face != faces.of_dart[at(2 * e + 1)] || is_out(e)) continue;
            if (taken(e)) return e;
            if (++tries == most_tries) break; // bridges
        }
        const std::int32_t usual = way_round_[at(longest_first_[longest_first_.size() / 2])];
        for (const std::int32_t e : longest_first_) {
            if (is_out(e)) continue;
            if (way_round_[at(e)] <= usual) break;
            take_out(rotation_, e);
            return e;
        }
        return -1;
    }

  private:
    bool is_out(std::int32_t entry) const {
        return rotation_[at(2 * entry)] == 2 * entry && rotation_[at(2 * entry + 1)] == 2 * entry + 1;
    }
    bool taken(std::int32_t entry) { // if a handle goes
        Rotation without = rotation_;
        take_out(without, entry);
        if (genus_of(without, faces_of(without)) == genus_) return false;
        rotation_ = std::move(without);
        --genus_;
        return true;
    }

    Rotation rotation_;
    std::int32_t genus_;
    std::vector<std::int32_t> way_round_, longest_first_; // by entry; entries
};

} // namespace

Pattern with_entries(const Pattern &a, const std::vector<char> &is_kept) {
    Pattern out;
    out.rows = a.rows;
    out.cols = a.cols;
    std::size_t entry = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        for (const std::int32_t j : a.row(i))
            if (is_kept[entry++]) out.col.push_back(j);
        out.row_ptr.push_back(std::ssize(out.col));
    }
    return out;
}

std::optional<Rotation> planar_rotation(const Pattern &a) {
    if (has_too_many_entries(a)) return {};
    const PatternGraph lines(a);
    const Graph graph = graph_of(lines);
    std::vector<std::vector<Edge>> around(boost::num_vertices(graph));
    const bool is_planar = boost::boyer_myrvold_planarity_test(
        boost::boyer_myrvold_params::graph = graph, boost::boyer_myrvold_params::embedding = around.data());
    if (!is_planar) return {};
    Rotation rotation(2 * at(a.nnz()));
    for (std::size_t line = 0; line < around.size(); ++line) {
        const auto dart = [&](const Edge &edge) {
            const std::int32_t entry = boost::get(boost::edge_index, graph, edge);
            return 2 * entry + (at(lines.row_of(entry)) == line ? 0 : 1);
        };
        const std::vector<Edge> &edges = around[line];
        for (std::size_t k = 0; k < edges.size(); ++k)
            rotation[at(dart(edges[k]))] = dart(edges[(k + 1) % edges.size()]);
    }
    return rotation;
}

Faces faces_of(const Rotation &rotation) {
    Faces faces;
    faces.of_dart.assign(rotation.size(), -1);
    for (std::size_t first = 0; first < rotation.size(); ++first) {
        if (faces.of_dart[first] != -1) continue;
        const auto face = static_cast<std::int32_t>(faces.darts.size());
        std::vector<Dart> &darts = faces.darts.emplace_back();
        for (auto d = static_cast<Dart>(first); faces.of_dart[at(d)] == -1; d = rotation[at(across(d))]) {
            faces.of_dart[at(d)] = face;
            darts.push_back(d);
        }
    }
    return faces;
}

std::int32_t genus_of(const Rotation &rotation, const Faces &faces) {
    const auto round_lines = [&](Dart d, const auto &meet) { meet(rotation[at(d)]); };
    const auto everywhere = [&](Dart d, const auto &meet) {
        meet(rotation[at(d)]);
        meet(across(d));
    };
    const std::int32_t lines = sets_of_darts(rotation.size(), round_lines),
                       parts = sets_of_darts(rotation.size(), everywhere);
    return (2 * parts - lines + static_cast<std::int32_t>(rotation.size() / 2) -
            static_cast<std::int32_t>(faces.darts.size())) /
           2;
}

std::optional<Rotation> rotation_by_short_cycles(const PatternGraph &graph, std::int32_t most_genus) {
    constexpr std::size_t most_entries = 100; // of a line: lattices have few
    for (std::int32_t line = 0; line < graph.lines(); ++line)
        if (graph.around(line).size() > most_entries) return {};
    const std::int32_t least_faces = graph.entries() - graph.lines() + 2 - 2 * most_genus;
    if (!may_have_faces(graph, least_faces)) return {};
    const std::vector<Guess> guesses = guesses_of(graph, least_faces);
    if (guesses.empty()) return {};
    FittingFaces fitting(graph, guesses.size());
    PolledSteps polled;
    for (const Guess &guess : guesses) {
        polled.take(100);
        fitting.add_if_it_fits(guess.cycle);
    }
    Rotation rotation = fitting.corners();
    for (std::int32_t line = 0; line < graph.lines(); ++line) join_round(graph, line, rotation);
    if (genus_of(rotation, faces_of(rotation)) > most_genus) return {};
    return rotation;
}

std::vector<std::int32_t> entries_on_handles(const PatternGraph &graph, Rotation rotation, std::size_t most) {
    Handles handles(graph, std::move(rotation));
    std::vector<std::int32_t> entries;
    while (handles.genus() > 0) {
        poll();
        const std::int32_t entry = handles.take_one();
        if (entry == -1 || entries.size() == most) return {};
        entries.push_back(entry);
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

} // namespace libperm
