// ---- Many vectors through the rows of a cell, whose entries are all 1 ----
//
// Residues by state, of all vectors (`lanes`) side by side: a warp adds up the states that one takes from,
// for `together` times 32 of them. jit/device/number.cuh stands above.

typedef unsigned long long u64;
typedef unsigned int u32;

constexpr int warp = 32, together = 4;
constexpr u32 before_reducing = 32; // residues that are added up: below 2^52

struct FactorWalk {
    const double *from;
    double *to;
    const u32 *first; // of each state's sources, and their number
    const u32 *source;
    u32 states, lanes; // a multiple of 32
    double prime, inverse;
};

extern "C" __global__ void __launch_bounds__(256) factor_walk(const __grid_constant__ FactorWalk level) {
    const u32 item = (blockIdx.x * blockDim.x + threadIdx.x) / warp;
    const u32 shares = (level.lanes + warp * together - 1) / (warp * together);
    const u32 state = item / shares, lane = item % shares * (warp * together) + threadIdx.x % warp;
    if (state >= level.states) return;
    const Modular<double> arithmetic{level.prime, level.inverse};
    double sum[together] = {};
    u32 move = level.first[state];
    const u32 end = level.first[state + 1];
    while (move < end) {
        const u32 stop = end - move > before_reducing ? move + before_reducing : end;
        for (; move < stop; ++move) {
            const double *const from = level.from + static_cast<u64>(level.source[move]) * level.lanes;
#pragma unroll
            for (int k = 0; k < together; ++k) {
                const u32 at = lane + static_cast<u32>(k * warp);
                if (at < level.lanes) sum[k] += from[at];
            }
        }
#pragma unroll
        for (int k = 0; k < together; ++k) sum[k] = arithmetic.reduce(sum[k]);
    }
    double *const to = level.to + static_cast<u64>(state) * level.lanes;
#pragma unroll
    for (int k = 0; k < together; ++k) {
        const u32 at = lane + static_cast<u32>(k * warp);
        if (at < level.lanes) to[at] = sum[k];
    }
}
