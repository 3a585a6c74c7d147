#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/periodic/cell/periodic_matrix.hpp"
#include "lib/periodic/period/period_levels.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace libperm {
namespace {

std::uint32_t place_of(PeriodKey key, const PeriodKeys &keys) {
    return static_cast<std::uint32_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
}

// What a symmetry of the cell makes of the states at a cut.
class StateMap {
  public:
    // None where a column that is open at the cut would become one that is not.
    static std::optional<StateMap> of(const PeriodProgram &program, const ColumnMap &of_even_cells,
                                      const ColumnMap &of_odd_cells, bool reversed) {
        if (program.most_shift != 0) return {}; // the cut is less symmetric than the cell
        StateMap out;
        out.reversed_ = reversed;
        for (std::size_t c = 0; c < program.windows.size(); ++c) {
            const PeriodWindow &from = program.windows[c];
            for (std::int64_t cell = -from.last; cell + from.first < 0; ++cell) {
                const ColumnMap &map = cell % 2 == 0 ? of_even_cells : of_odd_cells;
                const PeriodWindow &to = program.windows[static_cast<std::size_t>(map[c])];
                const std::int64_t image = reversed ? -1 - cell : cell;
                if (!to.is_open(image, 0)) return {};
                out.moved_.emplace_back(bit_of(from.slot_of(cell, 0)), bit_of(to.slot_of(image, 0)));
            }
        }
        return out;
    }

    // Seen from the other end, a column has been used if it had not been.
    PeriodKey operator()(PeriodKey key) const {
        PeriodKey image = 0;
        for (const auto &[from, to] : moved_)
            if (((key & from) != 0) != reversed_) image |= to;
        return image;
    }
    std::int64_t steps() const { return static_cast<std::int64_t>(2 * moved_.size()); }

  private:
    std::vector<std::pair<PeriodKey, PeriodKey>> moved_; // a bit and what it becomes
    bool reversed_ = false;
};

// The components of the graph of all levels in which states lie on loops.
class Components {
  public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    Components(const PeriodLevels &levels) : first_(levels.size()) {
        const Pattern graph = graph_of(levels);
        const std::vector<std::int32_t> strong = triangular_blocks(graph, Matching());
        std::vector<std::uint32_t> number(strong.size(), 0); // first the states, then none or the number
        for (const std::int32_t c : strong) ++number[at(c)];
        for (std::int32_t node = 0; levels.size() == 1 && node < graph.rows; ++node)
            number[at(strong[at(node)])] += std::ranges::count(graph.row(node), node) > 0;
        for (std::uint32_t &n : number) n = n > 1 ? count_++ : none;
        std::vector<std::uint32_t> next; // of the components in a level
        for (std::size_t node = 0; node < strong.size(); ++node) {
            if (std::ranges::find(first_, node) != first_.end()) next.assign(count_, 0);
            component_.push_back(number[at(strong[node])]);
            place_.push_back(component_.back() == none ? 0 : next[component_.back()]++);
        }
    }

    // Tells the component of a state behind a level; none where it lies on no loop. Without a level: at the
    // cut.
    std::uint32_t of(std::size_t state) const { return component_[state]; }
    std::uint32_t of(std::size_t level, std::size_t state) const { return of(first_[level] + state); }
    // Its number among those of the component.
    std::uint32_t place(std::size_t state) const { return place_[state]; }
    std::uint32_t place(std::size_t level, std::size_t state) const { return place(first_[level] + state); }
    std::uint32_t count() const { return count_; }

