// ---- The product of two matrices stored by diagonals -----------------------------------------------------
//
// Of an n x n matrix the diagonals c and c - n, which together have n entries, are one list: entry p is that
// of row p and column (p + c) mod n. So columns go round, and no diagonal has an end (compact diagonal
// storage: Haque, Parvez, Hossain, "GPU Algorithms for Structured Sparse Matrix Multiplication with Diagonal
// Storage Schemes", Algorithms 17 (2024), section 3):
//
//     C_c[p] = sum over a + b = c mod n of A_a[p] * B_b[(p + a) mod n]

typedef unsigned long long u64;
typedef unsigned int u32;

constexpr int most_threads = 256;

struct Pair {
    u32 a, b;  // lists of A and of B
    u32 shift; // a's diagonal
};

struct Product {
    u32 n, diagonals;    // of C
    const double *a, *b; // n numbers a list
    double *c;
    const u32 *first; // of each of C's diagonals its pairs, and their number
    const Pair *pairs;
};

__device__ __forceinline__ void multiply(const Product &m) {
    const u32 tiles = (m.n + blockDim.x - 1) / blockDim.x, c = blockIdx.x / tiles,
              p = blockIdx.x % tiles * blockDim.x + threadIdx.x;
    if (p >= m.n) return;
    double sum = 0;
    const u32 end = m.first[c + 1];
#pragma unroll 4
    for (u32 k = m.first[c]; k < end; ++k) {
        const Pair pair = m.pairs[k];
        const u32 q = p + pair.shift < m.n ? p + pair.shift : p + pair.shift - m.n;
        sum += m.a[static_cast<u64>(pair.a) * m.n + p] * m.b[static_cast<u64>(pair.b) * m.n + q];
    }
    m.c[static_cast<u64>(c) * m.n + p] = sum;
}
