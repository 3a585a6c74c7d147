// ---- The walk of the tree engine -----------------------------------------------------------------------
//
// A thread sums segments of 2^segment_bits subsets, one after the other. The columns from segment_bits on are
// fixed for a segment, those from `unrolled` on are looped over in Gray-code order, each time from the empty
// set, and rows.inner() is the sum over those below, with the sum of absolute values.

// A sum to twice the precision, and that of the absolute values.
struct TreeSums {
    double sum = 0, error = 0, absolute = 0;

    // `outer` times what the inner columns come to; in turn m of the loop.
    __device__ __forceinline__ void add(unsigned m, double outer, double inner, double inner_absolute) {
        const double term = outer * inner, part = m & 1 ? -term : term;
        const double s = sum + part;
        const double b = s - sum;
        error += (sum - (s - b)) + (part - b);
        sum = s;
        absolute = fma(fabs(outer), inner_absolute, absolute);
    }
};

template <class Rows>
__device__ __forceinline__ void walk_tree(Rows &rows, Launch launch, Partial *partials) {
    u64 segment = launch.first + thread_index() * launch.length;
    if (segment >= launch.end) return;
    const u64 end = segment + launch.length < launch.end ? segment + launch.length : launch.end;
    constexpr int loops = segment_bits - unrolled;
    u64 to_come = segment ^ segment >> 1; // columns of the first segment that are not in yet
    rows.settle(loops);
    TreeSums sums;
    // The code of all columns stands here once: it is what takes the compiler's time.
#pragma unroll 1
    for (unsigned m = 0;;) {
        int column, settled = loops;
        bool in = true;
        if (to_come > 0) {
            column = segment_bits + lowest_bit(to_come);
            to_come &= to_come - 1;
        } else {
            double inner, absolute;
            rows.inner(inner, absolute);
            sums.add(m, rows.outer(), inner, absolute);
            if (++m < 1u << loops) {
                settled = lowest_bit(m);
                column = unrolled + settled;
                in = comes_in(m, settled);
            } else {
                const bool odd = segment & 1;
                partials[segment - launch.base] = {odd ? -sums.sum : sums.sum, odd ? -sums.error : sums.error,
                                                   sums.absolute};
                if (++segment == end) return;
                sums = TreeSums();
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
