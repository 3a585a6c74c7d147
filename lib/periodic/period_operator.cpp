#include "lib/periodic/period_operator.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/periodic/symmetries.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Keys = std::vector<PeriodKey>; // ascending

PeriodKey bit(std::int32_t slot) { return PeriodKey{1} << slot; }

constexpr std::int64_t far = std::int64_t{1} << 30; // cells: an end that is never come to

// Which rows and columns there are.
class Extent {
  public:
    Extent(const PeriodicMatrix &a, std::int64_t begin, std::int64_t length)
        : a_(&a), begin_(begin), length_(length) {}

    std::int64_t begin() const { return begin_; }
    std::int64_t end() const { return begin_ + length_; }
    bool has_row(std::int64_t cell) const { return cell >= begin_ && cell < begin_ + length_; }
    bool has_column(std::int64_t cell, std::int32_t column) const {
        const std::int64_t place = (cell - begin_) * a_->rows + column;
        return place >= -a_->head.columns && place < length_ * a_->rows + a_->tail.columns;
    }

  private:
    const PeriodicMatrix *a_;
    std::int64_t begin_, length_;
};

struct Candidate {
    PeriodKey key;
    TapeMove move;
};

class Writer {
  public:
    Writer(const PeriodicMatrix &a, const PeriodProgram &program, const Poll &poll, MemoryAccount *account)
        : a_(&a), program_(&program), poll_(&poll), account_(account), charge_(account) {}

    // What a state is before the first row.
    PeriodKey first_key(const Extent &extent, std::int64_t step) const {
        PeriodKey key = 0;
        for (std::size_t c = 0; c < program_->windows.size(); ++c) {
            const PeriodWindow &w = program_->windows[c];
            for (std::int64_t cell = step - w.last; cell + w.first < step; ++cell)
                if (!extent.has_column(cell, static_cast<std::int32_t>(c))) key |= bit(w.slot_of(cell, step));
        }
        return key;
    }

    // The keys at the next cut, and what led there.
    Keys step(Keys keys, const Extent &extent, std::int64_t step, PeriodLevels &levels) {
        PeriodKey absent = 0;
        for (std::size_t c = 0; c < program_->windows.size(); ++c) {
            const PeriodWindow &w = program_->windows[c];
            const std::int64_t cell = step - w.first;
            if (!extent.has_column(cell, static_cast<std::int32_t>(c))) absent |= bit(w.slot_of(cell, step));
        }
        for (PeriodKey &key : keys) key |= absent;
        for (const PeriodRow &row : program_->rows) {
            const bool is_there = extent.has_row(step - row.shift);
            keys = this->row(keys, is_there ? &row.terms : nullptr, row.closes, levels);
        }
        for (PeriodKey &key : keys) key >>= 1;
        return keys;
    }

    Keys head(Keys keys, const Extent &extent, PeriodLevels &levels) {
        return end(std::move(keys), a_->head, extent.begin(), extent.begin(),
                   static_cast<std::int32_t>(a_->entries.size()), levels);
    }
    std::int64_t tail_step(const Extent &extent) const { return extent.end() + program_->most_shift; }
    Keys tail(Keys keys, const Extent &extent, PeriodLevels &levels) {
        return end(std::move(keys), a_->tail, tail_step(extent), extent.end(),
                   static_cast<std::int32_t>(a_->entries.size() + a_->head.entries.size()), levels);
    }

    // Before it every column that there is has been closed.
    std::int64_t last_step(const Extent &extent) const {
        const std::int64_t beyond = (a_->tail.columns + a_->rows - 1) / a_->rows;
        std::int64_t last = 0;
        for (const PeriodWindow &w : program_->windows) last = std::max<std::int64_t>(last, w.last);
        return std::max(tail_step(extent), extent.end() + beyond + last);
    }

    // From the cut before a step to where nothing is left.
    Keys to_the_end(Keys keys, const Extent &extent, std::int64_t step, PeriodLevels &levels) {
        for (;; ++step) {
            if (step == tail_step(extent)) keys = tail(std::move(keys), extent, levels);
            if (step >= last_step(extent)) return keys;
            keys = this->step(std::move(keys), extent, step, levels);
        }
    }

