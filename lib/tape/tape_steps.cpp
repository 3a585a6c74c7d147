#include "lib/tape/tape_steps.hpp"

#include "lib/frontier/cost.hpp"
#include "preprocess/frontier_program.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace libperm {
namespace {

// A row's states and moves, with sources numbered as they were found.
struct Row {
    struct Move {
        std::uint32_t target, source, entry;
    };
    std::vector<std::uint64_t> keys; // of the states after it
    std::vector<Move> moves;
};

// Taken, it leaves no trace in the state.
bool is_free(const FrontierTerm &t) { return t.multiplicity > 1; }

// False if there are more than `most` moves left.
bool expand(const FrontierStep &step, const std::vector<std::uint64_t> &before, std::int64_t most,
            const std::function<void()> &poll, Row &row) {
    constexpr std::size_t between_polls = 1 << 12;
    std::uint64_t closing = 0;
    for (const FrontierTerm &t : step.terms)
        if (t.closes && !is_free(t)) closing |= std::uint64_t{1} << t.slot;
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    for (std::size_t s = 0; s < before.size(); ++s) {
        if (s % between_polls == 0) poll();
        for (const FrontierTerm &t : step.terms) {
            const std::uint64_t bit = is_free(t) ? 0 : std::uint64_t{1} << t.slot, used = before[s] | bit;
            if ((before[s] & bit) != 0 || (used & closing) != closing) continue;
            const auto [place, is_new] =
                known.try_emplace(used & ~closing, static_cast<std::uint32_t>(row.keys.size()));
            if (is_new) row.keys.push_back(place->first);
            row.moves.push_back(
                {place->second, static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(t.entry)});
            if (static_cast<std::int64_t>(row.moves.size()) > most) return false;
        }
    }
    return true;
}

constexpr std::int64_t of_a_move = 8; // steps of PolledSteps: to look at, or to compare

// States that the last one is not reached from go, and their moves; the others are numbered by key, so that
// neighbours have neighbours for sources.
void prune(std::vector<Row> &rows, const std::function<void()> &poll) {
    PolledSteps steps(poll);
    std::vector<bool> wanted(1, true);
    for (std::size_t r = rows.size(); r-- > 0;) {
        Row &row = rows[r];
        wanted.resize(row.keys.size());
        std::vector<std::uint32_t> order;
        for (std::uint32_t s = 0; s < row.keys.size(); ++s)
            if (wanted[s]) order.push_back(s);
        std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
            steps.take(of_a_move);
            return row.keys[x] < row.keys[y];
        });
        std::vector<std::uint32_t> number(row.keys.size());
        for (std::uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k;
        const std::size_t sources = r == 0 ? 1 : rows[r - 1].keys.size();
        std::vector<bool> before(sources, false);
        std::erase_if(row.moves, [&](const Row::Move &m) { return !wanted[m.target]; });
        for (Row::Move &m : row.moves) {
            steps.take(of_a_move);
            m.target = number[m.target];
            before[m.source] = true;
        }
        row.keys.resize(order.size());
        if (r + 1 < rows.size())
            for (Row::Move &m : rows[r + 1].moves) m.source = number[m.source];
        wanted = std::move(before);
    }
}

Tape written(std::vector<Row> &rows, std::int64_t nnz, const std::function<void()> &poll) {
    PolledSteps steps(poll);
    Tape tape;
    tape.n = static_cast<std::int32_t>(rows.size());
    tape.nnz = nnz;
    tape.first_state = {0, 1};
    tape.first_move = {0, 0};
    for (Row &row : rows) {
        std::vector<Row::Move> moves = std::exchange(row.moves, {});
        std::sort(moves.begin(), moves.end(), [&](const Row::Move &x, const Row::Move &y) {
            steps.take(of_a_move);
            return x.target != y.target ? x.target < y.target : x.source < y.source;
        });
        std::uint32_t longest = 0;
        for (std::uint32_t s = 0, k = 0; s < row.keys.size(); ++s) {
            const std::uint32_t first = k;
            for (; k < moves.size() && moves[k].target == s; ++k)
                tape.moves.push_back({moves[k].source, moves[k].entry});
            longest = std::max(longest, k - first);
            tape.first_move.push_back(static_cast<std::uint32_t>(tape.moves.size()));
        }
        const auto states = static_cast<std::uint32_t>(row.keys.size());
        tape.first_state.push_back(tape.first_state.back() + states);
        tape.most_states = std::max(tape.most_states, states);
        tape.roundings += longest;
    }
    return tape;
}

} // namespace

namespace {

std::vector<std::int32_t> with_last_equal(std::int32_t lines, std::int32_t free) {
    if (free <= 1) return {};
    std::vector<std::int32_t> lowest(static_cast<std::size_t>(lines));
    std::iota(lowest.begin(), lowest.end(), 0);
    std::fill(lowest.end() - free, lowest.end(), lines - free);
    return lowest;
}

std::array<FrontierSide, 2> sides_of(const TapePattern &pattern) {
    return frontier_sides(pattern.lines, {with_last_equal(pattern.lines.rows, pattern.free_rows),
                                          with_last_equal(pattern.lines.cols, pattern.free_columns)});
}

} // namespace

FrontierOrder find_tape_order(const TapePattern &pattern, std::uint64_t seed,
                              const std::function<void()> &poll, MemoryAccount *account) {
    const Charge charge(account, frontier_planning_bytes(pattern.lines));
    FrontierOrderOptions search;
    search.account = account;
    search.seed = seed;
    if (pattern.has_free()) search.transposed = pattern.free_rows > 0; // free lines are columns to walk past
    search.sparse = search.dense = sparse_price();
    search.budget.least = 0.005; // a tape runs for less
    search.poll = poll;
    return find_frontier_order(sides_of(pattern), search);
}

FrontierProgram tape_program(const TapePattern &pattern, const FrontierOrder &order, int samples) {
    const std::array<FrontierSide, 2> sides = sides_of(pattern);
    const FrontierSide &side = sides[order.transposed ? 1 : 0];
    FrontierProgram program = build_frontier_program(side, order);
    if (samples > 0) estimate_reachable(program, side, order, samples);
    return program;
}

namespace {

// A column without entries leaves too few for the rows, but where any number of these can take the free one.
bool all_are_met(const FrontierProgram &program) {
    std::int32_t left = static_cast<std::int32_t>(program.steps.size()), free = 0;
    for (const FrontierStep &step : program.steps)
        for (const FrontierTerm &t : step.terms) {
            if (is_free(t)) free = t.multiplicity;
            left -= t.closes && !is_free(t);
        }
    return free == 0 || left == free;
}

} // namespace

std::optional<Tape> make_tape(const FrontierProgram &program, const Pattern &pattern, std::int64_t most_moves,
                              const std::function<void()> &poll) {
    if (program.slots > most_tape_slots) return {};
    std::vector<Row> rows;
    std::int64_t left = most_moves;
    std::vector<std::uint64_t> keys;
    if (all_are_met(program)) keys.push_back(0);
    for (const FrontierStep &step : program.steps) {
        rows.emplace_back();
        if (!expand(step, keys, left, poll, rows.back())) return {};
        left -= static_cast<std::int64_t>(rows.back().moves.size());
        keys = rows.back().keys;
    }
    prune(rows, poll);
    Tape tape = written(rows, pattern.nnz(), poll);
    tape.transposed = program.transposed;
    for (std::int32_t i = 0; i < pattern.rows; ++i)
        tape.row.insert(tape.row.end(), pattern.row(i).size(), static_cast<std::uint32_t>(i));
    return tape;
}

} // namespace libperm
