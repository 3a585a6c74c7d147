// ---- The walk of the tree engine -----------------------------------------------------------------------
//
// A thread sums segments of 2^segment_bits subsets, one after the other. The columns from segment_bits on are
// fixed for a segment, those from `unrolled` on are looped over in Gray-code order, each time from the empty
// set, and rows.inner() is the sum over those below, with the sum of absolute values. A kernel that sums
// segments again tells accurate_share of that: so much less its terms are rounded, and more.

// Adds `outer` times what the inner columns come to; in turn m of the loop.
__device__ __forceinline__ void add_turn(const Arith &f, Partial &sums, unsigned m, Number outer,
                                         Number inner, double inner_absolute) {
    const Number term = f.multiply(outer, inner);
    sums.sum = f.sum(sums.sum, m & 1 ? f.negate(term) : term);
    if constexpr (Arith::bounded) sums.absolute = fma(f.magnitude(outer), inner_absolute, sums.absolute);
}

template <class Rows>
__device__ __forceinline__ void walk_tree(Rows &rows, Launch launch, Partial *partials) {
    u64 segment = launch.first + thread_index() * launch.length;
    if (segment >= launch.end) return;
    u64 end = segment + launch.length < launch.end ? segment + launch.length : launch.end;
    if (again && launch.chosen) {
        segment = launch.base + launch.chosen[segment];
        end = segment + 1;
    }
    constexpr int loops = segment_bits - unrolled;
    rows.settle(loops);
    Partial sums = sum_of_nothing<Arith>();
    // The code of all columns stands here once: it is what takes the compiler's time. In turns below 0 the
    // columns of the first segment come in, each in a turn of its own whether it does or not: what turn it is
    // must not depend on the thread, or those of a warp would walk on apart.
#pragma unroll 1
    for (int m = segment_bits - (n - 1);;) {
        int column = -1, settled = loops;
        bool in = true;
        if (m < 0) {
            const int coming = m + (n - 1);
            if ((segment ^ segment >> 1) >> (coming - segment_bits) & 1) column = coming;
            if (++m < 0) settled = -1;
        } else {
            Number inner;
            double absolute;
            rows.inner(inner, absolute);
            add_turn(rows, sums, m, rows.outer(), inner, absolute);
            const unsigned turn = ++m;
            // Half of the turns, and a quarter, need no way through all columns.
            if (loops > 0 && (turn & 1)) {
                rows.change(unrolled, comes_in(turn, 0) ? 1 : -1);
                rows.settle(0);
                continue;
            }
            if (loops > 1 && (turn & 2)) {
                rows.change(unrolled + 1, comes_in(turn, 1) ? 1 : -1);
                rows.settle(1);
                continue;
            }
            if (turn < 1u << loops) {
                settled = lowest_bit(turn);
                column = unrolled + settled;
                in = comes_in(turn, settled);
            } else {
                partials[segment - launch.base] = {segment & 1 ? rows.opposite(sums.sum) : sums.sum,
                                                   again ? sums.absolute * accurate_share : sums.absolute};
                if (++segment == end) return;
                sums = sum_of_nothing<Arith>();
                m = 0;
                if (loops > 0) rows.change(segment_bits - 1, -1);
                column = segment_bits + lowest_bit(segment);
                in = comes_in(segment, lowest_bit(segment));
            }
        }
        rows.change(column, in ? 1 : -1);
        rows.settle(settled);
    }
}
