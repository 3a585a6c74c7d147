// The frontier on a tree (docs/frontier.md): branches grow by steps, as the sparse form's rows, and are
// joined.
#pragma once

#include "lib/frontier/branches_on_device.hpp"
#include "lib/frontier/sparse_join.hpp"

#include <optional>

namespace libperm {

template <int Words, class Trait> class BranchFrontier {
    using Number = typename Trait::Number;
    using List = StateList<Words, Number>;

  public:
    BranchFrontier(const FrontierWork &work, Trait &numbers)
        : work_(work), numbers_(numbers), room_(work.memory) {}

    // The last state's number, whose books `numbers` then are.
    Number compute(Counts &counts) {
        const Trait begin = numbers_;
        SparseFrontier<Words, Trait> steps(work_, numbers_);
        std::vector<Waiting> waiting;
        for (const FrontierBranch &branch : work_.program.branches) {
            const auto number = static_cast<std::size_t>(&branch - work_.program.branches.data());
            if (branch.joined[0] < 0) {
                waiting.push_back({List(work_.memory), begin, 0, {}});
                waiting.back().list.begin(Trait::one());
            } else {
                join_last(waiting, branch, place_of(number).join_on_device, counts);
            }
            Waiting &last = waiting.back();
            last.branch = static_cast<std::int32_t>(number);
            const std::int32_t on_device = std::clamp(
                work_.device ? place_of(number).first_on_device : branch.last, branch.first, branch.last);
            if (branch.first < on_device) {
                bring_back(last);
                steps.run(last.list, last.numbers, steps_of(branch.first, on_device), counts);
            }
            run_on_device(last, steps_of(on_device, branch.last), counts);
            shrink(last.list);
        }
        Waiting &last = waiting.back();
        bring_back(last);
        numbers_ = last.numbers;
        return last.list.size > 0 ? last.list.numbers.data()[0] : Trait::zero();
    }

  private:
    using Device = OnDevice<Trait>;

    struct Waiting { // a branch that is not joined yet
        List list;
        Trait numbers;
        std::int32_t branch;
        std::optional<DeviceList> on_device; // the list, if it is there
    };

    BranchPlace place_of(std::size_t branch) const {
        if (!Device::possible || !work_.device) return {false, work_.program.branches[branch].last};
        return work_.device->place_of(branch);
    }
    std::span<const FrontierStep> steps_of(std::int32_t first, std::int32_t last) const {
        return std::span(work_.program.steps)
            .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    }

    void join_last(std::vector<Waiting> &waiting, const FrontierBranch &branch, bool on_device,
                   Counts &counts) {
        Waiting right = std::move(waiting.back());
        waiting.pop_back();
        Waiting left = std::move(waiting.back());
        waiting.pop_back();
        if (left.branch != branch.joined[0]) std::swap(left, right);
        if (on_device && join_on_device(left, right, branch.join, counts)) {
            waiting.push_back(std::move(left));
            return;
        }
        bring_back(left);
        bring_back(right);
        SparseJoin<Words, Trait> join(work_, branch.join, room_);
        List list =
            join.run(std::move(left.list), left.numbers, std::move(right.list), right.numbers, counts);
        waiting.push_back({std::move(list), std::move(left.numbers), 0, {}});
    }

    // The left one becomes the join. False: it is not done, and a CPU is to do it.
    bool join_on_device(Waiting &left, Waiting &right, const FrontierJoin &join, Counts &counts) {
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
            counts.operations += joined.products;
            counts.states += static_cast<double>(left.on_device->size);
            counts.peak_states = std::max(counts.peak_states, static_cast<double>(left.on_device->size));
            work_.device->note_bytes(counts);
            return true;
        }
        return false;
    }

    void run_on_device(Waiting &waiting, std::span<const FrontierStep> steps, Counts &counts) {
        if constexpr (Device::possible) {
            if (steps.empty()) return;
            send(waiting);
            TraitOnDevice<Trait> numbers(waiting.numbers, work_.device->numbers());
            work_.device->run_steps(*waiting.on_device, steps, numbers, counts);
        }
    }

    void send(Waiting &waiting) const {
        if constexpr (Device::possible) {
            if (waiting.on_device) return;
            List &list = waiting.list;
            Device::to_device(waiting.numbers, list.numbers.data(), list.size);
            waiting.on_device = work_.device->send(list.keys.data(), list.numbers.data(), list.size);
            list.keys.release();
            list.numbers.release();
            list.size = 0;
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
        if (list.keys.capacity() <= 2 * list.size + 16) return;
        List tight(work_.memory);
        tight.reserve(list.size);
        std::copy_n(list.keys.data(), list.size, tight.keys.data());
        std::copy_n(list.numbers.data(), list.size, tight.numbers.data());
        tight.size = list.size;
        list = std::move(tight);
    }

    const FrontierWork work_;
    Trait &numbers_;
    JoinRoom<Words> room_;
};

} // namespace libperm
