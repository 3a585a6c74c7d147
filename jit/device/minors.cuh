// ---- Sub-permanents of a line, by sums over signs ---------------------------------------------------------
//
// jit/lanes/left_out_sums.cpp's, on left_out.cuh, of columns that count once each: a step there is one of
// each way to take the columns that the threads do not tell apart. A warp's first eight sums the terms, of
// real numbers the last one absolute values.

constexpr u32 step_bits = 6, chunks = 1u << (step_bits - lane_bits), additions_between_flushes = 16;

// In the scratch of a piece: sums, what they have lost, absolute values.
constexpr u32 rests_at = of_column, mass_at = 2 * of_column;

struct MinorWalk : Piece {
    static constexpr u32 first_lane = 0, shared_doubles = 0, scratch_doubles = mass_at + rows * eight,
                         piece_doubles = mass_at + rows;

    __device__ __forceinline__ void walk(u64 piece) {
        const u64 first = piece * all.steps;
        begin(first);
        u32 additions = 0;
#pragma unroll 1
        for (u32 k = 0; k < all.steps * chunks; ++k) {
            const u32 step = k / chunks, chunk = k % chunks;
            if (k > 0) change(first + step, chunk);
            Number left[rows];
            each((step + __popc(chunk)) % 2 ? -2 * sign() : 2 * sign(), left, [&](u32 i, Number &x) {
                fold(i, x);
                kept[i] = Arith::add(kept[i], x);
            });
            if (++additions == additions_between_flushes) {
                flush();
                additions = 0;
            }
        }
        flush();
        tell_masses(scratch + mass_at);
        __syncwarp();
    }

    __device__ __forceinline__ void begin(u64 step) {
        forget();
        for (u32 k = lane; k < mass_at; k += lanes) scratch[k] = 0;
        set_base([&](u32 part, u32 i) {
            double x = 0;
            for (u32 j = lane_bits; j < all.columns; ++j) {
                const double a = column(part, j)[i];
                x += j >= step_bits && ((step ^ step >> 1) >> (j - step_bits) & 1) ? -a : a;
            }
            return x;
        });
    }

    // Goes to a chunk of a step from the one before.
    __device__ __forceinline__ void change(u64 step, u32 chunk) {
        __syncwarp();
        const u32 changed = (chunk ^ (chunk - 1)) & (chunks - 1);
        for (u32 bit = 0; bit < step_bits - lane_bits; ++bit)
            if (changed >> bit & 1) add_to_base(chunk >> bit & 1 ? -2 : 2, lane_bits + bit);
        if (chunk == 0) {
            const u32 bit = __ffsll(static_cast<long long>(step)) - 1;
            add_to_base((step ^ step >> 1) >> bit & 1 ? -2 : 2, step_bits + bit);
        }
        __syncwarp();
    }

    __device__ __forceinline__ void flush() {
        if (which != 0) return;
#pragma unroll
        for (u32 i = 0; i < rows; ++i) {
            for (u32 part = 0; part < numbers; ++part) {
                double *const to = scratch + (part * rows + i) * eight + lane;
                const Twofold<double> s = two_sum(*to, part_of(kept[i], part));
                *to = s.hi;
                to[rests_at] += s.lo;
            }
            kept[i] = Arith::number(0);
        }
    }

    __device__ __forceinline__ void tell(double *out) const {
        for (u32 k = lane; k < mass_at; k += lanes) out[k] = scratch[k];
        for (u32 i = lane; i < rows; i += lanes) out[mass_at + i] = lane_sum(scratch + mass_at + i * eight);
    }
};

// Adds the pieces of each task to its sums, in their order: each thread one sum of one of them.
__device__ __forceinline__ void add_pieces(const LeftOut &all) {
    constexpr u32 minors = numbers * rows, targets = minors + rows, record = 2 * minors + rows;
    const u64 k = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= static_cast<u64>(all.matrices) * all.tasks * targets) return;
    const u64 task = k / targets;
    const u32 target = k % targets;
    const double *from = all.pieces + task * all.count * MinorWalk::piece_doubles;
    double *const sums = all.sums + task * record;
    if (target >= minors) {
        const u32 place = target + minors;
        double sum = all.first == 0 ? 0 : sums[place];
        for (u64 p = 0; p < all.count; ++p)
            sum += from[p * MinorWalk::piece_doubles + mass_at + target - minors];
        sums[place] = sum;
        return;
    }
    const u32 place = target / rows * 2 * rows + target % rows;
    double sum = all.first == 0 ? 0 : sums[place], rest = all.first == 0 ? 0 : sums[place + rows];
    for (u64 p = 0; p < all.count; ++p, from += MinorWalk::piece_doubles)
        for (u32 e = 0; e < eight; ++e) {
            const Twofold<double> s = two_sum(sum, from[target * eight + e]);
            sum = s.hi;
            rest += s.lo + from[rests_at + target * eight + e];
        }
    sums[place] = sum;
    sums[place + rows] = rest;
}
