#include "jit/tape_kernel.hpp"

#include "jit/device_code.hpp"
#include "jit/nvrtc.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace libperm {
namespace {

constexpr std::uint32_t warp = 32, most_numbered = 1 << 16;

std::uint32_t whole_slices(std::uint32_t states) { return (states + warp - 1) / warp * warp; }

} // namespace

KernelRecipe tape_kernel(Arithmetic arithmetic, bool magnitudes, int threads) {
    KernelRecipe recipe;
    const std::string name = fmt::format("{} numbers{}, {} threads", arithmetic_name(arithmetic),
                                         magnitudes ? " and magnitudes" : "", threads);
    recipe.key = fmt::format("tape: {}\ngenerator {}\n", name, generator_digest);
    recipe.source = [arithmetic, magnitudes, threads, name] {
        return fmt::format("// libperm: tapes, {}.\n\n", name) + number_cuh +
               fmt::format("\ntypedef {} Arith;\nconstexpr bool with_magnitudes = {};\n\n",
                           arithmetic_type(arithmetic), magnitudes) +
               tape_cuh +
               fmt::format("\nextern \"C\" __global__ void __launch_bounds__({})\n"
                           "{}(const __grid_constant__ Tape tape) {{\n"
                           "    extern __shared__ __align__(16) unsigned char shared_memory[];\n"
                           "    run(tape, shared_memory);\n}}\n",
                           threads, tape_entry);
    };
    recipe.flags = kernel_flags();
    recipe.entries = {tape_entry};
    return recipe;
}

bool can_be_sliced(const Tape &tape) {
    return whole_slices(tape.most_states) < most_numbered && tape.nnz + 1 < most_numbered;
}

SlicedTape sliced(const Tape &tape) {
    SlicedTape made;
    made.states = whole_slices(tape.most_states);
    std::vector<std::uint32_t> number{0}; // of the row before: where each state stands now
    for (std::int32_t r = 1; r <= tape.n; ++r) {
        const std::uint32_t begin = tape.first_state[static_cast<std::size_t>(r)],
                            states = tape.first_state[static_cast<std::size_t>(r) + 1] - begin;
        const auto moves_of = [&](std::uint32_t s) {
            return tape.first_move[begin + s + 1] - tape.first_move[begin + s];
        };
        std::vector<std::uint32_t> order(states);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t x, std::uint32_t y) { return moves_of(x) > moves_of(y); });
        made.row.push_back(static_cast<std::uint32_t>(made.slice.size()));
        for (std::uint32_t first = 0; first < states; first += warp) {
            made.slice.push_back(static_cast<std::uint32_t>(made.moves.size() / warp));
            const std::uint32_t depth = moves_of(order[first]);
            for (std::uint32_t j = 0; j < depth; ++j)
                for (std::uint32_t k = first; k < first + warp; ++k) {
                    auto move = static_cast<std::uint32_t>(tape.nnz); // of the entry that is 0
                    if (k < states && j < moves_of(order[k])) {
                        const TapeMove is = tape.moves[tape.first_move[begin + order[k]] + j];
                        move = number[is.source] << 16 | is.entry;
                    }
                    made.moves.push_back(move);
                }
        }
        number.resize(states);
        for (std::uint32_t k = 0; k < states; ++k) number[order[k]] = k;
    }
    made.row.push_back(static_cast<std::uint32_t>(made.slice.size()));
    made.slice.push_back(static_cast<std::uint32_t>(made.moves.size() / warp));
    return made;
}

std::size_t tape_shared_bytes(const Tape &tape, Arithmetic arithmetic, bool magnitudes) {
    const auto parts = static_cast<std::size_t>(parts_of(arithmetic));
    const std::size_t states = 2 * std::size_t{whole_slices(tape.most_states)};
    return 8 * (parts * (static_cast<std::size_t>(tape.nnz) + 1 + states) + (magnitudes ? states : 0));
}

} // namespace libperm