  private:
    // From each state to those that it takes from; the states before the first level are those behind the
    // last, which come first.
    Pattern graph_of(const PeriodLevels &levels) {
        std::vector<std::size_t> order(levels.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::rotate(order.begin(), order.end() - 1, order.end());
        std::size_t states = 0;
        for (const std::size_t l : order) first_[l] = std::exchange(states, states + levels[l].states());
        if (states > at(std::numeric_limits<std::int32_t>::max()))
            throw Error(PERM_REFUSED_MEMORY, formatted("a period has {} states, row by row: at most 2^31 - 1 "
                                                       "can be looked through for loops",
                                                       states));
        Pattern graph;
        graph.rows = graph.cols = static_cast<std::int32_t>(states);
        graph.row_ptr.reserve(states + 1);
        graph.col.reserve(static_cast<std::size_t>(moves_of(levels)));
        for (const std::size_t l : order) {
            const std::size_t sources = first_[l == 0 ? levels.size() - 1 : l - 1];
            for (std::size_t s = 0; s < levels[l].states(); ++s) {
                for (std::uint32_t m = levels[l].first[s]; m < levels[l].first[s + 1]; ++m)
                    graph.col.push_back(static_cast<std::int32_t>(sources + levels[l].moves[m].source));
                graph.row_ptr.push_back(std::ssize(graph.col));
            }
        }
        return graph;
    }

    std::vector<std::size_t> first_; // of each level's states their number in the graph
    std::vector<std::uint32_t> component_, place_;
    std::uint32_t count_ = 0;
};

std::vector<PeriodBlock> split(const PeriodLevels &levels, const Components &components) {
    std::vector<PeriodBlock> blocks(components.count());
    for (PeriodBlock &block : blocks) block.levels.resize(levels.size());
    for (std::size_t l = 0; l < levels.size(); ++l) {
        const std::size_t before = l == 0 ? levels.size() - 1 : l - 1;
        for (std::size_t s = 0; s < levels[l].states(); ++s) {
            const std::uint32_t c = components.of(l, s);
            if (c == Components::none) continue;
            PeriodLevel &to = blocks[c].levels[l];
            for (std::uint32_t m = levels[l].first[s]; m < levels[l].first[s + 1]; ++m)
                if (const TapeMove move = levels[l].moves[m]; components.of(before, move.source) == c)
                    to.moves.push_back({components.place(before, move.source), move.entry});
            to.first.push_back(static_cast<std::uint32_t>(to.moves.size()));
        }
    }
    for (PeriodBlock &block : blocks) block.states = block.levels.back().states();
    return blocks;
}

// Numbers that are united; the least of those that are stands for them.
class Unions {
  public:
    explicit Unions(std::size_t count) : parent_(count) {
        std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
    }

    std::uint32_t least(std::uint32_t x) {
        while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    void unite(std::uint32_t x, std::uint32_t y) {
        x = least(x);
        y = least(y);
        parent_[std::max(x, y)] = std::min(x, y);
    }

  private:
    std::vector<std::uint32_t> parent_;
};

// States at a cut that a symmetry of the cell makes of each other.
class Orbits {
  public:
    Orbits(const PeriodicMatrix &a, const PeriodProgram &program, const PeriodKeys &keys)
        : states_(keys.size()), size_(keys.size(), 0) {
        for (const CellSymmetry &symmetry : symmetries_of(a))
            if (const auto map = StateMap::of(program, symmetry.column, symmetry.column, symmetry.reversed))
                join(*map, keys);
        count();
    }

    // The loops of some lengths have more symmetries.
    void join(const StateMap &map, const PeriodKeys &keys) {
        PolledSteps steps;
        for (std::uint32_t s = 0; s < keys.size(); ++s) {
            steps.take(map.steps() + 32);
            states_.unite(s, place_of(map(keys[s]), keys));
        }
        count();
    }

    // Tells the size of the orbit that the state stands for; 0: another one does.
    std::uint32_t size(std::uint32_t state) const { return size_[state]; }
    std::uint32_t first(std::uint32_t state) { return states_.least(state); }

  private:
    void count() {
        std::fill(size_.begin(), size_.end(), 0);
        for (std::uint32_t s = 0; s < size_.size(); ++s) ++size_[first(s)];
    }

