// The frontier on a tree (docs/frontier.md): branches grow by steps, as the sparse form's rows, and are
// joined; subtrees may be walked side by side, or, one after the other, partly on a device.
#pragma once

#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/branches_on_device.hpp"
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
                 of_memory * static_cast<double>(work.memory.limit()), uses_device() ? 1 : work.threads) {}

    // The last state's number, whose books `numbers` then are.
    Number compute(Counts &counts) {
        Waiting last = walk(0, static_cast<std::int32_t>(work_.program.branches.size()) - 1, counts);
        bring_back(last);
        numbers_ = last.numbers;
        return last.list.size > 0 ? last.list.numbers.data()[0] : Trait::zero();
    }

  private:
    using Device = OnDevice<Trait>;

    static constexpr double of_memory = 0.5; // others may run beside this

    struct Waiting { // a branch that is not joined yet
        List list;
        Trait numbers;
        std::int32_t branch;
        std::optional<DeviceList> on_device; // the list, if it is there
    };

    bool uses_device() const { return Device::possible && work_.device; }
    BranchPlace place_of(std::int32_t branch) const {
        const auto b = static_cast<std::size_t>(branch);
        return uses_device() ? work_.device->place_of(b) : BranchPlace{false, work_.program.branches[b].last};
    }

    // Runs from the first branch that is joined into the last one.
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
                waiting.push_back({List(work_.memory), begin, b, {}});
                waiting.back().list.begin(numbers_.one());
            } else {
                join_last(waiting, b, join, counts);
            }
            run_steps(waiting.back(), branch, steps, counts);
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

    void run_steps(Waiting &waiting, const FrontierBranch &branch, SparseFrontier<Words, Trait> &steps,
                   Counts &counts) const {
        const std::int32_t on_device =
            std::clamp(place_of(waiting.branch).first_on_device, branch.first, branch.last);
        const auto of = [&](std::int32_t first, std::int32_t last) {
            return std::span(work_.program.steps)
                .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
        };
        if (branch.first < on_device) {
            bring_back(waiting);
            steps.run(waiting.list, waiting.numbers, of(branch.first, on_device), counts);
        }
        if (on_device < branch.last) run_on_device(waiting, of(on_device, branch.last), counts);
    }

    // The branches that `number` joins.
    void join_last(std::vector<Waiting> &waiting, std::int32_t number, SparseJoin<Words, Trait> &join,
                   Counts &counts) const {
        const FrontierBranch &branch = work_.program.branches[static_cast<std::size_t>(number)];
        Waiting right = std::move(waiting.back());
        waiting.pop_back();
        Waiting left = std::move(waiting.back());
        waiting.pop_back();
        if (left.branch != branch.joined[0]) std::swap(left, right);
        left.branch = number;
        if (!place_of(number).join_on_device || !join_on_device(left, right, branch.join, counts)) {
            bring_back(left);
            bring_back(right);
            left.list = join.run(branch.join, std::move(left.list), left.numbers, std::move(right.list),
                                 right.numbers, counts);
        }
        waiting.push_back(std::move(left));
    }

    // The left one becomes the join. False: it is not done, and a CPU is to do it.
    bool join_on_device(Waiting &left, Waiting &right, const FrontierJoin &join, Counts &counts) const {
        if constexpr (Device::possible) {
            send(left);
            send(right);
            JoinOnDevice &joins = work_.device->joins();
            if (!joins.prepare(*left.on_device, *right.on_device, join)) return false;
            const auto scales =
                left.numbers.begin_join(right.numbers, static_cast<double>(left.on_device->size),
                                        static_cast<double>(right.on_device->size));
            auto joined = joins.run(scales, Device::prime(left.numbers));
            left.numbers.end_step(joined.additions, joined.products, joined.extent);
            left.on_device = std::move(joined.list);
            const auto states = static_cast<double>(left.on_device->size);
            counts.operations += joined.products;
            counts.states += states;
            counts.peak_states = std::max(counts.peak_states, states);
            work_.device->note_bytes(counts);
            return true;
        }
        return false;
    }

    void run_on_device(Waiting &waiting, std::span<const FrontierStep> steps, Counts &counts) const {
        if constexpr (Device::possible) {
            send(waiting);
            TraitOnDevice<Trait> numbers(waiting.numbers);
            work_.device->run_steps(*waiting.on_device, steps, numbers, counts);
        }
    }

    void send(Waiting &waiting) const {
        if constexpr (Device::possible) {
            if (waiting.on_device) return;
            List &list = waiting.list;
            Device::to_device(waiting.numbers, list.numbers.data(), list.size);
            waiting.on_device = work_.device->send(list.keys.data(), list.numbers.data(), list.size);
            list.release();
        }
    }
    void bring_back(Waiting &waiting) const {
        if constexpr (Device::possible) {
            if (!waiting.on_device) return;
            List &list = waiting.list;
            list.reserve(waiting.on_device->size);
            list.size = waiting.on_device->size;
            work_.device->fetch(*waiting.on_device, list.keys.data(), list.numbers.data());
            Device::from_device(waiting.numbers, list.numbers.data(), list.size);
            waiting.on_device.reset();
        }
    }

    // A list that waits holds no more than its states.
    void shrink(List &list) const {
        if (list.keys.capacity() <= 2 * list.size + 256) return;
        List tight(work_.memory);
        tight.append(list);
        list = std::move(tight);
    }

    const FrontierWork work_;
    Trait &numbers_;
    const BranchForks forks_;
};

// Keys of one width: each is compiled for a dozen kinds of numbers.
template <class Numbers> using WideBranches = BranchFrontier<2, Numbers>;

} // namespace libperm