    // The same states again.
    static void stay(std::size_t states, std::int32_t unit, PeriodLevels &levels) {
        PeriodLevel level;
        for (std::uint32_t s = 0; s < states; ++s) {
            level.moves.push_back({s, static_cast<std::uint32_t>(unit)});
            level.first.push_back(s + 1);
        }
        levels.push_back(std::move(level));
    }

    std::int32_t unit() const {
        return static_cast<std::int32_t>(a_->entries.size() + a_->head.entries.size() +
                                         a_->tail.entries.size());
    }

  private:
    // The rows of an end, at a cut: `base` is the number of its first entry's value.
    Keys end(Keys keys, const PeriodicEnd &end, std::int64_t at_step, std::int64_t origin, std::int32_t base,
             PeriodLevels &levels) {
        std::vector<std::vector<PeriodTerm>> rows(at(end.rows));
        for (std::size_t k = 0; k < end.entries.size(); ++k) {
            const PeriodicEntry &e = end.entries[k];
            const PeriodWindow &w = program_->windows[at(e.column)];
            rows[at(e.row)].push_back(
                {w.slot_of(origin + e.cell, at_step), base + static_cast<std::int32_t>(k)});
        }
        for (const auto &terms : rows) keys = row(keys, &terms, 0, levels);
        return keys;
    }

    // No terms: a row that is not there.
    Keys row(const Keys &keys, const std::vector<PeriodTerm> *terms, PeriodKey closes, PeriodLevels &levels) {
        constexpr std::size_t of_allocations = 64; // a level of few moves is hardly more than these
        std::vector<Candidate> found;
        const std::size_t each = terms ? terms->size() : 1;
        const Charge candidates(account_, static_cast<std::int64_t>(keys.size() * each * sizeof(Candidate)));
        if (keys.size() >= std::numeric_limits<std::uint32_t>::max() / std::max<std::size_t>(each, 1))
            throw Error(PERM_REFUSED_MEMORY,
                        formatted("a period has more than 2^32 moves: {} states before a row of "
                                  "{} entries",
                                  keys.size(), each));
        PolledSteps steps(*poll_);
        found.reserve(keys.size() * each);
        for (std::uint32_t s = 0; s < keys.size(); ++s) {
            steps.take(static_cast<std::int64_t>(8 * each) + 8);
            const auto reach = [&](PeriodKey key, std::int32_t entry) {
                if ((key & closes) == closes)
                    found.push_back({key ^ closes, {s, static_cast<std::uint32_t>(entry)}});
            };
            if (!terms)
                reach(keys[s], unit());
            else
                for (const PeriodTerm &t : *terms)
                    if ((keys[s] & bit(t.slot)) == 0) reach(keys[s] | bit(t.slot), t.entry);
        }
        (*poll_)();
        std::sort(found.begin(), found.end(), [&](const Candidate &x, const Candidate &y) {
            steps.take(16);
            return x.key != y.key ? x.key < y.key : x.move.source < y.move.source;
        });
        charge_.grow(static_cast<std::int64_t>(found.size() * (sizeof(TapeMove) + sizeof(PeriodKey) + 4) +
                                               sizeof(PeriodLevel) + of_allocations));
        Keys out;
        PeriodLevel level;
        level.moves.reserve(found.size());
        for (const Candidate &c : found) {
            if (out.empty() || out.back() != c.key) {
                if (!out.empty()) level.first.push_back(static_cast<std::uint32_t>(level.moves.size()));
                out.push_back(c.key);
            }
            level.moves.push_back(c.move);
        }
        if (!out.empty()) level.first.push_back(static_cast<std::uint32_t>(level.moves.size()));
        levels.push_back(std::move(level));
        return out;
    }

    const PeriodicMatrix *a_;
    const PeriodProgram *program_;
    const Poll *poll_;
    MemoryAccount *account_;
    Charge charge_;
};

