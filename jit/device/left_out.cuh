// ---- Sums of products with each factor left out, on a GPU -----------------------------------------------
//
// Those of jit/lanes/left_out_sums.cpp, addition by addition, so that they have their bits.
// A piece's lanes are threads: a warp takes a piece, of complex numbers two. Where eight lanes there keep
// several sums (of terms, of differences, of absolute values), each eight here keeps one.
//
// Arith (Real or Complex), is_split and rows (at least 2) stand above.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef Arith::Number Number;

constexpr u32 numbers = Arith::parts, parts = numbers * (is_split ? 2 : 1), eight = 8;
constexpr u32 lanes = 32 / numbers, lane_bits = numbers == 1 ? 5 : 4;
constexpr u32 of_column = numbers * rows * eight; // eights of sums for all rows, real parts first

// What follows stands in kernel/sign_sums.hpp as well.
struct LeftOut {
    const double *entries; // of each matrix: of each part, column by column, by rows
    const u32 *row_count;
    double *scratch;                        // of each piece under way
    double *pieces;                         // what each piece comes to
    double *sums;                           // of each task of each matrix
    u64 per_task;                           // pieces
    u64 first, count;                       // of each of these the pieces that are taken now
    u32 matrices, tasks, columns, repeated; // of the first rows some count more than once
    u32 steps;                              // of a piece
    u32 first_task;                         // of those that are taken now, of each matrix
};

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
// by the columns' highest but one, or of complex numbers highest, lane bit; of real ones the third that by
// the highest, the fourth the sum of the absolute values, which of complex ones are returned.
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

// A piece under way. The lanes have signs of their own of the columns from first_lane on.
struct Piece {
    const LeftOut &all;
    const double *entries; // of the matrix
    Parts *table, *base;   // row sums' parts, of the lanes' columns and of the others
    double *scratch;       // in global memory
    double *shared;        // nearer
    u32 lane, which;       // of the piece; of its eights

    Number kept[rows];             // by an eight
    double masses[(rows + 1) / 2]; // of complex numbers, by turns: the first eight's of even rows

    __device__ __forceinline__ const double *column(u32 part, u32 j) const {
        return entries + (static_cast<u64>(part) * all.columns + j) * rows;
    }
    __device__ __forceinline__ Number row(u32 i) const {
        return row_sum(base[i], table[i * lanes + lane], Number());
    }
    __device__ __forceinline__ double sign() const { return __popc(lane) % 2 ? -1 : 1; }
    __device__ __forceinline__ bool keeps_mass(u32 i) const {
        return numbers == 1 ? which == 3 : which == i % 2;
    }
    // Of a term without row i what this eight takes; the absolute values of complex ones are added.
    __device__ __forceinline__ void fold(u32 i, Number &x) {
        const double mass = folded(x, which);
        if (numbers > 1) masses[i / 2] += keeps_mass(i) ? mass : 0;
    }

    // All threads of a block fill the table together.
    __device__ __forceinline__ void tabulate(u32 first_lane) {
        for (u32 k = threadIdx.x; k < rows * lanes; k += blockDim.x)
            for (u32 part = 0; part < parts; ++part) {
                double x = 0;
                for (u32 bit = 0; bit < lane_bits; ++bit) {
                    const double a = column(part, first_lane + bit)[k / lanes];
                    x += k >> bit & 1 ? -a : a;
                }
                table[k].x[part] = x;
            }
    }

    __device__ __forceinline__ void forget() {
#pragma unroll
        for (u32 i = 0; i < rows; ++i) {
            kept[i] = Arith::number(0);
            masses[i / 2] = 0;
        }
    }

    // base = what `sum(part, j, column j)` adds up to for each row.
    template <class Sum> __device__ __forceinline__ void set_base(const Sum &sum) {
        for (u32 k = lane; k < rows * parts; k += lanes)
            base[k / parts].x[k % parts] = sum(k % parts, k / parts);
        __syncwarp();
    }
    __device__ __forceinline__ void add_to_base(double times, u32 j) {
        for (u32 k = lane; k < rows * parts; k += lanes)
            base[k / parts].x[k % parts] += times * column(k % parts, j)[k / parts];
    }

    // take(i, x): x is weight * the product without one factor of row i, and may be written to: it comes back
    // in `left`. Returns weight times the whole product.
    template <class Take>
    __device__ __forceinline__ Number each(double weight, Number (&left)[rows], const Take &take) {
        Number x[rows];
        Number product = Arith::number(weight);
        for (u32 i = 0; i < all.repeated; ++i)
            if (all.row_count[i] > 1) product = Arith::multiply(product, power(row(i), all.row_count[i] - 1));
#pragma unroll
        for (u32 i = 0; i < rows - 1; ++i) {
            x[i] = row(i);
            left[i] = product;
            product = Arith::multiply(product, x[i]);
        }
        Number behind = row(rows - 1);
        left[rows - 1] = product;
        product = Arith::multiply(product, behind);
        take(rows - 1, left[rows - 1]);
#pragma unroll
        for (u32 k = 1; k < rows; ++k) {
            const u32 i = rows - 1 - k;
            left[i] = Arith::multiply(left[i], behind);
            if (i > 0) behind = Arith::multiply(numbers == 1 ? x[i] : row(i), behind);
            take(i, left[i]);
        }
        return product;
    }

    // The eights of absolute values, to the scratch.
    __device__ __forceinline__ void tell_masses(double *to) const {
#pragma unroll
        for (u32 i = 0; i < rows; ++i)
            if (keeps_mass(i))
                to[i * eight + lane % eight] = numbers == 1 ? part_of(kept[i], 0) : masses[i / 2];
    }
};

// Pieces one after the other, each walked whole.
template <class Walk> __device__ __forceinline__ void walk_pieces(const LeftOut &all, unsigned char *shared) {
    constexpr u32 pieces_of_warp = numbers;
    const u32 pieces_of_block = blockDim.x / 32 * pieces_of_warp, mine = threadIdx.x / lanes;
    Parts *const table = reinterpret_cast<Parts *>(shared);
    double *const scratch =
        all.scratch + static_cast<u64>(blockIdx.x * pieces_of_block + mine) * Walk::scratch_doubles;
    Parts *const bases = table + lanes * rows;
    double *const columns = reinterpret_cast<double *>(bases + pieces_of_block * rows);
    Walk walk = {{all, all.entries, table, bases + mine * rows, scratch,
                  columns + mine * Walk::shared_doubles, threadIdx.x % lanes, threadIdx.x % lanes / eight}};
    const u64 of_matrix = all.tasks * all.count;
    const u64 groups = (of_matrix + pieces_of_block - 1) / pieces_of_block;
    u64 tabulated = all.matrices;
    for (u64 g = blockIdx.x; g < all.matrices * groups; g += gridDim.x) {
        const u64 m = g / groups, item = g % groups * pieces_of_block + mine;
        if (m != tabulated) {
            __syncthreads();
            walk.entries = all.entries + m * parts * all.columns * rows;
            walk.tabulate(Walk::first_lane);
            __syncthreads();
            tabulated = m;
        }
        // The last ones take one that another takes as well: threads go together.
        const u64 taken = item < of_matrix ? item : of_matrix - 1;
        walk.walk((all.first_task + taken / all.count) * all.per_task + all.first + taken % all.count);
        if (item < of_matrix) walk.tell(all.pieces + (m * of_matrix + item) * Walk::piece_doubles);
        __syncwarp();
    }
}
