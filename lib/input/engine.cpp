#include "lib/input/engine.hpp"

namespace libperm {

const char *engine_name(Engine engine) {
    switch (engine) {
    case Engine::automatic:
        return "auto";
    case Engine::none:
        return "none";
    case Engine::ryser:
        return "ryser";
    case Engine::frontier:
        return "frontier";
    case Engine::tree:
        return "tree";
    case Engine::shared:
        return "shared";
    case Engine::dense:
        return "dense";
    case Engine::purereg:
        return "purereg";
    case Engine::hybrid:
        return "hybrid";
    }
    return "?";
}

} // namespace libperm
