// How the frontier computes a block: its rows in an order, which columns are open after each, and the slots
// of their states.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/base/json.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"
#include "preprocess/frontier_slices.hpp"
#include "preprocess/frontier_steps.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace libperm {

class Proposals;

// Adds what the frontier would take in either form, on a CPU and on a GPU.
void propose_frontier(Proposals &task, Engine self);
// The dense form past the memory of the CPU, or of the GPU, if that is worth its time: after all other
// engines.
void propose_slices(Proposals &task, Engine self);

// The chosen candidate: in its form, in slices or whole, on a CPU or on GPUs. Throws Error, JitError.
EngineResult run_frontier_engine(const EngineRun &run, const EngineInput &input);

// As bytes, and back. Throws DamagedField for what is no plan of the block's.
std::string saved_frontier(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_frontier(std::string_view bytes, int form, const PlanSource &of);
void check_frontier(const Candidate &c);
void save_slices(cereal::PortableBinaryOutputArchive &ar, const Candidate &c);
void load_slices(cereal::PortableBinaryInputArchive &ar, Candidate &c);

// The program of the first candidate in this form that has one; else null.
const FrontierProgram *program_of(const std::vector<Candidate> &candidates, FrontierForm form);

// What is shown of it. The kernel of the row with most states, of all rows (sparse), of joins (branches).
KernelSource frontier_source(const Candidate &c, const Numbers &numbers, bool nonnegative);
// The tree as a line, and for other programs; empty where there is none, or it has been dropped.
std::string tree_text(const Candidate &c);
void put_tree(Json &json, const Candidate &c);

// What a candidate of the frontier holds: the program that is run, in which form, and in which slices.

class FrontierPlan final : public EnginePlan {
  public:
    explicit FrontierPlan(FrontierProgram of_rows) : program(std::move(of_rows)) {}
    std::int64_t bytes() const override { return bytes_of(program); }

    FrontierProgram program; // of A, or of A^T
};

inline FrontierForm form_of(const Candidate &c) { return static_cast<FrontierForm>(c.form); }

class FrontierCut final : public EngineCut {
  public:
    explicit FrontierCut(std::vector<FrontierSlice> into) : slices(std::move(into)) {}
    std::size_t pieces() const override { return slices.size(); }

    std::vector<FrontierSlice> slices;
};

// None: the program is run whole.
inline std::shared_ptr<const EngineCut> cut_into(std::vector<FrontierSlice> slices) {
    return slices.empty() ? nullptr : std::make_shared<const FrontierCut>(std::move(slices));
}
inline const std::vector<FrontierSlice> &slices_of(const Candidate &c) {
    static const std::vector<FrontierSlice> none;
    const auto *cut = dynamic_cast<const FrontierCut *>(c.cut.get());
    return cut ? cut->slices : none;
}

} // namespace libperm
