// What structure a block's values have.
#pragma once

#include "lib/structure/structure.hpp"
#include "preprocess/memory_account.hpp"
#include "preprocess/poll.hpp"

#include <string>
#include <vector>

namespace libperm {

// What was found, a line each, or that nothing was; none: nothing was looked for in a block with this
// pattern.
std::vector<std::string> in_words(const Structure &x, const Pattern &a);

// Of a block from some order on; smaller ones take microseconds anyway.
template <class Value>
Structure structure_of(const BlockOf<Value> &block, const Poll &poll = no_poll,
                       MemoryAccount *account = nullptr);

} // namespace libperm
