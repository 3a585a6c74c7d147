#include "lib/frontier/dense_shapes.hpp"

#include "lib/frontier/dense_row.hpp"
#include "lib/number/combinations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace libperm {
namespace {

// A kernel's products, which its compile time goes by: 100 take some 0.4 s.
double products_of(const DenseRowShape &shape) {
    return std::ldexp(shape.low + shape.others + 0.5 * shape.cube, shape.cube);
}
constexpr double most_products = 200;

constexpr int small_cube = 2;

DenseRowShape shape_for(const RowShape &row, int most_cube) {
    int cube = std::min(row.high, most_cube);
    while (cube > small_cube && products_of({row.low, cube, row.high - cube}) > most_products) --cube;
    return {row.low, cube, row.high - cube};
}

DenseRowShape joined(const DenseRowShape &x, const DenseRowShape &y) {
    return {std::max(x.low, y.low), std::max(x.cube, y.cube), std::max(x.others, y.others)};
}

// What a sum takes longer in a kernel that is made for more entries than its row has: a part of its time.
double waste(const DenseRowShape &row, const DenseRowShape &kernel) {
    constexpr double entry = 0.05, cubed = 0.15;
    return entry * (kernel.low - row.low + kernel.others - row.others) + cubed * (kernel.cube - row.cube);
}

// Rows that are run with one kernel: their states, by their own shapes.
struct ShapedRows {
    DenseRowShape kernel;
    std::map<DenseRowShape, double> states;

    double wasted() const {
        double sum = 0;
        for (const auto &[shape, count] : states) sum += count * waste(shape, kernel);
        return sum;
    }
};

ShapedRows joined(const ShapedRows &x, const ShapedRows &y) {
    ShapedRows both{joined(x.kernel, y.kernel), x.states};
    for (const auto &[shape, states] : y.states) both.states[shape] += states;
    return both;
}

// Joins those that lose the least by it, where one can be compiled soon.
void join_down_to(std::size_t most, std::vector<ShapedRows> &kernels) {
    while (kernels.size() > most) {
        std::pair<std::size_t, std::size_t> best;
        std::pair<bool, double> least{true, std::numeric_limits<double>::infinity()};
        for (std::size_t i = 0; i < kernels.size(); ++i)
            for (std::size_t k = i + 1; k < kernels.size(); ++k) {
                const ShapedRows both = joined(kernels[i], kernels[k]);
                const std::pair<bool, double> loss{products_of(both.kernel) > most_products,
                                                   both.wasted() - kernels[i].wasted() - kernels[k].wasted()};
                if (loss < least) least = loss, best = {i, k};
            }
        kernels[best.first] = joined(kernels[best.first], kernels[best.second]);
        kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(best.second));
    }
}

} // namespace

std::vector<DenseRowShape> kernel_shapes(const FrontierProgram &program, const StateNumbers &numbers,
                                         double large) {
    constexpr std::size_t most_kernels = 4; // for large rows
    DenseRowShape small;
    std::map<DenseRowShape, double> states_of_large;
    const auto is_large = [large](const FrontierStep &step) {
        return subsets_of_size(step.width_after, step.used_after) >= large;
    };
    for (const FrontierStep &step : program.steps)
        if (is_large(step))
            states_of_large[shape_for(shape_of(step), most_cube(numbers))] +=
                subsets_of_size(step.width_after, step.used_after);
        else
            small = joined(small, shape_for(shape_of(step), small_cube));
    std::vector<ShapedRows> kernels;
    for (const auto &[shape, states] : states_of_large) kernels.push_back({shape, {{shape, states}}});
    join_down_to(most_kernels, kernels);

    std::map<DenseRowShape, DenseRowShape> kernel_of;
    for (const ShapedRows &rows : kernels)
        for (const auto &[shape, states] : rows.states) kernel_of[shape] = rows.kernel;
    std::vector<DenseRowShape> shapes;
    for (const FrontierStep &step : program.steps)
        shapes.push_back(is_large(step) ? kernel_of.at(shape_for(shape_of(step), most_cube(numbers)))
                                        : small);
    return shapes;
}

} // namespace libperm
