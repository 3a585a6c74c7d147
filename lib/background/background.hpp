// Engine `background`: the permanent of B + L, L_ij = u_i C_ab v_j for row i of class a and column j of class
// b, by the matchings of B.
//
//     perm(B + L) = sum over matchings M of B of (entries in M) prod u_i prod v_j perm(C_ab alone),
//
// i and j the lines that M has not: the last factor depends only on how many of each class these are
// (lib/background/rests.hpp). With one class of rows and of columns it is (n - |M|)!: Kaplansky and Riordan's
// rook polynomials, Duke Math. J. 13 (1946), with weights.
#pragma once

#include "lib/background/rests.hpp"
#include "lib/run/candidate.hpp"
#include "lib/run/engine_run.hpp"
#include "lib/structure/entries_read.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/pattern.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// A line opens; each entry that it has in common with an open one may be taken; then those close of which no
// other line has an entry.
struct CountingStep {
    struct Term {
        std::int32_t slot; // of the open lines, in the order in which they were opened
        std::int64_t entry;
    };
    struct Closing {
        std::int32_t slot; // among those that are left after the closings before
        std::int32_t line;
    };
    std::vector<Term> terms;
    std::vector<Closing> closings;
};

// Sets of open lines that a step goes through, times what is done at each, and those of all steps.
double sets_of(const CountingStep &step, std::int32_t open);
double sets_gone_through(const std::vector<CountingStep> &steps);

class Proposals;

// How the matchings of B are gone through, by how many lines of each class they take.
class BackgroundPlan final : public EnginePlan {
  public:
    Background background;
    std::vector<std::int32_t> order; // of the lines of B
    std::vector<CountingStep> steps;
    ClassCounts counts;
    std::int32_t open = 0; // at most
    double products = 0;   // of a matrix
    EntriesRead read;

    bool is_fit(const Residues &residues,
                std::size_t matrix) const override; // for what u and v are quotients of
    double matrix_products() const override { return products; }
    std::int64_t bytes() const override;
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
    double table_bytes() const;
};

void propose_background(Proposals &task, Engine self);
// Of residues. Progress is counted in products.
EngineResult run_background(const EngineRun &run, const EngineInput &input);

std::string saved_background(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_background(std::string_view bytes, const PlanSource &of);
void check_background(const Candidate &c);

} // namespace libperm
