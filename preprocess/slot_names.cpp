#include "preprocess/slot_names.hpp"

#include "preprocess/gaussian.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace libperm {
namespace {

// What a slot costs as a low one: the states of the rows with an entry in it, and a part of those of rows in
// which it is not open, as blocks are smaller then.
std::vector<double> costs_of(const FrontierProgram &program) {
    constexpr double closed = 0.5;
    const Log2Binomial log2_binomial(program.slots);
    std::vector<double> costs(at(program.slots), 0);
    std::vector<char> open(costs.size(), 0);
    for (const FrontierStep &step : program.steps) {
        const double states = std::exp2(log2_binomial(step.width_after, step.used_after));
        for (const FrontierTerm &t : step.terms) open[at(t.slot)] = 2;
        for (std::size_t s = 0; s < costs.size(); ++s)
            costs[s] += states * (open[s] == 2 ? 1 : open[s] == 0 ? closed : 0);
        for (const FrontierTerm &t : step.terms) open[at(t.slot)] = t.closes ? 0 : 1;
    }
    return costs;
}

} // namespace

void name_slots(FrontierProgram &program) {
    constexpr std::int32_t most_slots = 64; // of the dense form
    if (program.slots <= low_slots || program.slots > most_slots) return;
    const std::vector<double> costs = costs_of(program);
    std::vector<std::int32_t> order(costs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t x, std::int32_t y) { return costs[at(x)] < costs[at(y)]; });
    std::sort(order.begin(), order.begin() + low_slots);
    std::sort(order.begin() + low_slots, order.end());
    std::vector<std::int32_t> name(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) name[at(order[k])] = static_cast<std::int32_t>(k);
    for (FrontierStep &step : program.steps) {
        for (FrontierTerm &t : step.terms) t.slot = name[at(t.slot)];
        std::sort(step.terms.begin(), step.terms.end(),
                  [](const FrontierTerm &x, const FrontierTerm &y) { return x.slot < y.slot; });
    }
}

} // namespace libperm
