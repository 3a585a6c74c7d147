// Ferrers boards: the columns of each row are among those of the next, and the entries u_i v_j.
#pragma once

#include "lib/structure/structure.hpp"

namespace libperm {

bool may_be_nested(const Pattern &a); // by its lengths, in no time
template <class Value> std::vector<std::int32_t> find_nested(const BlockOf<Value> &block, const Poll &poll);

} // namespace libperm
