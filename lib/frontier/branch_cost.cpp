// What a program with branches is expected to take.
#include "lib/frontier/cost.hpp"
#include "lib/frontier/frontier.hpp"

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

double join_seconds(const FrontierJoin &of, double joined) {
    const double products = of.products_bound < few
                                ? few_products * of.products_bound
                                : few_products * few + product * of.products_bound + pair * of.patterns_bound;
    return join + products + ranking * joined + writing * of.states_bound;
}

} // namespace

// The search knows of products alone: with their share of what a pair of patterns takes.
BranchPrice branch_price() { return {3 * product, ranking + writing, scan + 2 * merge, step}; }

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
            cost.serial_seconds += step + scan * before * degree + append * of.states_bound +
                                   merge * of.expansions_bound * std::ceil(std::log2(std::max(1.0, degree)));
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

} // namespace libperm
