#include "preprocess/slot_names.hpp"

#include "preprocess/index.hpp"
#include "preprocess/pascal.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace libperm {
namespace {

using Names = std::vector<std::int32_t>; // by slot

// What a slot costs as a low one: the states of the rows with an entry in it, and half of those of rows in
// which it is not open, as blocks are smaller then. In whole numbers of halves, so the same everywhere.
std::vector<double> costs_of(const FrontierProgram &program) {
    std::vector<double> costs(at(program.slots), 0);
    std::vector<char> open(costs.size(), 0);
    for (const FrontierStep &step : program.steps) {
        const double states = binomial(step.width_after, step.used_after);
        for (const FrontierTerm &t : step.terms) open[at(t.slot)] = 2;
        for (std::size_t s = 0; s < costs.size(); ++s) costs[s] += states * (open[s] == 2 ? 2 : open[s] == 0);
        for (const FrontierTerm &t : step.terms) open[at(t.slot)] = t.closes ? 0 : 1;
    }
    return costs;
}

// Low ones first; both keep their order.
Names cheapest_low(const FrontierProgram &program) {
    const std::vector<double> costs = costs_of(program);
    std::vector<std::int32_t> order(costs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t x, std::int32_t y) { return costs[at(x)] < costs[at(y)]; });
    std::sort(order.begin(), order.begin() + low_slots);
    std::sort(order.begin() + low_slots, order.end());
    Names names(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) names[at(order[k])] = static_cast<std::int32_t>(k);
    return names;
}

std::int32_t most_open_high(const FrontierProgram &program, const Names &names) {
    std::int32_t open = 0, most = 0;
    for (const FrontierStep &step : program.steps) {
        for (const FrontierTerm &t : step.terms) open += t.opens && names[at(t.slot)] >= low_slots;
        for (const FrontierTerm &t : step.terms) open -= t.closes && names[at(t.slot)] >= low_slots;
        most = std::max(most, open);
    }
    return most;
}

} // namespace

void name_slots(FrontierProgram &program) {
    static_assert(most_dense_slots <= PascalTriangle::most);
    constexpr std::int32_t many_high = 26; // a GPU has 28; each doubles the blocks
    if (program.slots <= low_slots || program.slots > most_dense_slots) return;
    const Names names = cheapest_low(program);
    Names old(names.size());
    std::iota(old.begin(), old.end(), 0);
    const std::int32_t most_high = most_open_high(program, names);
    if (most_high > many_high && most_high > most_open_high(program, old)) return;
    for (FrontierStep &step : program.steps) {
        for (FrontierTerm &t : step.terms) t.slot = names[at(t.slot)];
        std::sort(step.terms.begin(), step.terms.end(),
                  [](const FrontierTerm &x, const FrontierTerm &y) { return x.slot < y.slot; });
    }
}

} // namespace libperm