    Unions states_;
    std::vector<std::uint32_t> size_;
};

// The first of each orbit stands for it.
void take_starts(std::vector<PeriodBlock> &blocks, const Orbits &orbits, const Components &components,
                 std::uint32_t states, std::vector<PeriodBlock::Start> PeriodBlock::*starts) {
    for (std::uint32_t s = 0; s < states; ++s)
        if (const std::uint32_t b = components.of(s); b != Components::none && orbits.size(s) > 0)
            (blocks[b].*starts).push_back({components.place(s), orbits.size(s)});
}

// One block stands for all that it has orbits with.
void count_alike(std::vector<PeriodBlock> &blocks, Orbits orbits, const Components &components,
                 std::uint32_t states) {
    Unions alike(blocks.size());
    for (std::uint32_t s = 0; s < states; ++s)
        if (components.of(s) != Components::none)
            alike.unite(components.of(s), components.of(orbits.first(s)));
    for (PeriodBlock &block : blocks) block.alike = 0;
    for (std::uint32_t b = 0; b < blocks.size(); ++b) ++blocks[alike.least(b)].alike;
}

// T D = R D T, R of order two and commuting with both, gives D T^m D = (R T)^m = T^m for even m.
Orbits of_even_lengths(Orbits orbits, const PeriodProgram &program,
                       const std::vector<TurningSymmetry> &turning, const PeriodKeys &keys) {
    for (const TurningSymmetry &symmetry : turning)
        if (symmetry.twist != 0)
            if (const auto map = StateMap::of(program, symmetry.of_even_cells, symmetry.of_odd_cells, false))
                orbits.join(*map, keys);
    return orbits;
}

// Finds the maps that leave each block where it is.
void find_symmetries(std::vector<PeriodBlock> &blocks, const std::vector<TurningSymmetry> &found,
                     const PeriodProgram &program, const PeriodKeys &keys, const Components &components) {
    constexpr std::size_t most_states = std::size_t{1} << 18; // beyond no block is a full matrix
    if (keys.size() > most_states) return;
    std::vector<std::vector<std::uint32_t>> taken(blocks.size()); // of each block's maps their numbers
    PolledSteps steps;
    for (std::uint32_t k = 0; k < found.size(); ++k) {
        const auto map = StateMap::of(program, found[k].of_even_cells, found[k].of_odd_cells, false);
        if (!map) continue;
        std::vector<std::vector<std::uint32_t>> image(blocks.size());
        std::vector<bool> stays(blocks.size(), true);
        for (std::uint32_t s = 0; s < keys.size(); ++s) {
            steps.take(map->steps() + 32);
            const std::uint32_t b = components.of(s);
            if (b == Components::none || !stays[b]) continue;
            const std::uint32_t to = place_of((*map)(keys[s]), keys);
            stays[b] = components.of(to) == b;
            image[b].push_back(components.place(to));
        }
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            std::uint32_t twist = 0; // by the maps that this block has
            for (std::size_t t = 0; t < taken[b].size(); ++t)
                twist |= (found[k].twist >> taken[b][t] & 1) << t;
            if (!stays[b] || std::popcount(twist) != std::popcount(found[k].twist)) continue;
            blocks[b].symmetries.image.push_back(std::move(image[b]));
            blocks[b].symmetries.twist.push_back(twist);
            taken[b].push_back(k);
        }
    }
}

} // namespace

std::vector<PeriodBlock> loops_of(const PeriodLevels &levels) { return split(levels, Components(levels)); }

std::vector<PeriodBlock> write_loops(const PeriodicMatrix &a, const PeriodProgram &program,
                                     MemoryAccount *account) {
    // Every set of open columns; a period's moves are to fit memory, and so are these.
    std::vector<std::int32_t> open;
    for (const PeriodWindow &w : program.windows)
        for (std::int32_t k = 0; k + 1 < w.width(); ++k) open.push_back(w.slot + k);
    constexpr std::size_t most = 26;
    if (open.size() > most)
        throw Error(
            PERM_REFUSED_MEMORY,
            formatted("the cut between two cells has {} columns open at once: with joined ends at most {} "
                      "can be, for each of their 2^{} sets is a state to begin with",
                      open.size(), most, open.size()));
    // They stay beside those that a row is met with.
    const Charge all(account, static_cast<std::int64_t>((2 * sizeof(PeriodKey)) << open.size()));
    PeriodKeys keys{0};
    keys.reserve(std::size_t{1} << open.size());
    for (std::size_t k = 0; k < open.size(); ++k) { // ascending, for the slots are
        const std::size_t half = keys.size();
        for (std::size_t s = 0; s < half; ++s) keys.push_back(keys[s] | bit_of(open[k]));
    }
    PeriodWriter writer(a, program, account);
    const PeriodExtent endless(a, -far_away, 2 * far_away);
    PeriodLevels levels;
    const PeriodKeys reached = writer.step(keys, endless, 0, levels);
    close_period(levels, reached, keys);
    const Components components(levels);
    std::vector<PeriodBlock> blocks = split(levels, components);
    const auto states = static_cast<std::uint32_t>(keys.size());
    const std::vector<TurningSymmetry> turning = commuting_symmetries(a);
    const Orbits orbits(a, program, keys), even = of_even_lengths(orbits, program, turning, keys);
    take_starts(blocks, orbits, components, states, &PeriodBlock::starts);
    take_starts(blocks, even, components, states, &PeriodBlock::even_starts);
    count_alike(blocks, orbits, components, states);
    find_symmetries(blocks, turning, program, keys, components);
    return blocks;
}

namespace {

bool odd(std::uint32_t bits) { return std::popcount(bits) % 2 != 0; }

// Of each state the first of its orbit and the maps that lead from there, a bit for each; of each first state
// products of maps under which it stays.
struct SectorOrbits {
    std::vector<std::uint32_t> first, maps;
    std::vector<std::vector<std::uint32_t>> stays;

