// ---- A tile of 16 x 8 doubles, that a warp multiplies and adds to ----------------------------------------
//
// C += A B, A 16 x 4 steps, B 4 steps x 8, by tensor cores where they take doubles. Lane l, with g = l / 4
// and t = l % 4, holds
//
//     c[0], c[1]          C[g][2 t], C[g][2 t + 1]        c[2], c[3]   the same of row g + 8
//     a[2 s], a[2 s + 1]  A[g][4 s + t], A[g + 8][4 s + t]
//     b[s]                B[4 s + t][g]
//
// (PTX ISA, "Matrix fragments for mma.m16n8k16", .f64, and in two halves those of mma.m8n8k4). Each product
// and its addition round once at most, in an order that is the hardware's: whole numbers whose partial sums
// stay below 2^53 come out the same everywhere. Without tensor cores the products are added one by one.

constexpr unsigned whole_warp = 0xffffffff;
constexpr int tile_rows = 16, tile_columns = 8, tile_step = 4;

// Else all warps of a block are to do the same products: the tests' take turns.
#if defined(__CUDA_ARCH__)
constexpr bool warps_go_apart = true;
#else
constexpr bool warps_go_apart = false;
#endif

template <int steps>
__device__ __forceinline__ void add_product(double (&c)[4], const double *a, const double *b) {
    static_assert(steps == 1 || steps == 2 || steps == 4);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (steps == 4)
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, "
            "%10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
              "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    else if constexpr (steps == 2)
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    else
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, "
            "%2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(b[0]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#pragma unroll
    for (int s = 0; s < steps; ++s)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                : "d"(a[2 * s + half]), "d"(b[s]));
#else
    const int lane = static_cast<int>(threadIdx.x % 32), row = lane / 4 * 4, column = lane % 4 * 8;
    for (int s = 0; s < steps; ++s)
        for (int k = 0; k < tile_step; ++k) {
            const double upper = __shfl_sync(whole_warp, a[2 * s], row + k),
                         lower = __shfl_sync(whole_warp, a[2 * s + 1], row + k),
                         left = __shfl_sync(whole_warp, b[s], column + k),
                         right = __shfl_sync(whole_warp, b[s], column + 4 + k);
            c[0] = fma(upper, left, c[0]);
            c[1] = fma(upper, right, c[1]);
            c[2] = fma(lower, left, c[2]);
            c[3] = fma(lower, right, c[3]);
        }
#endif
}
