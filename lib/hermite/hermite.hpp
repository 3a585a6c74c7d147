// Engine `hermite`: hafnians of lines that repeat, over how many lines of each kind are matched
// (lib/hermite/hermite.cpp has the recurrence).
#pragma once

#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/pattern.hpp"
#include "preprocess/repeated_lines.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

class Proposals;

// In which order the kinds of equal lines are taken.
class HermitePlan final : public EnginePlan {
  public:
    // The largest come first: what is left is a table of the counts of all others.
    std::vector<EqualLines> kinds;
    // Entries of the block, -1 where there is none: of each kind's lines their loop; by pairs of kinds, of a
    // line with another of the same kind on the diagonal.
    std::vector<std::int64_t> loops, edges;
    EntriesRead read; // these

    std::size_t size() const { return kinds.size(); }
    std::int64_t edge(std::size_t i, std::size_t j) const { return edges[i * size() + j]; }
    std::int64_t bytes() const override;
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
};

// Counts of the kinds behind the first, each from 0 to all of them; infinity is possible.
double hermite_states(const std::vector<EqualLines> &kinds);
constexpr double hermite_most_states = 0x1p40; // plans of more are not made

// Kinds by descending counts.
std::vector<EqualLines> hermite_order(const Pattern &a, const LineClasses &kinds);
HermitePlan plan_hermite(const Pattern &a, const LineClasses &kinds);
// The graph has one line of a kind that counts once, of others two, one behind the other.
HermitePlan plan_hermite(const Pattern &a, std::vector<EqualLines> kinds);

// While a kind is taken, the last of those behind it are a block of the table: from that on which begins it.
// In a block every count is gone through, of what lies before only those that lines taken can have used.
std::size_t first_of_block(const std::vector<EqualLines> &kinds, std::size_t taken);

// Tables that are there at once while the first kind is taken.
int hermite_tables(const HermitePlan &plan);
double hermite_operations(const HermitePlan &plan);

// In all kinds of numbers that there are. Lines that the plan takes for equal have equal values; a Block is
// scaled, and of an exact one `scaled` says whether it is to be. The bits are those of any number of threads.
// Progress is counted in multiply-adds, those of one matrix for any number of residues.
EngineResult run_hermite(const HermitePlan &plan, const EngineInput &input, bool scaled = true);
EngineResult run_hermite(const EngineRun &run, const EngineInput &input); // the chosen candidate

// Straight from a graph's values, in doubles or complex numbers.
DoublesHafnian hafnian_of_doubles(const HermitePlan &plan, const DoublesGraph &graph);

void propose_hermite(Proposals &task, Engine self);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_hermite(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_hermite(std::string_view bytes, const PlanSource &of);
void check_hermite(const Candidate &c);

} // namespace libperm
