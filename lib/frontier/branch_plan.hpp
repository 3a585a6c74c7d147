// The frontier on a tree, proposed: a search before the path's, that says how far this may go, and one behind
// it.
#pragma once

#include "lib/input/engine.hpp"
#include "preprocess/branch_search.hpp"

namespace libperm {

class Proposals;

// What the first, short search finds: seconds of one thread, or infinity.
double branches_outlook(Proposals &task);

// Adds the candidate, where the first search says that it may be worth it.
void propose_branches(Proposals &task, Engine self, double outlook);

// Of a graph, for which there is no path: where the best engine so far is not as fast as a search.
void propose_graph_branches(Proposals &task, Engine self);

} // namespace libperm
