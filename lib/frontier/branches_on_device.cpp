#include "lib/frontier/branches_on_device.hpp"

#include <array>

namespace libperm {
namespace {

BranchPlaces places_in(const FrontierProgram &program, int key_words, const StateNumbers &numbers,
                       DeviceRooms::Share share) {
    BranchPlaces places = place_branches(program, key_words, numbers);
    if (share == DeviceRooms::Share::large) return places;
    const bool all = share == DeviceRooms::Share::all;
    for (std::size_t b = 0; b < program.branches.size(); ++b) {
        const FrontierBranch &branch = program.branches[b];
        const bool joins = branch.joined[0] >= 0 && device_holds(branch.join);
        places.of_branch[b] = {joins && (all || b % 3 != 0),
                               all ? branch.first : (branch.first + branch.last + 1) / 2};
    }
    return places;
}

} // namespace

int branch_key_words(const FrontierRun &run) { return run.input.block() ? branch_key_words(run.program) : 2; }

BranchesOnDevice::BranchesOnDevice(DeviceQueue &queue, const FrontierProgram &program, int key_words,
                                   const StateNumbers &numbers, const DeviceRooms &rooms)
    : queue_(queue),
      key_words_(key_words),
      numbers_(numbers),
      places_(places_in(program, key_words, numbers, rooms.share)),
      joins_(queue, {key_words, numbers}, rooms.sums),
      steps_(queue, sparse_kernel_of(program, key_words, numbers), program.steps, rooms.steps) {}

DeviceList BranchesOnDevice::send(const void *keys, const void *numbers, std::size_t count) {
    DeviceList list(queue_, key_words_, numbers_);
    list.allocate(count + 1);
    list.size = count;
    queue_.copy_in(list.where().keys, keys, count * list.key_bytes());
    queue_.copy_in(list.where().numbers, numbers, count * list.number_bytes_each());
    return list;
}

void BranchesOnDevice::fetch(const DeviceList &list, void *keys, void *numbers) {
    queue_.copy_out(keys, list.where().keys, list.size * list.key_bytes());
    queue_.copy_out(numbers, list.where().numbers, list.size * list.number_bytes_each());
}

void BranchesOnDevice::run_steps(DeviceList &list, std::span<const FrontierStep> steps,
                                 DeviceNumbers &numbers, Counts &counts) {
    std::swap(steps_.list(), list);
    steps_.run(steps, numbers, counts);
    std::swap(steps_.list(), list);
    if (list.capacity() > 2 * list.size + 1024) list = joins_.copy_of(list); // it may wait
}

EngineResult run_branches_on(DeviceQueue &queue, const FrontierRun &run, const DeviceRooms &rooms) {
    const int words = branch_key_words(run);
    const StateNumbers &numbers = run.input.states();
    const std::array kernels{sparse_frontier_kernels(sparse_kernel_of(run.program, words, numbers)),
                             frontier_join_kernels({words, numbers})};
    queue.load(kernels);
    BranchesOnDevice device(queue, run.program, words, numbers, rooms);
    FrontierRun here = run;
    here.device = &device;
    return run_branches(here);
}

} // namespace libperm
