// Engine `frontier` (DESIGN §5): rows one at a time, carrying for every reachable set of used open columns
// the sum over all ways to reach it. new[S + j] += a[i,j] old[S]; with m equal columns j, s of them in S,
// new[S + j] += (m - s) a[i,j] old[S].
#pragma once

#include "jit/number/state_numbers.hpp"
#include "lib/number/residues.hpp"
#include "lib/number/wide_entries.hpp"
#include "lib/run/memory_budget.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/block.hpp"
#include "preprocess/frontier_program.hpp"

#include <array>
#include <vector>

namespace libperm {

// sparse: sorted lists of (state, number), for few reachable states of many columns.
// dense: one number for every subset of the right size, for few columns; no program with counters.
enum class FrontierForm { sparse, dense };

const char *form_name(FrontierForm form);

template <class Input> struct FrontierRunOf {
    const Input &input;
    const FrontierProgram &program;
    RunControl &control;
    MemoryBudget &memory;
    int threads;

    FrontierRunOf of(const FrontierProgram &other) const { return {input, other, control, memory, threads}; }
};

using FrontierRun = FrontierRunOf<Block>;
using WideFrontierRun = FrontierRunOf<WideEntries>; // of the block that the entries were made from
using ResidueFrontierRun = FrontierRunOf<Residues>; // any number of matrices; on a CPU of primes below 2^62

// Whether the numbers of its states bound their own errors.
bool is_nonnegative(const Block &block);

// Progress is counted in expansions, those of one matrix for any number of them. Throws Error.
Outcome run_frontier(FrontierForm form, const FrontierRun &run);
Outcome run_frontier(FrontierForm form, const WideFrontierRun &run);

// The permanents modulo the primes; what it took is added to `counts`, if asked for.
std::vector<std::uint64_t> run_frontier_residues(FrontierForm form, const ResidueFrontierRun &run,
                                                 Outcome *counts = nullptr);

Outcome run_sparse_frontier(const FrontierRun &run, bool nonnegative);
Outcome run_dense_frontier(const FrontierRun &run, bool nonnegative);
Outcome run_sparse_frontier(const WideFrontierRun &run);
Outcome run_dense_frontier(const WideFrontierRun &run);
std::vector<std::uint64_t> run_sparse_frontier(const ResidueFrontierRun &run, Outcome &counts);
std::vector<std::uint64_t> run_dense_frontier(const ResidueFrontierRun &run, Outcome &counts);

// For the planner: 64-bit words in the sparse form's keys, bytes of a state's number, of all tables at their
// peak.
// 0: wider states than the sparse form can hold.
int sparse_key_words(const FrontierProgram &program, Arithmetic arithmetic = Arithmetic::real);
[[noreturn]] void throw_too_wide(const FrontierProgram &program);
std::int64_t number_bytes(const StateNumbers &numbers);

// After a row of the dense form: blocks of its table, low sets that its lists have to name, entries that need
// a list.
struct DenseShape {
    double blocks = 1, low_sets = 1, low_terms = 0;
};
std::vector<DenseShape> dense_shapes(const FrontierProgram &program);
// States of the largest table after the rows 0, 2, 4, ... and after 1, 3, 5, ...: two tables take turns.
std::array<double, 2> largest_tables(const FrontierProgram &program);
double dense_peak_bytes(const FrontierProgram &program, const StateNumbers &numbers);
double sparse_peak_bytes(double peak_states, double peak_candidates, int key_words,
                         const StateNumbers &numbers);

} // namespace libperm
