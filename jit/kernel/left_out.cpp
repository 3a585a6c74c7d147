#include "jit/kernel/left_out.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

namespace libperm {
namespace {

// The layout of device/gradient.cuh and device/minors.cuh.
constexpr std::size_t eight = 8, middle = 6, of_lanes = 4;

std::size_t numbers(const LeftOutKernel &k) { return is_complex(k.arithmetic) ? 2 : 1; }
std::size_t lanes(const LeftOutKernel &k) { return 32 / numbers(k); }
std::size_t differences(const LeftOutKernel &k) { return is_complex(k.arithmetic) ? 7 : 8; }
std::size_t rows(const LeftOutKernel &k) { return static_cast<std::size_t>(k.rows); }
std::size_t whole(const LeftOutKernel &k) { return k.has_whole() ? 2 * numbers(k) + 1 : 0; }

} // namespace

KernelRecipe LeftOutKernel::recipe() const {
    const LeftOutKernel kernel = *this;
    const bool gradients = what == LeftOut::gradients;
    const std::string name = formatted("{} of {} rows, {} numbers", gradients ? "gradients" : "minors", rows,
                                       arithmetic_name(arithmetic));
    KernelRecipe recipe;
    recipe.key = formatted("left out: {}\ngenerator {}\n", name, generator_digest);
    recipe.source = [kernel, gradients, name] {
        const bool complex = is_complex(kernel.arithmetic);
        return formatted("// libperm: {}.\n\n", name) + number_cuh +
               formatted(
                   "\ntypedef {} Arith;\nconstexpr bool is_split = {};\nconstexpr unsigned rows = {};\n\n",
                   arithmetic_type(complex ? Arithmetic::complex : Arithmetic::real),
                   has_two_grids(kernel.arithmetic), kernel.rows) +
               left_out_cuh + "\n" + (gradients ? gradient_cuh : minors_cuh) +
               formatted("\nextern \"C\" __global__ void __launch_bounds__({})\n"
                         "{}(const __grid_constant__ LeftOut all) {{\n"
                         "    extern __shared__ __align__(16) unsigned char shared_memory[];\n"
                         "    walk_pieces<{}>(all, shared_memory);\n}}\n"
                         "extern \"C\" __global__ void __launch_bounds__({})\n"
                         "{}(const __grid_constant__ LeftOut all) {{\n"
                         "    add_pieces(all);\n}}\n",
                         left_out_threads, left_out_entry, gradients ? "GradientWalk" : "MinorWalk",
                         left_out_threads, left_out_add_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {left_out_entry, left_out_add_entry};
    return recipe;
}

std::size_t LeftOutKernel::shared_bytes(unsigned threads) const {
    const std::size_t parts = numbers(*this) * (has_two_grids(arithmetic) ? 2 : 1),
                      pieces = threads / lanes(*this),
                      near = what == LeftOut::gradients ? 2 * numbers(*this) * eight : 0;
    return sizeof(double) * libperm::rows(*this) * (parts * (lanes(*this) + pieces) + pieces * near);
}

std::size_t LeftOutKernel::scratch_doubles() const {
    const std::size_t columns_kept = what == LeftOut::gradients ? middle + differences(*this) : 2;
    return eight *
           (numbers(*this) * libperm::rows(*this) * columns_kept + libperm::rows(*this) + whole(*this));
}

std::size_t LeftOutKernel::piece_doubles() const {
    const std::size_t told = what == LeftOut::gradients ? of_lanes + differences(*this) : 2 * eight;
    return numbers(*this) * libperm::rows(*this) * told + libperm::rows(*this) + whole(*this);
}

std::size_t LeftOutKernel::task_doubles() const {
    const auto columns_told = static_cast<std::size_t>(sum_columns());
    return 2 * numbers(*this) * libperm::rows(*this) * columns_told + libperm::rows(*this) + whole(*this);
}

std::size_t LeftOutKernel::task_sums() const {
    const auto columns_told = static_cast<std::size_t>(sum_columns());
    return numbers(*this) * libperm::rows(*this) * columns_told + libperm::rows(*this) +
           (has_whole() ? numbers(*this) + 1 : 0);
}

} // namespace libperm
