// The engines that compute blocks: a row for each, of what only the engine itself knows. What it is called,
// and what else it answers: lib/input/engine.hpp. To add one, see CONTRIBUTING.md.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/base/json.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/results.hpp"
#include "preprocess/pattern.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

class EngineInput;
struct EngineRun;
class Proposals;
struct Outlook;

struct EngineInfo {
    Engine id;
    // Adds candidates for the task's block; the last when all engines have proposed. May be null.
    void (*propose)(Proposals &task, Engine self);
    void (*propose_at_last)(Proposals &task, Engine self) = nullptr;
    // Finds quickly what it would take. May be null.
    Outlook (*outlook)(Proposals &task, Engine self) = nullptr;
    EngineResult (*run)(const EngineRun &run, const EngineInput &input);
    // The candidate in wider numbers, the cheapest first, where its own are sure to miss the tolerance. May
    // be null.
    std::vector<Wider> (*in_wider)(const Candidate &c, const EngineInput &lines) = nullptr;
    // Whether it is given residues whatever the numbers of the plan, so that what it finds is exact. Null:
    // no.
    bool (*by_residues)(const Candidate &c) = nullptr;
    // It computes what the values' structure says (lib/structure), and no other block.
    bool by_structure = false;
    // It does so too, but proposes among the others, and where it is named whatever passes are left out.
    bool reads_structure = false;
    // Pieces of its work on a block that know nothing of each other (lib/run/piece_store.hpp).
    double (*pieces)(const Candidate &c);
    // Primes on a CPU have so many bits; on a GPU they are below 2^47.
    int prime_bits;
    // A plan as bytes, for a digest without what was predicted, and back: its form, where an engine has
    // several, is that of the candidate. These throw DamagedField for what is no plan of the block's, or none
    // for the candidate.
    std::string (*saved)(const EnginePlan &plan, bool with_predictions);
    std::shared_ptr<const EnginePlan> (*restored)(std::string_view bytes, int form, const PlanSource &of);
    void (*check)(const Candidate &c);
    // How the candidate is cut, to be written and read: as the fields of a list, which is empty where it is
    // not. Null: it never is.
    void (*save_cut)(cereal::PortableBinaryOutputArchive &ar, const Candidate &c) = nullptr;
    void (*load_cut)(cereal::PortableBinaryInputArchive &ar, Candidate &c) = nullptr;
    // The kernel of a candidate on a GPU, of one with `has_kernel` on any device. May be null.
    KernelSource (*source)(const Candidate &c, const Numbers &numbers, bool nonnegative) = nullptr;
    // More of a candidate that explaining shows, as a line and as fields, and why no block of order n can be
    // computed, or empty. May be null.
    std::string (*shape_text)(const Candidate &c) = nullptr;
    void (*put_shape)(Json &json, const Candidate &c) = nullptr;
    std::string (*why_never)(std::int32_t n) = nullptr;
};

// Graphs are the goal of some engines, two-sided blocks of others.
bool serves(Engine engine, const Pattern &a);

const EngineInfo &info_of(Engine engine);   // throws Error (PERM_INTERNAL) for one that computes no blocks
std::span<const EngineInfo> engine_table(); // in the order in which they propose

} // namespace libperm
