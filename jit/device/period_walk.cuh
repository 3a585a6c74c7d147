// ---- Many starts through the levels of an operator (lib/periodic/answers/loops_on_device.hpp)
// ---------------------
//
// Residues by state, of all starts (`lanes`) side by side: a warp sums a state's moves for `together` times
// 32 of them. Where all entries are 1 a level's moves are their sources alone.

typedef unsigned long long u64;
typedef unsigned int u32;

constexpr int warp = 32, most_threads = 256, together = 4;
constexpr u32 before_reducing = 32; // residues that are added up: below 2^52

struct Move {
    u32 source, entry;
};

struct Level {
    const double *from;
    double *to;
    const u32 *first; // of each state's moves, and their number
    const Move *moves;
    const u32 *sources;
    const double *entries;
    u32 states, lanes; // a multiple of 32
    double prime, inverse;
};

template <bool ones> __device__ __forceinline__ void walk(const Level &level) {
    const u32 item = (blockIdx.x * blockDim.x + threadIdx.x) / warp;
    const u32 shares = (level.lanes + warp * together - 1) / (warp * together);
    const u32 state = item / shares, lane = item % shares * (warp * together) + threadIdx.x % warp;
    if (state >= level.states) return;
    const Arithmetic arithmetic{level.prime, level.inverse};
    double sum[together] = {};
    u32 move = level.first[state];
    const u32 end = level.first[state + 1];
    while (move < end) {
        const u32 stop = end - move > before_reducing ? move + before_reducing : end;
        for (; move < stop; ++move) {
            const u32 source = ones ? level.sources[move] : level.moves[move].source;
            const double entry = ones ? 1 : level.entries[level.moves[move].entry];
            const double *const from = level.from + static_cast<u64>(source) * level.lanes;
#pragma unroll
            for (int k = 0; k < together; ++k) {
                const u32 at = lane + static_cast<u32>(k * warp);
                if (at < level.lanes) sum[k] += ones ? from[at] : arithmetic.multiply(entry, from[at]);
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

// 1 in each lane's own state; no such state: nothing.
__device__ __forceinline__ void begin(double *to, const u32 *start, u32 states, u32 lanes) {
    const u64 count = static_cast<u64>(states) * lanes, step = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 k = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += step)
        to[k] = start[k % lanes] == k / lanes ? 1 : 0;
}

// Each lane's number in its own state.
__device__ __forceinline__ void pick(const double *from, const u32 *start, u32 states, u32 lanes,
                                     double *to) {
    const u32 lane = blockIdx.x * blockDim.x + threadIdx.x;
    if (lane < lanes)
        to[lane] = start[lane] < states ? from[static_cast<u64>(start[lane]) * lanes + lane] : 0;
}
