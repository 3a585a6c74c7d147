// ---- All derivatives of dense permanents by sums over signs ---------------------------------------------
//
// jit/lanes/left_out_sums.cpp's, on left_out.cuh. A warp's first eight sums the halves of a walk, the second
// and third take the differences of the columns that the lanes' eights differ in.

constexpr u32 outer_bits = lane_bits - 3, middle = 6, first_middle = 1 + lane_bits;
constexpr u32 first_high = first_middle + middle, first_difference = 4, differences = outer_bits + middle;

// Places in the scratch of a piece.
constexpr u32 halves_at = 0, differences_at = middle * of_column,
              mass_at = differences_at + differences * of_column, whole_at = mass_at + rows * eight;

// What a piece comes to: for each row the sums of four columns and differences of others; absolute values;
// the terms with all factors.
constexpr u32 piece_columns = first_difference + differences, piece_mass_at = numbers * piece_columns * rows,
              piece_whole_at = piece_mass_at + rows;

struct GradientWalk : Piece {
    static constexpr u32 first_lane = 1, shared_doubles = 2 * of_column,
                         scratch_doubles = whole_at + (2 * numbers + 1) * eight,
                         piece_doubles = piece_whole_at + 2 * numbers + 1;
    Arith::Sum whole;
    double whole_mass;

    __device__ __forceinline__ void walk(u64 piece) {
        begin(piece);
#pragma unroll 1
        for (u32 step = 0; step < 1u << middle; ++step) {
            if (step > 0) change(step);
            walk_step(step);
        }
        finish();
    }

    __device__ __forceinline__ void begin(u64 piece) {
        forget();
        whole = Arith::zero_sum();
        whole_mass = 0;
        for (u32 k = differences_at + lane; k < mass_at; k += lanes) scratch[k] = 0;
        set_base([&](u32 part, u32 i) {
            double x = column(part, 0)[i];
            for (u32 j = first_middle; j < all.columns; ++j) {
                const double a = column(part, j)[i];
                x += j >= first_high && (piece >> (j - first_high) & 1) ? -a : a;
            }
            return x;
        });
    }

    __device__ __forceinline__ void change(u32 step) {
        const u32 bit = __ffs(step) - 1;
        __syncwarp();
        add_to_base((step ^ step >> 1) >> bit & 1 ? -2 : 2, first_middle + bit);
        __syncwarp();
    }

    __device__ __forceinline__ void walk_step(u32 step) {
        const bool is_odd = step % 2 != 0;
        // The first eight's: a step's sum, then with the next one's, whose sign is the other; and without it.
        Number left[rows];
        const Number product = each(sign(), left, [&](u32 i, Number &x) {
            fold(i, x);
            const Number before = kept[i];
            const bool is_signed = which == 1 || which == outer_bits;
            kept[i] =
                which == 0 && !is_odd ? x : Arith::add(before, is_odd && is_signed ? Arith::negate(x) : x);
            x = Arith::subtract(before, x);
        });
        add_whole(product, is_odd);
        if (!is_odd) return;
        if (which == 0)
#pragma unroll
            for (u32 i = 0; i < rows; ++i) {
                put(kept[i], shared + i * eight + lane);
                put(left[i], shared + of_column + i * eight + lane);
            }
        __syncwarp();
        join_halves(step, __ffs(~step) - 1);
        __syncwarp();
    }

    __device__ __forceinline__ void add_whole(Number product, bool is_odd) {
        const double mass = folded(product, which);
        whole_mass += numbers > 1 ? mass : part_of(product, 0);
        whole = Arith::sum(whole, is_odd ? Arith::negate(product) : product);
    }

    // `done` halves are. What is read does not wait for what is written.
    __device__ __forceinline__ void join_halves(u32 step, u32 done) {
        constexpr u32 turns = (of_column + lanes - 1) / lanes, at_once = turns < 8 ? turns : 8;
        for (u32 first = lane; first < of_column; first += at_once * lanes) {
            double half[at_once], second[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; ++k) {
                const u32 at = first + k * lanes;
                half[k] = at < of_column ? shared[at] : 0;
                second[k] = at < of_column ? shared[of_column + at] : 0;
            }
            add_difference(half, first, 0, step);
            for (u32 level = 1; level < done; ++level) {
                const double *const from = scratch + halves_at + (level - 1) * of_column;
#pragma unroll
                for (u32 k = 0; k < at_once; ++k) {
                    const u32 at = first + k * lanes;
                    const double x = at < of_column ? from[at] : 0;
                    half[k] = x - second[k];
                    second[k] = x + second[k];
                }
                add_difference(half, first, level, step);
            }
            double *const to = scratch + halves_at + (done - 1) * of_column;
#pragma unroll
            for (u32 k = 0; k < at_once; ++k)
                if (first + k * lanes < of_column) to[first + k * lanes] = second[k];
        }
    }

