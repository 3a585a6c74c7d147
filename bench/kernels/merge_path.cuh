// ---- What kernels along a merge path have in common ------------------------------------------------------

typedef unsigned long long u64;
typedef unsigned int u32;

constexpr u32 all_lanes = 0xffffffff;

// The first place of low .. high - 1 that is behind, as all after it are then; high: none.
template <class IsBehind>
__device__ __forceinline__ u32 first_behind(u32 low, u32 high, const IsBehind &is_behind) {
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (is_behind(middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// The row of a matrix that an entry is in, from `low` on: the last that begins at it or before.
__device__ __forceinline__ u32 row_of(const u32 *first, u32 low, u32 high, u32 entry) {
    return first_behind(low, high, [&](u32 row) { return first[row + 1] > entry; });
}

// ---- Along a block's threads -----------------------------------------------------------------------------

struct Plus {
    template <class T> __device__ __forceinline__ T operator()(T x, T y) const { return x + y; }
};
struct Most {
    template <class T> __device__ __forceinline__ T operator()(T x, T y) const { return x > y ? x : y; }
};

struct ScanRoom { // of a block
    u64 of_warp[32];
};

// What the threads before this one have, joined, and what all have; 0 joined to x is x.
template <class T, class Join>
__device__ __forceinline__ T scan(T mine, T &all, ScanRoom &room, const Join &join) {
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T run = mine;
#pragma unroll
    for (u32 step = 1; step < 32; step *= 2) {
        const T other = __shfl_up_sync(all_lanes, run, step);
        if (lane >= step) run = join(other, run);
    }
    const T before = __shfl_up_sync(all_lanes, run, 1);
    if (lane == 31 || threadIdx.x + 1 == blockDim.x) room.of_warp[warp] = run;
    __syncthreads();
    T carried = 0;
    all = 0;
    for (u32 w = 0; w < (blockDim.x + 31) / 32; ++w) {
        if (w == warp) carried = all;
        all = join(all, static_cast<T>(room.of_warp[w]));
    }
    __syncthreads();
    return lane > 0 ? join(carried, before) : carried;
}
