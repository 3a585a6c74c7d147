// How one block is computed: every engine that could do it with what that would take, and the one chosen.
#pragma once

#include "lib/plan/cost_model.hpp"
#include "lib/run/run_control.hpp"
#include "lib/ryser/plan.hpp"
#include "lib/subsets/plan.hpp"
#include "preprocess/frontier_slices.hpp"
#include "preprocess/repeated_lines.hpp"

#include <string>
#include <vector>

namespace libperm {

struct Options;

// One way to do it, and what that would take.
struct Candidate {
    Engine engine = Engine::none;
    FrontierForm form = FrontierForm::sparse; // of the frontier
    std::vector<FrontierSlice> slices;        // of the dense form; none: it is run whole
    bool transposed = false, on_gpu = false;
    Cost cost;
    double seconds = 0;               // on the plan's threads
    bool lacks_gpu = false;           // refused for that alone
    bool at_least = false;            // the cost is a lower bound, found without a search
    bool second = false;              // may be tried when the first answer is less accurate than asked for
    std::int64_t bytes_per_state = 0; // of the frontier: in a list (sparse), in a table (dense)
    perm_status refusal = PERM_OK;
    std::string why_not; // if refused: by how much, and what would help
};

// Of a subset summed, or a multiply-add of the frontier: what a run's progress is counted in.
inline double seconds_per_step(const Candidate &c) {
    return c.cost.serial_seconds / (sums_subsets(c.engine) ? c.cost.subsets : c.cost.operations);
}

std::string name_of(const Candidate &c); // "frontier (dense, 16 slices)"

// By its cost, on the threads or GPUs of the options.
double predicted_seconds(const Candidate &c, const Options &options);

constexpr double second_seconds = 60; // that a second try may take

struct BlockPlan {
    std::int32_t n = 0;
    std::int64_t nnz = 0;
    bool nonnegative = false; // the values are known to be
    Numbers numbers;
    RyserPlan ryser;
    FrontierProgram sparse, dense;     // of the frontier's two forms, where it may be run
    GrayPlan gray;                     // if the best is one of the engines with kernels
    std::vector<Candidate> candidates; // by predicted time of one thread
    int chosen = -1;                   // in candidates; -1: all refused
    std::string why;                   // the choice, in words
    perm_status refusal = PERM_OK;     // of running this block, with its text
    std::string refusal_text;

    const Candidate *choice() const {
        return chosen < 0 ? nullptr : &candidates[static_cast<std::size_t>(chosen)];
    }
    const FrontierProgram &program(FrontierForm form) const {
        return form == FrontierForm::sparse ? sparse : dense;
    }
    // The chosen one, or the one that would be without limits.
    const Candidate &best() const { return chosen < 0 ? candidates.front() : *choice(); }
};

// The plan of a kernel, made for doubles, in the numbers of a plan.
GrayPlan in_arithmetic(GrayPlan plan, const Numbers &numbers);

// What is known of a block's values: whether none is negative, and what computes with them.
struct BlockValues {
    bool nonnegative = false;
    Numbers numbers;
    double entry_bits = 0; // exact: of an integer entry, on average over the rows
};

// Throws Error only when stopped by its control: what cannot be run still makes a plan, to be explained.
// `effort`: of the search for a good order, for a rough idea of the cost less than 1.
BlockPlan plan_block(const Pattern &a, const Kinds &kinds, const BlockValues &values, const Options &options,
                     RunControl &control, double effort = 1);

} // namespace libperm
