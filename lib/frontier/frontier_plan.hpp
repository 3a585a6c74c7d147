// What a candidate of the frontier holds: the program that is run, in which form, and in which slices.
#pragma once

#include "lib/frontier/form.hpp"
#include "lib/run/candidate.hpp"
#include "preprocess/frontier_program.hpp"
#include "preprocess/frontier_slices.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace libperm {

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
