// The solvers: a row for each says its name, what it answers, where it runs and of what kind it is. How those
// that compute blocks propose, run and are saved: lib/plan/engines.hpp. To add one, see CONTRIBUTING.md.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace libperm {

// By the numbers that saved plans write; their order means nothing. none: the structure alone gave the
// answer.
enum class Engine {
    automatic = 0,
    none = 1,
    ryser = 2,
    frontier = 3,
    tree = 4,
    shared = 5,
    dense = 6,
    purereg = 7,
    hybrid = 8,
    glynn = 9,
    periodic = 10,
    tape = 11,
    planar = 12,
    background = 13,
    low_rank = 14,
    ferrers = 15,
    separable = 16,
    bjorklund = 17,
    hermite = 18,
    sieve = 19
};

// What can be asked of a solver.
enum class Goal {
    block,          // the permanent of a block that the reductions leave
    hafnian,        // that of a block whose pattern is one-sided
    dense,          // that of a small dense matrix, from the caller's arrays
    dense_graph,    // the hafnian of such a one, which is symmetric
    counted_graph,  // that of one whose lines repeat
    multiplicities, // that of lines given with multiplicities, exactly
    cells,          // that of a matrix of equal cells
    terms,          // those of any number of cells
    repeated,       // that of a small plan, with other values again and again
    gradient,       // derivatives, which are the minors
    inverse,        // the same, as the inverse of a matrix at its entries
    minors,         // the same of a hafnian, one by one
    marginals,
    samples,
    matchings, // their numbers, by size
    polynomial // the coefficients of a small full matrix's
};

// Of enumerators, 32 at most.
template <class Each> class EnumSet {
  public:
    constexpr EnumSet(std::initializer_list<Each> all) {
        for (const Each one : all) bits_ |= bit(one);
    }
    constexpr bool contains(Each one) const { return (bits_ & bit(one)) != 0; }
    constexpr EnumSet operator|(const EnumSet &others) const { return EnumSet(bits_ | others.bits_); }
    constexpr EnumSet operator~() const { return EnumSet(~bits_); }

  private:
    explicit constexpr EnumSet(std::uint32_t bits) : bits_(bits) {}
    static constexpr std::uint32_t bit(Each one) { return std::uint32_t{1} << static_cast<int>(one); }

    std::uint32_t bits_ = 0;
};

// One of the ways in which an engine computes, where it has several; saved plans write its place.
struct EngineForm {
    const char *name;
    bool has_tree = false;   // it follows a tree, which is shown; others follow a path
    bool mostly_cut = false; // where work is cut it is in this form, unless another is named
};

struct EngineFacts {
    Engine id;
    const char *name;
    EnumSet<Goal> goals;
    Engine named = id;                   // by callers who ask for it, and by results
    bool on_cpu = false, on_gpu = false; // where it runs
    bool sums_subsets = false;           // 2^(n-1) terms, which cancel; it is given A^T where that is better
    bool has_kernel = false;             // written for the block (jit/kernel/subsets.hpp)
    bool kernel_by_order = false;        // which is the same for all blocks of one order
    bool distributes = false;            // products over sums: fewer operations a subset than multiplying out
    bool transfers_states = false;       // from row to row
    std::span<const EngineForm> forms = {}; // none: it has but one
};

inline constexpr std::array frontier_forms{EngineForm{.name = "sparse"},
                                           EngineForm{.name = "dense", .mostly_cut = true},
                                           EngineForm{.name = "branches", .has_tree = true}};

