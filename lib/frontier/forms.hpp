// Engine `frontier` in its forms: what they are, what they are given, and who runs them.
#pragma once

#include "jit/number/arithmetic.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/run/call.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/results.hpp"
#include "preprocess/block.hpp"
#include "preprocess/frontier_steps.hpp"

#include <array>
#include <variant>
#include <vector>

namespace libperm {

// By their places among the engine's forms (lib/input/engine.hpp).
// sparse: sorted lists of (state, number), for few reachable states of many columns.
// dense: one number for every subset of the right size, for few columns; no program with counters.
// branches: sorted lists that grow along the branches of a tree and are joined.
enum class FrontierForm { sparse, dense, branches };

inline int number_of(FrontierForm form) { return static_cast<int>(form); }

// Engine `frontier` (docs/frontier.md): rows one at a time, carrying for every reachable set of used open
// columns the sum over all ways to reach it. new[S + j] += a[i,j] old[S]; with m equal columns j, s of them
// in S, new[S + j] += (m - s) a[i,j] old[S].

// Whether the numbers of its states bound their own errors.
bool is_nonnegative(const Block &block);

// The entries of a block as one kind of numbers, kept by reference.
class FrontierInput {
  public:
    FrontierInput(const Block &block) : FrontierInput(block, is_nonnegative(block)) {}
    FrontierInput(const Block &block, bool nonnegative) : entries_(&block), states_(nonnegative) {}
    // The entries stand for the block that they were made from.
    FrontierInput(const WideEntries &entries)
        : entries_(&entries), states_(entries.arithmetic, entries.nonnegative) {}
    // Any number of matrices; on a CPU of primes below 2^62, on a GPU below 2^47.
    FrontierInput(const Residues &residues) : entries_(&residues), states_(Arithmetic::modular) {}

    // What a state carries, of residues for one matrix.
    const StateNumbers &states() const { return states_; }

    const Block *block() const { return get<Block>(); } // null: of another kind
    const WideEntries *wide() const { return get<WideEntries>(); }
    const Residues *residues() const { return get<Residues>(); }

    EngineResult zero() const; // of this kind

  private:
    template <class Entries> const Entries *get() const {
        const auto *entries = std::get_if<const Entries *>(&entries_);
        return entries ? *entries : nullptr;
    }

    std::variant<const Block *, const WideEntries *, const Residues *> entries_;
    StateNumbers states_;
};

class BranchesOnDevice;
class DeviceFrontier;

struct FrontierRun {
    FrontierInput input;
    const FrontierProgram &program;
    MemoryBudget &memory;
    int threads;
    BranchesOnDevice *device = nullptr; // of a program with branches: what does the large joins and steps
    DeviceFrontier *whole = nullptr;    // of a program of rows: what runs it

    FrontierRun of(const FrontierProgram &other) const { return {input, other, memory, threads}; }
};

// On a CPU. Progress is counted in expansions, those of one matrix for any number of them. Throws Error.
EngineResult run_frontier(FrontierForm form, const FrontierRun &run);
// With states that have exponents of their own, in the sparse form; not of residues.
EngineResult run_ranged_frontier(const FrontierRun &run);
// So again, where that is possible, what has underflowed and came to `first`.
EngineResult again_in_range(EngineResult first, const FrontierRun &run);
EngineResult run_sparse_frontier(const FrontierRun &run);
EngineResult run_dense_frontier(const FrontierRun &run);
// Run a program with branches.
EngineResult run_branches(const FrontierRun &run);
EngineResult run_wide_branches(const FrontierRun &run);
int branch_key_words(const FrontierProgram &program); // 0: wider states than it can hold

// 64-bit words in the sparse form's keys on a CPU and on a GPU; 0: wider states than it can hold.
int sparse_key_words(const FrontierProgram &program);
int sparse_device_words(const FrontierProgram &program);
int key_words(FrontierForm form, const FrontierProgram &program); // in doubles; the dense form has none
[[noreturn]] void throw_too_wide(const FrontierProgram &program);

// Bytes of a state's number, and of all tables at their peak.
std::int64_t number_bytes(const StateNumbers &numbers);
double dense_peak_bytes(const FrontierProgram &program, const StateNumbers &numbers);
double sparse_peak_bytes(double peak_states, double peak_candidates, int key_words,
                         const StateNumbers &numbers);

// After a row of the dense form: blocks of its table, low sets that its lists have to name, entries that need
// a list.
struct DenseShape {
    double blocks = 1, low_sets = 1, low_terms = 0;
};
std::vector<DenseShape> dense_shapes(const FrontierProgram &program);
// States of the largest table after the rows 0, 2, 4, ... and after 1, 3, 5, ...: two tables take turns.
std::array<double, 2> largest_tables(const FrontierProgram &program);

} // namespace libperm
