// Steps of a sum shared out among threads: in tasks that follow from their number alone, whose sums are added
// in their order, so that threads do not show in the result.
#pragma once

#include "jit/lanes/line_sums.hpp"
#include "lib/base/threads.hpp"
#include "lib/glynn/term_answer.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

struct StepPieces {
    std::uint64_t steps, piece; // in all, and at once
};

constexpr std::uint64_t most_tasks = 64; // that keep sums of their own until all are done

inline std::uint64_t tasks_of(StepPieces of) {
    return std::clamp((of.steps + of.piece - 1) / of.piece, std::uint64_t{1}, most_tasks);
}

// run(pieces, sums) adds to `sums` what pieces(work) calls work(first, last) for; empty() are sums of
// nothing.
template <class Empty, class Run>
void sum_in_tasks(StepPieces of, int threads, LineSums &all, const Empty &empty, const Run &run) {
    const std::uint64_t tasks = tasks_of(of);
    const auto run_task = [&](std::uint64_t task, LineSums &to) {
        const std::uint64_t begin = of.steps * task / tasks, end = of.steps * (task + 1) / tasks;
        run(
            [&](const auto &work) {
                for (std::uint64_t k = begin; k < end; k += of.piece) work(k, std::min(k + of.piece, end));
            },
            to);
    };
    if (tasks == 1) return run_task(0, all);
    std::vector<std::optional<LineSums>> parts(tasks);
    const auto run_part = [&](std::uint64_t task) { run_task(task, parts[task].emplace(empty())); };
    if (threads > 1)
        with_threads(threads, [&] { parallel_for(tasks, run_part); });
    else
        for (std::uint64_t task = 0; task < tasks; ++task) run_part(task);
    for (const auto &part : parts) {
        all.add(*part);
        add(part->whole, all.whole);
    }
}

} // namespace libperm
