#include "lib/planar/planar.hpp"

#include "lib/planar/ball_field.hpp"
#include "lib/planar/determinant.hpp"
#include "lib/planar/front_memory.hpp"
#include "lib/planar/graph.hpp"
#include "lib/planar/modular_field.hpp"
#include "lib/planar/pfaffian.hpp"
#include "lib/planar/plan.hpp"
#include "lib/run/input_error.hpp"
#include "lib/run/matrix_pieces.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace libperm {
namespace {

struct Work {
    const PlanarPlan &plan;
    const PatternGraph &graph; // of the block
    RunControl &control;
};

// One of the determinants, or the Pfaffian, with its sign, in numbers that the field makes of entries:
// entry(k, factor); bytes of so many numbers.
template <class Field, class Entry, class Bytes>
void find_determinant(const Work &work, const SignedSum::Term &term, Field &field, const Entry &entry,
                      const Bytes &bytes) {
    const std::vector<signed char> factors = work.plan.sum.factors(work.graph, term);
    Charge charge(&work.control.memory(), static_cast<std::int64_t>(bytes(work.plan.fronts.peak())));
    const auto with_sign = [&](std::size_t k) { return entry(k, factors[k]); };
    const auto done = [&](double products) { work.control.advance(products); };
    const auto hold = [&](double numbers) { grow_to(charge, bytes(numbers)); };
    if (work.plan.fronts.are_of_graph())
        Pfaffian(work.plan.fronts, field).find(with_sign, done, hold);
    else
        Determinant(work.plan.fronts, field).find(with_sign, done, hold);
    if (term.is_odd) field.negate_product();
}

std::uint64_t modulo(const Work &work, const Residues &residues, std::uint64_t matrix) {
    const std::vector<std::uint64_t> &values = residues.values[matrix];
    const std::uint64_t prime = residues.primes[matrix];
    const ModularField all(prime);
    std::uint64_t sum = ModularField::zero();
    for (const SignedSum::Term &term : work.plan.sum.terms) {
        ModularField field(prime);
        find_determinant(
            work, term, field,
            [&](std::size_t k, int factor) {
                const std::uint64_t x = factor == 0 ? 0 : values[k];
                return field.number(factor < 0 && x != 0 ? prime - x : x);
            },
            [](double numbers) { return 8 * numbers; });
        all.add(sum, field.product());
    }
    for (std::int32_t k = 0; k < work.plan.sum.genus; ++k) all.multiply(sum, all.inverse(all.number(2)));
    return all.residue(sum);
}

// Nothing: it is not known at all.
std::optional<BallField::Number> in_balls(const Work &work, const SignedSum::Term &term, const Block &block,
                                          int bits) {
    BallField field(bits);
    find_determinant(
        work, term, field,
        [&](std::size_t k, int factor) {
            return field.number(factor * block.values[k].value, block.values[k].exp2);
        },
        [&](double numbers) { return bytes_of_ball(bits) * numbers; });
    if (!field.knows_product()) return {};
    return field.product();
}

// A sum's bytes that other machines read.
struct DoubleBall {
    double value = 0, error = std::numeric_limits<double>::infinity();
    std::int64_t exp2 = 0;
};

DoubleBall double_ball(const BallField::Number &x) {
    DoubleBall ball;
    long exponent = 0;
    const double mantissa = mpfr_get_d_2exp(&exponent, x.middle, MPFR_RNDN);
    ball.exp2 = x.radius.is_zero() ? exponent : x.radius.exp2();
    if (mantissa != 0) ball.exp2 = std::max<std::int64_t>(ball.exp2, exponent);
    const auto down = static_cast<int>(std::max<std::int64_t>(exponent - ball.exp2, -2000));
    ball.value = mantissa == 0 ? 0 : std::ldexp(mantissa, down);
    ball.error = (x.radius.over(ball.exp2) + 0x1p-52 * std::fabs(ball.value) + (down < -900 ? 0x1p-900 : 0)) *
                 (1 + 0x1p-40);
    return ball;
}

// The determinants cancel each other, and one of them may be 0: their errors add up.
DoubleBall sum_of_balls(const Work &work, const Block &block, int bits) {
    const std::vector<SignedSum::Term> &terms = work.plan.sum.terms;
    std::vector<std::optional<BallField::Number>> parts(terms.size());
    parallel_for(parts.size(), [&](std::uint64_t k) { parts[k] = in_balls(work, terms[k], block, bits); });
    BallField field(bits);
    BallField::Number sum = field.zero();
    for (const std::optional<BallField::Number> &part : parts) {
        if (!part) return {};
        field.add(sum, *part);
    }
    DoubleBall ball = double_ball(sum);
    ball.exp2 -= work.plan.sum.genus;
    return ball;
}

// In more bits each time, until a double has all that it holds.
EngineResult by_balls(const Work &work, const Block &block) {
    constexpr int fewest_bits = 192, most_bits = 960;
    const double products = work.plan.matrix_products();
    const auto run = [&](std::uint64_t) {
        for (int bits = fewest_bits;; bits = std::min(2 * bits, most_bits)) {
            const DoubleBall ball = sum_of_balls(work, block, bits);
            if (ball.error <= 0x1p-50 * std::fabs(ball.value) || bits == most_bits) return ball;
            work.control.expect_more(products);
        }
    };
    const DoubleBall ball =
        parts_of_pieces(work.control, 1, products, DoubleBall(), each_on_its_thread(work.control, run))
            .front();
    EngineResult result;
    result.value = ball_from(block, ball.value, ball.error, ball.exp2);
    result.counts.operations = products;
    return result;
}

} // namespace

EngineResult run_planar(const EngineRun &run, const EngineInput &input) {
    const PatternGraph graph(input.pattern());
    const Work work{*plan_as<PlanarPlan>(run.choice), graph, run.control};
    if (const Residues *residues = input.residues())
        return matrix_by_matrix(run.control, *residues, work.plan.matrix_products(),
                                bytes_of_residue * work.plan.fronts.peak(),
                                [&](std::uint64_t matrix) { return modulo(work, *residues, matrix); });
    return by_balls(work, *input.block());
}

} // namespace libperm
