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
    NumberedPieces in_tasks() const { return NumberedPieces::so_many(steps, tasks()); }
};

// Adds a task's sums to those of the tasks before it.
inline void add_task(const LineSums &task, LineSums &all) {
    all.add(task);
    add(task.whole, all.whole);
}

// add_steps(the numbers of a piece's steps, `space` doubles, sums) adds these steps; `sums` are of nothing.
template <class AddSteps>
LineSums sum_of_task(std::uint64_t piece, NumberRange task, std::size_t space, LineSums sums,
                     const AddSteps &add_steps) {
    const AlignedDoubles room = aligned_doubles(space);
    for (std::uint64_t k = task.first; k < task.last; k += piece)
        add_steps(NumberRange{k, std::min(k + piece, task.last)}, room.get(), sums);
    return sums;
}

} // namespace libperm
