#include "lib/periodic/answers/periodic_plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/placement.hpp"

#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace libperm {

std::size_t PeriodicPlan::states() const {
    if (tables)
        return static_cast<std::size_t>(joined() ? std::exp2(tables->slots) : tables->states(tables->used));
    std::size_t states = 0;
    for (const PeriodBlock &block : blocks()) states += block.states;
    return states;
}

bool PeriodicPlan::has_ones_alone() const {
    const Gaussian one{1, 0};
    return std::all_of(values.begin(), values.end(), [&](const Gaussian &value) { return value == one; });
}

double PeriodicPlan::moves_of_starts(std::int64_t first, std::int64_t count) const {
    if (!joined()) return moves_of(open.period.levels);
    double moves = 0;
    for (const PeriodBlock &block : loops)
        moves += moves_of(block.levels) * static_cast<double>(block.starts_of(first, count).size());
    return moves;
}

double PeriodicPlan::moves() const {
    if (tables) return tables->moves;
    double moves = 0;
    for (const PeriodBlock &block : blocks()) moves += moves_of(block.levels);
    return moves;
}

std::int64_t PeriodicPlan::order(std::int64_t length) const {
    return length * matrix.rows + matrix.head.rows + matrix.tail.rows;
}

std::int64_t PeriodicPlan::nnz(std::int64_t length) const {
    // Of more cells than rows reach over, each has its entries more.
    const std::int64_t few = std::min(length, 2 * std::int64_t{matrix.reach} + 1);
    if (joined()) {
        std::set<std::array<std::int64_t, 3>> places; // of a short ring some are alike
        for (const PeriodicEntry &e : matrix.entries)
            places.insert({e.row, e.column, (e.cell % few + few) % few});
        return std::ssize(places) * length;
    }
    const PeriodExtent extent(matrix, 0, few);
    std::int64_t count = (length - few) * std::ssize(matrix.entries);
    const auto add = [&](const std::vector<PeriodicEntry> &entries, std::int64_t cell) {
        for (const PeriodicEntry &e : entries) count += extent.has_column(cell + e.cell, e.column);
    };
    for (std::int64_t cell = 0; cell < few; ++cell) add(matrix.entries, cell);
    add(matrix.head.entries, 0);
    add(matrix.tail.entries, few);
    return count;
}

namespace {

// What a move of the operator takes while it is written.
constexpr double bytes_of_move = 28;

// Tells whether two tables have room, here or on a GPU.
bool has_room(const PeriodicPlan &plan) {
    const double bytes = 16 * plan.tables->states(plan.tables->most_used(plan.joined()));
    if (bytes < static_cast<double>(call().memory().limit())) return true;
    if (plan.options.device == Device::cpu) return false;
    const PlanMachine machine(plan.options);
    return machine.has_gpu() && bytes < machine.memory_limit(true);
}

// Refuses an operator before it is written, which may take minutes until memory is at its end.
void require_room(const PeriodicMatrix &a, const PeriodProgram &program, std::int64_t limit) {
    constexpr double margin = 64; // not all sets of columns need be states
    const double bytes = program.moves * bytes_of_move;
    if (a.joined || a.head.is_there() || bytes < margin * static_cast<double>(limit)) return;
    throw refused_for_memory(
        formatted(
            "the operator of a cell is predicted to have {:.2g} moves, with {} columns open at a cut: {}",
            program.moves, program.open_columns(), readable_bytes(bytes)),
        static_cast<double>(limit),
        "take smaller cells, raise the limit (memory_limit_bytes), or ask for a length as a plain matrix "
        "(perm_compute), which may be cut into slices");
}

// Without an operator.
PeriodicPlan plan_of_cell(PeriodicMatrix a, PeriodProgram program, const Options &options) {
    PeriodicPlan plan;
    plan.options = options;
    plan.program = std::move(program);
    plan.matrix = plan.program.transposed ? transposed(a) : std::move(a);
    plan.values = values_of_moves(plan.matrix);
    plan.nonnegative = plan.matrix.is_nonnegative();
    plan.real = plan.matrix.is_real();
    plan.integers = plan.matrix.has_integers();
    return plan;
}

// Where the operator takes more than the limit, or, with open ends, longer to be written than to be applied.
std::optional<PeriodicPlan> plan_of_tables(PeriodicMatrix a, const PeriodProgram &written,
                                           const Options &options) {
    constexpr double soon_written = 2e7; // moves
    const bool fits = written.moves * bytes_of_move < static_cast<double>(call().memory().limit());
    if (fits && (a.joined || written.moves < soon_written)) return {};
    PeriodProgram program = plan_period(a, false);
    PeriodicPlan plan = plan_of_cell(std::move(a), std::move(program), options);
    plan.may_be_written = fits;
    plan.written_bytes = written.moves * bytes_of_move;
    plan.tables = table_program(plan.matrix, plan.program);
    if (!plan.tables || !has_room(plan)) return {};
    return plan;
}

} // namespace

PeriodicPlan make_periodic_plan(PeriodicMatrix a, const Options &options, MayBeTables tables) {
    PeriodProgram program = plan_period(a);
    if (tables == MayBeTables::yes)
        if (std::optional<PeriodicPlan> plan = plan_of_tables(a, program, options)) return *std::move(plan);
    return make_periodic_plan(std::move(a), std::move(program), options);
}

PeriodicPlan make_periodic_plan(PeriodicMatrix a, PeriodProgram program, const Options &options) {
    PeriodicPlan plan = plan_of_cell(std::move(a), std::move(program), options);
    MemoryAccount *account = &call().memory();
    require_room(plan.matrix, plan.program, call().memory().limit());
    if (plan.matrix.joined)
        plan.loops = write_loops(plan.matrix, plan.program, account);
    else {
        plan.open = write_operator(plan.matrix, plan.program, account);
        // To look for them soon takes more than they save.
        constexpr double most_moves = 1e6;
        if (moves_of(plan.open.period.levels) <= most_moves) lump(plan.open, plan.values);
    }
    if (plan.integers) { // else they may be multiples of 1, in whole numbers
        mark_ones(plan.open.period.levels, plan.values);
        for (PeriodBlock &block : plan.loops) mark_ones(block.levels, plan.values);
    }
    return plan;
}

const PeriodicPlan &written_out(const PeriodicPlan &plan) {
    return *plan.written->get([&] {
        PeriodicPlan made = make_periodic_plan(plan.matrix, plan.options);
        made.program.transposed = made.program.transposed != plan.program.transposed; // as the caller has it
        return std::make_shared<const PeriodicPlan>(std::move(made));
    });
}

std::int64_t held_bytes(const PeriodicPlan &plan) {
    std::int64_t bytes = 0;
    const auto add = [&bytes](const PeriodLevels &levels) {
        for (const PeriodLevel &level : levels)
            bytes += static_cast<std::int64_t>(sizeof level + level.first.size() * sizeof level.first[0] +
                                               level.moves.size() * sizeof level.moves[0]);
    };
    add(plan.open.start);
    add(plan.open.finish);
    for (const PeriodBlock &block : plan.blocks()) add(block.levels);
    return bytes;
}

void require_length(const PeriodicPlan &plan, std::int64_t length) {
    const std::int64_t least = plan.joined() ? 1 : 0;
    if (length < least)
        throw Error(PERM_BAD_ARGUMENT, formatted("the length is {}: of {} ends it must be {} or more cells",
                                                 length, plan.joined() ? "joined" : "open", least));
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (length > most)
        throw Error(PERM_BAD_ARGUMENT, formatted("the length is {}: at most 2^62 cells can be", length));
}

} // namespace libperm
