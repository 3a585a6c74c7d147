#include "jit/kernel/gradient.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {
namespace {

std::size_t size(int i) { return static_cast<std::size_t>(i); }

std::size_t numbers(Arithmetic a) { return is_complex(a) ? 2 : 1; }
std::size_t lanes(Arithmetic a) { return 32 / numbers(a); }
std::size_t differences(Arithmetic a) { return is_complex(a) ? 7 : 8; }
constexpr std::size_t middle = 6, of_lanes = 4, eight = 8;

} // namespace

KernelRecipe gradient_kernel(int rows, Arithmetic arithmetic) {
    KernelRecipe recipe;
    const std::string name = formatted("{} rows of {} numbers", rows, arithmetic_name(arithmetic));
    recipe.key = formatted("gradients: {}\ngenerator {}\n", name, generator_digest);
    recipe.source = [rows, arithmetic, name] {
        return formatted("// libperm: gradients, {}.\n\n", name) + number_cuh +
               formatted(
                   "\ntypedef {} Arith;\nconstexpr bool is_split = {};\nconstexpr unsigned rows = {};\n\n",
                   arithmetic_type(is_complex(arithmetic) ? Arithmetic::complex : Arithmetic::real),
                   has_two_grids(arithmetic), rows) +
               gradient_cuh +
               formatted("\nextern \"C\" __global__ void __launch_bounds__({})\n"
                         "{}(const __grid_constant__ Gradients all) {{\n"
                         "    extern __shared__ __align__(16) unsigned char shared_memory[];\n"
                         "    walk_gradients(all, shared_memory);\n}}\n"
                         "extern \"C\" __global__ void __launch_bounds__({})\n"
                         "{}(const __grid_constant__ Gradients all) {{\n"
                         "    add_pieces(all);\n}}\n",
                         gradient_threads_of_block, gradient_entry, gradient_threads_of_block,
                         gradient_add_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {gradient_entry, gradient_add_entry};
    return recipe;
}

std::size_t gradient_shared_bytes(int rows, Arithmetic a, unsigned threads) {
    const std::size_t parts = numbers(a) * (has_two_grids(a) ? 2 : 1), pieces = threads / lanes(a);
    return sizeof(double) * parts * size(rows) * (lanes(a) + pieces);
}

std::size_t gradient_scratch_doubles(int rows, Arithmetic a) {
    const std::size_t columns = middle + differences(a);
    return eight * (numbers(a) * size(rows) * columns + size(rows) + 2 * numbers(a) + 1);
}

std::size_t gradient_piece_doubles(int rows, Arithmetic a) {
    return numbers(a) * size(rows) * (of_lanes + differences(a)) + size(rows) + 2 * numbers(a) + 1;
}

std::size_t gradient_task_doubles(int rows, int columns, Arithmetic a) {
    return 2 * numbers(a) * size(rows) * size(columns) + size(rows) + 2 * numbers(a) + 1;
}

std::size_t gradient_task_sums(int rows, int columns, Arithmetic a) {
    return numbers(a) * size(rows) * size(columns) + size(rows) + numbers(a) + 1;
}

} // namespace libperm