// Of the states before a level those from which a wanted one is reached.
std::vector<bool> wanted_before(const PeriodLevel &level, const std::vector<bool> &wanted,
                                std::size_t sources) {
    std::vector<bool> before(sources, false);
    for (std::size_t s = 0; s < level.states(); ++s)
        if (wanted[s])
            for (std::uint32_t m = level.first[s]; m < level.first[s + 1]; ++m)
                before[level.moves[m].source] = true;
    return before;
}
std::vector<bool> wanted_before(const PeriodLevels &levels, std::vector<bool> wanted, std::size_t sources) {
    for (std::size_t l = levels.size(); l-- > 0;)
        wanted = wanted_before(levels[l], wanted, l == 0 ? sources : levels[l - 1].states());
    return wanted;
}

std::vector<std::uint32_t> numbers_of(const std::vector<bool> &kept) {
    std::vector<std::uint32_t> number(kept.size());
    std::uint32_t next = 0;
    for (std::size_t s = 0; s < kept.size(); ++s) number[s] = kept[s] ? next++ : next;
    return number;
}

// Leaves `kept` of the states behind the last level, `before` of those before the first, and of the others
// those that lie between.
void keep(PeriodLevels &levels, std::vector<bool> before, const std::vector<bool> &kept) {
    std::vector<std::vector<bool>> wanted(levels.size());
    std::vector<bool> next = kept;
    for (std::size_t l = levels.size(); l-- > 0;) {
        wanted[l] = next;
        if (l > 0) next = wanted_before(levels[l], next, levels[l - 1].states());
    }
    for (std::size_t l = 0; l < levels.size(); ++l) {
        const std::vector<std::uint32_t> number = numbers_of(before);
        PeriodLevel out;
        std::vector<bool> stays(levels[l].states(), false);
        for (std::size_t s = 0; s < levels[l].states(); ++s) {
            if (!wanted[l][s]) continue;
            const std::size_t begin = out.moves.size();
            for (std::uint32_t m = levels[l].first[s]; m < levels[l].first[s + 1]; ++m)
                if (const TapeMove move = levels[l].moves[m]; before[move.source])
                    out.moves.push_back({number[move.source], move.entry});
            const bool last = l + 1 == levels.size(); // those stay whatever leads there
            if (out.moves.size() == begin && !last) continue;
            stays[s] = true;
            out.first.push_back(static_cast<std::uint32_t>(out.moves.size()));
        }
        levels[l] = std::move(out);
        before = std::move(stays);
    }
}

std::size_t count(const std::vector<bool> &kept) {
    return static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true));
}

// The levels of a step that leads from `keys` to keys of the same set: behind the last the states are those.
void close_period(PeriodLevels &levels, const Keys &reached, const Keys &keys) {
    PeriodLevel &last = levels.back();
    PeriodLevel out;
    std::size_t r = 0;
    for (const PeriodKey key : keys) {
        while (r < reached.size() && reached[r] < key) ++r;
        if (r < reached.size() && reached[r] == key)
            out.moves.insert(out.moves.end(), last.moves.begin() + last.first[r],
                             last.moves.begin() + last.first[r + 1]);
        out.first.push_back(static_cast<std::uint32_t>(out.moves.size()));
    }
    last = std::move(out);
}

// What is reached from `keys` in any number of steps, and the levels of one step of it.
Keys closure(Writer &writer, const Extent &extent, Keys keys, PeriodLevels &levels) {
    for (;;) {
        levels.clear();
        const Keys reached = writer.step(keys, extent, extent.begin() + far / 2, levels);
        Keys all;
        std::set_union(keys.begin(), keys.end(), reached.begin(), reached.end(), std::back_inserter(all));
        if (all.size() == keys.size()) {
            close_period(levels, reached, keys);
            return keys;
        }
        keys = std::move(all);
    }
}

// Steps that the first or the last cells have for themselves.
struct Ramps {
    std::int64_t up = 0, down = 0;
};

