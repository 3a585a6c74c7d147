// ---- A tape, for one matrix of many in each block of threads ------------------------------------------
//
// States stand in shared memory, or in the block's room on the device where that is too small: those of the
// row before and of the row that is being made. 32 states that are about equally long to make are a slice:
// move j of all 32 stands side by side, so that a warp makes a slice. What a slice is short of are moves of
// the entry that is 0. The order of a state's moves is the tape's.
//
// Arith, with_magnitudes, states_in_memory and doubles_of_value (2 of twofold numbers, the second 0) stand
// above.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef Arith::Number Number;

struct Tape {
    const u32 *moves;     // source << 16 | entry
    const u32 *slice;     // where each begins, in moves of 32 states; and their end
    const u32 *row;       // the first slice of each row, and their end
    const u32 *line;      // the matrix's row that each entry stands in
    const double *values; // of each matrix
    double *answers;      // of each: the permanent's parts, the magnitude, and of its Scaling two ints
    unsigned char *room;  // each block's
    u64 room_bytes;       // of each
    u64 matrices;
    u32 n, nnz, states; // states: of two rows, at most, with what fills their last slices
};

// ---- Values, as lib/tape/tape_run.cpp brings them in ----

constexpr int no_grid = -1, not_for_tape = -2; // instead of Scaling::bits
constexpr u32 least_row = 2, most_row = 2046;  // exponents of a row's largest value
constexpr u32 most_digits = 40, most_bits = 900;

// Every row is scaled by the power of two that brings its largest value into [1/2, 1).
struct Scaling {
    u32 *largest; // of each row: its exponent as in the double; 0: nothing but zeros
    u32 *bits;    // of each row: its values, scaled, are multiples of 2^-bits
};

__device__ __forceinline__ u64 size_word(double x) {
    return static_cast<u64>(__double_as_longlong(x)) & 0x7fffffffffffffffULL;
}

// A subnormal value counts as 1: not 0, and too small for a row's largest.
__device__ __forceinline__ u32 exponent_of(double x) {
    const u64 word = size_word(x);
    return word != 0 && word >> 52 == 0 ? 1 : static_cast<u32>(word >> 52);
}

__device__ __forceinline__ int exp2_of(u32 largest) {
    return largest == 0 ? 0 : static_cast<int>(largest) - 1022;
}

__device__ __forceinline__ double power_of_two(int exponent) { // from -1074 to 1023
    const u64 word = exponent >= -1022 ? static_cast<u64>(exponent + 1023) << 52
                                       : static_cast<u64>(1) << (exponent + 1074);
    return __longlong_as_double(static_cast<long long>(word));
}

// x is a multiple of 2^-bits; more than most_bits if that would be of no use, or x has lost digits.
__device__ __forceinline__ u32 bits_of(double x, double before) {
    const u64 word = size_word(x);
    const int exponent = static_cast<int>(word >> 52) - 1075;
    if (before == 0) return 0;
    if (exponent == -1075) return most_bits + 1; // subnormal, or 0
    const u32 zeros = static_cast<u32>(__ffsll(static_cast<long long>(word | static_cast<u64>(1) << 52))) - 1;
    return 53 - zeros > most_digits ? most_bits + 1 : static_cast<u32>(-exponent) - zeros;
}

__device__ __forceinline__ void bring_in(const Tape &tape, u64 matrix, Number *entry, Scaling scaling) {
    constexpr u32 values_of_entry = Arith::parts / doubles_of_value;
    const u32 count = tape.nnz * values_of_entry;
    const double *const values = tape.values + matrix * count;
    double *const parts = reinterpret_cast<double *>(entry);
    for (u32 r = threadIdx.x; r < tape.n; r += blockDim.x) scaling.largest[r] = scaling.bits[r] = 0;
    __syncthreads();
    for (u32 k = threadIdx.x; k < count; k += blockDim.x) {
        const double x = values[k];
        parts[k * doubles_of_value] = x;
        if (doubles_of_value == 2) parts[k * 2 + 1] = 0;
        atomicMax(&scaling.largest[tape.line[k / values_of_entry]], exponent_of(x));
    }
    __syncthreads();
    for (u32 k = threadIdx.x; k < count; k += blockDim.x) {
        const u32 r = tape.line[k / values_of_entry];
        double &part = parts[k * doubles_of_value];
        const double before = part, x = before * power_of_two(-exp2_of(scaling.largest[r]));
        part = x;
        atomicMax(&scaling.bits[r], bits_of(x, before));
    }
}

