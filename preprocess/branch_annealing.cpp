#include "preprocess/branch_annealing.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {

namespace {

// The joins that most of the run goes into.
void find_dear(const BranchTree &tree, std::vector<std::int32_t> &dear) {
    dear.clear();
    const double mean = tree.seconds() / (tree.size() - tree.leaves());
    for (std::int32_t k = tree.leaves(); k < tree.size(); ++k)
        if (tree.node(k).seconds > mean) dear.push_back(k);
}

std::int32_t below(std::uint64_t bits, std::int32_t n) {
    return static_cast<std::int32_t>((bits >> 33) * static_cast<std::uint64_t>(n) >> 31);
}

} // namespace

void anneal(BranchTree &tree, const AnnealingSchedule &schedule, SearchRandom &random, SearchWork &work) {
    const std::int32_t joins = tree.size() - tree.leaves();
    if (joins < 2) return;
    constexpr int between = 256;                // rotations of one temperature
    constexpr std::int32_t most_cached = 20000; // nodes: those of larger trees come from memory
    const double fetched = tree.size() > most_cached ? 800 : 0;
    std::vector<std::int32_t> dear;
    std::int32_t until_found = 0; // rotations before the dear ones are looked for
    const double start = work.seconds();
    const auto gone_by = [&] { return (work.seconds() - start) / schedule.seconds; };
    while (gone_by() < 1) {
        const double gone = gone_by();
        const double coldness =
            schedule.first_coldness * std::pow(schedule.last_coldness / schedule.first_coldness, gone);
        double taken = 0;
        if (until_found <= 0) {
            find_dear(tree, dear);
            until_found = joins;
            taken += 3.0 * joins;
        }
        until_found -= between;
        for (int k = 0; k < between; ++k) {
            const std::uint64_t bits = random.bits();
            // One in two among the dear ones, or next to them.
            std::int32_t parent = tree.leaves() + below(bits, joins);
            if ((bits & 4) && !dear.empty()) {
                parent = dear[static_cast<std::size_t>(below(bits, static_cast<std::int32_t>(dear.size())))];
                if ((bits & 24) == 0 && tree.node(parent).parent >= 0) parent = tree.node(parent).parent;
                if ((bits & 24) == 8)
                    parent = std::max(tree.node(parent).child[bits >> 5 & 1], tree.leaves());
            }
            const auto rotation = tree.rotation(parent, bits & 1, bits >> 1 & 1);
            taken += 10;
            if (!rotation) continue;
            const BranchTree::Rotated to = tree.rotated(*rotation);
            taken += fetched + 100 + 3 * static_cast<double>(to.lines);
            if (to.after > to.before &&
                random.uniform() >= std::exp(coldness * std::log2(to.before / to.after)))
                continue;
            tree.rotate(*rotation, to);
            taken += 40 + 2 * static_cast<double>(to.lines);
        }
        work.take(taken);
    }
    tree.sum_seconds();
}

} // namespace libperm
