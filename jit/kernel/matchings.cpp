#include "jit/kernel/matchings.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {
namespace {

// On an H200: partial sums in registers; blocks that those leave room for.
constexpr unsigned kept = 16, walk_blocks = 8;

struct SetEntry {
    const char *name, *type, *body;
};
constexpr SetEntry set_entries[] = {
    {set_entry::meet, "Step", "each_set(of.sets, [&](u64 set) { of.to[set] = met(of, set); });"},
    {set_entry::back, "Step", "each_set(of.sets, [&](u64 set) { of.to[set] = slope(of, set); });"},
    {set_entry::products, "Step",
     "__shared__ double of_lanes[chunk_blocks * lanes];\n    add_products(of, of_lanes);"},
    {set_entry::close, "Line", "each_set(of.numbers, [&](u64 set) { of.to[set] = closed(of, set); });"},
    {set_entry::open, "Line", "each_set(of.numbers, [&](u64 set) { of.to[set] = opened(of, set); });"},
    {set_entry::without, "Pair",
     "__shared__ double of_lanes[chunk_blocks * lanes];\n    add_pairs(of, of_lanes);"},
    {set_entry::most, "Whole", "find_most(of);"},
    {set_entry::multiply, "Whole", "each_set(of.sets, [&](u64 set) { of.table[set] *= of.by; });"},
};

} // namespace

KernelRecipe matching_walk_kernels() {
    const auto source = [] {
        return "// libperm: matchings drawn at random.\n\n" + std::string(walk_value_cuh) +
               formatted("\nconstexpr unsigned kept = {}, together = {};\n\n", kept, entries_together) +
               matching_walk_cuh +
               entry_text(draw_entry, formatted("{}, {}", draw_threads, walk_blocks),
                          "const __grid_constant__ Walks all",
                          formatted("{}    draw(all, reinterpret_cast<u32 *>(shared_memory));\n",
                                    shared_memory_text)) +
               entry_text(tally_entry, std::to_string(tally_threads), "const __grid_constant__ Tallies all",
                          "    tally(all);\n");
    };
    return recipe_of("matchings at random", source, {draw_entry, tally_entry});
}

KernelRecipe set_table_kernels() {
    const auto source = [] {
        std::string text = "// libperm: tables over sets of lines.\n\n" + std::string(set_tables_cuh);
        for (const SetEntry &entry : set_entries)
            text += entry_text(entry.name, std::to_string(set_threads),
                               formatted("const __grid_constant__ {} of", entry.type),
                               formatted("    {}\n", entry.body));
        return text;
    };
    std::vector<std::string> names;
    for (const SetEntry &entry : set_entries) names.emplace_back(entry.name);
    return recipe_of("tables over sets", source, std::move(names));
}

} // namespace libperm
