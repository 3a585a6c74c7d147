// What a program with branches is expected to take.
#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/on_device.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double scan = 1.2e-9, merge = 3.5e-9, append = 4e-9; // as in a row of the sparse form
constexpr double step = 4e-7;                                  // whatever its states
constexpr double join = 4e-6;
constexpr double product = 2.2e-9; // of two states
constexpr double sorting = 3e-8;   // of a state that is joined
constexpr double writing = 4e-9;   // of a state that a join gives

} // namespace

BranchPrice branch_price() { return {product, sorting + writing, scan + 2 * merge, step}; }

double join_seconds(const FrontierJoin &of, double states) {
    return join + product * of.products_bound + sorting * states + writing * of.states_bound;
}

double step_seconds(const FrontierStep &of, double before) {
    const auto degree = static_cast<double>(of.terms.size());
    return step + scan * before * degree + append * of.states_bound +
           merge * of.expansions_bound * std::ceil(std::log2(std::max(1.0, degree)));
}

Cost branches_cost(const FrontierProgram &program, bool nonnegative) {
    const double state =
        static_cast<double>(8 * std::max(1, branch_key_words(program)) + number_bytes(nonnegative));
    constexpr double item = 16; // beside the key, of a state that is sorted
    Cost cost;
    std::vector<double> states(program.branches.size(), 1); // of each list that waits
    double waiting = 0, peak_bytes = 0;
    const auto meet = [&](double after, double operations) {
        cost.states += after;
        cost.operations += operations;
        cost.peak_states = std::max(cost.peak_states, waiting + after);
    };
    for (std::size_t b = 0; b < program.branches.size(); ++b) {
        const FrontierBranch &branch = program.branches[b];
        double before = 1;
        if (branch.joined[0] >= 0) {
            const double left = states[static_cast<std::size_t>(branch.joined[0])],
                         right = states[static_cast<std::size_t>(branch.joined[1])];
            waiting -= left + right;
            before = branch.join.states_bound;
            meet(before, branch.join.products_bound);
            cost.serial_seconds += join_seconds(branch.join, left + right);
            peak_bytes = std::max(peak_bytes, state * (waiting + 2 * (left + right) + 1.1 * before) +
                                                  (state + item) * 2 * std::max(left, right));
        }
        for (std::int32_t s = branch.first; s < branch.last; ++s) {
            const FrontierStep &of = program.steps[static_cast<std::size_t>(s)];
            const auto degree = static_cast<double>(of.terms.size());
            meet(of.states_bound, of.expansions_bound);
            cost.serial_seconds += step_seconds(of, before);
            const double candidates = std::min(before * degree, 1e5) * 4;
            peak_bytes =
                std::max(peak_bytes, state * (waiting + 1.1 * (before + of.states_bound) + candidates));
            before = of.states_bound;
        }
        states[b] = before;
        waiting += before;
    }
    cost.serial_seconds += call_seconds;
    cost.bytes = peak_bytes;
    return cost;
}

Cost branches_cost(const FrontierProgram &program, bool nonnegative, const GpuProperties &gpu) {
    constexpr double compiling = 1;
    constexpr double h100 = 3.35e12; // bytes a second
    const int words = std::max(1, branch_key_words(program));
    const BranchPlaces places = place_branches(program, words, nonnegative);
    Cost cost = branches_cost(program, nonnegative);
    cost.compile_seconds = places.uses_device() ? compiling : 0;
    cost.serial_seconds = cost.compile_seconds + call_seconds + places.on_cpu +
                          places.on_device * std::max(1.0, h100 / gpu.memory_bandwidth);
    cost.bytes = places.device_states * static_cast<double>(8 * words + number_bytes(nonnegative)) +
                 2 * DeviceRooms().sums;
    return cost;
}

} // namespace libperm
