// What engines and blocks came to, as parts of a sum (lib/run/pieces.hpp).
#pragma once

#include "lib/base/archive.hpp"
#include "lib/run/outcome.hpp"

namespace libperm {

void save_part(cereal::PortableBinaryOutputArchive &ar, const EngineResult &result);
// `result`: one of the same kind.
void load_part(cereal::PortableBinaryInputArchive &ar, EngineResult &result);

void save_part(cereal::PortableBinaryOutputArchive &ar, const Outcome &outcome);
void load_part(cereal::PortableBinaryInputArchive &ar, Outcome &outcome);

} // namespace libperm
