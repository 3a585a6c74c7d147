#include "jit/kernel/period_table.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {
namespace {

std::string table_source(const StateNumbers &numbers) {
    return numbers_text(numbers) +
           formatted("constexpr int low_slots = {}, high_slots = {};\n\n", table_low, table_high) +
           frontier_number_cuh + "\n" + period_table_cuh;
}

constexpr const char
    *of_row = "const __grid_constant__ Row row",
    *each_state =
        "    const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;\n"
        "    for (u64 s = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; s < count; s += step) {\n"
        "        Number x = zero();\n"
        "        x.value = number;\n"
        "        table[s] = x;\n"
        "    }\n";

} // namespace

std::string table_entry_of(RowShape shape) {
    return formatted("perm_table_row_{}_{}", shape.low, shape.high);
}

KernelRecipe period_table_row_kernel(const StateNumbers &numbers, RowShape shape) {
    const std::string rows = formatted("{} low and {} high entries", shape.low, shape.high);
    const auto source = [numbers, shape, rows] {
        return formatted("// libperm: a row of a period's table, {} numbers, of {} at most.\n\n",
                         name_of(numbers), rows) +
               table_source(numbers) +
               entry_text(table_entry_of(shape), "most_threads", of_row,
                          formatted("    fill<{}, {}>(row);\n", shape.low, shape.high));
    };
    return recipe_of(formatted("period's table: {} numbers, rows of {}", name_of(numbers), rows), source,
                     {table_entry_of(shape)});
}

KernelRecipe period_table_kernel(const StateNumbers &numbers) {
    const bool brackets = numbers.arithmetic == Arithmetic::real && numbers.nonnegative;
    const auto source = [numbers, brackets] {
        std::string text = formatted("// libperm: a period's table, {} numbers.\n\n", name_of(numbers)) +
                           table_source(numbers) +
                           entry_text(table_open_entry, "most_threads", of_row, "    open(row);\n") +
                           entry_text(table_begin_entry, "most_threads",
                                      "Number *table, u64 count, double number", each_state);
        if (brackets)
            text +=
                std::string("\n") + period_bracket_cuh +
                entry_text(table_bracket_entry, "most_threads",
                           "double *x, double *y, u64 count, double shift, double scale, double smallest, "
                           "Bracket *found",
                           "    bracket(x, y, count, shift, scale, smallest, found);\n");
        return text;
    };
    std::vector<std::string> entries{table_open_entry, table_begin_entry};
    if (brackets) entries.emplace_back(table_bracket_entry);
    return recipe_of(formatted("period's table: {} numbers, what is done to all of it", name_of(numbers)),
                     source, std::move(entries));
}

} // namespace libperm
