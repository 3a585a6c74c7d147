// The engines: a row for each. To add one, see CONTRIBUTING.md.
#pragma once

#include "lib/run/candidate.hpp"
#include "lib/run/engine_result.hpp"

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
    Engine id; // its name, and where it runs: lib/input/engine.cpp
    // Adds candidates for the task's block; the last when all engines have proposed. May be null.
    void (*propose)(Proposals &task, Engine self);
    void (*propose_at_last)(Proposals &task, Engine self) = nullptr;
    // What it would take, found quickly. May be null.
    Outlook (*outlook)(Proposals &task, Engine self) = nullptr;
    EngineResult (*run)(const EngineRun &run, const EngineInput &input);
    // The candidate in wider numbers, the cheapest first, where its own are sure to miss the tolerance. May
    // be null.
    std::vector<Wider> (*in_wider)(const Candidate &c, const EngineInput &lines) = nullptr;
    // Pieces of its work on a block that know nothing of each other (lib/run/piece_store.hpp).
    double (*pieces)(const Candidate &c);
    // On a CPU; on a GPU there are primes below 2^47 alone.
    int prime_bits;
    // A plan as bytes, for a digest without what was predicted, and back: its form, where an engine has
    // several, is that of the candidate. These throw DamagedField for what is no plan of the block's, or none
    // for the candidate.
    std::string (*saved)(const EnginePlan &plan, bool with_predictions);
    std::shared_ptr<const EnginePlan> (*restored)(std::string_view bytes, FrontierForm form,
                                                  const PlanSource &of);
    void (*check)(const Candidate &c);
};

const EngineInfo &info_of(Engine engine);
std::span<const EngineInfo> engine_table(); // in the order in which they propose

} // namespace libperm
