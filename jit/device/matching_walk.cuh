// ---- Matchings drawn at random, on a GPU ---------------------------------------------------------------
//
// The walks of jit/lanes/matching_walk.cpp, one a thread, with the same random numbers and bits: what is
// added there times 0 or 1 is added here or not. `kept` and `together` stand above: partial sums of a step's
// first entries stay in registers, so that most steps are passed through once.

typedef unsigned long long u64;
typedef unsigned int u32;

// What follows stands in kernel/matchings.hpp as well.
constexpr u32 lanes = 32, between_foldings = 32;

struct __align__(16) Entry {
    double weight;
    u32 word, bit; // of the rows that are left; no bit: filled up
};

struct Walks {
    const Entry *entries;
    const u32 *first; // of each step's entries, and their number: multiples of `together`
    double *samples;
    u64 seed, sample, count; // the first, a multiple of the lanes
    u32 steps, rows;
};

// lib/base/randomness.hpp: SplitMix64.
__device__ __forceinline__ u64 mixed(u64 x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// Blackman and Vigna's xoshiro256+.
struct Random {
    u64 s[4];

    __device__ __forceinline__ Random(u64 seed, u64 sample) {
        constexpr u64 golden = 0x9e3779b97f4a7c15;
        const u64 lane = sample % lanes, state = mixed(seed) ^ mixed(~(sample - lane) * golden);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) s[k] = mixed(state + (k * lanes + lane + 1) * golden);
    }
    __device__ __forceinline__ double uniform() {
        const u64 sum = s[0] + s[3], shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3] << 45 | s[3] >> 19;
        return __longlong_as_double(static_cast<long long>(sum >> 12 | 0x3ff0000000000000)) - 1.0;
    }
};

// One at a time. `left`: bits of rows, a word for every blockDim.x-th.
__device__ __forceinline__ double value_of(const Walks &all, u64 sample, u32 *left) {
    Random random(all.seed, sample);
    for (u32 word = 0; word * 32 < all.rows; ++word) left[word * blockDim.x] = 0xffffffffu;
    const auto added = [&](double sum, const Entry &entry) {
        return (left[entry.word * blockDim.x] & entry.bit) != 0 ? sum + entry.weight : sum;
    };
    double product = 1, slack = 0;
    for (u32 step = 0; step < all.steps; ++step) {
        const Entry *const entries = all.entries + all.first[step];
        const u32 count = all.first[step + 1] - all.first[step];
        double sum = 0, until[kept];
#pragma unroll
        for (u32 k = 0; k < kept; k += together)
            if (k < count) {
#pragma unroll
                for (u32 j = k; j < k + together; ++j) until[j] = sum = added(sum, entries[j]);
            }
        for (u32 k = kept; k < count; ++k) sum = added(sum, entries[k]);
        if (sum == 0) return 0;
        const double target = sum * random.uniform();
        product *= sum;
        slack += 1 - sum;
        // The first row at which the sum passes the target.
        u32 chosen = 0;
#pragma unroll
        for (u32 k = 0; k < kept; k += together)
            if (k < count) {
#pragma unroll
                for (u32 j = k; j < k + together; ++j) chosen += until[j] <= target;
            }
        if (chosen == kept) {
            double next = until[kept - 1];
            while ((next = added(next, entries[chosen])) <= target) ++chosen;
        }
        const Entry &taken = entries[chosen];
        left[taken.word * blockDim.x] ^= taken.bit;
        if (step % between_foldings == between_foldings - 1 || step == all.steps - 1) {
            product *= exponential(slack);
            slack = 0;
        }
    }
    return product < 1 ? product : 1;
}

__device__ __forceinline__ void draw(const Walks &all, u32 *left) {
    const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 k = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; k < all.count; k += step)
        all.samples[k] = value_of(all, all.sample + k, left + threadIdx.x);
}

// ---- What bets need to know of samples, on a GPU -------------------------------------------------------
//
// Of each chunk of samples what jit/lanes/matching_walk.cpp says, with its bits: a block adds up a chunk.

// What follows stands in lanes/matching_walk.hpp as well.
constexpr u32 columns = 256, samples_of_column = 8;

struct Tallies {
    const double *samples, *bets;
    double *told; // of each chunk: the samples' sum, how many are not 0, each bet's product and its exponent
    u32 chunks, bet_count;
};

__device__ __forceinline__ void tally(const Tallies &all) {
    __shared__ double sums[columns];
    __shared__ LongProduct products[columns];
    for (u32 chunk = blockIdx.x; chunk < all.chunks; chunk += gridDim.x) {
        const double *const samples = all.samples + static_cast<u64>(chunk) * columns * samples_of_column;
        double *const told = all.told + static_cast<u64>(chunk) * (2 + 2 * all.bet_count);
        for (u32 c = threadIdx.x; c < columns; c += blockDim.x) {
            double sum = 0;
            long long positive = 0;
            for (u32 k = 0; k < samples_of_column; ++k) {
                const double x = samples[k * columns + c];
                sum += x;
                positive += x > 0;
            }
            sums[c] = sum;
            products[c] = {0, positive};
        }
        for (u32 half = columns / 2; half > 0; half /= 2) {
            __syncthreads();
            for (u32 c = threadIdx.x; c < half; c += blockDim.x) {
                sums[c] += sums[c + half];
                products[c].exp2 += products[c + half].exp2;
            }
        }
        if (threadIdx.x == 0) {
            told[0] = sums[0];
            told[1] = static_cast<double>(products[0].exp2);
        }
        for (u32 b = 0; b < all.bet_count; ++b) {
            __syncthreads();
            const double bet = all.bets[b];
            for (u32 c = threadIdx.x; c < columns; c += blockDim.x) {
                double product = 1;
                for (u32 k = 0; k < samples_of_column; ++k) product *= 1 + bet * samples[k * columns + c];
                products[c] = long_product(product, 0);
            }
            for (u32 half = columns / 2; half > 0; half /= 2) {
                __syncthreads();
                for (u32 c = threadIdx.x; c < half; c += blockDim.x)
                    products[c] = multiplied(products[c], products[c + half]);
            }
            if (threadIdx.x == 0) {
                told[2 + 2 * b] = products[0].mantissa;
                told[3 + 2 * b] = static_cast<double>(products[0].exp2);
            }
        }
        __syncthreads();
    }
}
