// Hafnians of whole numbers, which are whole.
#pragma once

#include "lib/number/ball.hpp"
#include "lib/run/doubles_graph.hpp"
#include "preprocess/block.hpp"

namespace libperm {

// Where the entries are whole multiples of powers of two that follow from their lines, so is the hafnian: the
// only multiple within the error is it, exactly. The same ball where there are several, or entries that are
// rounded.
Ball to_the_only_multiple(const Ball &haf, const Block &graph);
DoublesHafnian to_the_only_multiple(const DoublesHafnian &haf, const DoublesGraph &graph);

} // namespace libperm
