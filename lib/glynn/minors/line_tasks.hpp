// Sums of many lines at once in tasks, of which each keeps sums of its own until all are done.
#pragma once

#include "jit/lanes/line_sums.hpp"
#include "lib/base/aligned_doubles.hpp"
#include "lib/glynn/term_answer.hpp"
#include "lib/run/numbered_sum.hpp"

#include <algorithm>
#include <cstdint>

namespace libperm {

struct StepPieces {
    std::uint64_t steps, piece; // in all, and at once

    std::uint64_t tasks() const {
        constexpr std::uint64_t most = 64;
        return std::clamp((steps + piece - 1) / piece, std::uint64_t{1}, most);
    }
};

// add_steps(the numbers of a piece's steps, `space` doubles, sums) adds these steps; empty() are sums of
// nothing.
template <class Empty, class AddSteps>
LineSums sum_in_tasks(StepPieces of, int threads, std::size_t space, const Empty &empty,
                      const AddSteps &add_steps) {
    const auto sums_of = [&](NumberRange task) {
        LineSums sums = empty();
        const AlignedDoubles room = aligned_doubles(space);
        for (std::uint64_t k = task.first; k < task.last; k += of.piece)
            add_steps(NumberRange{k, std::min(k + of.piece, task.last)}, room.get(), sums);
        return sums;
    };
    return sum_of_pieces(NumberedPieces::so_many(of.steps, of.tasks()), threads, empty, sums_of,
                         [](const LineSums &part, LineSums &all) {
                             all.add(part);
                             add(part.whole, all.whole);
                         });
}

} // namespace libperm
