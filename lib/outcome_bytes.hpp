// An outcome as a part of a sum (lib/pieces.hpp).
#pragma once

#include "lib/archive.hpp"
#include "lib/outcome.hpp"

namespace libperm {

void save_part(cereal::PortableBinaryOutputArchive &ar, const Outcome &outcome);
void load_part(cereal::PortableBinaryInputArchive &ar, Outcome &outcome);

} // namespace libperm
