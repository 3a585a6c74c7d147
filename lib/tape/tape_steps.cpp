#include "lib/tape/tape_steps.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/number/doubles.hpp"
#include "preprocess/branch_program.hpp"
#include "preprocess/branch_search.hpp"
#include "preprocess/matching.hpp"

#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace libperm {
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

FrontierOrder find_tape_order(const TapePattern &pattern, std::uint64_t seed, MemoryAccount *account,
                              double most_moves) {
    const Charge charge(account, frontier_planning_bytes(pattern.lines));
    FrontierOrderOptions search;
    search.account = account;
    search.seed = seed;
    if (pattern.has_free()) search.transposed = pattern.free_rows > 0; // free lines are columns to walk past
    search.sparse = search.dense = sparse_price();
    search.budget.least = 0.005;    // a tape runs for less
    constexpr double hopeless = 10; // times the limit is what the search gives up
    search.limit_seconds =
        std::min(1e300, most_moves / hopeless * (search.sparse.expansion + search.sparse.state));
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

constexpr double move_bytes = 48;           // while a tape is made, the states' share among it
constexpr double misjudged = 4;             // times what is expected, at most
constexpr double whole_move_seconds = 1e-7; // to make it, and to go along it some times

[[noreturn]] void refuse_memory(const char *who, double moves, std::int64_t limit) {
    throw Error(PERM_REFUSED_MEMORY,
                formatted("{} keeps all states of the frontier and the ways between them, here about "
                          "{:.3g} ways and {}; {} is the limit\n  raise the limit: memory_limit_bytes",
                          who, moves, readable_bytes(moves * move_bytes),
                          readable_bytes(static_cast<double>(limit))));
}

// A program, and how many moves its tape is going to have.
struct TapeWay {
    FrontierProgram program;
    double expected = infinity, certain = infinity; // at least
};

class LongTape {
  public:
    LongTape(const TapePattern &pattern, const Options &options, double most_moves)
        : pattern_(pattern), options_(options), most_moves_(most_moves) {}

    // None: there is no program within reach.
    std::optional<TapeWay> find(double far) {
        // A graph has no rows to go along.
        if (pattern_.lines.one_sided) return on_tree(misjudged * most_moves_);
        std::optional<TapeWay> way = path(far_moves);
        const double moves = moves_of(way);
        if (moves < worth_a_search || !may_branch()) return way;
        if (way && is_too_long(*way) && moves < far) return way;
        std::optional<TapeWay> branches = on_tree(std::min(moves, dear * most_moves_));
        const bool given_up = moves > far_moves && moves < within_reach * most_moves_;
        if (given_up && moves_of(branches) >= as_good * moves) way = path(infinity);
        return moves_of(branches) < as_good * moves_of(way) ? std::move(branches) : std::move(way);
    }

    bool is_too_long(const TapeWay &way) const {
        return way.expected > misjudged * most_moves_ || way.certain > most_moves_;
    }

  private:
    static constexpr std::int32_t fewest_rows = 24; // below, a path is as good and found at once
    static constexpr double worth_a_search = 1e5;   // moves: fewer are not
    static constexpr double far_moves = 1e9;        // a path of more is left alone if there is a tree
    static constexpr double dear = 32;              // times what it may have: not worth a long search
    static constexpr double within_reach = 1000;    // times what it may have, a long search may still help
    static constexpr double as_good = 0.5;          // of a path's moves: it stays where a tree takes more
    static constexpr double of_a_list = 1e-6;       // seconds, whatever its states

    static double moves_of(const std::optional<TapeWay> &way) { return way ? way->expected : infinity; }

    bool may_branch() const { return pattern_.lines.rows >= fewest_rows && !pattern_.has_free(); }

    std::optional<TapeWay> path(double most) {
        constexpr int samples = 100;
        constexpr double three_deviations = 0.15; // of a share that so many samples tell
        if (!pattern_.has_free())
            if (const double least = least_frontier(pattern_.lines).expansions; least > most_moves_)
                return TapeWay{{}, least, least};
        const FrontierOrder order = find_tape_order(pattern_, options_.seed, &call().memory(), most);
        if (!order.feasible) return {};
        const double seconds = (sparse_price().expansion + sparse_price().state) * most_moves_;
        const bool in_reach = order.seconds < within_reach * seconds;
        TapeWay way{tape_program(pattern_, order, in_reach ? samples : 0), 0, 0};
        for (const FrontierStep &step : way.program.steps) {
            way.expected += step.expansions_bound * step.reachable;
            way.certain += step.expansions_bound * std::max(0.0, step.reachable - three_deviations);
        }
        return way;
    }

    // Where another way has so many moves.
    std::optional<TapeWay> on_tree(double other_moves) {
        BranchSearchOptions search;
        search.seed = options_.seed;
        search.price = {whole_move_seconds, whole_move_seconds, whole_move_seconds, of_a_list};
        search.most_states = most_moves_; // there are more moves than states
        search.other_seconds = std::min(other_moves * whole_move_seconds, 1e300);
        search.account = &call().memory();
        const std::optional<FoundBranches> found = find_branches(pattern_.lines, search);
        return found ? on_tree(*found) : std::nullopt;
    }

    std::optional<TapeWay> on_tree(const FoundBranches &found) {
        BranchProgram built = build_branch_program(pattern_.lines, found.tree);
        if (!built.feasible || built.program.slots > most_tape_slots) return {};
        TapeWay way{std::move(built.program), 0, 0};
        for (const FrontierStep &step : way.program.steps) way.expected += step.expansions_bound;
        for (const FrontierBranch &branch : way.program.branches)
            if (branch.joined[0] >= 0) way.expected += branch.join.products_bound;
        return way;
    }

    const TapePattern &pattern_;
    const Options &options_;
    const double most_moves_;
};

// Of what has no perfect matching.
Tape without_moves(const Pattern &a) {
    Tape tape;
    tape.n = a.rows;
    tape.nnz = a.nnz();
    tape.lists = {{}};
    tape.first_state = {0, 1};
    tape.first_move = {0, 0};
    return tape;
}

} // namespace