Ramps ramps_of(const PeriodProgram &program) {
    Ramps ramps{program.most_shift, 0};
    for (const PeriodWindow &w : program.windows) {
        ramps.up = std::max<std::int64_t>(ramps.up, w.first);
        ramps.down = std::max<std::int64_t>(ramps.down, -w.first);
    }
    return ramps;
}

// The components of the graph of all levels in which states lie on loops (Tarjan, SIAM J. Comput. 1 (1972)).
class Components {
  public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    Components(const PeriodLevels &levels, const Poll &poll) : levels_(&levels) {
        first_.push_back(0);
        for (const PeriodLevel &level : levels) first_.push_back(first_.back() + level.states());
        index_.assign(first_.back(), none);
        low_.assign(first_.back(), 0);
        component_.assign(first_.back(), none);
        PolledSteps steps(poll);
        for (std::size_t s = 0; s < levels.back().states(); ++s) visit(levels.size() - 1, s, steps);
    }

    // Of a state behind a level; none where it lies on no loop.
    std::uint32_t of(std::size_t level, std::size_t state) const { return component_[first_[level] + state]; }
    std::uint32_t count() const { return count_; }

  private:
    struct Frame {
        std::size_t level, state;
        std::uint32_t move;
    };

    // The states before a level are those behind the one before, and before the first those behind the last.
    std::size_t before(std::size_t level) const { return level == 0 ? levels_->size() - 1 : level - 1; }

    void visit(std::size_t level, std::size_t state, PolledSteps &steps) {
        if (index_[first_[level] + state] != none) return;
        enter(level, state);
        while (!frames_.empty()) {
            steps.take(4);
            Frame &frame = frames_.back();
            const PeriodLevel &of = (*levels_)[frame.level];
            const std::size_t node = first_[frame.level] + frame.state;
            if (frame.move < of.first[frame.state + 1]) {
                const std::size_t to_level = before(frame.level), to_state = of.moves[frame.move++].source,
                                  to = first_[to_level] + to_state;
                if (index_[to] == none)
                    enter(to_level, to_state);
                else if (component_[to] == none && on_stack(to))
                    low_[node] = std::min(low_[node], index_[to]);
                continue;
            }
            frames_.pop_back();
            if (!frames_.empty()) {
                const std::size_t parent = first_[frames_.back().level] + frames_.back().state;
                low_[parent] = std::min(low_[parent], low_[node]);
            }
            if (low_[node] == index_[node]) close(node);
        }
    }
    void enter(std::size_t level, std::size_t state) {
        const std::size_t node = first_[level] + state;
        index_[node] = low_[node] = next_++;
        stack_.push_back(node);
        if (node >= done_.size()) done_.resize(first_.back(), false);
        frames_.push_back({level, state, (*levels_)[level].first[state]});
    }
    bool on_stack(std::size_t node) const { return !done_[node]; }
    void close(std::size_t node) {
        const bool loops = stack_.back() != node || loops_to_itself(node);
        for (;;) {
            const std::size_t top = stack_.back();
            stack_.pop_back();
            done_[top] = true;
            if (loops) component_[top] = count_;
            if (top == node) break;
        }
        if (loops) ++count_;
    }
    bool loops_to_itself(std::size_t node) const { // only where there is one level
        if (levels_->size() != 1) return false;
        const PeriodLevel &level = levels_->front();
        for (std::uint32_t m = level.first[node]; m < level.first[node + 1]; ++m)
            if (level.moves[m].source == node) return true;
        return false;
    }

    const PeriodLevels *levels_;
    std::vector<std::size_t> first_, stack_;
    std::vector<std::uint32_t> index_, low_, component_;
    std::vector<bool> done_;
    std::vector<Frame> frames_;
    std::uint32_t next_ = 0, count_ = 0;
};

