// A long matrix of equal cells, as a plan computes it: by the operator of one cell, whatever the length.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/run/results.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace libperm {

class PlainAsPeriodic {
  public:
    // Null where the matrix is not of equal cells, the options want another engine, or what they want this
    // one does not do. `others` tells, if it is asked, the seconds of the plan that would be made otherwise,
    // infinity where that is refused: null, too, where these are less.
    static std::shared_ptr<const PlainAsPeriodic> of(const InputPattern &input, const Values &values,
                                                     const Options &options,
                                                     const std::function<double()> &others);

    // None where the values are not of equal cells. Throws Error.
    std::optional<Outcome> execute(const InputPattern &input, const Values &values) const;

    const PeriodicPlan &cells() const { return cells_; }
    std::int64_t length() const { return length_; }
    double seconds() const { return seconds_; } // predicted
    double bytes() const;
    std::string text() const; // what it is, in a line

  private:
    PeriodicPlan cells_;
    std::int64_t length_ = 0;
    double seconds_ = 0;
};

} // namespace libperm
