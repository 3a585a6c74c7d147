// From a program to a tape: all states are met once, and what no perfect matching goes through is left out.

#include "jit/program/tape.hpp"
#include "lib/frontier/join_rows.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/tape/tape_steps.hpp"
#include "preprocess/limits.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace libperm {

// The moves of a join: which states of two lists go together, and what they come to
// (preprocess/frontier_steps.hpp).

// A list of states while a tape is made.
template <int Words> struct ListOfStates {
    using Key = StateKey<Words>;
    struct Move {
        std::uint32_t target, source, entry;
    };

    TapeList from;
    std::vector<Key> keys;
    std::vector<Move> moves;
    std::uint32_t states = 0; // that are left
    std::int32_t next = -1;   // the list that they lead to
};

// Row by row, as numbers are joined: the states of a row agree in the lines that stay, and in what the left
// side has alone. Keys ascend.
template <int Words> class TapeJoin {
    using List = ListOfStates<Words>;
    using Key = StateKey<Words>;

  public:
    TapeJoin(const FrontierJoin &join, const List &left, const List &right, PolledSteps &steps)
        : steps_(steps),
          join_(join),
          memory_(std::numeric_limits<std::int64_t>::max()), // what a tape may take is said in moves
          room_(memory_),
          left_(memory_, room_, false),
          right_(memory_, room_, false) {
        list(left_, left.keys, 0);
        list(right_, right.keys, 1);
        number_.assign(right_.ranks, none);
    }

    // False if there are more than `most` moves.
    bool run(std::int64_t most, List &to) {
        JoinOrder order;
        order.begin(left_.groups, right_.groups, join_.closing, join_.staying, false);
        std::uint64_t pattern = 0;
        std::vector<GroupPair> pairs;
        while (order.next(pattern, pairs)) {
            std::int64_t products = 0;
            for (const GroupPair &p : pairs)
                products += size_of(left_.groups[p.left]) * size_of(right_.groups[p.right]);
            steps_.take(64);
            if (products > most - std::ssize(to.moves)) return false;
            add_rows(pattern, pairs, to);
        }
        return true;
    }

  private:
    struct RowItem {
        std::uint32_t rank, left; // of the left state, and its place
        std::uint32_t right;      // group
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    using Side = JoinSide<Words, std::uint32_t>; // with the states' places as their values

    void list(Side &side, const std::vector<Key> &keys, std::size_t which) {
        steps_.take(64 * std::ssize(keys));
        const JoinLines lines{join_.runs[which], join_.rows[which], join_.alone[which],
                              join_.closing + join_.staying};
        side.begin(keys.data(), keys.size(), lines);
        side.fill_list([](std::size_t k) { return static_cast<std::uint32_t>(k); });
    }

    static std::int64_t size_of(const PatternGroup &g) { return static_cast<std::int64_t>(g.end - g.begin); }

    void add_rows(std::uint64_t pattern, const std::vector<GroupPair> &pairs, List &to) {
        items_.clear();
        for (const GroupPair &p : pairs)
            for (std::size_t k = left_.groups[p.left].begin; k < left_.groups[p.left].end; ++k)
                items_.push_back({left_.rank.data()[k], static_cast<std::uint32_t>(k), p.right});
        std::stable_sort(items_.begin(), items_.end(),
                         [](const RowItem &x, const RowItem &y) { return x.rank < y.rank; });
        for (std::size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
            while (end < items_.size() && items_[end].rank == items_[begin].rank) ++end;
            add_row(row_key_of(join_, pattern, left_.own.data()[items_[begin].rank]), begin, end, to);
        }
    }

    void add_row(const Key &row, std::size_t begin, std::size_t end, List &to) {
        const auto before = std::ssize(to.moves);
        met_.clear();
        for_each(begin, end, [&](const RowItem &, std::size_t k) {
            std::uint32_t &number = number_[right_.rank.data()[k]];
            if (number == none) met_.push_back(right_.rank.data()[k]);
            number = 0;
        });
        std::sort(met_.begin(), met_.end());
        for (const std::uint32_t rank : met_) {
            number_[rank] = static_cast<std::uint32_t>(to.keys.size());
            to.keys.push_back(row | right_.own.data()[rank]);
        }
        for_each(begin, end, [&](const RowItem &item, std::size_t k) {
            to.moves.push_back(
                {number_[right_.rank.data()[k]], left_.values.data()[item.left], right_.values.data()[k]});
        });
        for (const std::uint32_t rank : met_) number_[rank] = none;
        steps_.take(8 * std::ssize(met_) + 4 * (std::ssize(to.moves) - before));
    }

    template <class Work> void for_each(std::size_t begin, std::size_t end, const Work &work) const {
        for (std::size_t i = begin; i < end; ++i) {
            const PatternGroup &group = right_.groups[items_[i].right];
            for (std::size_t k = group.begin; k < group.end; ++k) work(items_[i], k);
        }
    }

    PolledSteps &steps_;
    const FrontierJoin &join_;
    MemoryBudget memory_;
    JoinRoom<Words> room_;
    Side left_, right_;
    std::vector<RowItem> items_;
    std::vector<std::uint32_t> met_, number_; // ranks of a row; of each rank in it the state
};

namespace {

constexpr std::int64_t of_a_move = 8, of_a_list = 200; // steps of PolledSteps: to look at, or to compare

// The place of each key in a list of them, which grows by those that are new.
template <int Words> class PlacesOfKeys {
    using Key = StateKey<Words>;

  public:
    explicit PlacesOfKeys(std::vector<Key> &keys) : keys_(keys), slots_(64, none) {}

    std::uint32_t of(const Key &key) {
        std::size_t slot = first_slot(key);
        for (; slots_[slot] != none; slot = (slot + 1) & (slots_.size() - 1))
            if (keys_[slots_[slot]] == key) return slots_[slot];
        const auto place = static_cast<std::uint32_t>(keys_.size());
        slots_[slot] = place;
        keys_.push_back(key);
        if (2 * keys_.size() > slots_.size()) grow();
        return place;
    }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    std::size_t first_slot(const Key &key) const {
        constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
        std::uint64_t hash = 0;
        for (std::size_t w = 0; w < Words; ++w) hash = (hash ^ key.word[w]) * golden;
        return static_cast<std::size_t>(hash >> 20) & (slots_.size() - 1);
    }
    void grow() {
        slots_.assign(4 * slots_.size(), none);
        for (std::uint32_t place = 0; place < keys_.size(); ++place) {
            std::size_t slot = first_slot(keys_[place]);
            while (slots_[slot] != none) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = place;
        }
    }

    std::vector<Key> &keys_;
    std::vector<std::uint32_t> slots_;
};

template <int Words> class TapeMaker {
    using List = ListOfStates<Words>;
    using Key = StateKey<Words>;
    using Move = typename List::Move;

  public:
    TapeMaker(const FrontierProgram &program, const Pattern &pattern, std::int64_t most_moves)
        : program_(program), pattern_(pattern), left_(most_moves) {
        poll();
    }

    std::optional<Tape> run() {
        if (!(program_.branches.empty() ? meet_path() : meet_branches())) return {};
        prune();
        return written();
    }

  private:
    // Taken, it leaves no trace in the state.
    static bool is_free(const FrontierTerm &t) { return t.multiplicity > 1; }
    static Key bits_of_term(const FrontierTerm &t) {
        if (is_free(t) || t.entry < 0) return {};
        return t.other_slot < 0 ? Key::slot(t.slot) : Key::slot(t.slot) | Key::slot(t.other_slot);
    }

    bool meet_path() {
        begin(all_are_met());
        return meet_steps(program_.steps);
    }

    bool meet_branches() {
        std::vector<std::int32_t> last_of; // of each branch
        const bool possible = none_is_empty();
        for (const FrontierBranch &branch : program_.branches) {
            if (branch.joined[0] < 0)
                begin(possible);
            else if (!meet_join(branch.join, last_of[static_cast<std::size_t>(branch.joined[0])],
                                last_of[static_cast<std::size_t>(branch.joined[1])]))
                return false;
            const std::span steps(program_.steps);
            if (!meet_steps(steps.subspan(static_cast<std::size_t>(branch.first),
                                          static_cast<std::size_t>(branch.last - branch.first))))
                return false;
            last_of.push_back(last());
        }
        return true;
    }

    // A column without entries leaves too few for the rows, but where any number of these can take the free
    // one.
    bool all_are_met() const {
        std::int32_t left = static_cast<std::int32_t>(program_.steps.size()), free = 0;
        for (const FrontierStep &step : program_.steps)
            for (const FrontierTerm &t : step.terms) {
                if (is_free(t)) free = t.multiplicity;
                left -= t.closes && !is_free(t);
            }
        return free == 0 || left == free;
    }

    // Tells whether all lines have entries: on a tree they are met by these alone.
    bool none_is_empty() const {
        std::vector<bool> met(static_cast<std::size_t>(pattern_.lines()), false);
        for (std::int32_t i = 0; i < pattern_.rows; ++i)
            for (const std::int32_t j : pattern_.row(i))
                met[static_cast<std::size_t>(i)] = met[static_cast<std::size_t>(pattern_.line_of_column(j))] =
                    true;
        return std::find(met.begin(), met.end(), false) == met.end();
    }

    std::int32_t last() const { return static_cast<std::int32_t>(lists_.size()) - 1; }
    List &list(std::int32_t l) { return lists_[static_cast<std::size_t>(l)]; }

    void begin(bool possible) {
        lists_.emplace_back();
        if (possible) lists_.back().keys.push_back({});
    }

    bool meet_steps(std::span<const FrontierStep> steps) {
        for (const FrontierStep &step : steps) {
            List to;
            to.from.before = last();
            list(last()).next = last() + 1;
            if (!meet_step(step, lists_.back().keys, to)) return false;
            left_ -= std::ssize(to.moves);
            lists_.push_back(std::move(to));
        }
        return true;
    }

    // False if there are more than `left_` moves.
    bool meet_step(const FrontierStep &step, const std::vector<Key> &before, List &to) {
        Key closing;
        for (const FrontierTerm &t : step.terms) {
            if (t.closes && !is_free(t)) closing = closing | Key::slot(t.slot);
            if (t.other_closes) closing = closing | Key::slot(t.other_slot);
        }
        struct Term {
            Key bits;
            std::uint32_t entry;
        };
        std::vector<Term> terms;
        for (const FrontierTerm &t : step.terms)
            terms.push_back(
                {bits_of_term(t), static_cast<std::uint32_t>(t.entry < 0 ? pattern_.nnz() : t.entry)});
        PlacesOfKeys<Words> places(to.keys);
        steps_.take(of_a_list);
        for (std::size_t s = 0; s < before.size(); ++s) {
            steps_.take(2 * of_a_move * std::ssize(terms));
            for (const Term &t : terms) {
                const Key used = before[s] | t.bits;
                if (before[s].meets(t.bits) || !used.shows(closing, closing)) continue;
                to.moves.push_back({places.of(used ^ closing), static_cast<std::uint32_t>(s), t.entry});
            }
            if (std::ssize(to.moves) > left_) return false;
        }
        return true;
    }

    bool meet_join(const FrontierJoin &join, std::int32_t left, std::int32_t right) {
        List to;
        to.from = {left, right};
        list(left).next = list(right).next = last() + 1;
        if (!TapeJoin<Words>(join, list(left), list(right), steps_).run(left_, to)) return false;
        left_ -= std::ssize(to.moves);
        lists_.push_back(std::move(to));
        return true;
    }

    // States that the last one is not reached from go, and their moves; the others are numbered by key, so
    // that neighbours have neighbours for sources.
    void prune() {
        std::vector<std::vector<bool>> wanted(lists_.size());
        wanted.back().assign(1, true);
        for (std::int32_t l = last(); l >= 0; --l) {
            List &of = list(l);
            std::vector<bool> &mine = wanted[static_cast<std::size_t>(l)];
            mine.resize(of.keys.size());
            std::vector<std::uint32_t> order;
            for (std::uint32_t s = 0; s < of.keys.size(); ++s)
                if (mine[s]) order.push_back(s);
            std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
                steps_.take(of_a_move);
                return of.keys[x] < of.keys[y];
            });
            std::vector<std::uint32_t> number(of.keys.size());
            for (std::uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k;
            std::erase_if(of.moves, [&](const Move &m) { return !mine[m.target]; });
            mark_sources(of, number, wanted);
            of.states = static_cast<std::uint32_t>(order.size());
            of.keys = {};
            if (of.next >= 0) renumber(list(of.next), l, number);
            mine = {};
        }
    }

    void mark_sources(List &of, const std::vector<std::uint32_t> &number,
                      std::vector<std::vector<bool>> &wanted) {
        const auto marks_of = [&](std::int32_t l) -> std::vector<bool> & {
            std::vector<bool> &marks = wanted[static_cast<std::size_t>(l)];
            marks.resize(list(l).keys.size());
            return marks;
        };
        if (of.from.begins()) return;
        std::vector<bool> &before = marks_of(of.from.before);
        std::vector<bool> *const other = of.from.is_join() ? &marks_of(of.from.other) : nullptr;
        for (Move &m : of.moves) {
            steps_.take(of_a_move);
            m.target = number[m.target];
            before[m.source] = true;
            if (other) (*other)[m.entry] = true;
        }
    }

    static void renumber(List &next, std::int32_t source, const std::vector<std::uint32_t> &number) {
        if (next.from.before == source)
            for (Move &m : next.moves) m.source = number[m.source];
        else
            for (Move &m : next.moves) m.entry = number[m.entry];
    }

    Tape written() {
        Tape tape;
        tape.n = pattern_.rows;
        tape.nnz = pattern_.nnz();
        tape.is_path = program_.branches.empty();
        tape.transposed = program_.transposed;
        tape.first_state = tape.first_move = {0};
        std::size_t moves = 0;
        for (const List &of : lists_) moves += of.moves.size();
        tape.moves.reserve(moves);
        for (List &of : lists_) write(of, tape);
        for (std::int32_t i = 0; i < pattern_.rows; ++i)
            tape.row.insert(tape.row.end(), pattern_.row(i).size(), static_cast<std::uint32_t>(i));
        return tape;
    }

    // Writes moves by target, and those of each by source.
    void write(List &of, Tape &tape) {
        steps_.take(of_a_list);
        tape.lists.push_back(of.from);
        if (of.from.begins()) of.states = 1;
        const std::vector<Move> moves = std::exchange(of.moves, {});
        const std::size_t first = tape.first_move.size(), begin = tape.moves.size();
        tape.first_move.resize(first + of.states, 0);
        std::vector<std::uint32_t> next(of.states + 1, static_cast<std::uint32_t>(begin));
        std::uint32_t *const ends = tape.first_move.data() + first;
        for (const Move &m : moves) ++ends[m.target];
        for (std::uint32_t s = 0; s < of.states; ++s) ends[s] = next[s + 1] = next[s] + ends[s];
        tape.moves.resize(begin + moves.size());
        for (const Move &m : moves) tape.moves[next[m.target]++] = {m.source, m.entry};
        std::uint32_t longest = 0;
        for (auto place = tape.moves.begin() + static_cast<std::ptrdiff_t>(begin);
             const std::uint32_t end : std::span(ends, of.states)) {
            const auto last = tape.moves.begin() + end;
            steps_.take(of_a_move * (last - place));
            std::sort(place, last, [](const TapeMove &x, const TapeMove &y) { return x.source < y.source; });
            longest = std::max(longest, static_cast<std::uint32_t>(last - place));
            place = last;
        }
        tape.first_state.push_back(tape.first_state.back() + of.states);
        tape.most_states = std::max(tape.most_states, of.states);
        tape.roundings += longest;
    }

    const FrontierProgram &program_;
    const Pattern &pattern_;
    std::int64_t left_; // moves
    PolledSteps steps_;
    std::vector<List> lists_;
};

} // namespace

std::optional<Tape> make_tape(const FrontierProgram &program, const Pattern &pattern,
                              std::int64_t most_moves) {
    if (program.slots > most_tape_slots) return {};
    return program.slots <= 64 ? TapeMaker<1>(program, pattern, most_moves).run()
                               : TapeMaker<2>(program, pattern, most_moves).run();
}

} // namespace libperm
