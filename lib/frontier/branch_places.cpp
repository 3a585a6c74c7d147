#include "lib/frontier/branch_places.hpp"

#include "lib/frontier/cost.hpp"
#include "lib/frontier/forms.hpp"
#include "lib/frontier/join_on_device.hpp"
#include "lib/frontier/on_device.hpp"
#include "preprocess/index.hpp"

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

namespace {

// Measured on an H100 and its host.
constexpr double join_launches = 4e-4;     // and reports that are waited for, memory that is asked for
constexpr double joined_state = 3e-10;     // marked, ranked, spread; or made
constexpr double device_product = 1.5e-11; // with those of absent states
constexpr double step_launches = 6e-5;
constexpr double step_bandwidth = 1e12; // bytes a second
constexpr double copying = 3e-5, copy_bandwidth = 8e9;

class Placing {
  public:
    Placing(const FrontierProgram &program, double state_bytes)
        : program_(program), state_bytes_(state_bytes), lists_(program.branches.size()) {}

    BranchPlaces run() {
        for (std::size_t b = 0; b < program_.branches.size(); ++b) place(b);
        return std::move(places_);
    }

  private:
    struct List {
        double states = 1;
        bool on_device = false;
    };

    double copied(double states) const { return copying + states * state_bytes_ / copy_bandwidth; }

    double device_step(const FrontierStep &step, double before) const {
        const auto degree = static_cast<double>(step.terms.size());
        const double levels = std::ceil(std::log2(std::max(2.0, degree)));
        return step_launches +
               state_bytes_ * (before * degree + step.expansions_bound * (1 + 2 * levels)) / step_bandwidth;
    }

    void place(std::size_t b) {
        const FrontierBranch &branch = program_.branches[b];
        BranchPlace place;
        List list;
        if (branch.joined[0] >= 0) {
            place.join_on_device = place_join(branch);
            list = {branch.join.states_bound, place.join_on_device};
        }
        place.first_on_device = place_steps(branch, list);
        if (list.on_device) {
            alive_ += list.states;
            places_.device_states = std::max(places_.device_states, alive_);
        }
        places_.of_branch.push_back(place);
        lists_[b] = list;
    }

    bool place_join(const FrontierBranch &branch) {
        double copies_there = 0, copies_back = 0, states = 0;
        for (const std::int32_t side : branch.joined) {
            const List &list = lists_[static_cast<std::size_t>(side)];
            (list.on_device ? copies_back : copies_there) += copied(list.states);
            states += list.states;
            if (list.on_device) alive_ -= list.states;
        }
        const double here = join_seconds(branch.join, states) + copies_back;
        const double there = join_launches + copies_there +
                             joined_state * (states + branch.join.states_bound) +
                             device_product * branch.join.products_bound;
        const bool on_device = device_holds(branch.join) && there < here;
        (on_device ? places_.on_device : places_.on_cpu) += on_device ? there : here;
        if (on_device)
            places_.device_states =
                std::max(places_.device_states, alive_ + 2 * states + branch.join.states_bound);
        return on_device;
    }

    // From some step on all, or none; where the list is there already, all or none.
    std::int32_t place_steps(const FrontierBranch &branch, List &list) {
        const auto count = static_cast<std::size_t>(branch.last - branch.first);
        std::vector<double> here(count + 1, 0), there(count + 1, 0), states(count + 1, list.states);
        for (std::size_t k = 0; k < count; ++k) {
            const FrontierStep &step = program_.steps[static_cast<std::size_t>(branch.first) + k];
            here[k] = step_seconds(step, states[k]);
            there[k] = device_step(step, states[k]);
            states[k + 1] = step.states_bound;
        }
        double rest_there = 0, rest_here = 0;
        std::size_t best = count;
        double best_gain = list.on_device ? -copied(list.states) : 0;
        for (std::size_t k = count; k-- > 0;) {
            rest_there += there[k];
            rest_here += here[k];
            if (list.on_device && k > 0) continue;
            const double gain =
                rest_here - rest_there - (list.on_device ? 0 : copied(states[k]) + copied(states[count]));
            if (gain > best_gain) {
                best_gain = gain;
                best = k;
            }
        }
        if (list.on_device && best == count && count > 0) places_.on_cpu += copied(list.states);
        for (std::size_t k = 0; k < count; ++k)
            (k < best ? places_.on_cpu : places_.on_device) += k < best ? here[k] : there[k];
        if (best < count) {
            const double most =
                *std::max_element(states.begin() + static_cast<std::ptrdiff_t>(best), states.end());
            places_.device_states = std::max(places_.device_states, alive_ + 4 * most);
            if (!list.on_device) places_.on_device += copied(states[best]);
        }
        list.on_device = best < count || (list.on_device && count == 0);
        list.states = states[count];
        return branch.first + static_cast<std::int32_t>(best);
    }

    const FrontierProgram &program_;
    const double state_bytes_;
    BranchPlaces places_;
    std::vector<List> lists_;
    double alive_ = 0; // states that wait on the device
};

} // namespace

BranchPlaces place_branches(const FrontierProgram &program, int key_words, const StateNumbers &numbers) {
    return Placing(program, static_cast<double>(8 * key_words + number_bytes(numbers))).run();
}

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
