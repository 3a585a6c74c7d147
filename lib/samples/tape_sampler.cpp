#include "lib/samples/tape_sampler.hpp"

#include "lib/base/randomness.hpp"
#include "lib/number/bits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace libperm {
namespace {

struct Number { // mantissa * 2^exp2
    double mantissa = 0;
    std::int64_t exp2 = 0;
};

// x * 2^(exp2 - unit), 0 far below.
double in_units(double x, std::int64_t exp2, std::int64_t unit) {
    return exp2 - unit < -1000 ? 0 : x * power_of_two(static_cast<int>(exp2 - unit));
}

} // namespace

TapeSampler::TapeSampler(const Tape &tape, const std::vector<Tracked> &entries, const Poll &poll)
    : tape_(tape), up_to_(tape.moves.size()) {
    PolledSteps steps(poll);
    std::vector<Number> before{{1, 0}}, after;
    for (std::int32_t r = 1; r <= tape.n; ++r) {
        const auto row = static_cast<std::size_t>(r);
        after.clear();
        for (std::uint32_t t = tape.first_state[row]; t < tape.first_state[row + 1]; ++t) {
            const std::uint32_t first = tape.first_move[t], last = tape.first_move[t + 1];
            steps.take(8 * (std::int64_t{last} - first));
            const auto number_of = [&](std::uint32_t k) -> Number {
                const Tracked &a = entries[tape.moves[k].entry];
                const Number &s = before[tape.moves[k].source];
                return {a.value * s.mantissa, a.exp2 + s.exp2};
            };
            std::int64_t unit = std::numeric_limits<std::int64_t>::min();
            for (std::uint32_t k = first; k < last; ++k) unit = std::max(unit, number_of(k).exp2);
            double sum = 0;
            for (std::uint32_t k = first; k < last; ++k) {
                const Number x = number_of(k);
                up_to_[k] = sum += in_units(x.mantissa, x.exp2, unit);
            }
            for (std::uint32_t k = first; k < last; ++k) up_to_[k] /= sum;
            up_to_[last - 1] = 1;
            int exponent = 0;
            const double mantissa = std::frexp(sum, &exponent);
            after.push_back({mantissa, unit + exponent});
        }
        std::swap(before, after);
    }
}

void TapeSampler::draw(std::uint64_t seed, std::uint64_t first, std::uint32_t count,
                       std::vector<std::uint32_t> &taken) const {
    struct Shot {
        std::uint32_t state = 0; // counted in its row
        Randomness random;
    };
    std::vector<Shot> shots(count);
    for (std::uint32_t k = 0; k < count; ++k) shots[k].random = Randomness(seed, first + k);
    taken.resize(static_cast<std::size_t>(tape_.n) * count);
    for (std::int32_t r = tape_.n; r >= 1; --r) {
        std::uint32_t *const to = taken.data() + static_cast<std::size_t>(r - 1) * count;
        const std::uint32_t *const first_move =
            tape_.first_move.data() + tape_.first_state[static_cast<std::size_t>(r)];
        for (std::uint32_t k = 0; k < count; ++k) {
            Shot &shot = shots[k];
            std::uint32_t move = first_move[shot.state];
            if (first_move[shot.state + 1] - move > 1) {
                const double x = shot.random.uniform();
                while (!(x < up_to_[move])) ++move;
            }
            to[k] = tape_.moves[move].entry;
            shot.state = tape_.moves[move].source;
        }
    }
}

} // namespace libperm
