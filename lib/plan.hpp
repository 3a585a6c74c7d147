// A plan: everything that follows from the pattern, the options and nothing else. It is what is explained,
// executed with many values, and cut into shards.
#pragma once

#include "lib/cost_model.hpp"
#include "lib/matrix.hpp"
#include "lib/options.hpp"

#include <string>
#include <vector>

namespace libperm {

// One way to do it, and what that would take.
struct Candidate {
    Engine engine = Engine::none;
    FrontierForm form = FrontierForm::sparse; // of the frontier
    bool transposed = false;
    Cost cost;
    double seconds = 0; // on the plan's threads
    perm_status refusal = PERM_OK;
    std::string why_not; // if refused: by how much, and what would help
};

struct Plan {
    InputPattern input;
    Transposed transposed;
    Options options;

    std::string structure; // why no engine is needed, else empty
    bool structural_zero = false;

    RyserPlan ryser;
    FrontierProgram frontier;
    std::vector<Candidate> candidates; // by predicted time of one thread
    int chosen = -1;                   // in candidates; -1: none needed, or all refused
    std::string why;                   // the choice, in words
    perm_status refusal = PERM_OK;     // of executing this plan, with its text
    std::string refusal_text;

    std::int32_t n() const { return input.pattern.rows; }
    const Candidate *choice() const {
        return chosen < 0 ? nullptr : &candidates[static_cast<std::size_t>(chosen)];
    }
};

std::string name_of(const Candidate &c); // "frontier (dense)"

// Throws Error only when stopped by its control: what cannot be run still makes a plan, to be explained.
Plan make_plan(InputPattern input, const Options &options);

} // namespace libperm
