// ---- The product of two matrices stored by diagonals -----------------------------------------------------
//
// Haque, Parvez, Hossain, "GPU Algorithms for Structured Sparse Matrix Multiplication with Diagonal Storage
// Schemes", Algorithms 17 (2024), section 3. Diagonal d has the entries of rows p and columns p + d.
// - HM: each diagonal, -n < d < n, is a list of its n - |d| entries.
// - CDM, compact: the diagonals d and d - n, which together have n entries, are one list, and columns go
//   round: 0 <= d < n, column (p + d) mod n.
// In both
//
//     C_d[p] = sum over a + b = d of A_a[p] * B_b[p + a]
//

typedef unsigned int u32;

constexpr int most_threads = 256, row_threads = 8;

struct Pair {
    u32 a, b;  // where row 0 of the lists of A and of B is, or would be, modulo 2^32
    u32 shift; // A's diagonal, modulo 2^32
};

struct Line { // a diagonal of C
    u32 low, rows, at;
};

struct Product {
    u32 n, diagonals; // of C
    const double *a, *b;
    double *c;
    const u32 *first; // of each of C's diagonals its pairs, and their number
    const Pair *pairs;
    const Line *lines;
};

template <bool goes_round> __device__ __forceinline__ void multiply(const Product &m) {
    const u32 tiles = (m.n + blockDim.x - 1) / blockDim.x, c = blockIdx.x / tiles,
              i = blockIdx.x % tiles * blockDim.x + threadIdx.x;
    const Line line = m.lines[c];
    if (i >= line.rows) return;
    const u32 p = line.low + i, end = m.first[c + 1];
    double sum = 0;
#pragma unroll 8
    for (u32 k = m.first[c]; k < end; ++k) {
        const Pair pair = m.pairs[k];
        u32 q = p + pair.shift;
        if (q >= m.n) {
            if (!goes_round) continue;
            q -= m.n;
        }
        sum += m.a[pair.a + p] * m.b[pair.b + q];
    }
    m.c[line.at + i] = sum;
}

// A times a vector b: c has the rows, pairs are A's diagonals. Eight threads have a row's diagonals, for rows
// are few.
template <bool goes_round> __device__ __forceinline__ void apply(const Product &m) {
    __shared__ double part[most_threads];
    const u32 rows = blockDim.x / row_threads, t = threadIdx.x, p = blockIdx.x * rows + t % rows;
    double sum = 0;
#pragma unroll 4
    for (u32 k = t / rows; k < m.diagonals; k += row_threads) {
        const Pair pair = m.pairs[k];
        u32 q = p + pair.shift;
        if (goes_round && q >= m.n) q -= m.n;
        if (p < m.n && q < m.n) sum += m.a[pair.a + p] * m.b[q];
    }
    part[t] = sum;
    __syncthreads();
    if (t >= rows || p >= m.n) return;
    for (u32 k = 1; k < row_threads; ++k) sum += part[k * rows + t];
    m.c[p] = sum;
}
