// The kernels' parts that no pattern changes: the files of jit/device, embedded when the library is built;
// and what is the same in all that is written around them.
#pragma once

#include "jit/compile/kernels.hpp"
#include "jit/number/arithmetic.hpp"
#include "jit/text/text.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace libperm {

using DeviceText = const char *const;
extern DeviceText number_cuh, partial_cuh, terms_cuh, gray_walk_cuh, tree_walk_cuh, derivative_cuh,
    select_cuh, accurate_cuh, rows_dense_cuh, rows_shared_cuh, shared_rows_cuh, frontier_number_cuh,
    frontier_dense_cuh, chained_tiles_cuh, balanced_path_cuh, frontier_sparse_cuh, frontier_join_cuh,
    period_table_cuh, period_bracket_cuh, tape_cuh, left_out_cuh, gradient_cuh, minors_cuh, walk_value_cuh,
    matching_walk_cuh, set_tables_cuh, hafnian_sum_cuh, sieve_walk_cuh;

// Of all that writes kernels: one of another generator is not taken for one of this.
extern const char *const generator_digest;

// `what` tells it from the others, in its key.
inline KernelRecipe recipe_of(const std::string &what, std::function<std::string()> source,
                              std::vector<std::string> entries) {
    return {formatted("{}\ngenerator {}\n", what, generator_digest), std::move(source), kernel_flags(),
            std::move(entries)};
}

// The arithmetic of all kernels; `name` stands for that of this one.
inline std::string numbers_text(Arithmetic arithmetic, const char *name = "Arith") {
    return formatted("{}\ntypedef {} {};\n", number_cuh, arithmetic_type(arithmetic), name);
}
inline std::string numbers_text(const StateNumbers &numbers) {
    return numbers_text(numbers.arithmetic, "Arithmetic") +
           formatted("constexpr bool bounds_itself = {};\n", numbers.bounds_itself());
}

// A kernel's own text, which calls what stands in these files; `bounds` are __launch_bounds__.
inline std::string entry_text(const std::string &name, const std::string &bounds,
                              const std::string &parameters, const std::string &body) {
    return formatted("\nextern \"C\" __global__ void __launch_bounds__({})\n{}({}) {{\n{}}}\n", bounds, name,
                     parameters, body);
}

// Of a kernel that has `shared_memory`.
constexpr const char *shared_memory_text =
    "    extern __shared__ __align__(16) unsigned char shared_memory[];\n";

} // namespace libperm