std::vector<PeriodBlock> split(const PeriodLevels &levels, const Components &components) {
    std::vector<PeriodBlock> blocks(components.count());
    for (PeriodBlock &block : blocks) block.levels.resize(levels.size());
    const std::size_t last = levels.size() - 1;
    const auto numbered = [&](std::size_t level) {
        std::vector<std::uint32_t> number(levels[level].states(), 0), next(blocks.size(), 0);
        for (std::size_t s = 0; s < number.size(); ++s)
            if (const std::uint32_t c = components.of(level, s); c != Components::none) number[s] = next[c]++;
        return number;
    };
    std::size_t source_level = last;
    std::vector<std::uint32_t> source = numbered(last);
    for (std::size_t l = 0; l < levels.size(); source_level = l++) {
        for (std::size_t s = 0; s < levels[l].states(); ++s) {
            const std::uint32_t c = components.of(l, s);
            if (c == Components::none) continue;
            PeriodLevel &to = blocks[c].levels[l];
            for (std::uint32_t m = levels[l].first[s]; m < levels[l].first[s + 1]; ++m)
                if (const TapeMove move = levels[l].moves[m]; components.of(source_level, move.source) == c)
                    to.moves.push_back({source[move.source], move.entry});
            to.first.push_back(static_cast<std::uint32_t>(to.moves.size()));
        }
        source = numbered(l);
    }
    for (PeriodBlock &block : blocks) block.states = block.levels.back().states();
    return blocks;
}

// States at a cut that a symmetry of the cell makes of each other.
class Orbits {
  public:
    Orbits(const PeriodicMatrix &a, const PeriodProgram &program, const Keys &keys, const Poll &poll)
        : parent_(keys.size()), size_(keys.size(), 0) {
        std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
        if (program.most_shift == 0) // so that the cut is as symmetric as the cell
            for (const CellSymmetry &symmetry : symmetries_of(a, poll)) join(program, symmetry, keys, poll);
        for (std::uint32_t s = 0; s < keys.size(); ++s) ++size_[root(s)];
    }

    // Of the orbit that the state stands for; 0: another one does.
    std::uint32_t size(std::uint32_t state) const { return size_[state]; }

  private:
    void join(const PeriodProgram &program, const CellSymmetry &symmetry, const Keys &keys,
              const Poll &poll) {
        std::vector<std::pair<PeriodKey, PeriodKey>> moved; // a bit and what it becomes
        for (std::size_t c = 0; c < program.windows.size(); ++c) {
            const PeriodWindow &from = program.windows[c], &to = program.windows[at(symmetry.column[c])];
            for (std::int64_t cell = -from.last; cell + from.first < 0; ++cell) {
                const std::int64_t image = symmetry.reversed ? -1 - cell : cell;
                if (!to.is_open(image, 0)) return;
                moved.emplace_back(bit(from.slot_of(cell, 0)), bit(to.slot_of(image, 0)));
            }
        }
        PolledSteps steps(poll);
        for (std::uint32_t s = 0; s < keys.size(); ++s) {
            steps.take(static_cast<std::int64_t>(2 * moved.size()) + 32);
            PeriodKey image = 0;
            // Seen from the other end, a column has been used if it had not been.
            for (const auto &[from, to] : moved)
                if (((keys[s] & from) != 0) != symmetry.reversed) image |= to;
            const auto place = std::lower_bound(keys.begin(), keys.end(), image);
            unite(s, static_cast<std::uint32_t>(place - keys.begin()));
        }
    }
    std::uint32_t root(std::uint32_t s) {
        while (parent_[s] != s) s = parent_[s] = parent_[parent_[s]];
        return s;
    }
    void unite(std::uint32_t x, std::uint32_t y) {
        x = root(x);
        y = root(y);
        parent_[std::max(x, y)] = std::min(x, y);
    }

    std::vector<std::uint32_t> parent_, size_;
};

} // namespace

double moves_of(const PeriodLevels &levels) {
    double moves = 0;
    for (const PeriodLevel &level : levels) moves += static_cast<double>(level.moves.size());
    return moves;
}

std::vector<Gaussian> values_of_moves(const PeriodicMatrix &a) {
    std::vector<Gaussian> values = a.values;
    values.insert(values.end(), a.head.values.begin(), a.head.values.end());
    values.insert(values.end(), a.tail.values.begin(), a.tail.values.end());
    values.push_back({1, 0});
    return values;
}

