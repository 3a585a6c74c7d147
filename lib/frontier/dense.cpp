#include "lib/frontier/dense.hpp"

#include <cmath>

namespace libperm {

std::array<double, 2> largest_tables(const FrontierProgram &program) {
    std::array<double, 2> tables{1, 1};
    for (std::size_t t = 0; t < program.steps.size(); ++t) {
        const FrontierStep &s = program.steps[t];
        tables[t % 2] = std::max(tables[t % 2], dense_states(s));
    }
    return tables;
}

std::vector<DenseShape> dense_shapes(const FrontierProgram &program) {
    std::vector<DenseShape> shapes;
    SlotSet open = 0;
    for (const FrontierStep &step : program.steps) {
        DenseShape shape;
        for (const FrontierTerm &t : step.terms) {
            open |= SlotSet{1} << t.slot;
            shape.low_terms += t.slot < low_slots;
        }
        for (const FrontierTerm &t : step.terms)
            if (t.closes) open &= ~(SlotSet{1} << t.slot);
        shape.blocks = std::exp2(std::popcount(open & ~low_mask));
        shape.low_sets = std::exp2(std::popcount(open & low_mask));
        shapes.push_back(shape);
    }
    return shapes;
}

double dense_peak_bytes(const FrontierProgram &program, const StateNumbers &numbers) {
    const std::array<double, 2> tables = largest_tables(program);
    double blocks = 1;
    for (const DenseShape &shape : dense_shapes(program)) blocks = std::max(blocks, shape.blocks);
    const double offsets = 2 * 8 * (blocks + 1); // of two layouts
    return (tables[0] + tables[1]) * static_cast<double>(number_bytes(numbers)) + offsets;
}

EngineResult run_dense_frontier(const FrontierRun &run) {
    return run.input.block() ? compute_real<DenseFrontier>(run) : run_wide_dense_frontier(run);
}

} // namespace libperm
