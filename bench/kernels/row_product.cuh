// ---- A sparse matrix times a dense one, row by row
// ----------------------------------------------------------
//
// A warp takes a row and 128 lanes.

typedef unsigned int u32;
typedef unsigned long long u64;
struct RowProduct {
    const u32 *first, *column;
    const double *value, *x;
    double *y;
    u32 rows, lanes, products;
    double prime, inverse;
};
template <bool residues> __device__ __forceinline__ void multiply(const RowProduct &m) {
    constexpr u32 together = 4;
    const u32 item = (blockIdx.x * blockDim.x + threadIdx.x) / 32, shares = (m.lanes + 127) / 128;
    const u32 row = item / shares, lane = item % shares * 128 + threadIdx.x % 32;
    if (row >= m.rows) return;
    double sum[together] = {};
    const u32 end = m.first[row + 1];
    u32 unreduced = 0;
    for (u32 begin = m.first[row]; begin < end;
         begin += 32) { // a warp reads 32 entries, and hands them round
        const u32 mine = begin + threadIdx.x % 32;
        const u32 my_column = mine < end ? m.column[mine] : 0;
        const double my_value = mine < end ? m.value[mine] : 0;
        const u32 count = end - begin < 32 ? (end - begin + 7) / 8 * 8 : 32;
        for (u32 k = 0; k < count; k += 8)
#pragma unroll
            for (u32 j = 0; j < 8; ++j) {
                const double value = __shfl_sync(0xffffffff, my_value, k + j);
                const u32 column = __shfl_sync(0xffffffff, my_column, k + j);
                const double *const from = m.x + static_cast<u64>(column) * m.lanes + lane;
#pragma unroll
                for (u32 i = 0; i < together; ++i)
                    if (lane + i * 32 < m.lanes) sum[i] = fma(value, from[i * 32], sum[i]);
            }
        if (residues && ((unreduced += 32) + 32 > m.products || begin + 32 >= end)) {
            unreduced = 0;
            for (u32 i = 0; i < together; ++i) {
                const double magic = 0x1.8p52;
                sum[i] = fma(-(fma(sum[i], m.inverse, magic) - magic), m.prime, sum[i]);
            }
        }
    }
    for (u32 i = 0; i < together; ++i)
        if (lane + i * 32 < m.lanes) m.y[static_cast<u64>(row) * m.lanes + lane + i * 32] = sum[i];
}
extern "C" __global__ void __launch_bounds__(256) row_product(const __grid_constant__ RowProduct m) {
    multiply<false>(m);
}
extern "C" __global__ void __launch_bounds__(256) row_residues(const __grid_constant__ RowProduct m) {
    multiply<true>(m);
}
