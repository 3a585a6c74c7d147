// ---- The walk along the Gray code, the same in every kernel --------------------------------------------
//
// perm(A) = (4 (n mod 2) - 2) sum over i of (-1)^i prod_r x_r(S_i), i = 0 .. 2^(n-1) - 1, where S_i holds the
// columns whose bits are set in i ^ (i >> 1), and x_r(S) = a[r,n-1] - 1/2 sum_j a[r,j] + sum_{j in S} a[r,j].
// From i - 1 to i column ctz(i) changes; it comes in if bit ctz(i) + 1 of i is 0, else it goes out.
//
// The constants n, segment_bits, unrolled stand above. A segment is 2^segment_bits subsets that begin at a
// multiple of that, a block 2^unrolled subsets of a segment. Values lie on a grid on which sums of entries of
// a row round nowhere, so x does not depend on the way to it, and a segment's sum not on who sums it.

typedef unsigned long long u64;

// Sum and error of the terms together are their sum; the absolute values are added up beside it.
struct Partial {
    double sum, error, absolute;
};

struct Launch {
    u64 first;  // what the first chunk begins with: a segment, or a subset if the chunks are equal
    u64 end;    // what the last one ends before
    u64 length; // of a chunk; the last one may be shorter
    u64 base;   // the segment whose sum stands first in `partials`
};

struct Sums {
    double sum = 0, error = 0, absolute = 0;

    // Knuth's 2Sum: what `sum` cannot hold goes to `error`.
    __device__ __forceinline__ void add(double part, double absolute_part) {
        const double s = sum + part;
        const double b = s - sum;
        error += (sum - (s - b)) + (part - b);
        sum = s;
        absolute += absolute_part;
    }
    __device__ __forceinline__ Partial partial() const { return {sum, error, absolute}; }
};

// The terms of one block, with their signs.
struct Terms {
    double sum, absolute;

    __device__ __forceinline__ explicit Terms(double first) : sum(first), absolute(fabs(first)) {}
    __device__ __forceinline__ void plus(double term) { sum += term, absolute += fabs(term); }
    __device__ __forceinline__ void minus(double term) { sum -= term, absolute += fabs(term); }
};

__device__ __forceinline__ int lowest_bit(u64 i) { return __ffsll(static_cast<long long>(i)) - 1; }
__device__ __forceinline__ bool comes_in(u64 i, int bit) { return (i >> bit >> 1 & 1) == 0; }

__device__ __forceinline__ u64 thread_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Chunks of whole segments (CEG, Lemma 1 of the code-generation paper): but for the first step of a segment
// all threads change the same column, and but for the two highest columns of a segment in the same direction.
template <class Rows>
__device__ __forceinline__ void walk_segments(Rows &rows, Launch launch, Partial *partials) {
    u64 segment = launch.first + thread_index() * launch.length;
    if (segment >= launch.end) return;
    const u64 end = segment + launch.length < launch.end ? segment + launch.length : launch.end;
    constexpr int block_bits = segment_bits - unrolled; // blocks of a segment
    u64 i = segment << block_bits;                      // the block, of all
    if (unrolled > 0 && (i & 1)) rows.bring_in(unrolled - 1);
    const u64 gray = i ^ i >> 1;
#pragma unroll 1
    for (int j = unrolled; j < n - 1; ++j)
        if (gray >> (j - unrolled) & 1) rows.bring_in(j);
    rows.settle();
    Sums sums;
    for (;;) {
        rows.block(i, sums);
        ++i;
        if ((i & ((u64{1} << block_bits) - 1)) == 0) {
            partials[segment - launch.base] = sums.partial();
            if (++segment == end) return;
            sums = Sums();
        }
        const int j = lowest_bit(i);
        rows.change(unrolled + j, comes_in(i, j));
        rows.settle();
    }
}

// Chunks of equal length wherever they begin: what the literature does, to see what CEG is worth.
template <class Rows>
__device__ __forceinline__ void walk_equally(Rows &rows, Launch launch, Partial *partials) {
    u64 i = launch.first + thread_index() * launch.length;
    Sums sums;
    if (i < launch.end) {
        const u64 end = launch.end - i > launch.length ? i + launch.length : launch.end;
        const u64 gray = i ^ i >> 1;
        for (int j = 0; j < n - 1; ++j)
            if (gray >> j & 1) rows.bring_in(j);
        rows.settle();
        for (Terms terms(0);; terms = Terms(0)) {
            for (unsigned m = 0; m < 1u << 4; ++m) {
                const double term = rows.product();
                terms.plus(i & 1 ? -term : term);
                if (++i == end) break;
                const int j = lowest_bit(i);
                rows.change(j, comes_in(i, j));
                rows.settle();
            }
            sums.add(terms.sum, terms.absolute);
            if (i == end) break;
        }
    }
    partials[thread_index()] = sums.partial();
}

// A block of a kernel whose code does not know the columns.
template <class Rows> __device__ __forceinline__ void loop_over_block(Rows &rows, u64 block, Sums &sums) {
    const double first = rows.product();
    Terms terms(unrolled == 0 && (block & 1) ? -first : first);
    for (unsigned m = 1; m < 1u << unrolled; ++m) {
        const int j = lowest_bit(m);
        rows.change(j, comes_in(block << unrolled | m, j));
        const double term = rows.product();
        terms.plus(m & 1 ? -term : term);
    }
    sums.add(terms.sum, terms.absolute);
}

__device__ __forceinline__ Partial add_in_order(const Partial *partials, u64 count) {
    Sums sums;
    double errors = 0;
    for (u64 k = 0; k < count; ++k) {
        sums.add(partials[k].sum, partials[k].absolute);
        errors += partials[k].error;
    }
    sums.error += errors;
    return sums.partial();
}

// Adds up `group` partials each, in their order.
extern "C" __global__ void perm_gather(const Partial *from, u64 count, u64 group, Partial *to) {
    const u64 first = thread_index() * group;
    if (first < count)
        to[thread_index()] = add_in_order(from + first, count - first < group ? count - first : group);
}
