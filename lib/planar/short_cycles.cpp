#include "lib/planar/short_cycles.hpp"

#include "lib/planar/cycle_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

struct Guess { // of a face
    Cycle cycle;
    std::vector<std::int32_t> entries; // ascending
    std::int32_t fewest = 0;           // guesses that one of its entries is in
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
std::vector<Guess> guesses_of(const PatternGraph &graph, double least_faces, const Poll &poll) {
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
    for (Guess &guess : guesses) {
        guess.fewest = graph.entries();
        for (const std::int32_t entry : guess.entries) {
            guess.fewest = std::min(guess.fewest, count[at(entry)]);
            guess.too_many += std::max(0, count[at(entry)] - 2);
        }
    }
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

// Round a line: darts that are known to follow each other.
using Chains = std::vector<std::pair<Dart, Dart>>; // the first and the last of each

Chains chains_round(const PatternGraph &graph, std::int32_t line, const Rotation &rotation) {
    Chains chains;
    for (const Dart last : graph.around(line)) {
        if (rotation[at(last)] != -1) continue;
        Dart first = last;
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (const Dart d : graph.around(line))
                if (rotation[at(d)] == first) {
                    first = d;
                    goes_on = true;
                    break;
                }
        }
        chains.emplace_back(first, last);
    }
    return chains;
}

void join_round(Rotation &rotation, const Chains &chains) {
    for (std::size_t k = 0; k < chains.size(); ++k)
        rotation[at(chains[k].second)] = chains[(k + 1) % chains.size()].first;
}

std::int32_t faces_round(const PatternGraph &graph, std::int32_t line, const Rotation &rotation,
                         std::int64_t &steps) {
    std::vector<Dart> seen;
    std::int32_t faces = 0;
    for (const Dart first : graph.around(line)) {
        if (std::find(seen.begin(), seen.end(), first) != seen.end()) continue;
        ++faces;
        Dart d = first;
        do {
            if (graph.line_of(d) == line) seen.push_back(d);
            d = rotation[at(across(d))];
            ++steps;
        } while (d != first);
    }
    return faces;
}

// Where more than two chains stand round a line their order is not known: that with the most faces.
void improve(const PatternGraph &graph, std::int32_t line, Chains chains, Rotation &rotation,
             std::int64_t &steps) {
    constexpr int most_orders = 24;
    std::sort(chains.begin(), chains.end());
    Chains best = chains;
    std::int32_t most = -1;
    int orders = 0;
    do {
        join_round(rotation, chains);
        const std::int32_t faces = faces_round(graph, line, rotation, steps);
        if (faces > most) {
            most = faces;
            best = chains;
        }
    } while (++orders < most_orders && std::next_permutation(chains.begin() + 1, chains.end()));
    join_round(rotation, best);
}

Rotation rotation_of(const PatternGraph &graph, const std::vector<Guess> &guesses, const Poll &poll) {
    FittingFaces fitting(graph, guesses.size());
    PolledSteps polled(poll);
    for (const Guess &guess : guesses) {
        polled.take(100);
        fitting.add_if_it_fits(guess.cycle);
    }
    Rotation rotation = fitting.corners();
    std::vector<std::pair<std::int32_t, Chains>> unknown;
    for (std::int32_t line = 0; line < graph.lines(); ++line) {
        Chains chains = chains_round(graph, line, rotation);
        join_round(rotation, chains);
        if (chains.size() > 2) unknown.emplace_back(line, std::move(chains));
    }
    std::int64_t steps = 0;
    const std::int64_t most_steps = 100 * std::int64_t{graph.darts()};
    for (int round = 0; round < 2; ++round)
        for (const auto &[line, chains] : unknown) {
            if (steps > most_steps) break;
            improve(graph, line, chains, rotation, steps);
            poll();
        }
    return rotation;
}

} // namespace

std::optional<Rotation> rotation_by_short_cycles(const PatternGraph &graph, std::int32_t most_genus,
                                                 const Poll &poll) {
    constexpr std::size_t most_entries = 100; // of a line: lattices have few
    for (std::int32_t line = 0; line < graph.lines(); ++line)
        if (graph.around(line).size() > most_entries) return {};
    const std::int32_t least_faces = graph.entries() - graph.lines() + 2 - 2 * most_genus;
    if (!may_have_faces(graph, least_faces)) return {};
    std::vector<Guess> guesses = guesses_of(graph, least_faces, poll);
    if (guesses.empty()) return {};
    const auto by_fewest = [](const Guess &x) { return std::pair(x.cycle.size(), x.fewest); };
    const auto by_too_many = [](const Guess &x) { return std::pair(x.cycle.size(), x.too_many); };
    const auto in_order = [&](const auto &key) {
        std::stable_sort(guesses.begin(), guesses.end(),
                         [&](const Guess &x, const Guess &y) { return key(x) < key(y); });
        return rotation_of(graph, guesses, poll);
    };
    Rotation best = in_order(by_fewest);
    std::int32_t genus = genus_of(best, faces_of(best));
    if (genus > 1) {
        Rotation other = in_order(by_too_many);
        if (const std::int32_t of_other = genus_of(other, faces_of(other)); of_other < genus) {
            genus = of_other;
            best = std::move(other);
        }
    }
    if (genus > most_genus) return {};
    return best;
}

} // namespace libperm
