#include "jit/kernel/matchings.hpp"
#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {

namespace {
// On an H200: partial sums in registers; blocks that those leave room for.
constexpr unsigned kept = 16, walk_blocks = 8;
} // namespace

KernelRecipe matching_walk_kernels() {
    KernelRecipe recipe;
    recipe.key = formatted("matchings at random\ngenerator {}\n", generator_digest);
    recipe.source = [] {
        return "// libperm: matchings drawn at random.\n\n" + std::string(walk_value_cuh) +
               formatted("\nconstexpr unsigned kept = {}, together = {};\n\n", kept, entries_together) +
               matching_walk_cuh + "\n" + bet_tally_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__({}, {})\n"
                         "{}(const __grid_constant__ Walks all) {{\n"
                         "    extern __shared__ __align__(16) unsigned char shared_memory[];\n"
                         "    draw(all, reinterpret_cast<u32 *>(shared_memory));\n}}\n"
                         "extern \"C\" __global__ void __launch_bounds__({})\n"
                         "{}(const __grid_constant__ Tallies all) {{\n    tally(all);\n}}\n",
                         draw_threads, walk_blocks, draw_entry, tally_threads, tally_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {draw_entry, tally_entry};
    return recipe;
}

namespace {

std::string entry_text(const char *name, const char *type, const char *body) {
    return formatted("\nextern \"C\" __global__ void __launch_bounds__({})\n"
                     "{}(const __grid_constant__ {} of) {{\n    {}\n}}\n",
                     set_threads, name, type, body);
}

constexpr const char *in_shared = "__shared__ double of_lanes[chunk_blocks * lanes];\n    ";

} // namespace

KernelRecipe set_table_kernels() {
    KernelRecipe recipe;
    recipe.key = formatted("tables over sets\ngenerator {}\n", generator_digest);
    recipe.source = [] {
        const std::string shared = in_shared;
        return "// libperm: tables over sets of lines.\n\n" + std::string(set_tables_cuh) +
               entry_text(set_entry::meet, "Step",
                          "each_set(of.sets, [&](u64 set) { of.to[set] = met(of, set); });") +
               entry_text(set_entry::back, "Step",
                          "each_set(of.sets, [&](u64 set) { of.to[set] = slope(of, set); });") +
               entry_text(set_entry::products, "Step", (shared + "add_products(of, of_lanes);").c_str()) +
               entry_text(set_entry::close, "Line",
                          "each_set(of.numbers, [&](u64 set) { of.to[set] = closed(of, set); });") +
               entry_text(set_entry::open, "Line",
                          "each_set(of.numbers, [&](u64 set) { of.to[set] = opened(of, set); });") +
               entry_text(set_entry::without, "Pair", (shared + "add_pairs(of, of_lanes);").c_str()) +
               entry_text(set_entry::most, "Whole", "find_most(of);") +
               entry_text(set_entry::multiply, "Whole",
                          "each_set(of.sets, [&](u64 set) { of.table[set] *= of.by; });");
    };
    recipe.flags = kernel_flags();
    recipe.entries = {set_entry::meet, set_entry::back,    set_entry::products, set_entry::close,
                      set_entry::open, set_entry::without, set_entry::most,     set_entry::multiply};
    return recipe;
}

} // namespace libperm
