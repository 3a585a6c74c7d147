// What a matrix of a batch came to, by whichever way, as part of a piece.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/run/outcome.hpp"
#include "lib/tape/tape_run.hpp"

#include <variant>
#include <vector>

namespace libperm {

// Along the tape.
struct DirectAnswer {
    TapeAnswer answer;
    bool on_gpu = false;
};

using BatchAnswer = std::variant<DenseSum, DirectAnswer, Outcome>;

// Those of a piece, in order.
struct BatchPart {
    std::vector<BatchAnswer> answers;
};

void save_part(cereal::PortableBinaryOutputArchive &ar, const BatchPart &part);
void load_part(cereal::PortableBinaryInputArchive &ar, BatchPart &part);

} // namespace libperm
