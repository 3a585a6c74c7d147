// The large joins and steps of a program with branches, done on a device (docs/frontier.md); the rest of it
// stays with lib/frontier/branches.hpp.
#pragma once

#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/device_numbers.hpp"
#include "lib/frontier/join_on_device.hpp"
#include "lib/frontier/on_device.hpp"
#include "lib/frontier/sparse_steps.hpp"

namespace libperm {

class BranchesOnDevice {
  public:
    BranchesOnDevice(DeviceQueue &queue, const FrontierProgram &program, int key_words,
                     const StateNumbers &numbers, const DeviceRooms &rooms);

    const BranchPlace &place_of(std::size_t branch) const { return places_.of_branch[branch]; }

    // Lists there and back: keys and numbers as they stand one after the other.
    DeviceList send(const void *keys, const void *numbers, std::size_t count);
    void fetch(const DeviceList &list, void *keys, void *numbers);

    JoinOnDevice &joins() { return joins_; }
    void run_steps(DeviceList &list, std::span<const FrontierStep> steps, DeviceNumbers &numbers,
                   Counts &counts);
    void note_bytes(Counts &counts) const {
        counts.peak_bytes = std::max(counts.peak_bytes, joins_.peak_bytes());
    }

  private:
    DeviceQueue &queue_;
    const int key_words_;
    const StateNumbers numbers_;
    BranchPlaces places_;
    JoinOnDevice joins_;
    SparseSteps steps_;
};

// 64-bit words of a state that a run has.
int branch_key_words(const FrontierRun &run);

} // namespace libperm
