// What a program with branches is expected to take.
#include "lib/frontier/branch_places.hpp"
#include "lib/frontier/cost.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/frontier/on_device.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double scan = 1.2e-9, merge = 3.5e-9, append = 4e-9; // as in a row of the sparse form
constexpr double step = 4e-7;                                  // whatever its states
constexpr double join = 1.5e-6;
// Of a join: products of two states, few or many; pairs of patterns; states that are joined; that it gives.
constexpr double few_products = 3e-9, product = 4e-10, pair = 1e-8, ranking = 1e-8, writing = 1e-8;
constexpr double few = 0x1p13;

// What joins and steps hold and take.
BranchNeeds needs_of_branch(const FrontierProgram &program, const FrontierBranch &branch, double state,
                            const std::vector<BranchNeeds> &before) {
    constexpr double item = 16; // beside the key, of a state that is sorted
    BranchNeeds needs;
    double list = 1;
    if (branch.joined[0] >= 0) {
        const double left = before[static_cast<std::size_t>(branch.joined[0])].list / state,
                     right = before[static_cast<std::size_t>(branch.joined[1])].list / state;
        list = branch.join.states_bound;
        needs.seconds = join_seconds(branch.join, left + right);
        needs.bytes = state * (2 * (left + right) + 1.1 * list) + (state + item) * 2 * std::max(left, right);
    }
    for (std::int32_t s = branch.first; s < branch.last; ++s) {
        const FrontierStep &of = program.steps[static_cast<std::size_t>(s)];
        const auto degree = static_cast<double>(of.terms.size());
        needs.seconds += step_seconds(of, list);
        const double candidates = std::min(list * degree, 1e5) * 4;
        needs.bytes = std::max(needs.bytes, state * (1.1 * (list + of.states_bound) + candidates));
        list = of.states_bound;
    }
    needs.list = state * list;
    return needs;
}

} // namespace

// The search knows of products alone: with their share of what a pair of patterns takes.
BranchPrice branch_price() { return {3 * product, ranking + writing, scan + 2 * merge, step}; }

double join_seconds(const FrontierJoin &of, double joined) {
    const double products = of.products_bound < few
                                ? few_products * of.products_bound
                                : few_products * few + product * of.products_bound + pair * of.patterns_bound;
    return join + products + ranking * joined + writing * of.states_bound;
}

double step_seconds(const FrontierStep &of, double before) {
    const auto degree = static_cast<double>(of.terms.size());
    return step + scan * before * degree + append * of.states_bound +
           merge * of.expansions_bound * std::ceil(std::log2(std::max(1.0, degree)));
}

std::vector<BranchNeeds> needs_of_branches(const FrontierProgram &program, double state_bytes) {
    std::vector<BranchNeeds> needs;
    for (const FrontierBranch &branch : program.branches)
        needs.push_back(needs_of_branch(program, branch, state_bytes, needs));
    return needs;
}

Cost branches_cost(const FrontierProgram &program, bool nonnegative) {
    const double state =
        static_cast<double>(8 * std::max(1, branch_key_words(program)) + number_bytes(nonnegative));
    const std::vector<BranchNeeds> needs = needs_of_branches(program, state);
    Cost cost;
    double waiting = 0; // bytes of lists
    const auto meet = [&](double states, double operations) {
        cost.states += states;
        cost.operations += operations;
        cost.peak_states = std::max(cost.peak_states, waiting / state + states);
    };
    for (std::size_t b = 0; b < program.branches.size(); ++b) {
        const FrontierBranch &branch = program.branches[b];
        if (branch.joined[0] >= 0) {
            for (const std::int32_t side : branch.joined)
                waiting -= needs[static_cast<std::size_t>(side)].list;
            meet(branch.join.states_bound, branch.join.products_bound);
        }
        for (std::int32_t s = branch.first; s < branch.last; ++s)
            meet(program.steps[static_cast<std::size_t>(s)].states_bound,
                 program.steps[static_cast<std::size_t>(s)].expansions_bound);
        cost.serial_seconds += needs[b].seconds;
        cost.bytes = std::max(cost.bytes, waiting + needs[b].bytes);
        waiting += needs[b].list;
    }
    cost.serial_seconds += call_seconds;
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
