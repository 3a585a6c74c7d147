// What structure a block's values have.
#pragma once

#include "lib/structure/structure.hpp"
#include "preprocess/limits.hpp"

#include <string>
#include <vector>

namespace libperm {

// What was found, a line each, or that nothing was; none: nothing was looked for in a block with this
// pattern.
std::vector<std::string> in_words(const Structure &x, const Pattern &a);

// How far an entry is from a_i0 a_0j / a_00 by its share, at most, but for four roundings; infinite: not all
// are positive. Beyond `most` it may be more.
double distance_from_rank_one(const Block &block, double most);

// Of a block from some order on; smaller ones take microseconds anyway.
template <class Value> Structure structure_of(const BlockOf<Value> &block, MemoryAccount *account = nullptr);

} // namespace libperm
