#include "jit/lanes/residue_sums.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/residue_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::CappedTag<std::uint64_t, residue_lanes>;
using Vector = hn::Vec<Words>;
constexpr std::size_t in_vector = hn::MaxLanes(Words()), vectors = residue_lanes / in_vector;

struct Lanes {
    Vector v[vectors];

    static HWY_INLINE Lanes at(const ResidueLanes &x) {
        Lanes out;
        for (std::size_t k = 0; k < vectors; ++k) out.v[k] = hn::Load(Words(), x.lane.data() + k * in_vector);
        return out;
    }
    HWY_INLINE void put(ResidueLanes &x) const {
        for (std::size_t k = 0; k < vectors; ++k) hn::Store(v[k], Words(), x.lane.data() + k * in_vector);
    }
    HWY_INLINE void add(const ResidueLanes &x) {
        for (std::size_t k = 0; k < vectors; ++k)
            v[k] = hn::Add(v[k], hn::Load(Words(), x.lane.data() + k * in_vector));
    }
    // 2^59 h + l becomes l + h (2^59 - p): h has 5 bits.
    HWY_INLINE void reduce(const Lanes &below) {
        const Vector low = hn::Set(Words(), (std::uint64_t{1} << residue_lane_bits) - 1);
        for (std::size_t k = 0; k < vectors; ++k) {
            const Vector high = hn::ShiftRight<residue_lane_bits>(v[k]);
            v[k] = hn::Add(hn::And(v[k], low), product(high, below.v[k]));
        }
    }

  private:
    static HWY_INLINE Vector product(Vector x, Vector y) { // of 32 bits
#if HWY_TARGET == HWY_SCALAR
        return hn::Set(Words(), hn::GetLane(x) * hn::GetLane(y));
#else
        const hn::Repartition<std::uint32_t, Words> halves;
        return hn::MulEven(hn::BitCast(halves, x), hn::BitCast(halves, y));
#endif
    }
};

void add_up(const std::uint32_t *first, const std::uint32_t *source, std::size_t begin, std::size_t end,
            const ResidueLanes &lacking, const ResidueLanes *before, ResidueLanes *after) {
    constexpr std::uint32_t at_once = 31; // terms, the sum so far being one
    const Lanes below = Lanes::at(lacking);
    for (std::size_t t = begin; t < end; ++t) {
        std::uint32_t m = first[t];
        const std::uint32_t last = first[t + 1];
        if (last - m == 1) { // as it was
            Lanes::at(before[source[m]]).put(after[t]);
            continue;
        }
        if (last == m) {
            after[t] = {};
            continue;
        }
        Lanes sum = Lanes::at(before[source[m++]]);
        for (;;) {
            const std::uint32_t stop = std::min(last, m + at_once - 1);
            for (; m < stop; ++m) sum.add(before[source[m]]);
            sum.reduce(below);
            if (m == last) break;
        }
        sum.put(after[t]);
    }
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {
HWY_EXPORT(add_up);
} // namespace

void add_up_residues(const std::uint32_t *first, const std::uint32_t *source, std::size_t begin,
                     std::size_t end, const ResidueLanes &below, const ResidueLanes *before,
                     ResidueLanes *after) {
    HWY_DYNAMIC_DISPATCH(add_up)(first, source, begin, end, below, before, after);
}

} // namespace libperm
#endif
