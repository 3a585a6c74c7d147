// ---- All derivatives of dense permanents by sums over signs ---------------------------------------------
//
// The sums of jit/lanes/gradient_sum.cpp, addition by addition, so that they have its bits. A piece's lanes
// are threads: a warp takes a piece, of complex numbers two. Where eight lanes there keep several sums, of
// halves of the walk, of the columns that tell the eights apart, of absolute values, each eight here keeps
// one.
//
// Arith (Real or Complex), is_split and rows (at least 2) stand above.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef Arith::Number Number;

constexpr u32 numbers = Arith::parts, parts = numbers * (is_split ? 2 : 1), eight = 8;
constexpr u32 lanes = 32 / numbers, lane_bits = numbers == 1 ? 5 : 4, outer_bits = lane_bits - 3;
constexpr u32 middle = 6, first_middle = 1 + lane_bits, first_high = first_middle + middle;
constexpr u32 first_difference = 4, differences = outer_bits + middle;

// What follows stands in kernel/gradient.hpp as well.
struct Gradients {
    const double *entries; // of each matrix: of each part, column by column, by rows
    const u32 *row_count;
    double *scratch;                        // of each piece under way
    double *pieces;                         // what each piece comes to
    double *sums;                           // of each task of each matrix
    u64 per_task;                           // pieces
    u64 first, count;                       // pieces of each task that are taken now
    u32 matrices, tasks, columns, repeated; // of the first rows some count more than once
};

constexpr u32 of_column = numbers * rows * eight; // in the scratch of a piece: sums for all rows
constexpr u32 halves_at = 0, differences_at = middle * of_column,
              mass_at = differences_at + differences * of_column, whole_at = mass_at + rows * eight,
              scratch_doubles = whole_at + (2 * numbers + 1) * eight;

// What a piece comes to: for each row the sums of four columns and differences of others; absolute values;
// the terms with all factors.
constexpr u32 piece_columns = first_difference + differences, piece_mass_at = numbers * piece_columns * rows,
              piece_whole_at = piece_mass_at + rows, piece_doubles = piece_whole_at + 2 * numbers + 1;

struct __align__(parts > 1 ? 16 : 8) Parts {
    double x[parts];
};

__device__ __forceinline__ double sum_of_grids(const Parts &a, const Parts &b, u32 part) {
    return is_split ? (a.x[part] + b.x[part]) + (a.x[part + 1] + b.x[part + 1]) : a.x[part] + b.x[part];
}
__device__ __forceinline__ double row_sum(const Parts &a, const Parts &b, double) {
    return sum_of_grids(a, b, 0);
}
template <class N> __device__ __forceinline__ N row_sum(const Parts &a, const Parts &b, N) {
    return {sum_of_grids(a, b, 0), sum_of_grids(a, b, parts / 2)};
}

__device__ __forceinline__ double part_of(double a, u32) { return a; }
__device__ __forceinline__ double part_of(const ComplexOf<double> &a, u32 part) {
    return part == 0 ? a.re : a.im;
}
__device__ __forceinline__ void get(double &a, const double *from) { a = from[0]; }
__device__ __forceinline__ void get(ComplexOf<double> &a, const double *from) {
    a.re = from[0];
    a.im = from[rows * eight];
}
__device__ __forceinline__ void put(const Number &a, double *to) {
    for (u32 part = 0; part < numbers; ++part) to[part * rows * eight] = part_of(a, part);
}

// By no more than exponent - 1 roundings of each factor, as if one by one.
__device__ __forceinline__ Number power(Number x, u32 exponent) {
    for (; exponent % 2 == 0; exponent /= 2) x = Arith::multiply(x, x);
    Number result = x;
    while (exponent /= 2) {
        x = Arith::multiply(x, x);
        if (exponent % 2) result = Arith::multiply(result, x);
    }
    return result;
}

