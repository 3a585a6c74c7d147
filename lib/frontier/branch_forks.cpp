#include "lib/frontier/branch_forks.hpp"

#include "preprocess/index.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr double worth_a_thread = 1e-3; // seconds, on either side
constexpr int most_nested = 8;          // forks inside each other

// A branch with all that is joined into it.
struct Subtree {
    std::int32_t first = 0;
    double seconds = 0, peak = 0; // bytes, one branch after the other
    double list = 0;
};

std::vector<Subtree> subtrees_of(const FrontierProgram &program, double state_bytes) {
    const std::vector<BranchNeeds> needs = needs_of_branches(program, state_bytes);
    std::vector<Subtree> trees;
    for (std::int32_t b = 0; b < std::ssize(program.branches); ++b) {
        const auto &joined = program.branches[at(b)].joined;
        const BranchNeeds &own = needs[at(b)];
        Subtree &tree = trees.emplace_back(Subtree{b, own.seconds, own.bytes, own.list});
        if (joined[0] < 0) continue;
        const Subtree first = trees[at(std::min(joined[0], joined[1]))], second = trees[at(b - 1)];
        tree.first = first.first;
        tree.seconds += first.seconds + second.seconds;
        tree.peak = std::max({tree.peak, first.peak, first.list + second.peak});
    }
    return trees;
}

} // namespace

BranchForks::BranchForks(const FrontierProgram &program, double state_bytes, double memory, int threads) {
    if (threads < 2) return;
    const std::vector<Subtree> trees = subtrees_of(program, state_bytes);
    from_.resize(trees.size());
    struct Room {
        double bytes;
        int nested;
    };
    std::vector<Room> rooms(trees.size(), Room{memory, 0});
    for (std::int32_t b = static_cast<std::int32_t>(trees.size()) - 1; b >= 0; --b) {
        const auto &joined = program.branches[at(b)].joined;
        if (joined[0] < 0) continue;
        const Room room = rooms[at(b)];
        const std::int32_t first = std::min(joined[0], joined[1]), second = b - 1;
        const double spare = room.bytes - trees[at(first)].peak - trees[at(second)].peak;
        if (spare < 0 || room.nested == most_nested ||
            std::min(trees[at(first)].seconds, trees[at(second)].seconds) < worth_a_thread) {
            rooms[at(first)] = room;
            rooms[at(second)] = {room.bytes - trees[at(first)].list, room.nested};
            continue;
        }
        for (const std::int32_t side : {first, second})
            rooms[at(side)] = {trees[at(side)].peak + spare / 2, room.nested + 1};
        from_[at(trees[at(b)].first)].push_back({trees[at(b)].first, trees[at(second)].first, b});
    }
    for (std::vector<BranchFork> &forks : from_) std::reverse(forks.begin(), forks.end());
}

const BranchFork *BranchForks::find(std::int32_t first, std::int32_t last) const {
    if (from_.empty()) return nullptr;
    const std::vector<BranchFork> &forks = from_[at(first)];
    const auto end =
        std::find_if(forks.begin(), forks.end(), [last](const BranchFork &f) { return f.join > last; });
    return end == forks.begin() ? nullptr : &*(end - 1);
}

} // namespace libperm
