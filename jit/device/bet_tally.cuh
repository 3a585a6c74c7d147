// ---- What bets need to know of samples, on a GPU -------------------------------------------------------
//
// Of each chunk of samples what jit/lanes/bet_tally.cpp says, with its bits: a block adds up a chunk.

// What follows stands in lanes/bet_tally.hpp as well.
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
