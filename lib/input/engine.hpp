// The engines by their names, and what is so of each whatever the block.
#pragma once

namespace libperm {

// none: the structure alone gave the answer. The last four run on a GPU only (jit/kernel/subsets.hpp), tree
// on either.
enum class Engine { automatic, none, ryser, frontier, tree, shared, dense, purereg, hybrid };

const char *engine_name(Engine engine);
inline bool needs_gpu(Engine engine) { return engine >= Engine::shared; }
inline bool has_kernel(Engine engine) { return engine >= Engine::tree; }
inline bool sums_subsets(Engine engine) { return engine == Engine::ryser || has_kernel(engine); }

} // namespace libperm