OpenOperator write_operator(const PeriodicMatrix &a, const PeriodProgram &program, const Poll &poll,
                            MemoryAccount *account) {
    Writer writer(a, program, poll, account);
    const Ramps ramps = ramps_of(program);
    OpenOperator out;
    out.least = ramps.up + ramps.down;

    const Extent from_start(a, 0, far);
    writer.stay(1, writer.unit(), out.start);
    Keys first = writer.head({writer.first_key(from_start, 0)}, from_start, out.start);
    for (std::int64_t step = 0; step < ramps.up; ++step)
        first = writer.step(first, from_start, step, out.start);
    const Extent endless(a, -far, 2 * far);
    const Keys keys = closure(writer, endless, first, out.period.levels);
    close_period(out.start, first, keys);

    const Extent to_end(a, -far, far);
    writer.stay(keys.size(), writer.unit(), out.finish);
    const Keys last = writer.to_the_end(keys, to_end, -ramps.down, out.finish);

    // All are reached; those from which the end is, in some number of steps.
    std::vector<bool> wanted = wanted_before(out.finish, std::vector<bool>(last.size(), true), keys.size());
    for (std::size_t before = 0; before != count(wanted);) {
        before = count(wanted);
        const std::vector<bool> more = wanted_before(out.period.levels, wanted, keys.size());
        for (std::size_t s = 0; s < wanted.size(); ++s) wanted[s] = wanted[s] || more[s];
    }
    keep(out.start, {true}, wanted);
    keep(out.period.levels, wanted, wanted);
    keep(out.finish, wanted, std::vector<bool>(last.size(), true));
    out.period.states = count(wanted);
    return out;
}

PeriodLevels write_few(const PeriodicMatrix &a, const PeriodProgram &program, std::int64_t length,
                       const Poll &poll, MemoryAccount *account) {
    Writer writer(a, program, poll, account);
    const Extent extent(a, 0, length);
    PeriodLevels levels;
    writer.stay(1, writer.unit(), levels);
    const Keys first = writer.head({writer.first_key(extent, 0)}, extent, levels);
    writer.to_the_end(first, extent, 0, levels);
    return levels;
}

std::vector<PeriodBlock> loops_of(const PeriodLevels &levels, const Poll &poll) {
    return split(levels, Components(levels, poll));
}

void mark_ones(PeriodLevels &levels, const std::vector<Gaussian> &values) {
    const Gaussian one{1, 0};
    for (PeriodLevel &level : levels)
        level.ones = std::all_of(level.moves.begin(), level.moves.end(),
                                 [&](const TapeMove &move) { return values[move.entry] == one; });
}

std::vector<PeriodBlock> write_loops(const PeriodicMatrix &a, const PeriodProgram &program, const Poll &poll,
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
    Keys keys{0};
    keys.reserve(std::size_t{1} << open.size());
    for (std::size_t k = 0; k < open.size(); ++k) { // ascending, for the slots are
        const std::size_t half = keys.size();
        for (std::size_t s = 0; s < half; ++s) keys.push_back(keys[s] | bit(open[k]));
    }
    Writer writer(a, program, poll, account);
    const Extent endless(a, -far, 2 * far);
    PeriodLevels levels;
    const Keys reached = writer.step(keys, endless, 0, levels);
    close_period(levels, reached, keys);
    const Components components(levels, poll);
    std::vector<PeriodBlock> blocks = split(levels, components);
    // The first of each orbit stands for it.
    const Orbits orbits(a, program, keys, poll);
    std::vector<std::uint32_t> next(blocks.size(), 0);
    for (std::uint32_t s = 0; s < keys.size(); ++s) {
        const std::uint32_t c = components.of(levels.size() - 1, s);
        if (c == Components::none) continue;
        const std::uint32_t state = next[c]++;
        if (orbits.size(s) > 0) blocks[c].starts.push_back({state, orbits.size(s)});
    }
    return blocks;
}

} // namespace libperm