// What the host has to know of it.
__device__ __forceinline__ void tell(const Tape &tape, Scaling scaling, int *exp2, int *bits) {
    int sum = 0;
    u32 all_bits = 0;
    bool fits = true;
    for (u32 r = 0; r < tape.n; ++r) {
        const u32 largest = scaling.largest[r];
        fits = fits && (largest == 0 || (least_row <= largest && largest <= most_row));
        sum += exp2_of(largest);
        all_bits += scaling.bits[r];
    }
    *exp2 = sum;
    *bits = !fits ? not_for_tape : all_bits > most_bits ? no_grid : static_cast<int>(all_bits);
}

// ---- Moves ----

// Some of a slice's moves, for one of its states; they are asked for long before they are used.
struct Moves {
    static constexpr u32 most = 4;
    u32 begin, end; // in the slice's: the first of these, and the slice's end
    u32 move[most];

    __device__ __forceinline__ Moves(const Tape &tape, u32 first, u32 last) : begin(first), end(last) {
#pragma unroll
        for (u32 j = 0; j < most; ++j)
            move[j] = begin + j < end ? tape.moves[static_cast<u64>(begin + j) * 32 + threadIdx.x % 32] : 0;
    }
};

__device__ __forceinline__ Moves first_moves(const Tape &tape, u32 slice, u32 slices) {
    return slice < slices ? Moves(tape, tape.slice[slice], tape.slice[slice + 1]) : Moves(tape, 0, 0);
}

__device__ __forceinline__ void run(const Tape &tape, unsigned char *shared) {
    Number *const entry = reinterpret_cast<Number *>(shared);
    Number *const states = states_in_memory
                               ? reinterpret_cast<Number *>(tape.room + blockIdx.x * tape.room_bytes)
                               : entry + tape.nnz + 1;
    double *const sizes = reinterpret_cast<double *>(states + tape.states);
    Scaling scaling;
    scaling.largest = states_in_memory ? reinterpret_cast<u32 *>(entry + tape.nnz + 1)
                                       : reinterpret_cast<u32 *>(sizes + (with_magnitudes ? tape.states : 0));
    scaling.bits = scaling.largest + tape.n;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const u32 slices = tape.row[tape.n];
    Moves next = first_moves(tape, warp, slices);
    for (u64 m = blockIdx.x; m < tape.matrices; m += gridDim.x) {
        double *const answer = tape.answers + m * (Arith::parts + 2);
        bring_in(tape, m, entry, scaling);
        if (threadIdx.x == 0) {
            entry[tape.nnz] = Arith::number(0);
            states[0] = Arith::number(1);
            if (with_magnitudes) sizes[0] = 1;
        }
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) {
            int *const told = reinterpret_cast<int *>(answer + Arith::parts + 1);
            tell(tape, scaling, &told[0], &told[1]);
        }
        u32 before = 0; // where the row before begins
        for (u32 r = 0; r < tape.n; ++r) {
            const u32 first = tape.row[r], end = tape.row[r + 1];
            const u32 after =
                r % 2 == 0 ? tape.states - (end - first) * 32 : 0;  // rows take turns at the ends
            const u32 next_row = (r + 1 < tape.n ? end : 0) + warp; // of the next matrix, in the end
            for (u32 s = first + warp; s < end; s += warps) {
                Moves some = next;
                next = first_moves(tape, s + warps < end ? s + warps : next_row, slices);
                Number sum = Arith::number(0);
                double size = 0;
                for (;;) {
#pragma unroll
                    for (u32 j = 0; j < Moves::most; ++j) {
                        if (some.begin + j >= some.end) continue;
                        const u32 source = before + (some.move[j] >> 16);
                        const Number a = entry[some.move[j] & 0xffff];
                        sum = Arith::madd(a, states[source], sum);
                        if (with_magnitudes) size = fma(Arith::magnitude(a), sizes[source], size);
                    }
                    if (some.begin + Moves::most >= some.end) break;
                    some = Moves(tape, some.begin + Moves::most, some.end);
                }
                const u32 state = after + (s - first) * 32 + lane;
                states[state] = sum;
                if (with_magnitudes) sizes[state] = size;
            }
            if (first + warp >= end) next = first_moves(tape, next_row, slices);
            __syncthreads();
            before = after;
        }
        if (threadIdx.x == 0) {
            memcpy(answer, &states[before], sizeof(Number));
            answer[Arith::parts] = with_magnitudes ? sizes[before] : answer[0];
        }
        __syncthreads();
    }
}
