// The engines by name, and what each of them is. What they propose and how they run: lib/plan/engines.hpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace libperm {

// none: the structure alone gave the answer.
enum class Engine { automatic, none, ryser, frontier, tree, shared, dense, purereg, hybrid, glynn, periodic };
// That blocks have: glynn works without a plan (lib/glynn), periodic on whole matrices (lib/periodic).
constexpr Engine last_engine = Engine::hybrid;

struct EngineFacts {
    Engine id;
    const char *name;
    bool on_cpu = false, on_gpu = false; // where it runs
    bool sums_subsets = false;           // 2^(n-1) terms, which cancel; it is given A^T where that is better
    bool has_kernel = false;             // written for the block (jit/kernel/subsets.hpp)
    bool kernel_by_order = false;        // which is the same for all blocks of one order
    bool distributes = false;            // products over sums: fewer operations a subset than multiplying out
    bool transfers_states = false;       // from row to row, in one of two forms
};

const EngineFacts &facts_of(Engine engine);
std::span<const EngineFacts> all_engines(); // that plans can be made with by name, `auto` first

inline const char *engine_name(Engine engine) { return facts_of(engine).name; }
std::optional<Engine> engine_named(std::string_view name);
inline bool sums_subsets(Engine engine) { return facts_of(engine).sums_subsets; }
inline bool has_kernel(Engine engine) { return facts_of(engine).has_kernel; }
inline bool is_computing(Engine engine) {
    return facts_of(engine).sums_subsets || facts_of(engine).transfers_states;
}
inline bool needs_gpu(Engine engine) { return facts_of(engine).on_gpu && !facts_of(engine).on_cpu; }

} // namespace libperm
