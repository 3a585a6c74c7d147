// Engine `sieve`: permanents of small integers, of zeros and ones most of all, by the sum over signs without
// the terms that vanish (E. Bax, J. Franklin, A permanent algorithm with exp(Omega(n^(1/3) / 2 ln n))
// expected speedup for 0-1 matrices, Algorithmica 32 (2002); docs/sieve.md).
#pragma once

#include "lib/base/json.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"
#include "lib/sieve/build.hpp"
#include "lib/structure/structure.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

class Proposals;

// A block of small integers, and how its signs are walked.
//
// The block is r_i b_ij c_j, so its permanent is that of B times all r and all c. These follow line by line
// from entries. Rows of other numbers have no r_i, and are divided by c_j.
class SievePlan final : public EnginePlan {
  public:
    std::vector<std::int8_t> integers; // B, by entry; no_integer where it is none
    SieveWay way;                      // of B, or of B^T
    bool transposed = false;
    std::uint64_t pieces_asked = 1; // of which there may be fewer
    double spread = 0;              // of the prefixes that are expected, relative
    double peak = 0;                // of these, after the step that leaves the most

    // What follows of these.
    SieveProgram program;
    std::uint64_t prefix_step = 0, pieces = 1; // these are ranges of the prefixes after so many steps
    struct Scale {
        std::int64_t entry;
        std::int32_t row, col; // of the way
        bool tells_row;        // r_i by c_j, else c_j by r_i; what nothing tells is 1
    };
    std::vector<Scale> scales;                     // in their order
    std::vector<std::vector<std::int64_t>> others; // these, by column that prefixes tell the sign of
    EntriesRead read;                              // all of these

    std::int64_t bytes() const override;
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
    bool is_fit(const Residues &residues, std::size_t matrix) const override;
    bool is_for(const Structure &x) const override { return x.integers == integers; }
};

void propose_sieve(Proposals &task, Engine self); // a quick idea, so that others know when to stop
void propose_sieve_at_last(Proposals &task, Engine self);
// Of residues. The walk is one for all primes, and exact. Progress is counted in prefixes.
EngineResult run_sieve(const EngineRun &run, const EngineInput &input);
double pieces_of_sieve(const Candidate &c);
KernelSource sieve_source(const Candidate &c, const Numbers &numbers, bool hybrid);

std::string saved_sieve(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_sieve(std::string_view bytes, const PlanSource &of);
void check_sieve(const Candidate &c);

std::string sieve_text(const Candidate &c);
void put_sieve(Json &json, const Candidate &c);

} // namespace libperm
