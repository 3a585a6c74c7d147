#include "jit/lanes/matching_walk.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/matching_walk.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <array>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Reals = hn::CappedTag<double, 8>;
using Words = hn::RebindToUnsigned<Reals>;
using Real = hn::Vec<Reals>;
using Word = hn::Vec<Words>;
constexpr std::size_t in_vector = hn::MaxLanes(Reals()), vectors = walk_lanes / in_vector;

struct Random {
    Word s[4][vectors];

    HWY_INLINE explicit Random(const WalkLanes &lanes) {
        for (std::size_t k = 0; k < 4; ++k)
            for (std::size_t v = 0; v < vectors; ++v)
                s[k][v] = hn::Load(Words(), lanes.random[k].data() + v * in_vector);
    }
    HWY_INLINE void put(WalkLanes &lanes) const {
        for (std::size_t k = 0; k < 4; ++k)
            for (std::size_t v = 0; v < vectors; ++v)
                hn::Store(s[k][v], Words(), lanes.random[k].data() + v * in_vector);
    }
    // Draws 52 bits, so that a share of a sum is less than the sum.
    HWY_INLINE Real uniform(std::size_t v) {
        const Word sum = hn::Add(s[0][v], s[3][v]), shifted = hn::ShiftLeft<17>(s[1][v]);
        s[2][v] = hn::Xor(s[2][v], s[0][v]);
        s[3][v] = hn::Xor(s[3][v], s[1][v]);
        s[1][v] = hn::Xor(s[1][v], s[2][v]);
        s[0][v] = hn::Xor(s[0][v], s[3][v]);
        s[2][v] = hn::Xor(s[2][v], shifted);
        s[3][v] = hn::Or(hn::ShiftLeft<45>(s[3][v]), hn::ShiftRight<19>(s[3][v]));
        const Word one = hn::Set(Words(), 0x3ff0000000000000);
        return hn::Sub(hn::BitCast(Reals(), hn::Or(hn::ShiftRight<12>(sum), one)), hn::Set(Reals(), 1.0));
    }
};

void walk(std::span<const WalkStep> steps, double *left, WalkLanes &lanes) {
    const Reals d;
    Random random(lanes);
    Real product[vectors], slack[vectors];
    for (std::size_t v = 0; v < vectors; ++v) {
        product[v] = hn::Load(d, lanes.product.data() + v * in_vector);
        slack[v] = hn::Load(d, lanes.slack.data() + v * in_vector);
    }
    const Real zero = hn::Zero(d), one = hn::Set(d, 1.0);
    for (const WalkStep &step : steps) {
        Real sum[vectors], target[vectors];
        for (Real &x : sum) x = zero;
        for (std::size_t k = 0; k < step.rows.size(); ++k) {
            const Real weight = hn::Set(d, step.weights[k]);
            const double *const of_row = left + static_cast<std::size_t>(step.rows[k]) * walk_lanes;
            for (std::size_t v = 0; v < vectors; ++v)
                sum[v] = hn::Add(sum[v], hn::Mul(weight, hn::Load(d, of_row + v * in_vector)));
        }
        for (std::size_t v = 0; v < vectors; ++v) {
            target[v] = hn::Mul(sum[v], random.uniform(v));
            product[v] = hn::Mul(product[v], sum[v]);
            slack[v] = hn::Add(slack[v], hn::Sub(one, sum[v]));
        }
        // The first row at which the sum passes the target.
        for (Real &x : sum) x = zero;
        for (std::size_t k = 0; k < step.rows.size(); ++k) {
            const Real weight = hn::Set(d, step.weights[k]);
            double *const of_row = left + static_cast<std::size_t>(step.rows[k]) * walk_lanes;
            for (std::size_t v = 0; v < vectors; ++v) {
                const Real is_left = hn::Load(d, of_row + v * in_vector);
                const Real next = hn::Add(sum[v], hn::Mul(weight, is_left));
                const auto chosen = hn::And(hn::Le(sum[v], target[v]), hn::Lt(target[v], next));
                hn::Store(hn::IfThenZeroElse(chosen, is_left), d, of_row + v * in_vector);
                sum[v] = next;
            }
        }
    }
    random.put(lanes);
    for (std::size_t v = 0; v < vectors; ++v) {
        hn::Store(product[v], d, lanes.product.data() + v * in_vector);
        hn::Store(slack[v], d, lanes.slack.data() + v * in_vector);
    }
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk);

// What all columns come to, halves joined by `join(x, y)`.
template <class T, class Join> T joined(std::array<T, tally_columns> &of_column, const Join &join) {
    for (std::size_t half = tally_columns / 2; half > 0; half /= 2)
        for (std::size_t c = 0; c < half; ++c) of_column[c] = join(of_column[c], of_column[c + half]);
    return of_column[0];
}

} // namespace

void walk_matchings(std::span<const WalkStep> steps, double *left, WalkLanes &lanes) {
    HWY_DYNAMIC_DISPATCH(walk)(steps, left, lanes);
}

void tally_bets(std::span<const double> samples, std::span<const double> bets, double *told) {
    using walk_value::LongProduct, walk_value::long_product, walk_value::multiplied;
    std::array<double, tally_columns> column{};
    double positive = 0;
    for (std::size_t k = 0; k < tally_samples; k += tally_columns)
        for (std::size_t c = 0; c < tally_columns; ++c) {
            column[c] += samples[k + c];
            positive += samples[k + c] > 0 ? 1 : 0;
        }
    *told++ = joined(column, [](double x, double y) { return x + y; });
    *told++ = positive;
    std::array<LongProduct, tally_columns> products; // NOLINT(*-member-init): each is written
    for (const double bet : bets) {
        column.fill(1);
        for (std::size_t k = 0; k < tally_samples; k += tally_columns)
            for (std::size_t c = 0; c < tally_columns; ++c) column[c] *= 1 + bet * samples[k + c];
        for (std::size_t c = 0; c < tally_columns; ++c) products[c] = long_product(column[c], 0);
        const LongProduct all = joined(products, multiplied);
        *told++ = all.mantissa;
        *told++ = static_cast<double>(all.exp2);
    }
}

} // namespace libperm
#endif
