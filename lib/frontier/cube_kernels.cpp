#include "lib/frontier/cube_kernels.hpp"

#include "lib/frontier/dense_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace libperm {
namespace {

// A kernel's products, which its compile time goes by: 100 take some 0.4 s.
double products_of(const CubeKernel &kernel) {
    return std::ldexp(kernel.low + kernel.others + 0.5 * kernel.cube, kernel.cube);
}
constexpr double most_products = 200;

constexpr std::size_t most_kernels = 4; // for large rows
constexpr int small_cube = 2;

CubeKernel kernel_for(const FrontierStep &step, int most_cube) {
    const RowShape row = shape_of(step);
    int cube = std::min(row.high, most_cube);
    while (cube > small_cube && products_of({row.low, cube, row.high - cube}) > most_products) --cube;
    return {row.low, cube, row.high - cube};
}

int high_entries(const CubeKernel &kernel) { return kernel.cube + kernel.others; }

// For the rows of both: a larger cube leaves fewer others.
CubeKernel joined(const CubeKernel &x, const CubeKernel &y) {
    const int cube = std::max(x.cube, y.cube);
    return {std::max(x.low, y.low), cube, std::max(high_entries(x), high_entries(y)) - cube};
}

// What a sum takes longer in a kernel that is made for more entries than its row's own: a part of its time.
double waste(const CubeKernel &own, const CubeKernel &kernel) {
    constexpr double entry = 0.05, cubed = 0.15;
    const int others = std::max(0, high_entries(own) - kernel.cube);
    return entry * (kernel.low - own.low + kernel.others - others) + cubed * (kernel.cube - own.cube);
}

// Rows that are run with one kernel: their states, by what would be their own.
struct Rows {
    CubeKernel kernel;
    std::map<CubeKernel, double> states;
    double wasted = 0;
};

Rows joined(const Rows &x, const Rows &y) {
    Rows both{joined(x.kernel, y.kernel), x.states};
    for (const auto &[own, states] : y.states) both.states[own] += states;
    for (const auto &[own, states] : both.states) both.wasted += states * waste(own, both.kernel);
    return both;
}

// Joins those that lose the least by it, where one can be compiled soon.
void join_down_to(std::size_t most, std::vector<Rows> &rows) {
    while (rows.size() > most) {
        std::pair<std::size_t, std::size_t> best;
        std::pair<bool, double> least{true, std::numeric_limits<double>::infinity()};
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t k = i + 1; k < rows.size(); ++k) {
                const Rows both = joined(rows[i], rows[k]);
                const std::pair<bool, double> loss{products_of(both.kernel) > most_products,
                                                   both.wasted - rows[i].wasted - rows[k].wasted};
                if (loss < least) least = loss, best = {i, k};
            }
        rows[best.first] = joined(rows[best.first], rows[best.second]);
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(best.second));
    }
}

// The kernels that large rows would have for themselves, with their states.
std::map<CubeKernel, double> kernels_of_large(const FrontierProgram &program, int most_cube, double large) {
    std::map<CubeKernel, double> states;
    for (const FrontierStep &step : program.steps)
        if (dense_states(step) >= large) states[kernel_for(step, most_cube)] += dense_states(step);
    return states;
}

} // namespace

std::vector<CubeKernel> cube_kernels(const FrontierProgram &program, const StateNumbers &numbers,
                                     double large) {
    const int cube = most_cube(numbers);
    std::vector<Rows> rows;
    for (const auto &[own, states] : kernels_of_large(program, cube, large))
        rows.push_back({own, {{own, states}}});
    join_down_to(most_kernels, rows);
    std::map<CubeKernel, CubeKernel> kernel_of;
    for (const Rows &r : rows)
        for (const auto &[own, states] : r.states) kernel_of[own] = r.kernel;

    CubeKernel small;
    for (const FrontierStep &step : program.steps)
        if (dense_states(step) < large) small = joined(small, kernel_for(step, small_cube));
    std::vector<CubeKernel> kernels;
    for (const FrontierStep &step : program.steps)
        kernels.push_back(dense_states(step) >= large ? kernel_of.at(kernel_for(step, cube)) : small);
    return kernels;
}

std::size_t count_cube_kernels(const FrontierProgram &program, const StateNumbers &numbers) {
    return std::min(most_kernels, kernels_of_large(program, most_cube(numbers), large_row).size()) + 1;
}

} // namespace libperm
