#include "lib/planar/planar.hpp"

#include "lib/base/error.hpp"
#include "lib/planar/ball_field.hpp"
#include "lib/planar/determinant.hpp"
#include "lib/planar/front_memory.hpp"
#include "lib/planar/modular_field.hpp"
#include "lib/planar/plan.hpp"
#include "lib/run/input_error.hpp"
#include "lib/run/matrix_pieces.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace libperm {
namespace {

std::uint64_t modulo(const PlanarPlan &plan, const Residues &residues, std::uint64_t matrix,
                     RunControl &control) {
    Charge charge(&control.memory(), static_cast<std::int64_t>(8 * plan.fronts.peak()));
    const auto hold = [&](double numbers) { grow_to(charge, 8 * numbers); };
    const std::vector<std::uint64_t> &values = residues.values[matrix];
    ModularField field(residues.primes[matrix]);
    const auto entry = [&](std::size_t k) {
        const std::uint64_t x = values[k];
        return field.number(plan.is_negative[k] && x != 0 ? residues.primes[matrix] - x : x);
    };
    Determinant determinant(plan.fronts, field);
    if (!determinant.find(
            entry, [&control](double products) { control.advance(products); }, hold))
        return 0;
    if (plan.is_odd) field.negate_product();
    return field.product();
}

// A sum's bytes that other machines read.
struct DoubleBall {
    double value = 0, error = std::numeric_limits<double>::infinity();
    std::int64_t exp2 = 0;
};

DoubleBall in_balls(const PlanarPlan &plan, const Block &block, int bits, RunControl &control) {
    const double each = bytes_of_ball(bits);
    Charge charge(&control.memory(), static_cast<std::int64_t>(each * plan.fronts.peak()));
    const auto hold = [&](double numbers) { grow_to(charge, each * numbers); };
    BallField field(bits);
    const auto entry = [&](std::size_t k) {
        const Tracked &x = block.values[k];
        return field.number(plan.is_negative[k] ? -x.value : x.value, x.exp2);
    };
    Determinant determinant(plan.fronts, field);
    if (!determinant.find(
            entry, [&control](double products) { control.advance(products); }, hold))
        return {};
    if (plan.is_odd) field.negate_product();
    DoubleBall ball;
    long exponent = 0;
    ball.value = mpfr_get_d_2exp(&exponent, field.product(), MPFR_RNDN);
    ball.error = std::fabs(ball.value) * (field.relative_error() + 0x1p-52) * (1 + 0x1p-40);
    ball.exp2 = exponent;
    return ball;
}

// In more bits each time, until a double has all that it holds.
EngineResult by_balls(const PlanarPlan &plan, const Block &block, RunControl &control) {
    constexpr int fewest_bits = 192, most_bits = 960;
    const auto run = [&](std::uint64_t) {
        DoubleBall ball;
        for (int bits = fewest_bits;; bits = std::min(2 * bits, most_bits)) {
            ball = in_balls(plan, block, bits, control);
            if (ball.error <= 0x1p-50 * std::fabs(ball.value) || bits == most_bits) return ball;
            control.expect_more(plan.fronts.products());
        }
    };
    const DoubleBall ball =
        parts_of_pieces(control, 1, plan.fronts.products(), DoubleBall(), each_on_its_thread(control, run))
            .front();
    EngineResult result;
    result.value = ball_from(block, ball.value, ball.error, ball.exp2);
    result.counts.operations = plan.fronts.products();
    return result;
}

} // namespace

EngineResult run_planar(const EngineRun &run, const EngineInput &input) {
    const PlanarPlan &plan = *plan_as<PlanarPlan>(run.choice);
    if (const Residues *residues = input.residues())
        return matrix_by_matrix(run.control, *residues, plan.fronts.products(), [&](std::uint64_t matrix) {
            return modulo(plan, *residues, matrix, run.control);
        });
    return by_balls(plan, *input.block(), run.control);
}

} // namespace libperm
