// Engine `planar`: the permanent of a block that is planar, or nearly so, as determinants, and the hafnian of
// a planar graph as a Pfaffian.
#pragma once

#include "lib/number/scaled.hpp"
#include "lib/planar/fields.hpp"
#include "lib/planar/plan.hpp"
#include "lib/run/call.hpp"
#include "lib/run/engine_input.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace libperm {

// Of residues, or of a block in balls. Progress is counted in products.
EngineResult run_planar(const EngineRun &run, const EngineInput &input);

// The derivatives of a planar permanent, and how the entries share in it: Kasteleyn's matrix K inverted at
// its entries, for d perm / d a_k = perm (d K_ij / d a_k) (K^-1)_ji.

struct PlanarDerivatives {
    Charge charge;
    BallField::Number permanent;
    std::vector<BallField::Number> over_permanent; // the derivative by each entry, over the permanent
};

struct DerivativesInBits {
    std::optional<PlanarDerivatives> found; // none: with so few bits the permanent may be 0, or nearly
    int next_bits = 0;                      // that may do; most_ball_bits at most
};

using BallEntries = std::function<BallField::Number(std::size_t entry)>;

constexpr int most_ball_bits = 3840;

// In numbers of so many bits. Progress is counted in products.
DerivativesInBits planar_derivatives(const PlanarPlan &plan, int bits, const BallEntries &entries);

double products_of_derivatives(const PlanarPlan &plan);
double seconds_of_derivatives(const PlanarPlan &plan); // by the first number of bits

// Whether the permanent is 0 modulo a prime, which others hardly are: then no number of bits will do.
bool is_singular(const PlanarPlan &plan, const std::function<mpq_class(std::size_t entry)> &entries);

// The multiple of 2^unit that it is, where it is known to be one, and which one.
void round_to_multiple(BallField::Number &x, std::int64_t unit);

// |truth - value| <= error, with a double's bits.
struct ScaledBall {
    Scaled value, error;
};
ScaledBall in_double(const BallField::Number &x);

} // namespace libperm