// Of two rows with one goal the first names it, where no prices decide.
inline constexpr std::array engine_facts{
    EngineFacts{.id = Engine::automatic, .name = "auto", .goals = {}, .on_cpu = true, .on_gpu = true},
    EngineFacts{.id = Engine::none, .name = "none", .goals = {}},
    EngineFacts{.id = Engine::glynn,
                .name = "glynn",
                .goals = {Goal::dense, Goal::polynomial},
                .on_cpu = true,
                .sums_subsets = true},
    EngineFacts{.id = Engine::periodic, .name = "periodic", .goals = {Goal::cells}, .on_cpu = true},
    EngineFacts{.id = Engine::tape,
                .name = "tape",
                .goals = {Goal::repeated, Goal::gradient, Goal::marginals, Goal::samples},
                .named = Engine::frontier,
                .on_cpu = true,
                .on_gpu = true,
                .transfers_states = true},
    EngineFacts{.id = Engine::ryser,
                .name = "ryser",
                .goals = {Goal::block, Goal::multiplicities, Goal::matchings},
                .on_cpu = true,
                .sums_subsets = true},
    EngineFacts{.id = Engine::planar,
                .name = "planar",
                .goals = {Goal::block, Goal::hafnian, Goal::gradient, Goal::inverse, Goal::marginals},
                .on_cpu = true},
    EngineFacts{.id = Engine::background, .name = "background", .goals = {Goal::block}, .on_cpu = true},
    EngineFacts{.id = Engine::low_rank, .name = "low_rank", .goals = {Goal::block}, .on_cpu = true},
    EngineFacts{.id = Engine::ferrers, .name = "ferrers", .goals = {Goal::block}, .on_cpu = true},
    EngineFacts{.id = Engine::separable, .name = "separable", .goals = {Goal::block}, .on_cpu = true},
    EngineFacts{.id = Engine::sieve, .name = "sieve", .goals = {Goal::block}, .on_cpu = true, .on_gpu = true},
    EngineFacts{.id = Engine::hermite,
                .name = "hermite",
                .goals = {Goal::hafnian, Goal::counted_graph},
                .on_cpu = true},
    EngineFacts{.id = Engine::frontier,
                .name = "frontier",
                .goals = {Goal::block, Goal::hafnian, Goal::terms},
                .on_cpu = true,
                .on_gpu = true,
                .transfers_states = true,
                .forms = frontier_forms},
    EngineFacts{.id = Engine::bjorklund,
                .name = "bjorklund",
                .goals = {Goal::hafnian, Goal::dense_graph, Goal::minors},
                .on_cpu = true,
                .on_gpu = true},
    EngineFacts{.id = Engine::tree,
                .name = "tree",
                .goals = {Goal::block},
                .on_cpu = true,
                .on_gpu = true,
                .sums_subsets = true,
                .has_kernel = true,
                .distributes = true},
    EngineFacts{.id = Engine::shared,
                .name = "shared",
                .goals = {Goal::block},
                .on_gpu = true,
                .sums_subsets = true,
                .has_kernel = true},
    EngineFacts{.id = Engine::dense,
                .name = "dense",
                .goals = {Goal::block},
                .on_gpu = true,
                .sums_subsets = true,
                .has_kernel = true,
                .kernel_by_order = true},
    EngineFacts{.id = Engine::purereg,
                .name = "purereg",
                .goals = {Goal::block},
                .on_gpu = true,
                .sums_subsets = true,
                .has_kernel = true},
    EngineFacts{.id = Engine::hybrid,
                .name = "hybrid",
                .goals = {Goal::block},
                .on_gpu = true,
                .sums_subsets = true,
                .has_kernel = true},
};

const EngineFacts &facts_of(Engine engine);

inline const char *engine_name(Engine engine) { return facts_of(engine).name; }
std::optional<Engine> engine_named(std::string_view name);  // that a plan can be made with
std::optional<Engine> engine_numbered(std::int32_t number); // that a plan can hold, or what it asks for
Engine engine_for(Goal goal);                               // as results name it
inline bool sums_subsets(Engine engine) { return facts_of(engine).sums_subsets; }
inline bool has_kernel(Engine engine) { return facts_of(engine).has_kernel; }
inline bool computes_blocks(Engine engine) {
    const EnumSet<Goal> &goals = facts_of(engine).goals;
    return goals.contains(Goal::block) || goals.contains(Goal::hafnian);
}
inline bool needs_gpu(Engine engine) { return facts_of(engine).on_gpu && !facts_of(engine).on_cpu; }

} // namespace libperm
