#include "lib/input/engine.hpp"

#include <algorithm>
#include <array>

namespace libperm {
namespace {

constexpr std::array engines{
    EngineFacts{.id = Engine::none, .name = "none"},
    EngineFacts{.id = Engine::glynn, .name = "glynn", .on_cpu = true, .sums_subsets = true},
    EngineFacts{.id = Engine::periodic, .name = "periodic", .on_cpu = true},
    EngineFacts{.id = Engine::automatic, .name = "auto", .on_cpu = true, .on_gpu = true},
    EngineFacts{.id = Engine::ryser, .name = "ryser", .on_cpu = true, .sums_subsets = true},
    EngineFacts{
        .id = Engine::frontier, .name = "frontier", .on_cpu = true, .on_gpu = true, .transfers_states = true},
    EngineFacts{.id = Engine::tree,
                .name = "tree",
                .on_cpu = true,
                .on_gpu = true,
                .sums_subsets = true,
                .has_kernel = true,
                .distributes = true},
    EngineFacts{
        .id = Engine::shared, .name = "shared", .on_gpu = true, .sums_subsets = true, .has_kernel = true},
    EngineFacts{.id = Engine::dense,
                .name = "dense",
                .on_gpu = true,
                .sums_subsets = true,
                .has_kernel = true,
                .kernel_by_order = true},
    EngineFacts{
        .id = Engine::purereg, .name = "purereg", .on_gpu = true, .sums_subsets = true, .has_kernel = true},
    EngineFacts{
        .id = Engine::hybrid, .name = "hybrid", .on_gpu = true, .sums_subsets = true, .has_kernel = true},
};

} // namespace

const EngineFacts &facts_of(Engine engine) {
    return *std::find_if(engines.begin(), engines.end(),
                         [&](const EngineFacts &e) { return e.id == engine; });
}

std::span<const EngineFacts> all_engines() { return std::span(engines).subspan(3); }

std::optional<Engine> engine_named(std::string_view name) {
    for (const EngineFacts &e : all_engines())
        if (name == e.name) return e.id;
    return {};
}

} // namespace libperm
