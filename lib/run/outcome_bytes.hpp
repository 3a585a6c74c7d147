// An outcome as a part of a sum (lib/run/pieces.hpp).
#pragma once

#include "lib/base/archive.hpp"
#include "lib/run/outcome.hpp"

namespace libperm {

void save_part(cereal::PortableBinaryOutputArchive &ar, const Outcome &outcome);
void load_part(cereal::PortableBinaryInputArchive &ar, Outcome &outcome);

} // namespace libperm
