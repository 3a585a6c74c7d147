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

struct Launch {
    u64 first;         // what the first chunk begins with: a segment, or a subset if the chunks are equal
    u64 end;           // what the last one ends before
    u64 length;        // of a chunk; the last one may be shorter
    u64 base;          // the segment whose sum stands first in `partials`
    const u64 *chosen; // null, or the segments to sum, counted from `base`: then the chunks are of these
};

// What the rows compute with.
struct Numbers : Arith {
    template <class A> __device__ __forceinline__ A times(A a) const { return a; }
    template <class A, class B, class... More>
    __device__ __forceinline__ Number times(A a, B b, More... more) const {
        return times(multiply(a, b), more...);
    }
    __device__ __forceinline__ void plus(Number &x, Number a) const { x = add(x, a); }
    __device__ __forceinline__ void minus(Number &x, Number a) const { x = subtract(x, a); }
};

__device__ __forceinline__ int lowest_bit(u64 i) { return __ffsll(static_cast<long long>(i)) - 1; }
__device__ __forceinline__ int lowest_bit(unsigned i) { return __ffs(static_cast<int>(i)) - 1; }
__device__ __forceinline__ bool comes_in(u64 i, int bit) { return (i >> bit >> 1 & 1) == 0; }
__device__ __forceinline__ bool comes_in(unsigned i, int bit) { return (i >> bit >> 1 & 1) == 0; }

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
    Partial sums = sum_of_nothing<Arith>();
    for (;;) {
        rows.block(i, sums);
        ++i;
        if ((i & ((u64{1} << block_bits) - 1)) == 0) {
            partials[segment - launch.base] = sums;
            if (++segment == end) return;
            sums = sum_of_nothing<Arith>();
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
    Partial sums = sum_of_nothing<Arith>();
    if (i < launch.end) {
        const u64 end = launch.end - i > launch.length ? i + launch.length : launch.end;
        const u64 gray = i ^ i >> 1;
        for (int j = 0; j < n - 1; ++j)
            if (gray >> j & 1) rows.bring_in(j);
        rows.settle();
        for (;;) {
            Terms terms(rows, rows.number(0));
            for (unsigned m = 0; m < 1u << 4; ++m) {
                const Number term = rows.product();
                terms.plus(i & 1 ? rows.negate(term) : term);
                if (++i == end) break;
                const int j = lowest_bit(i);
                rows.change(j, comes_in(i, j));
                rows.settle();
            }
            terms.add_to(sums);
            if (i == end) break;
        }
    }
    partials[thread_index()] = sums;
}

// A block of a kernel whose code does not know the columns.
template <class Rows> __device__ __forceinline__ void loop_over_block(Rows &rows, u64 block, Partial &sums) {
    const Number first = rows.product();
    Terms terms(rows, unrolled == 0 && (block & 1) ? rows.negate(first) : first);
    for (unsigned m = 1; m < 1u << unrolled; ++m) {
        const int j = lowest_bit(m);
        rows.change(j, comes_in(block << unrolled | m, j));
        const Number term = rows.product();
        terms.plus(m & 1 ? rows.negate(term) : term);
    }
    terms.add_to(sums);
}

// Adds up `group` partials each, in their order.
extern "C" __global__ void perm_gather(const Partial *from, u64 count, u64 group, Partial *to, Arith f) {
    const u64 first = thread_index() * group;
    if (first < count)
        to[thread_index()] = add_in_order(f, from + first, count - first < group ? count - first : group);
}
