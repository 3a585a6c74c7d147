// What an engine says of a block that it does not compute.
#pragma once

#include "lib/run/proposals.hpp"

#include <string>
#include <utility>

namespace libperm {

// Where the engine is the one that is asked for; else nobody asks.
inline void refuse_block(Proposals &task, Engine engine, std::string why) {
    if (!task.asks_for(engine)) return;
    Candidate c;
    c.engine = engine;
    c.refusal = PERM_UNSUPPORTED;
    c.why_not = std::move(why);
    task.add(std::move(c), {});
}

} // namespace libperm
