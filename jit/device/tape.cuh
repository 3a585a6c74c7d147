// ---- A tape, for one matrix of many in each block of threads ------------------------------------------
//
// States stand in shared memory, those of the row before and of the row that is being made. 32 states that
// are about equally long to make are a slice: move j of all 32 stands side by side, so that a warp makes a
// slice. What a slice is short of are moves of the entry that is 0. The order of a state's moves is the
// tape's.
//
// Arith and with_magnitudes stand above.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef Arith::Number Number;

struct Tape {
    const u32 *moves; // source << 16 | entry
    const u32 *slice; // where each begins, in moves of 32 states; and their end
    const u32 *row;   // the first slice of each row, and their end
    const Number *entries;
    double *last; // of each matrix the parts of its permanent, and the magnitude
    u64 matrices;
    u32 n, nnz, states; // states: of a row, at most, with what fills the last slice
};

__device__ __forceinline__ void run(const Tape &tape, unsigned char *shared) {
    Number *const entry = reinterpret_cast<Number *>(shared);
    Number *before = entry + tape.nnz + 1, *after = before + tape.states;
    double *size_before = reinterpret_cast<double *>(after + tape.states),
           *size_after = size_before + tape.states;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (u64 m = blockIdx.x; m < tape.matrices; m += gridDim.x) {
        const Number *const from = tape.entries + m * tape.nnz;
        for (u32 e = threadIdx.x; e < tape.nnz; e += blockDim.x) entry[e] = from[e];
        if (threadIdx.x == 0) {
            entry[tape.nnz] = Arith::number(0);
            before[0] = Arith::number(1);
            if (with_magnitudes) size_before[0] = 1;
        }
        __syncthreads();
        for (u32 r = 0; r < tape.n; ++r) {
            const u32 first = tape.row[r], end = tape.row[r + 1];
            for (u32 s = first + warp; s < end; s += warps) {
                Number sum = Arith::number(0);
                double size = 0;
                const u32 stop = tape.slice[s + 1];
#pragma unroll 4
                for (u32 k = tape.slice[s]; k < stop; ++k) {
                    const u32 move = tape.moves[static_cast<u64>(k) * 32 + lane];
                    const Number a = entry[move & 0xffff];
                    sum = Arith::madd(a, before[move >> 16], sum);
                    if (with_magnitudes) size = fma(Arith::magnitude(a), size_before[move >> 16], size);
                }
                const u32 state = (s - first) * 32 + lane;
                after[state] = sum;
                if (with_magnitudes) size_after[state] = size;
            }
            __syncthreads();
            Number *const made = after;
            after = before;
            before = made;
            double *const made_size = size_after;
            size_after = size_before;
            size_before = made_size;
        }
        if (threadIdx.x == 0) {
            double *const to = tape.last + m * (Arith::parts + 1);
            memcpy(to, before, sizeof(Number));
            to[Arith::parts] = with_magnitudes ? size_before[0] : to[0];
        }
        __syncthreads();
    }
}