std::int64_t bytes_of(const Tape &tape) {
    return static_cast<std::int64_t>(tape.moves.size() * sizeof(TapeMove) +
                                     tape.first_move.size() * sizeof(std::uint32_t) +
                                     tape.lists.size() * sizeof(TapeList));
}

Tape long_tape(const TapePattern &pattern, const Options &options, const char *who, const TapeWish &wish) {
    const std::int64_t limit = options.memory_limit;
    const double most_moves =
        std::min({static_cast<double>(limit) / move_bytes, 0x1p32 - 2, wish.most_moves});
    if (pattern.lines.one_sided && !has_perfect_matching(pattern.lines)) return without_moves(pattern.lines);
    std::optional<Tape> tape;
    with_threads(options.threads, [&] {
        LongTape search(pattern, options, most_moves);
        const std::optional<TapeWay> way = search.find(wish.far_moves);
        if (!way)
            throw Error(PERM_REFUSED_MEMORY, formatted("{} keeps all states of the frontier: more than "
                                                       "2^{} of them in any order of the lines",
                                                       who, frontier_out_of_reach));
        if (search.is_too_long(*way)) refuse_memory(who, way->expected, limit);
        if (way->program.slots > most_tape_slots)
            throw Error(PERM_UNSUPPORTED,
                        formatted("{}'s states are written in {} bits, and here {} columns are open "
                                  "at once",
                                  who, most_tape_slots, way->program.slots));
        tape = make_tape(way->program, pattern.lines, static_cast<std::int64_t>(most_moves));
        if (!tape) refuse_memory(who, std::max(way->expected, most_moves), limit);
    });
    return *std::move(tape);
}

} // namespace libperm
