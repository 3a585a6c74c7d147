#include "jit/kernel/sign_sums.hpp"

#include "jit/kernel/device_code.hpp"
#include "jit/text/text.hpp"

#include <algorithm>

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
    const auto source = [kernel, gradients, name] {
        const std::string threads = std::to_string(left_out_threads);
        constexpr const char *parameter = "const __grid_constant__ LeftOut all";
        return formatted("// libperm: {}.\n\n", name) +
               numbers_text(is_complex(kernel.arithmetic) ? Arithmetic::complex : Arithmetic::real) +
               formatted("constexpr bool is_split = {};\nconstexpr unsigned rows = {};\n\n",
                         has_two_grids(kernel.arithmetic), kernel.rows) +
               left_out_cuh + "\n" + (gradients ? gradient_cuh : minors_cuh) +
               entry_text(left_out_entry, threads, parameter,
                          formatted("{}    walk_pieces<{}>(all, shared_memory);\n", shared_memory_text,
                                    gradients ? "GradientWalk" : "MinorWalk")) +
               entry_text(left_out_add_entry, threads, parameter, "    add_pieces(all);\n");
    };
    return recipe_of("left out: " + name, source, {left_out_entry, left_out_add_entry});
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

namespace {

// The layout of device/hafnian_sum.cuh.
constexpr std::size_t behind = 4;

// The wider, the fewer loads; the narrower, the fewer threads that wait for others.
struct Widths {
    int of_node, of_leaf;
};
Widths widths_of(Arithmetic arithmetic) {
    if (arithmetic == Arithmetic::complex_dd) return {1, 1};
    return arithmetic == Arithmetic::real || arithmetic == Arithmetic::complex ? Widths{4, 2} : Widths{2, 1};
}

std::size_t node_doubles(const HafnianShape &of, int s) {
    const auto lines = 2 * static_cast<std::size_t>(of.pairs - s) + (of.has_loops ? 1 : 0),
               polynomials = lines * (lines - 1) / 2 + 1, stride = static_cast<std::size_t>(s + 1) | 1;
    return (polynomials * stride + behind) * static_cast<std::size_t>(parts_of(of.arithmetic)) +
           2 * polynomials;
}

// Scratch, two leaves' values, sums by level; then errors.
std::size_t fixed_doubles(const HafnianShape &of) {
    const std::size_t cells =
        (of.has_loops ? 10 : 2) * (static_cast<std::size_t>(of.pairs) - 1 + behind) + 2 + most_hafnian_levels;
    return cells * static_cast<std::size_t>(parts_of(of.arithmetic)) + 2;
}

} // namespace

KernelRecipe hafnian_kernel(Arithmetic arithmetic) {
    const std::string what = formatted("hafnians of {} numbers", arithmetic_name(arithmetic));
    const auto source = [arithmetic, what] {
        const bool modular = arithmetic == Arithmetic::modular;
        const double unit = hafnian_unit(arithmetic);
        const Widths widths = widths_of(arithmetic);
        return formatted("// libperm: {}.\n\n", what) + numbers_text(arithmetic) +
               formatted("constexpr double unit = {}, per_product = {};\n"
                         "constexpr unsigned width = {}, leaf_width = {};\n"
                         "__device__ __forceinline__ Arith arithmetic_of(double{}) {{ return {{{}}}; }}\n\n",
                         unit, hafnian_roundings(arithmetic) * unit, widths.of_node, widths.of_leaf,
                         modular ? " prime" : "", modular ? "prime, 1 / prime" : "") +
               hafnian_sum_cuh +
               entry_text(hafnian_entry, formatted("{}, {}", hafnian_threads, hafnian_blocks),
                          "const __grid_constant__ HafnianWalks all",
                          formatted("{}    walk_pair_signs(all, shared_memory);\n", shared_memory_text));
    };
    return recipe_of(what, source, {hafnian_entry});
}

// Levels with signs of their own, which are not both taken, need but one node, and the one before it.
HafnianPlaces::HafnianPlaces(const HafnianShape &of, std::size_t most_shared) : place{} {
    const int leaf = of.pairs - 2, top = hafnian_lane_bits + of.piece_bits + 1;
    std::size_t near = fixed_doubles(of);
    int level = leaf;
    for (; level > top; --level) {
        const std::size_t with = near + 2 * node_doubles(of, level);
        if (8 * with > most_shared) break;
        place[static_cast<std::size_t>(level)] = static_cast<std::uint32_t>(near);
        near = with;
    }
    first_near = static_cast<std::uint32_t>(level + 1);
    shared_bytes = 8 * near;

    std::size_t largest = 0;
    for (int s = 0; s <= top; ++s) largest = std::max(largest, node_doubles(of, s));
    largest += largest % 2;
    room_doubles = 2 * largest;
    for (int s = 0; s <= top; ++s)
        place[static_cast<std::size_t>(s)] = static_cast<std::uint32_t>(s % 2 == 0 ? 0 : largest);
    for (int s = top + 1; s <= level; ++s) {
        place[static_cast<std::size_t>(s)] = static_cast<std::uint32_t>(room_doubles);
        room_doubles += 2 * node_doubles(of, s);
    }
    room_doubles += room_doubles % 2;
}

} // namespace libperm
