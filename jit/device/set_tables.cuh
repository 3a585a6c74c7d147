// ---- Tables over sets of lines that wait, on a GPU ------------------------------------------------------
//
// The steps of jit/lanes/set_steps.cpp and of lib/sets/set_tables.cpp, rounding by rounding, so that
// they have their bits: to add 0 times a number, as lanes do there, changes none. Threads take sets in turns;
// a sum of products has a block of threads for each chunk of the sets and each line.

typedef unsigned long long u64;
typedef unsigned int u32;

// What follows stands in kernel/matchings.hpp as well.
constexpr u32 low_lines = 6, most_high = 27; // within 64 sets that follow each other, a block; and above
constexpr u32 lanes = 8, block_sets = 64, chunk_blocks = 256;

struct Step {
    const double *from; // the table before, or backwards the slopes after
    double *to;         // the table after, or backwards the slopes before
    const double *before;
    double *sums;     // of each chunk of the sets before: of `stays`, of the low lines, of the high ones
    u64 sets, opened; // of `to`; bits that no set before has
    double stays, low[low_lines], high[most_high];
    u64 high_bit[most_high]; // ascending
    u32 high_lines;
};

struct Line {
    const double *from;
    double *to;
    u64 numbers, sets, bit; // of `to`: those beyond the sets are 0
    double unmatched;
};

struct Pair {
    const double *x, *y;
    double *sums; // of each chunk
    u64 sets, bit;
};

struct Whole {
    double *table;
    u64 *most; // the bits of the largest number
    u64 sets;
    double by;
};

template <class Take> __device__ __forceinline__ void each_set(u64 sets, const Take &take) {
    const u64 apart = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 set = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; set < sets; set += apart)
        take(set);
}

// A number is loaded for each line, whether the set has it or not: so several are on the way together.
__device__ __forceinline__ double met(const Step &step, u64 set) {
    const u64 opened = set & step.opened, others = set ^ opened;
    if ((opened & (opened - 1)) != 0) return 0;
    const u64 taken_from = opened == 0 ? set : opened;
    double sum = opened == 0 ? step.stays * step.from[set] : 0;
#pragma unroll 4
    for (u32 k = 0; k < step.high_lines; ++k) {
        const u64 bit = step.high_bit[k];
        sum = fma((taken_from & bit) != 0 ? step.high[k] : 0, step.from[others & ~bit], sum);
    }
    if (opened != 0) return sum;
#pragma unroll
    for (u32 line = low_lines; line-- > 0;) {
        const u64 bit = 1ull << line;
        sum = fma((set & bit) != 0 ? step.low[line] : 0, step.from[set & ~bit], sum);
    }
    return sum;
}

__device__ __forceinline__ double slope(const Step &step, u64 set) {
    double sum = step.stays * step.from[set];
#pragma unroll
    for (u32 line = low_lines; line-- > 0;) {
        const u64 bit = 1ull << line;
        sum = fma((set & bit) == 0 ? step.low[line] : 0, step.from[set | bit], sum);
    }
#pragma unroll 4
    for (u32 k = 0; k < step.high_lines; ++k) {
        const u64 bit = step.high_bit[k];
        sum = fma((set & bit) == 0 ? step.high[k] : 0, step.from[set | bit], sum);
    }
    return sum;
}

// A chunk's sums in lanes, of its sets without a bit: of each block of sets, then over blocks. The lanes'
// sums are left in `of_lanes`.
template <class Add>
__device__ __forceinline__ void add_chunk(u64 chunk, u64 sets, u64 bit, double *of_lanes, const Add &add) {
    const u64 first = chunk * chunk_blocks * block_sets;
    for (u32 k = threadIdx.x; k < chunk_blocks * lanes; k += blockDim.x) {
        const u64 block = first + k / lanes * block_sets;
        double sum = 0;
        if (block < sets && (block & bit) == 0)
#pragma unroll
            for (u32 j = 0; j < block_sets; j += lanes) {
                const u64 set = block + j + k % lanes;
                const double with = add(sum, set); // loaded whether it counts or not, as above
                sum = (set & bit) == 0 ? with : sum;
            }
        of_lanes[k] = sum;
    }
    __syncthreads();
    for (u32 lane = threadIdx.x; lane < lanes; lane += blockDim.x) {
        double sum = 0;
#pragma unroll 8
        for (u32 k = lane; k < chunk_blocks * lanes; k += lanes) sum += of_lanes[k];
        of_lanes[lane] = sum;
    }
    __syncthreads();
}

// Sums of products of the table before with the slopes after.
__device__ __forceinline__ void add_products(const Step &step, double *of_lanes) {
    const u32 lines = 1 + low_lines + step.high_lines, line = blockIdx.x % lines;
    const bool is_low = line <= low_lines;
    const u32 high = line - low_lines - 1;
    const u64 bit = line == 0 ? 0 : is_low ? 1ull << (line - 1) : step.high_bit[high];
    const double factor = line == 0 ? step.stays : is_low ? step.low[line - 1] : step.high[high];
    double sum = 0;
    if (factor != 0) {
        add_chunk(blockIdx.x / lines, step.sets, bit, of_lanes, [&](double so_far, u64 set) {
            return fma(step.before[set], step.from[set | bit], so_far);
        });
        for (u32 lane = 0; lane < lanes; ++lane) sum += of_lanes[lane];
    }
    if (threadIdx.x == 0) step.sums[blockIdx.x] = sum;
}

__device__ __forceinline__ void add_pairs(const Pair &pair, double *of_lanes) {
    add_chunk(blockIdx.x, pair.sets, pair.bit, of_lanes,
              [&](double so_far, u64 set) { return so_far + pair.x[set] * pair.y[set]; });
    const double *const of = of_lanes;
    if (threadIdx.x == 0)
        pair.sums[blockIdx.x] = ((of[0] + of[1]) + (of[2] + of[3])) + ((of[4] + of[5]) + (of[6] + of[7]));
}

__device__ __forceinline__ double closed(const Line &line, u64 set) {
    const u64 low = line.bit - 1, without = (set & ~low) << 1 | (set & low);
    return set < line.sets ? line.unmatched * line.from[without] + line.from[without | line.bit] : 0;
}

__device__ __forceinline__ double opened(const Line &line, u64 set) {
    const u64 low = line.bit - 1, from = (set & ~low & ~line.bit) >> 1 | (set & low);
    return set < line.sets ? ((set & line.bit) != 0 ? 1 : line.unmatched) * line.from[from] : 0;
}

// Bits of numbers that are not negative are ordered as they are.
__device__ __forceinline__ void find_most(const Whole &whole) {
    double most = 0;
    each_set(whole.sets, [&](u64 set) {
        const double x = whole.table[set];
        most = x > most ? x : most;
    });
    const u64 bits = static_cast<u64>(__double_as_longlong(most));
    const volatile u64 *now = whole.most; // most threads change nothing
    if (bits > *now) atomicMax(whole.most, bits);
}