    explicit SectorOrbits(const PeriodBlock &block)
        : first(block.states, Sector::none), maps(block.states, 0), stays(block.states) {
        std::vector<std::uint32_t> reached;
        for (std::uint32_t s = 0; s < block.states; ++s) {
            if (first[s] != Sector::none) continue;
            first[s] = s;
            reached.assign(1, s);
            for (std::size_t k = 0; k < reached.size(); ++k)
                for (std::uint32_t m = 0; m < block.symmetries.image.size(); ++m) {
                    const std::uint32_t to = block.symmetries.image[m][reached[k]],
                                        by = maps[reached[k]] ^ (1U << m);
                    if (first[to] == Sector::none) {
                        first[to] = s;
                        maps[to] = by;
                        reached.push_back(to);
                    } else if (maps[to] != by) {
                        stays[s].push_back(maps[to] ^ by);
                    }
                }
        }
    }
};

} // namespace

std::vector<Sector> sectors_of(const PeriodBlock &block) {
    const SectorOrbits orbits(block);
    std::vector<Sector> out(sectors_in(block));
    for (std::uint32_t signs = 0; signs < out.size(); ++signs) {
        Sector &sector = out[signs];
        sector.next = signs;
        for (std::uint32_t m = 0; m < block.symmetries.twist.size(); ++m)
            if (odd(signs & block.symmetries.twist[m])) sector.next ^= std::size_t{1} << m;
        sector.orbit.assign(block.states, Sector::none);
        sector.negative.assign(block.states, false);
        for (std::uint32_t s = 0; s < block.states; ++s) {
            const std::uint32_t first = orbits.first[s];
            if (first == s) {
                bool is_there = true;
                for (const std::uint32_t maps : orbits.stays[s]) is_there = is_there && !odd(signs & maps);
                if (!is_there) continue;
                sector.orbit[s] = static_cast<std::uint32_t>(sector.start.size());
                sector.start.push_back(s);
            } else {
                sector.orbit[s] = sector.orbit[first];
                sector.negative[s] = odd(signs & orbits.maps[s]);
            }
        }
    }
    return out;
}

double sector_products(const PeriodBlock &block) {
    // About as many orbits in each, but for those whose states stay under some maps.
    const auto n = static_cast<double>(block.states), sectors = static_cast<double>(sectors_in(block));
    return n * n * n / (sectors * sectors);
}

} // namespace libperm