__device__ __forceinline__ double lane_sum(const double *x) {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

__device__ __forceinline__ double other_lane(double x, u32 by) { return __shfl_xor_sync(0xffffffffu, x, by); }
__device__ __forceinline__ ComplexOf<double> other_lane(const ComplexOf<double> &x, u32 by) {
    return {other_lane(x.re, by), other_lane(x.im, by)};
}

// Of a term in each lane what its eight takes: the first their sum, the second the difference of the eights
// by column 4; of real numbers the third that by column 5, the fourth the sum of the absolute values, which
// of complex ones are returned.
__device__ __forceinline__ double folded(double &x, u32 which) {
    const double y = other_lane(x, 16), sum = which >= 2 ? y - x : x + y, mass = fabs(x) + fabs(y);
    const double own = which == 3 ? mass : sum, z = other_lane(which == 2 ? mass : sum, eight);
    x = which == 1 ? z - own : own + z;
    return 0;
}
__device__ __forceinline__ double folded(ComplexOf<double> &x, u32 which) {
    typedef Complex<Real<double>> Of;
    const ComplexOf<double> y = other_lane(x, eight);
    const double mass = Of::magnitude(x) + Of::magnitude(y);
    x = which == 1 ? Of::subtract(y, x) : Of::add(x, y);
    return mass;
}

struct GradientWalk {
    const Gradients &all;
    const double *entries; // of the matrix
    Parts *table, *base;   // row sums' parts, of the lanes' columns and of the others
    double *scratch;       // of the piece
    u32 lane, which;       // of the piece; of its eights

    Number kept[rows]; // of an eight: the step before's half, a difference, absolute values
    double masses[numbers == 1 ? 1 : rows], whole_mass;
    Arith::Sum whole;

    __device__ __forceinline__ const double *column(u32 part, u32 j) const {
        return entries + (static_cast<u64>(part) * all.columns + j) * rows;
    }
    __device__ __forceinline__ Number row(u32 i) const {
        return row_sum(base[i], table[i * lanes + lane], Number());
    }

    // The lanes' signs of column 1 .. lane_bits; by all threads of a block.
    __device__ __forceinline__ void tabulate() {
        for (u32 k = threadIdx.x; k < rows * lanes; k += blockDim.x)
            for (u32 part = 0; part < parts; ++part) {
                double x = 0;
                for (u32 bit = 0; bit < lane_bits; ++bit) {
                    const double a = column(part, bit + 1)[k / lanes];
                    x += k >> bit & 1 ? -a : a;
                }
                table[k].x[part] = x;
            }
    }

    __device__ __forceinline__ void begin(u64 piece) {
        for (u32 k = lane; k < rows * parts; k += lanes) {
            const u32 i = k / parts, part = k % parts;
            double x = column(part, 0)[i];
            for (u32 j = first_middle; j < all.columns; ++j) {
                const double a = column(part, j)[i];
                x += j >= first_high && (piece >> (j - first_high) & 1) ? -a : a;
            }
            base[i].x[part] = x;
        }
        for (u32 k = differences_at + lane; k < mass_at; k += lanes) scratch[k] = 0;
#pragma unroll
        for (u32 i = 0; i < rows; ++i) {
            kept[i] = Arith::number(0);
            if (numbers > 1) masses[i] = 0;
        }
        whole = Arith::zero_sum();
        whole_mass = 0;
        __syncwarp();
    }

    __device__ __forceinline__ void change(u32 step) {
        const u32 bit = __ffs(step) - 1;
        const double twice = (step ^ step >> 1) >> bit & 1 ? -2 : 2;
        __syncwarp();
        for (u32 k = lane; k < rows * parts; k += lanes)
            base[k / parts].x[k % parts] += twice * column(k % parts, first_middle + bit)[k / parts];
        __syncwarp();
    }

    // The product without row i.
    __device__ __forceinline__ void take(u32 i, Number x, u32 step, double *half, double *difference) {
        const bool is_odd = step % 2 != 0;
        const double mass = folded(x, which);
        if (numbers > 1) masses[i] += mass;
        if (which != 0) {
            const bool is_mass = numbers == 1 && which == 3;
            kept[i] = Arith::add(kept[i], is_odd && !is_mass ? Arith::negate(x) : x);
        } else if (!is_odd) {
            kept[i] = x;
        } else { // its sign is the other than the even step's before it
            double *const to = difference + i * eight;
            Number sum;
            get(sum, to);
            const Number both = Arith::add(kept[i], x);
            put(step >> 1 & 1 ? Arith::subtract(sum, both) : Arith::add(sum, both), to);
            put(Arith::subtract(kept[i], x), half + i * eight);
        }
    }

    __device__ __forceinline__ void walk_step(u32 step) {
        const u32 done = __ffs(~step) - 1; // halves
        double *const half = scratch + halves_at + (done > 0 ? done - 1 : 0) * of_column + lane;
        double *const difference = scratch + differences_at + outer_bits * of_column + lane;
        Number before[rows], x[rows];
        Number product = Arith::number(__popc(lane) % 2 ? -1 : 1);
        for (u32 i = 0; i < all.repeated; ++i)
            if (all.row_count[i] > 1) product = Arith::multiply(product, power(row(i), all.row_count[i] - 1));
#pragma unroll
        for (u32 i = 0; i < rows - 1; ++i) {
            x[i] = row(i);
            before[i] = product;
            product = Arith::multiply(product, x[i]);
        }
        Number behind = row(rows - 1);
        take(rows - 1, product, step, half, difference);
        product = Arith::multiply(product, behind);
#pragma unroll
        for (u32 k = 1; k < rows; ++k) {
            const u32 i = rows - 1 - k;
            take(i, Arith::multiply(before[i], behind), step, half, difference);
            if (i > 0) behind = Arith::multiply(numbers == 1 ? x[i] : row(i), behind);
        }
        const double mass = folded(product, which);
        whole_mass += numbers > 1 ? mass : part_of(product, 0);
        whole = Arith::sum(whole, step % 2 ? Arith::negate(product) : product);
        if (done > 1) join_halves(step, done);
    }

    __device__ __forceinline__ void join_halves(u32 step, u32 done) {
        __syncwarp();
        for (u32 k = lane; k < of_column; k += lanes) {
            double *const to = scratch + halves_at + (done - 1) * of_column + k;
            double second = *to;
            for (u32 level = 1; level < done; ++level) {
                const double first =
                    to[(static_cast<int>(level) - static_cast<int>(done)) * static_cast<int>(of_column)];
                double *const sum = scratch + differences_at + (outer_bits + level) * of_column + k;
                *sum = step >> (level + 1) & 1 ? *sum - (first - second) : *sum + (first - second);
                second = first + second;
            }
            *to = second;
        }
        __syncwarp();
    }

    // By all threads; of those to which nothing is to be told `out` is null.
    __device__ __forceinline__ void finish(double *out) {
        const u32 e = lane % eight;
#pragma unroll
        for (u32 i = 0; i < rows; ++i) {
            if (which == 1 || (numbers == 1 && which == 2))
                put(kept[i], scratch + differences_at + (which - 1) * of_column + i * eight + e);
            if (which == (numbers == 1 ? 3 : 0))
                scratch[mass_at + i * eight + e] = numbers == 1 ? part_of(kept[i], 0) : masses[i];
        }
        double *const all_factors = scratch + whole_at + e;
        if (which == 0)
            for (u32 part = 0; part < numbers; ++part) {
                all_factors[2 * part * eight] = part_of(Arith::lead(whole), part);
                all_factors[(2 * part + 1) * eight] = part_of(Arith::rest(whole), part);
            }
        if (which == (numbers == 1 ? 3 : 0)) all_factors[2 * numbers * eight] = whole_mass;
        __syncwarp();
        if (out) tell(out);
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

__device__ __forceinline__ void walk_gradients(const Gradients &all, unsigned char *shared) {
    constexpr u32 pieces_of_warp = numbers;
    const u32 pieces_of_block = blockDim.x / 32 * pieces_of_warp, mine = threadIdx.x / lanes;
    Parts *const table = reinterpret_cast<Parts *>(shared);
    GradientWalk walk = {all,
                         all.entries,
                         table,
                         table + (lanes + mine) * rows,
                         all.scratch +
                             static_cast<u64>(blockIdx.x * pieces_of_block + mine) * scratch_doubles,
                         threadIdx.x % lanes,
                         threadIdx.x % lanes / eight};
    const u64 of_matrix = all.tasks * all.count;
    const u64 groups = (of_matrix + pieces_of_block - 1) / pieces_of_block;
    u64 tabulated = all.matrices;
    for (u64 g = blockIdx.x; g < all.matrices * groups; g += gridDim.x) {
        const u64 m = g / groups, item = g % groups * pieces_of_block + mine;
        if (m != tabulated) {
            __syncthreads();
            walk.entries = all.entries + m * parts * all.columns * rows;
            walk.tabulate();
            __syncthreads();
            tabulated = m;
        }
        // The last ones take one that another takes as well: threads go together.
        const u64 taken = item < of_matrix ? item : of_matrix - 1;
        walk.begin(taken / all.count * all.per_task + all.first + taken % all.count);
#pragma unroll 1
        for (u32 step = 0; step < 1u << middle; ++step) {
            if (step > 0) walk.change(step);
            walk.walk_step(step);
        }
        walk.finish(item < of_matrix ? all.pieces + (m * of_matrix + item) * piece_doubles : nullptr);
    }
}

// Adds the pieces of each task to its sums, in their order: each thread one sum of one of them.
__device__ __forceinline__ void add_pieces(const Gradients &all) {
    const u32 derivatives = all.columns * numbers * rows, targets = derivatives + rows + numbers + 1;
    const u64 record = static_cast<u64>(2) * derivatives + rows + 2 * numbers + 1;
    const u64 k = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= static_cast<u64>(all.matrices) * all.tasks * targets) return;
    const u64 task = k / targets;
    const u32 target = k % targets;
    const double *from = all.pieces + task * all.count * piece_doubles;
    double *const sums = all.sums + task * record;
    const u64 first = task % all.tasks * all.per_task + all.first;

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
    for (u64 p = 0; p < all.count; ++p, from += piece_doubles) {
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