    // Adds the derivative by the column that tells two halves apart.
    template <u32 count>
    __device__ __forceinline__ void add_difference(const double (&x)[count], u32 first, u32 level, u32 step) {
        double *const to = scratch + differences_at + (outer_bits + level) * of_column;
        double sum[count];
#pragma unroll
        for (u32 k = 0; k < count; ++k) sum[k] = first + k * lanes < of_column ? to[first + k * lanes] : 0;
#pragma unroll
        for (u32 k = 0; k < count; ++k)
            if (first + k * lanes < of_column)
                to[first + k * lanes] = step >> (level + 1) & 1 ? sum[k] - x[k] : sum[k] + x[k];
    }

    __device__ __forceinline__ void finish() {
        const u32 e = lane % eight;
#pragma unroll
        for (u32 i = 0; i < rows; ++i)
            if (which >= 1 && which <= outer_bits)
                put(kept[i], scratch + differences_at + (which - 1) * of_column + i * eight + e);
        tell_masses(scratch + mass_at);
        double *const all_factors = scratch + whole_at + e;
        if (which == 0)
            for (u32 part = 0; part < numbers; ++part) {
                all_factors[2 * part * eight] = part_of(Arith::lead(whole), part);
                all_factors[(2 * part + 1) * eight] = part_of(Arith::rest(whole), part);
            }
        if (which == (numbers == 1 ? 3 : 0)) all_factors[2 * numbers * eight] = whole_mass;
        __syncwarp();
    }

    __device__ __forceinline__ void tell(double *out) const {
        for (u32 k = lane; k < rows * numbers; k += lanes) {
            double *const to = out + k / rows * piece_columns * rows + k % rows;
            const double *x = scratch + halves_at + (middle - 1) * of_column + k * eight;
            double pair[4], by_one = 0;
            for (u32 j = 0; j < 4; ++j) pair[j] = x[2 * j] + x[2 * j + 1];
            for (u32 j = 0; j < 4; ++j) by_one += x[2 * j] - x[2 * j + 1];
            const double even = pair[0] + pair[2], odd = pair[1] + pair[3];
            to[0] = even + odd;
            to[rows] = by_one;
            to[2 * rows] = even - odd;
            to[3 * rows] = (pair[0] + pair[1]) - (pair[2] + pair[3]);
            for (u32 j = 0; j < differences; ++j)
                to[(first_difference + j) * rows] =
                    lane_sum(scratch + differences_at + j * of_column + k * eight);
        }
        for (u32 k = lane; k < rows + 2 * numbers + 1; k += lanes)
            out[piece_mass_at + k] = lane_sum(scratch + mass_at + k * eight);
    }
};

// Adds the pieces of each task to its sums, in their order: each thread one sum of one of them.
__device__ __forceinline__ void add_pieces(const LeftOut &all) {
    const u32 derivatives = all.columns * numbers * rows, targets = derivatives + rows + numbers + 1;
    const u64 record = static_cast<u64>(2) * derivatives + rows + 2 * numbers + 1;
    const u64 k = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= static_cast<u64>(all.matrices) * all.tasks * targets) return;
    const u64 task = k / targets;
    const u32 target = k % targets;
    const double *from = all.pieces + task * all.count * GradientWalk::piece_doubles;
    double *const sums = all.sums + task * record;
    const u64 first = (all.first_task + task % all.tasks) * all.per_task + all.first;

    u32 at, rest_at = 0, place, rest_from = 0, high = 0;
    bool is_sum = true;
    if (target < derivatives) {
        const u32 column = target / (numbers * rows), part = target / rows % numbers, i = target % rows;
        place = (column * numbers + part) * 2 * rows + i;
        rest_at = place + rows;
        const bool is_high = column >= first_high;
        if (is_high) high = column - first_high + 1;
        at = (part * piece_columns + (is_high ? 0 : column)) * rows + i;
    } else if (target < derivatives + rows) {
        is_sum = false;
        at = piece_mass_at + (target - derivatives);
        place = 2 * derivatives + (target - derivatives);
    } else if (target < derivatives + rows + numbers) {
        const u32 part = target - derivatives - rows;
        at = piece_whole_at + 2 * part;
        rest_from = at + 1;
        place = 2 * derivatives + rows + 2 * part;
        rest_at = place + 1;
    } else {
        is_sum = false;
        at = piece_whole_at + 2 * numbers;
        place = 2 * derivatives + rows + 2 * numbers;
    }
    double sum = all.first == 0 ? 0 : sums[place], rest = is_sum && all.first != 0 ? sums[rest_at] : 0;
    for (u64 p = 0; p < all.count; ++p, from += GradientWalk::piece_doubles) {
        const u64 piece = first + p;
        const double x = from[at];
        if (!is_sum) {
            sum += x;
            continue;
        }
        u32 minus = __popcll(piece) % 2;
        if (high > 0) minus ^= piece >> (high - 1) & 1;
        const Twofold<double> s = two_sum(sum, minus ? -x : x);
        sum = s.hi;
        rest += s.lo;
        if (rest_from != 0) rest += __popcll(piece) % 2 ? -from[rest_from] : from[rest_from];
    }
    sums[place] = sum;
    if (is_sum) sums[rest_at] = rest;
}
