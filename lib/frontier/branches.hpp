// The frontier on a tree (docs/frontier.md): branches grow by steps, as the sparse form's rows, and are
// joined; subtrees may be walked side by side.
#pragma once

#include "lib/frontier/branch_forks.hpp"
#include "lib/frontier/sparse_join.hpp"

#include <array>
#include <optional>

namespace libperm {

template <int Words, class Trait> class BranchFrontier {
    using Number = typename Trait::Number;
    using List = StateList<Words, Number>;

  public:
    BranchFrontier(const FrontierWork &work, Trait &numbers)
        : work_(work),
          numbers_(numbers),
          forks_(work.program, sizeof(StateKey<Words>) + sizeof(Number),
                 of_memory * static_cast<double>(work.memory.limit()), work.threads) {}

    // The last state's number, whose books `numbers` then are.
    Number compute(Counts &counts) {
        const Waiting last = walk(0, static_cast<std::int32_t>(work_.program.branches.size()) - 1, counts);
        numbers_ = last.numbers;
        return last.list.size > 0 ? last.list.numbers.data()[0] : Trait::zero();
    }

  private:
    static constexpr double of_memory = 0.5; // others may run beside this

    struct Waiting { // a branch that is not joined yet
        List list;
        Trait numbers;
        std::int32_t branch;
    };

    // From the first branch that is joined into the last one.
    Waiting walk(std::int32_t first, std::int32_t last, Counts &counts) const {
        const Trait begin = numbers_;
        Trait books = begin;
        SparseFrontier<Words, Trait> steps(work_, books);
        SparseJoin<Words, Trait> join(work_);
        std::vector<Waiting> waiting;
        for (std::int32_t b = first; b <= last; ++b) {
            if (const BranchFork *fork = forks_.find(b, last)) {
                walk_sides(*fork, waiting, counts);
                b = fork->join;
            }
            const FrontierBranch &branch = work_.program.branches[static_cast<std::size_t>(b)];
            if (branch.joined[0] < 0) {
                waiting.push_back({List(work_.memory), begin, b});
                waiting.back().list.begin(Trait::one());
            } else {
                join_last(waiting, branch, join, counts);
                waiting.back().branch = b;
            }
            const std::span all(work_.program.steps);
            steps.run(waiting.back().list, waiting.back().numbers,
                      all.subspan(static_cast<std::size_t>(branch.first),
                                  static_cast<std::size_t>(branch.last - branch.first)),
                      counts);
            shrink(waiting.back().list);
        }
        return std::move(waiting.back());
    }

    void walk_sides(const BranchFork &fork, std::vector<Waiting> &waiting, Counts &counts) const {
        std::array<std::optional<Waiting>, 2> sides;
        std::array<Counts, 2> of_sides;
        parallel_for(2, [&](std::uint64_t k) {
            sides[k] = k == 0 ? walk(fork.first, fork.middle - 1, of_sides[k])
                              : walk(fork.middle, fork.join - 1, of_sides[k]);
        });
        for (std::size_t k = 0; k < 2; ++k) {
            waiting.push_back(std::move(*sides[k]));
            counts += of_sides[k];
        }
    }

    void join_last(std::vector<Waiting> &waiting, const FrontierBranch &branch,
                   SparseJoin<Words, Trait> &join, Counts &counts) const {
        Waiting right = std::move(waiting.back());
        waiting.pop_back();
        Waiting left = std::move(waiting.back());
        waiting.pop_back();
        if (left.branch != branch.joined[0]) std::swap(left, right);
        List list = join.run(branch.join, std::move(left.list), left.numbers, std::move(right.list),
                             right.numbers, counts);
        waiting.push_back({std::move(list), std::move(left.numbers), 0});
    }

    // A list that waits holds no more than its states.
    void shrink(List &list) const {
        if (list.keys.capacity() <= 2 * list.size + 256) return;
        List tight(work_.memory);
        tight.reserve(list.size);
        std::copy_n(list.keys.data(), list.size, tight.keys.data());
        std::copy_n(list.numbers.data(), list.size, tight.numbers.data());
        tight.size = list.size;
        list = std::move(tight);
    }

    const FrontierWork work_;
    Trait &numbers_;
    const BranchForks forks_;
};

} // namespace libperm
