// What an estimate is of, as digests: what is kept of one is of no use to another.
#pragma once

#include "lib/estimates/request.hpp"
#include "lib/input/matrix.hpp"
#include "lib/input/options.hpp"

#include <string>

namespace libperm {

struct EstimateIdentity {
    std::string matrix, options;

    EstimateIdentity() = default;
    EstimateIdentity(const InputPattern &input, const Values &values, const Options &options,
                     const EstimateRequest &request);
    friend bool operator==(const EstimateIdentity &, const EstimateIdentity &) = default;
    template <class Archive> void serialize(Archive &ar) { ar(matrix, options); }
};

} // namespace libperm
