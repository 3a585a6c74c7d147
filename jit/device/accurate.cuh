// ---- Segments again, by the engines that take terms one by one ------------------------------------------

// A block of accurate_threads threads sums segment base + chosen[blockIdx.x], a part each; x in each thread's
// own memory. Of each column the entries are values[n + e] in row[e], e = column_ptr[j] .. column_ptr[j+1]
// - 1. The sum of absolute values is told as accurate_share of itself: that is how much less its terms are
// rounded, and more.
extern "C" __global__ void perm_accurate(const double *values, const int *column_ptr, const int *row,
                                         const u64 *chosen, u64 base, Partial *partials) {
    __shared__ Partial parts[accurate_threads];
    constexpr u64 length = (u64{1} << segment_bits) / accurate_threads;
    const u64 segment = base + chosen[blockIdx.x];
    const u64 first = threadIdx.x * length;
    double x[n];
#pragma unroll 1
    for (int r = 0; r < n; ++r) x[r] = values[r];
    const auto change = [&](int column, bool in) {
        const double sign = in ? 1 : -1;
        for (int e = column_ptr[column]; e < column_ptr[column + 1]; ++e)
            x[row[e]] = fma(sign, values[n + e], x[row[e]]);
    };
    const u64 outer = segment ^ segment >> 1;
    for (int j = segment_bits; j < n - 1; ++j)
        if (outer >> (j - segment_bits) & 1) change(j, true);
    const u64 i = (segment & 1) << segment_bits | first, inner = i ^ i >> 1;
    for (int j = 0; j < segment_bits; ++j)
        if (inner >> j & 1) change(j, true);
    Partial sums = sum_of_nothing<Arith>();
    for (u64 m = first; m < first + length; ++m) {
        if (m > first) {
            const int j = lowest_bit(m);
            change(j, comes_in((segment & 1) << segment_bits | m, j));
        }
        // The product carries the term's sign; what each rounding of it loses is a double.
        double product = (segment_bits > 0 ? m : segment) & 1 ? -1 : 1, error = 0;
#pragma unroll 4
        for (int r = 0; r < n; ++r) {
            const double next = product * x[r];
            error = fma(error, x[r], fma(product, x[r], -next));
            product = next;
        }
        sums.add(Arith(), product, fabs(product));
        sums.sum.error += error;
    }
    parts[threadIdx.x] = sums;
    __syncthreads();
    if (threadIdx.x > 0) return;
    Partial all = add_in_order(Arith(), parts, accurate_threads);
    all.absolute *= accurate_share;
    partials[segment - base] = all;
}
