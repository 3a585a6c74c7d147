#include "jit/lanes/set_steps.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/set_steps.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/lanes-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

constexpr std::size_t in_vector = hn::MaxLanes(Tag());
constexpr int vectors = 8; // of a tile: what is under way
constexpr std::size_t in_tile = vectors * in_vector;
constexpr int tile_bits = std::countr_zero(in_tile);
// Sums have eight lanes on every processor. The three lowest bits tell these apart.
constexpr int lane_bits = 3, in_eight = 8 / in_vector;
using Eight = Wide<in_eight>;
using Tile = Wide<vectors>;

// The bit that tells the halves of so many vectors apart.
template <int size> constexpr int bit_of_halves = std::countr_zero(size / 2 * in_vector);

// Of a low line of the lanes: its factor in those that have the bit, or in those that lack it.
struct LaneFactors {
    std::array<std::array<double, 8>, lane_bits> of{};

    LANES_INLINE LaneFactors(const SetStep &step, bool has_bit) {
        for (int bit = 0; bit < lane_bits; ++bit)
            for (int lane = 0; lane < 8; ++lane)
                if (((lane >> bit) & 1) == (has_bit ? 1 : 0)) of[bit][lane] = step.low[bit];
    }
};

// sum += factors * x, lane by lane.
template <int size> LANES_INLINE void add_lanes(Wide<size> &sum, Eight factors, Wide<size> x) {
    if constexpr (size == in_eight) {
        sum = fma(factors, x, sum);
    } else {
        add_lanes(sum.low, factors, x.low);
        add_lanes(sum.high, factors, x.high);
    }
}

// Lines whose bits tell vectors of the tile apart.
template <int size>
LANES_INLINE void add_within(const std::array<double, set_block_bits> &low, Wide<size> x, Wide<size> &sum) {
    if constexpr (size > in_eight) {
        sum.high = fma(Wide<size / 2>(low[bit_of_halves<size>]), x.low, sum.high);
        add_within(low, x.low, sum.low);
        add_within(low, x.high, sum.high);
    }
}

// What a block takes from blocks with other high bits.
struct Sources {
    std::array<const double *, 64> from;
    std::array<double, 64> factor;
    int count = 0;

    LANES_INLINE void add(const double *block, double a) {
        from[count] = block;
        factor[count++] = a;
    }
};

LANES_INLINE void add_sources(const Sources &sources, std::size_t offset, Tile &sum) {
    for (int k = 0; k < sources.count; ++k)
        sum = fma(Tile(sources.factor[k]), load_anywhere<vectors>(sources.from[k] + offset), sum);
}

void forward_blocks(const SetStep &step, std::uint64_t first, std::uint64_t last, double *after) {
    const LaneFactors lanes(step, true);
    for (std::uint64_t block = first; block < last; ++block) {
        double *const to = after + block * set_block;
        const std::uint64_t opened = block & step.opened;
        if ((opened & (opened - 1)) != 0 && opened != 0) {
            std::fill_n(to, set_block, 0.0);
            continue;
        }
        Sources sources;
        for (const SetStep::High &h : step.high)
            if (opened != 0 ? h.bit == opened : (block & h.bit) != 0)
                sources.add(step.before + (block ^ h.bit) * set_block, h.factor);
        for (std::size_t offset = 0; offset < set_block; offset += in_tile) {
            Tile sum(0.0);
            if (opened != 0) {
                add_sources(sources, offset, sum);
            } else {
                const double *const from = step.before + block * set_block + offset;
                const Tile here = load_anywhere<vectors>(from);
                sum = Tile(step.stays) * here;
                add_sources(sources, offset, sum);
                for (int bit = set_block_bits - 1; bit >= tile_bits; --bit)
                    if ((offset >> bit & 1) != 0)
                        sum = fma(Tile(step.low[bit]), load_anywhere<vectors>(from - (std::size_t{1} << bit)),
                                  sum);
                add_within(step.low, here, sum);
                for (int bit = lane_bits - 1; bit >= 0; --bit)
                    if (step.low[bit] != 0)
                        add_lanes(sum, load_anywhere<in_eight>(lanes.of[bit].data()),
                                  load_anywhere<vectors>(from - (std::size_t{1} << bit)));
            }
            store_anywhere(sum, to + offset);
        }
    }
}

template <int size> LANES_INLINE void add_products(Wide<size> x, Wide<size> y, Eight &sum) {
    if constexpr (size == in_eight) {
        sum = fma(x, y, sum);
    } else {
        add_products(x.low, y.low, sum);
        add_products(x.high, y.high, sum);
    }
}

// A block's sums for its low lines.
struct LowSums {
    std::array<Eight, set_block_bits> of;

