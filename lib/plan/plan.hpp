// A plan: everything that follows from the pattern, the options and nothing else. The matrix is a sum of
// products of blocks (preprocess/decompose.hpp); the plan knows how many there will be, and how each is
// computed. It is what is explained, executed with many values, and cut into shards.
#pragma once

#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/plan/block_plan.hpp"
#include "preprocess/decompose.hpp"

#include <map>
#include <memory>
#include <variant>

namespace libperm {

// A block as its number depends on it: its lines and its values.
using BlockKey = std::string;
template <class Value> BlockKey key_of(const LeafOf<Value> &leaf);

// All blocks of one size that are computed in the same way.
struct BlockGroup {
    std::int32_t n = 0;
    Engine engine = Engine::none;
    int form = 0;
    friend auto operator<=>(const BlockGroup &, const BlockGroup &) = default;
};

struct BlockCount {
    std::int64_t blocks = 0;
    double nnz = 0, work = 0, seconds = 0; // of all of them, on one thread; work: states or subsets
};

struct Plan {
    InputPattern input;
    Options options;
    Numbers numbers;
    bool values_known = false; // repeated rows and columns have been looked for
    bool nonnegative = false;  // the values are known to be
    bool may_be_long = true;   // the values, of more than 24 bits; for predictions, while it is made
    // The order of the frontier that is written out to be run again and again (lib/tape/tape_run.hpp); empty
    // where none is.
    bool tape_transposed = false;
    std::vector<std::int32_t> tape_rows;
    double entry_bits = 0; // exact: of an entry made an integer, on average over the rows

    // `of`: what the block is by its values; it is kept by reference.
    BlockValues block_values(const Structure &of) const {
        return {nonnegative, may_be_long, numbers, entry_bits, &of};
    }

    // A long matrix of equal cells is not taken apart: then this is its plan, and there are no blocks. Else
    // null.
    std::shared_ptr<const PlainAsPeriodic> repeated;
    std::shared_ptr<Lazy<Plan>> in_blocks; // beside it, for what engines of blocks alone do

    std::string structure; // why there is no block to compute, else empty
    std::string once;      // how a single computation goes where not by this plan; of a loaded one empty
    Reductions reductions;
    std::int64_t blocks = 0, distinct = 0; // to be computed; without those identical to another
    double sum_n = 0, sum_nnz = 0;         // over the blocks
    std::map<BlockGroup, BlockCount> groups;
    double serial_seconds = 0, gpu_seconds = 0, seconds = 0, bytes = 0; // predicted; gpu: of the serial ones

    BlocksByLines<BlockPlan> block_plans;   // of the first blocks; others are planned when they come
    BlocksByLines<std::monostate> expanded; // blocks that are cheaper as a sum of smaller ones
    std::size_t costliest = 0;              // its number in block_plans, if there are blocks
    perm_status refusal = PERM_OK;          // of executing this plan, with its text
    std::string refusal_text;

    std::int32_t n() const { return input.pattern.rows; }
    const BlockPlan *main_block() const { return blocks == 0 ? nullptr : &block_plans[costliest].content; }
};

// The numbers to compute with, by the options' precision and bits.
Numbers numbers_of(const Options &options, bool complex);

// What the plan takes by the costs that are known, on its threads.
double predicted_seconds(const Plan &plan);
double predicted_seconds(const Plan &plan, int threads);

// The input as the reductions take it, within what the call may hold. Without values, all ones; if some lines
// are known to be repeated, only these are equal.
template <class Value> BlockOf<Value> root_block(const InputPattern &input, const Values &values);

// The rule by which the plan's input is taken apart, for one call.
template <class Value> DecompositionRule<Value> rule_of(const Plan &plan);

// Of one of the plan's blocks, where engines that the options allow take what it is.
template <class Value> Structure structure_for(const Plan &plan, const BlockOf<Value> &block);

std::int64_t held_bytes(const Plan &plan); // by the plan itself

// The plan's own, but for its memory limit: what its blocks' tables may take beside the matrix.
Options options_of_blocks(const Plan &plan);

// The plan itself, or of a matrix of equal cells the one that takes it apart: made when it is first asked
// for.
const Plan &plan_in_blocks(const Plan &plan);

// Plans are made with what a GPU says it can do, while it is opened. That may still go on when they are made,
// for a call that executes them at once, which waits for it; where that fails, it makes the plan again.
enum class GpuStart { awaited, beside };

// `values`, if there are any, only tell which rows and columns are repeated, and what numbers do. Throws
// Error only when stopped by its call: what cannot be run still makes a plan, to be explained.
Plan make_plan(InputPattern input, const Options &options, const Values &values,
               GpuStart start = GpuStart::awaited);
bool is_for_gpu_here(const Plan &plan); // some of its blocks

} // namespace libperm
