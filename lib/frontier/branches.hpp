// The frontier on a tree (docs/frontier.md): branches grow by steps, as the sparse form's rows, and are
// joined.
#pragma once

#include "lib/frontier/sparse_join.hpp"

namespace libperm {

template <int Words, class Trait> class BranchFrontier {
    using Number = typename Trait::Number;
    using List = StateList<Words, Number>;

  public:
    BranchFrontier(const FrontierWork &work, Trait &numbers) : work_(work), numbers_(numbers), join_(work) {}

    // The last state's number, whose books `numbers` then are.
    Number compute(Counts &counts) {
        const Trait begin = numbers_;
        SparseFrontier<Words, Trait> steps(work_, numbers_);
        std::vector<Waiting> waiting;
        for (const FrontierBranch &branch : work_.program.branches) {
            if (branch.joined[0] < 0) {
                waiting.push_back({List(work_.memory), begin, 0});
                waiting.back().list.begin(Trait::one());
            } else {
                join_last(waiting, branch, counts);
            }
            Waiting &last = waiting.back();
            last.branch = static_cast<std::int32_t>(&branch - work_.program.branches.data());
            const std::span all(work_.program.steps);
            steps.run(last.list, last.numbers,
                      all.subspan(static_cast<std::size_t>(branch.first),
                                  static_cast<std::size_t>(branch.last - branch.first)),
                      counts);
            shrink(last.list);
        }
        const Waiting &last = waiting.back();
        numbers_ = last.numbers;
        return last.list.size > 0 ? last.list.numbers.data()[0] : Trait::zero();
    }

  private:
    struct Waiting { // a branch that is not joined yet
        List list;
        Trait numbers;
        std::int32_t branch;
    };

    void join_last(std::vector<Waiting> &waiting, const FrontierBranch &branch, Counts &counts) {
        Waiting right = std::move(waiting.back());
        waiting.pop_back();
        Waiting left = std::move(waiting.back());
        waiting.pop_back();
        if (left.branch != branch.joined[0]) std::swap(left, right);
        List list = join_.run(branch.join, std::move(left.list), left.numbers, std::move(right.list),
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
    SparseJoin<Words, Trait> join_;
};

} // namespace libperm