    LANES_INLINE LowSums() {
        for (Eight &sum : of) sum = Eight(0.0);
    }
};

template <int size>
LANES_INLINE void back_within(const std::array<double, set_block_bits> &low, Wide<size> before,
                              Wide<size> after, Wide<size> &slopes, LowSums &sums) {
    if constexpr (size > in_eight) {
        constexpr int bit = bit_of_halves<size>;
        if (low[bit] != 0) {
            slopes.low = fma(Wide<size / 2>(low[bit]), after.high, slopes.low);
            add_products(before.low, after.high, sums.of[bit]);
        }
        back_within(low, before.low, after.low, slopes.low, sums);
        back_within(low, before.high, after.high, slopes.high, sums);
    }
}

LANES_INLINE void add_to(double *sum, Eight x) { store_anywhere(load_anywhere<in_eight>(sum) + x, sum); }

LANES_INLINE double sum_of_lanes(const double *sums, int without) {
    double sum = 0;
    for (int lane = 0; lane < 8; ++lane)
        if (without < 0 || ((lane >> without) & 1) == 0) sum += sums[lane];
    return sum;
}

void back_blocks(const SetStep &step, std::uint64_t first, std::uint64_t last, const double *after,
                 double *slopes, double *sums) {
    const LaneFactors lanes(step, false);
    const std::size_t count = sums_of(step);
    HWY_ALIGN double of_lanes[8 * (1 + set_block_bits + 64)] = {};
    for (std::uint64_t block = first; block < last; ++block) {
        const double *const before = step.before + block * set_block, *const here = after + block * set_block;
        double *const to = slopes + block * set_block;
        LowSums low_sums;
        Eight stays_sum(0.0);
        for (std::size_t offset = 0; offset < set_block; offset += in_tile) {
            const Tile from = load_anywhere<vectors>(before + offset),
                       x = load_anywhere<vectors>(here + offset);
            Tile sum = Tile(step.stays) * x;
            if (step.stays != 0) add_products(from, x, stays_sum);
            for (int bit = set_block_bits - 1; bit >= tile_bits; --bit)
                if ((offset >> bit & 1) == 0 && step.low[bit] != 0) {
                    const Tile y = load_anywhere<vectors>(here + offset + (std::size_t{1} << bit));
                    sum = fma(Tile(step.low[bit]), y, sum);
                    add_products(from, y, low_sums.of[bit]);
                }
            back_within(step.low, from, x, sum, low_sums);
            for (int bit = lane_bits - 1; bit >= 0; --bit)
                if (step.low[bit] != 0) {
                    const Tile y = load_anywhere<vectors>(here + offset + (std::size_t{1} << bit));
                    add_lanes(sum, load_anywhere<in_eight>(lanes.of[bit].data()), y);
                    add_products(from, y, low_sums.of[bit]);
                }
            store_anywhere(sum, to + offset);
        }
        add_to(of_lanes, stays_sum);
        for (int bit = 0; bit < set_block_bits; ++bit)
            if (step.low[bit] != 0) add_to(of_lanes + 8 * (1 + bit), low_sums.of[bit]);
        for (std::size_t k = 0; k < step.high.size(); ++k) {
            const SetStep::High &h = step.high[k];
            if ((block & h.bit) != 0) continue;
            const double *const there = after + (block | h.bit) * set_block;
            Eight sum(0.0);
            for (std::size_t offset = 0; offset < set_block; offset += in_tile) {
                const Tile y = load_anywhere<vectors>(there + offset);
                store_anywhere(fma(Tile(h.factor), y, load_anywhere<vectors>(to + offset)), to + offset);
                add_products(load_anywhere<vectors>(before + offset), y, sum);
            }
            add_to(of_lanes + 8 * (1 + set_block_bits + k), sum);
        }
    }
    for (std::size_t k = 0; k < count; ++k) {
        const int bit = static_cast<int>(k) - 1;
        sums[k] = sum_of_lanes(of_lanes + 8 * k, k > 0 && bit < lane_bits ? bit : -1);
    }
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {
HWY_EXPORT(forward_blocks);
HWY_EXPORT(back_blocks);
} // namespace

void step_forward(const SetStep &step, std::uint64_t first, std::uint64_t last, double *after) {
    HWY_DYNAMIC_DISPATCH(forward_blocks)(step, first, last, after);
}
void step_back(const SetStep &step, std::uint64_t first, std::uint64_t last, const double *after,
               double *slopes, double *sums) {
    HWY_DYNAMIC_DISPATCH(back_blocks)(step, first, last, after, slopes, sums);
}

} // namespace libperm
#endif
