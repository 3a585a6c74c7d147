// ---- Tiles of lists, worked on by any number of blocks ---------------------------------------------------
//
// Tiles have numbers, and a block takes the next one when it is free. So whoever works on a tile, all tiles
// before it are done or being worked on by blocks that run: to wait for them ends, whatever else the GPU
// does. Two things rest on that. A tile learns how much the tiles before it write as soon as they know it, in
// one pass (decoupled look-back: Merrill and Garland, "Single-pass parallel prefix scan with decoupled
// look-back", 2016). And a step of the work begins when the tiles of the step before are done, within one
// launch.
//
// Words that blocks share hold the launch's number above a count: what an older launch has left there is
// smaller, and nothing is cleared between launches.
//
// `most_threads` stands above; a block has a power of two of threads.

typedef unsigned long long u64;

constexpr int whole_bit = 40, launch_bit = 41; // of a word: below them 40 bits of a count

struct Chain {
    u64 launch;       // 1, 2, ...
    u64 *next, *done; // the tile to be taken next; tiles that are done
    u64 *sums;        // of each tile what it writes, with whole_bit what it and all before it in its step do
};

struct ChainRoom { // of a block
    unsigned count[most_threads], group[most_threads / 16 + 1];
    unsigned nearest, below;
    u64 whole, tile;
};

__device__ __forceinline__ u64 smaller(u64 x, u64 y) { return x < y ? x : y; }
__device__ __forceinline__ u64 load(const u64 *word) { return *static_cast<const volatile u64 *>(word); }

__device__ __forceinline__ void enter(const Chain &chain) {
    if (threadIdx.x > 0) return;
    atomicMax(chain.next, chain.launch << launch_bit);
    atomicMax(chain.done, chain.launch << launch_bit);
}

__device__ __forceinline__ u64 take_tile(const Chain &chain, ChainRoom &room) {
    if (threadIdx.x == 0) room.tile = atomicAdd(chain.next, u64{1}) - (chain.launch << launch_bit);
    __syncthreads();
    return room.tile;
}

// Afterwards the block's shared memory is free, too.
__device__ __forceinline__ void finish_tile(const Chain &chain) {
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    atomicAdd(chain.done, u64{1});
}

// Until so many tiles are done; what they wrote can be read then.
__device__ __forceinline__ void wait_for(const Chain &chain, u64 tiles) {
    if (threadIdx.x == 0) {
        while (load(chain.done) < (chain.launch << launch_bit) + tiles) {
        }
        __threadfence();
    }
    __syncthreads();
}

// The sum over the threads before this one, and over all.
__device__ __forceinline__ unsigned sum_before(ChainRoom &room, unsigned mine, unsigned &all) {
    const unsigned t = threadIdx.x, groups = (blockDim.x + 15) / 16;
    room.count[t] = mine;
    __syncthreads();
    if (t < groups) {
        unsigned sum = 0;
        for (unsigned k = 16 * t; k < 16 * t + 16 && k < blockDim.x; ++k) {
            const unsigned x = room.count[k];
            room.count[k] = sum;
            sum += x;
        }
        room.group[t] = sum;
    }
    __syncthreads();
    if (t == 0) {
        unsigned sum = 0;
        for (unsigned k = 0; k < groups; ++k) {
            const unsigned x = room.group[k];
            room.group[k] = sum;
            sum += x;
        }
        room.group[groups] = sum;
    }
    __syncthreads();
    all = room.group[groups];
    return room.group[t / 16] + room.count[t];
}

__device__ __forceinline__ void announce(const Chain &chain, u64 *sum, u64 count, bool whole) {
    if (threadIdx.x == 0)
        *static_cast<volatile u64 *>(sum) = chain.launch << launch_bit | u64{whole} << whole_bit | count;
}

// What the tiles of this step before `tile` write, whose own `count` has been announced; sums[0] is the
// step's first. Each thread asks one of the tiles before, the nearest first.
__device__ __forceinline__ u64 look_back(const Chain &chain, u64 *sums, u64 tile, u64 count,
                                         ChainRoom &room) {
    const unsigned t = threadIdx.x;
    u64 before = 0;
    for (u64 end = tile; end > 0; end -= blockDim.x) {
        if (t == 0) {
            room.nearest = blockDim.x;
            room.below = 0;
        }
        __syncthreads();
        u64 word = 0;
        if (t < end) {
            do word = load(sums + (end - 1 - t));
            while (word >> launch_bit != chain.launch);
            if (word >> whole_bit & 1) atomicMin(&room.nearest, t);
        }
        __syncthreads();
        const unsigned nearest = room.nearest;
        const u64 written = word & ((u64{1} << whole_bit) - 1);
        if (t < end && t < nearest)
            atomicAdd(&room.below, static_cast<unsigned>(written)); // of a tile: small
        if (t == nearest) room.whole = written;
        __syncthreads();
        before += room.below;
        if (nearest < blockDim.x) {
            before += room.whole;
            break;
        }
        __syncthreads();
    }
    if (tile > 0) announce(chain, sums + tile, before + count, true);
    return before;
}
