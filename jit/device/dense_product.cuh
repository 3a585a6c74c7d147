// ---- Products of full matrices of doubles --------------------------------------------------------------
//
// C = A B, or added to C; all by rows, each row with room for a multiple of eight numbers, zeros behind its
// own. Each number of C has the processor's bits (jit/lanes/dense_product.hpp): over chunks of the inner
// index, in a chunk from 0 on by fma, one after the other, the chunks' sums then added up. The tensor cores
// that take doubles add up in that order (compared on an H200, for tiles of 4, 8 and 16 products).
//
// A block of threads takes 128 x 64 numbers, each of its warps 32 x 32; eight columns of A and rows of B are
// multiplied while the next are read. device/tensor_tile.cuh stands above.

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr int most_threads = 256, block_rows = 128, block_columns = 64, warp_rows = 32, warp_columns = 32;
constexpr int stage_inner = 8, chunk = 256;
constexpr int left_pitch = stage_inner + 4, right_pitch = block_columns + 4; // a warp's reads share no bank

struct DenseProduct {
    const double *a, *b;
    double *c;
    u32 rows, inner, columns;
    u32 a_pitch, b_pitch; // b's is c's
    u32 adds;             // to what c is
    double sign;          // of the product
};

__device__ __forceinline__ void multiply(const DenseProduct &m) {
    __shared__ __align__(16) double left[2][block_rows][left_pitch], right[2][stage_inner][right_pitch];
    constexpr int down = warp_rows / tile_rows, across = warp_columns / tile_columns;
    const u32 groups = (m.columns + block_columns - 1) / block_columns,
              row = blockIdx.x / groups * block_rows, column = blockIdx.x % groups * block_columns;
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const u32 upper = warp / 2 * warp_rows, first = warp % 2 * warp_columns; // of the warp's tile
    double total[down][across][4] = {}, sum[down][across][4] = {};
    const auto move = [&](bool in) { // this thread's numbers
#pragma unroll
        for (int r = 0; r < down; ++r)
#pragma unroll
            for (int n = 0; n < across; ++n)
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const u32 at_row = row + upper + r * tile_rows + i / 2 * 8 + g,
                              at_column = column + first + n * tile_columns + 2 * t + i % 2;
                    if (at_row >= m.rows || at_column >= m.b_pitch) continue;
                    double &c = m.c[static_cast<u64>(at_row) * m.b_pitch + at_column];
                    if (in)
                        total[r][n][i] = c;
                    else
                        c = total[r][n][i];
                }
    };
    if (m.adds) move(true);

    // This thread's share of what is read: half a row of A's eight, two of B's.
    constexpr int left_each = 4, right_each = 2;
    const u32 left_row = threadIdx.x / 2, left_at = threadIdx.x % 2 * left_each, right_row = threadIdx.x / 32,
              right_at = threadIdx.x % 32 * right_each;
    double left_next[left_each], right_next[right_each];
    const auto fetch = [&](u32 k) {
        const bool has_row = row + left_row < m.rows;
        const double *const a = m.a + static_cast<u64>(row + left_row) * m.a_pitch + k + left_at;
#pragma unroll
        for (int i = 0; i < left_each; ++i) left_next[i] = has_row ? m.sign * a[i] : 0;
        const bool has_columns = k + right_row < m.inner && column + right_at < m.b_pitch;
        const double *const b = m.b + static_cast<u64>(k + right_row) * m.b_pitch + column + right_at;
#pragma unroll
        for (int i = 0; i < right_each; ++i) right_next[i] = has_columns ? b[i] : 0;
    };
    fetch(0);
    for (u32 k = 0, stage = 0; k < m.inner; k += stage_inner, stage ^= 1) {
#pragma unroll
        for (int i = 0; i < left_each; ++i) left[stage][left_row][left_at + i] = left_next[i];
#pragma unroll
        for (int i = 0; i < right_each; ++i) right[stage][right_row][right_at + i] = right_next[i];
        __syncthreads();
        if (k + stage_inner < m.inner) fetch(k + stage_inner);
        double b[across][2];
#pragma unroll
        for (int n = 0; n < across; ++n)
#pragma unroll
            for (int s = 0; s < 2; ++s) b[n][s] = right[stage][4 * s + t][first + n * tile_columns + g];
#pragma unroll
        for (int r = 0; r < down; ++r) {
            const double(*const rows)[left_pitch] = left[stage] + upper + r * tile_rows;
            const double a[4] = {rows[g][t], rows[g + 8][t], rows[g][4 + t], rows[g + 8][4 + t]};
#pragma unroll
            for (int n = 0; n < across; ++n) add_product<2>(sum[r][n], a, b[n]);
        }
        if ((k + stage_inner) % chunk != 0 && k + stage_inner < m.inner) continue;
#pragma unroll
        for (int r = 0; r < down; ++r)
#pragma unroll
            for (int n = 0; n < across; ++n)
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    total[r][n][i] += sum[r][n][i];
                    sum[r][n][i] = 0;
                }
    }
    move(false);
}

// The largest absolute value, as bits; *most is 0 before.
__device__ __forceinline__ void find_largest(const double *x, u64 count, u64 *most) {
    double mine = 0;
    for (u64 k = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
         k += static_cast<u64>(gridDim.x) * blockDim.x)
        mine = fmax(mine, fabs(x[k]));
    atomicMax(most, static_cast<u64>(__double_as_longlong(mine)));
}

__device__ __forceinline__ void scale(double *x, u64 count, double one, double other) {
    for (u64 k = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
         k += static_cast<u64>(gridDim.x) * blockDim.x)
        x[k] = x[k] * one * other;
}
