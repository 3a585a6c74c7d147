// A leaf's program as words (jit/lanes/decoded_tree.hpp).
#pragma once

#include "jit/lanes/decoded_tree.hpp"

namespace libperm {

struct LeafWords {
    DecodedLeaf leaf;
    std::uint32_t blocks; // that it needs, from its first on
};
LeafWords decode_leaf(const StraightLine &program, std::uint32_t first_block, Arithmetic arithmetic);

} // namespace libperm
