#include "jit/kernel/period_table.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {
namespace {

std::string table_source(const StateNumbers &numbers) {
    return std::string(number_cuh) +
           formatted("\ntypedef {} Arithmetic;\n"
                     "constexpr bool bounds_itself = {};\n"
                     "constexpr int low_slots = {}, high_slots = {};\n\n",
                     arithmetic_type(numbers.arithmetic), numbers.bounds_itself(), table_low, table_high) +
           frontier_number_cuh + "\n" + period_table_cuh;
}

} // namespace

std::string table_entry_of(RowShape shape) {
    return formatted("perm_table_row_{}_{}", shape.low, shape.high);
}

KernelRecipe period_table_row_kernel(const StateNumbers &numbers, RowShape shape) {
    KernelRecipe recipe;
    recipe.key = formatted("period's table: {} numbers, rows of {} low and {} high entries\ngenerator {}\n",
                           name_of(numbers), shape.low, shape.high, generator_digest);
    recipe.source = [numbers, shape] {
        return formatted(
                   "// libperm: a row of a period's table, {} numbers, of {} low and {} high entries at "
                   "most.\n\n",
                   name_of(numbers), shape.low, shape.high) +
               table_source(numbers) +
               formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                         "{}(const __grid_constant__ Row row) {{\n"
                         "    fill<{}, {}>(row);\n}}\n",
                         table_entry_of(shape), shape.low, shape.high);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {table_entry_of(shape)};
    return recipe;
}

KernelRecipe period_table_kernel(const StateNumbers &numbers) {
    const bool brackets = numbers.arithmetic == Arithmetic::real && numbers.nonnegative;
    KernelRecipe recipe;
    recipe.key = formatted("period's table: {} numbers, what is done to all of it\ngenerator {}\n",
                           name_of(numbers), generator_digest);
    recipe.source = [numbers, brackets] {
        std::string text = formatted("// libperm: a period's table, {} numbers.\n\n", name_of(numbers)) +
                           table_source(numbers);
        text += formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                          "{}(const __grid_constant__ Row row) {{\n    open(row);\n}}\n"
                          "\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                          "{}(Number *table, u64 count, double number) {{\n"
                          "    const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;\n"
                          "    for (u64 s = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; s < "
                          "count; s += step) {{\n"
                          "        Number x = zero();\n"
                          "        x.value = number;\n"
                          "        table[s] = x;\n"
                          "    }}\n}}\n",
                          table_open_entry, table_begin_entry);
        if (brackets)
            text += std::string("\n") + period_bracket_cuh +
                    formatted("\nextern \"C\" __global__ void __launch_bounds__(most_threads)\n"
                              "{}(double *x, double *y, u64 count, double shift, double scale, double "
                              "smallest, Bracket *found) {{\n"
                              "    bracket(x, y, count, shift, scale, smallest, found);\n}}\n",
                              table_bracket_entry);
        return text;
    };
    recipe.flags = kernel_flags();
    recipe.entries = {table_open_entry, table_begin_entry};
    if (brackets) recipe.entries.emplace_back(table_bracket_entry);
    return recipe;
}

} // namespace libperm
