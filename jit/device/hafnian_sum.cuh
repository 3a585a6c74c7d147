// ---- Hafnians by sums over signs of pairs of lines, on a GPU --------------------------------------------
//
// jit/lanes/hafnian_sum.cpp's, operation by operation, so that they have its bits and its bounds. A lane's
// walk there is a block's of threads here, which share out the coefficients of a node's children: the nodes
// near the leaves, where most of the work is, lie in shared memory.
//
// Arith, arithmetic_of(prime), unit and per_product, which its products round by, and width and leaf_width,
// the coefficients that a thread adds up side by side, stand above.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef Arith::Number Number;

constexpr u32 parts = Arith::parts;

// What follows stands in kernel/sign_sums.hpp as well.
constexpr u32 most_levels = 32, lane_bits = 3;
constexpr u32 behind = 4; // cells behind polynomials, which are read and count for nothing

struct HafnianWalks {
    const double *entries, *errors; // as HafnianLines has them
    const u64 *pieces;
    double *room; // of each block of threads
    double *told; // of each lane of each piece: the parts of its sum, and its error
    u64 room_doubles, count;
    double prime;
    u32 pairs, has_loops, piece_bits;
    u32 first_near;         // level, from which on nodes lie in shared memory
    u32 place[most_levels]; // of each level's nodes, in doubles: in the room, or in shared memory
};

struct __align__(parts > 1 ? 16 : 8) Cell {
    Number x;
};

template <u32 count> struct Factors { const Cell *x[count], *y[count]; };

// Coefficients first, first + 1, ... of sum x y; first: a multiple of their number.
template <u32 many, u32 count>
__device__ __forceinline__ void convolve(const Arith &a, const Factors<count> &of, u32 first,
                                         Number (&sum)[many]) {
    Number window[count][2 * many - 1]; // of y, from `left` - (many - 1) on
#pragma unroll
    for (u32 j = 0; j < many; ++j) sum[j] = Arith::number(0);
#pragma unroll
    for (u32 t = 0; t < count; ++t)
#pragma unroll
        for (u32 k = 1; k < many; ++k) window[t][many - 1 + k] = of.y[t][first + k].x;
#pragma unroll(many == 1 ? 4 : 1)
    for (u32 left = first; left != 0; left -= many) {
#pragma unroll
        for (u32 t = 0; t < count; ++t)
#pragma unroll
            for (u32 k = 0; k < many; ++k) window[t][k] = of.y[t][left + 1 - many + k].x;
#pragma unroll
        for (u32 i = 0; i < many; ++i)
#pragma unroll
            for (u32 t = 0; t < count; ++t) {
                const Number x = of.x[t][first - left + i].x;
#pragma unroll
                for (u32 j = 0; j < many; ++j) sum[j] = a.madd(x, window[t][many - 1 + j - i], sum[j]);
            }
#pragma unroll
        for (u32 t = 0; t < count; ++t)
#pragma unroll
            for (u32 k = 1; k < many; ++k) window[t][many - 1 + k] = window[t][k - 1];
    }
#pragma unroll
    for (u32 t = 0; t < count; ++t) window[t][many - 1] = of.y[t][0].x;
#pragma unroll
    for (u32 i = 0; i < many; ++i)
#pragma unroll
        for (u32 t = 0; t < count; ++t) {
            const Number x = of.x[t][first + i].x;
#pragma unroll
            for (u32 j = i; j < many; ++j) sum[j] = a.madd(x, window[t][many - 1 + j - i], sum[j]);
        }
}

struct Norm {
    double sum, error;
};
__device__ __forceinline__ Norm operator+(Norm x, Norm y) { return {x.sum + y.sum, x.error + y.error}; }
__device__ __forceinline__ Norm operator*(Norm x, Norm y) {
    return {x.sum * y.sum, fma(x.error, y.sum + y.error, x.sum * y.error)};
}
__device__ __forceinline__ Norm rounded(Norm x, double roundings) {
    constexpr double underflow = 0x1p-1000;
    return {x.sum, fma(x.sum, roundings, x.error + underflow)};
}

__device__ __forceinline__ double modulus(double x) { return fabs(x); }
__device__ __forceinline__ double modulus(const Twofold<double> &x) { return fabs(x.hi); }
template <class Part> __device__ __forceinline__ double modulus(const ComplexOf<Part> &x) {
    constexpr double share = 0x1.a827999fcef36p-2;
    const double re = modulus(x.re), im = modulus(x.im);
    return fma(share, re + im, (1 - share) * fmax(re, im));
}
__device__ __forceinline__ double size_of(const Cell *p, u32 length) {
    double size = modulus(p[0].x);
#pragma unroll 4
    for (u32 k = 1; k < length; ++k) size += modulus(p[k].x);
    return size;
}

struct Level { // with s pairs taken out
    u32 lines, length, stride, polynomials;

    __device__ __forceinline__ Level(const HafnianWalks &of, u32 s)
        : lines(2 * (of.pairs - s) + of.has_loops),
          length(s + 1),
          stride(length | 1), // odd, so that neighbouring polynomials share no banks
          polynomials(lines * (lines - 1) / 2 + 1) {}
    __device__ __forceinline__ u32 entry(u32 j, u32 k) const {
        return j * (2 * lines - j - 1) / 2 + (k - j - 1);
    }
    __device__ __forceinline__ u32 g() const { return polynomials - 1; }
    __device__ __forceinline__ u32 doubles() const {
        return (polynomials * stride + behind) * parts + 2 * polynomials;
    }
};

struct Node {
    Cell *numbers;
    double *norms;

    __device__ __forceinline__ Norm norm(u32 number) const {
        return {norms[2 * number], norms[2 * number + 1]};
    }
    __device__ __forceinline__ void put_norm(u32 number, Norm x) const {
        norms[2 * number] = x.sum;
        norms[2 * number + 1] = x.error;
    }
};

// Lines j < k of an entry of so many lines.
struct Pair {
    u32 j = 0, k;
    __device__ __forceinline__ Pair(u32 entry, u32 lines) {
        for (u32 left = lines - 1; entry >= left; --left, ++j) entry -= left;
        k = j + 1 + entry;
    }
};

struct Walk {
    const HafnianWalks &all;
    const Arith a;
    const u32 leaf; // the last level
    double *const far, *const near;
    Cell *const scratch, *const values, *const sums; // polynomials; of two leaves; by level
    double *const errors;                            // of two leaves

    __device__ __forceinline__ Walk(const HafnianWalks &of, double *shared)
        : all(of),
          a(arithmetic_of(of.prime)),
          leaf(of.pairs - 2),
          far(of.room + blockIdx.x * of.room_doubles),
          near(shared),
          scratch(reinterpret_cast<Cell *>(shared)),
          values(scratch + (of.has_loops ? 10 : 2) * (leaf + 1 + behind)),
          sums(values + 2),
          errors(reinterpret_cast<double *>(sums + most_levels)) {}

    __device__ __forceinline__ Cell *scratch_of(u32 k) const { return scratch + k * (leaf + 1 + behind); }

    __device__ __forceinline__ Node node(u32 s, u32 which) const {
        const Level level(all, s);
        double *const at =
            (s >= all.first_near ? near : far) + all.place[s] + static_cast<u64>(which) * level.doubles();
        Cell *const numbers = reinterpret_cast<Cell *>(at);
        return {numbers, at + (level.polynomials * level.stride + behind) * parts};
    }

    __device__ __forceinline__ void begin() const {
        const Level root(all, 0);
        const Node to = node(0, 0);
        for (u32 k = threadIdx.x; k < root.polynomials; k += blockDim.x) {
            const bool is_g = k == root.g();
            Cell x;
            double *const of_parts = reinterpret_cast<double *>(&x);
            for (u32 part = 0; part < parts; ++part)
                of_parts[part] = is_g ? (part == 0 ? 1 : 0) : all.entries[k * parts + part];
            to.numbers[k] = x;
            if (Arith::bounded) to.put_norm(k, {modulus(x.x), is_g ? 0 : all.errors[k]});
        }
        __syncthreads();
    }

    // Coefficients of b_01 + l_0 l_1, of lines j and j + 1.
    __device__ __forceinline__ void close(const Level &at, const Node &of, u32 j, u32 first, Cell *to) const {
        const Cell *const b = of.numbers + at.entry(j, j + 1) * at.stride;
        Number sum[width];
        convolve<width, 1>(a,
                           {{of.numbers + at.entry(j, at.lines - 1) * at.stride},
                            {of.numbers + at.entry(j + 1, at.lines - 1) * at.stride}},
                           first, sum);
#pragma unroll
        for (u32 c = 0; c < width; ++c)
            if (first + c < at.length) to[first + c].x = a.add(sum[c], b[first + c].x);
    }
    __device__ __forceinline__ Norm closed_norm(const Level &at, const Node &of, u32 j) const {
        const Norm norm = of.norm(at.entry(j, j + 1));
        if (!all.has_loops) return norm;
        return rounded(norm + of.norm(at.entry(j, at.lines - 1)) * of.norm(at.entry(j + 1, at.lines - 1)),
                       per_product * at.length + unit);
    }

    // Takes out lines 0 and 1 of level s; `signs`: 2 makes the child with the other sign, too.
    __device__ __forceinline__ void split(u32 s, const Node &from, double sign, u32 signs) const {
        const Level at(all, s), to(all, s + 1);
        const Cell *cycle = from.numbers + at.entry(0, 1) * at.stride;
        if (all.has_loops) {
            cycle = scratch_of(2);
            for (u32 first = threadIdx.x * width; first < at.length; first += blockDim.x * width)
                close(at, from, 0, first, scratch_of(2));
            __syncthreads();
        }
        add_children(at, from, to, cycle, s + 1, sign, signs);
        __syncthreads();
        if (Arith::bounded) add_norms(at, from, to, cycle, s + 1, signs);
        __syncthreads();
    }

    // The longest sums first; those of g at last, for they take other time.
    __device__ __forceinline__ void add_children(const Level &at, const Node &from, const Level &to,
                                                 const Cell *cycle, u32 next, double sign, u32 signs) const {
        const Node plus = node(next, 0), minus = node(next, 1);
        const u32 tiles = (at.length + width - 1) / width, entries = to.g(), of_entries = tiles * entries;
        for (u32 item = threadIdx.x; item < of_entries + tiles; item += blockDim.x) {
            const bool is_g = item >= of_entries;
            const u32 child = is_g ? entries : item % entries,
                      first = (tiles - 1 - (is_g ? item - of_entries : item / entries)) * width;
            Number sum[width];
            u32 before = at.g();
            if (is_g) {
                convolve<width, 1>(a, {{from.numbers + before * at.stride}, {cycle}}, first, sum);
            } else {
                const Pair of(child, to.lines);
                const Cell *const to_j = from.numbers + at.entry(0, of.j + 2) * at.stride;
                const Cell *const to_k = to_j + (of.k - of.j) * at.stride;
                const u32 row = (at.lines - 2) * at.stride; // from b_0j to b_1j
                before = at.entry(of.j + 2, of.k + 2);
                convolve<width, 2>(a, {{to_j, to_j + row}, {to_k + row, to_k}}, first, sum);
            }
            const Cell *const b = from.numbers + before * at.stride;
            const u32 place = child * to.stride + first;
            if (first == 0) {
                plus.numbers[place] = b[0];
                if (signs > 1) minus.numbers[place] = b[0];
            }
#pragma unroll
            for (u32 c = 0; c < width; ++c) {
                if (first + c >= at.length) break;
                const Number old = first + c + 1 < at.length ? b[first + c + 1].x : Arith::number(0);
                plus.numbers[place + c + 1].x = a.add_signed(old, sign, sum[c]);
                if (signs > 1) minus.numbers[place + c + 1].x = a.add_signed(old, -sign, sum[c]);
            }
        }
    }

    __device__ __forceinline__ void add_norms(const Level &at, const Node &from, const Level &to,
                                              const Cell *cycle, u32 next, u32 signs) const {
        for (u32 k = threadIdx.x; k < signs * to.polynomials; k += blockDim.x) {
            const u32 child = k % to.polynomials;
            const Node own = node(next, k / to.polynomials);
            Norm product, before;
            if (child == to.g()) {
                Norm q = closed_norm(at, from, 0);
                if (all.has_loops) q.sum = size_of(cycle, at.length);
                before = from.norm(at.g());
                product = rounded(before * q, per_product * at.length);
            } else {
                const Pair of(child, to.lines);
                const auto norm = [&](u32 i, u32 j) { return from.norm(at.entry(i, j + 2)); };
                before = from.norm(at.entry(of.j + 2, of.k + 2));
                product = rounded(norm(0, of.j) * norm(1, of.k) + norm(1, of.j) * norm(0, of.k),
                                  per_product * 2 * at.length);
            }
            own.put_norm(child, {size_of(own.numbers + child * to.stride, to.length),
                                 rounded(before + product, unit).error});
        }
    }

    // Of `count` leaves: their values and errors.
    __device__ __forceinline__ void take_leaves(u32 count) const {
        const Level at(all, leaf);
        if (all.has_loops) {
            const u32 tiles = (at.length + width - 1) / width;
            for (u32 item = threadIdx.x; item < 4 * count * tiles; item += blockDim.x)
                close_leaf(at, item / 4 % count, item % 4, (tiles - 1 - item / (4 * count)) * width);
            __syncthreads();
        }
        const u32 tiles = (at.length + leaf_width - 1) / leaf_width;
        for (u32 item = threadIdx.x; item < count * tiles; item += blockDim.x)
            add_hafnian(at, item % count, (tiles - 1 - item / count) * leaf_width);
        __syncthreads();
        if (threadIdx.x < count) add_up(at, threadIdx.x);
        __syncthreads();
    }

    // Coefficients of b_01 + l_0 l_1, b_23 + l_2 l_3, w_2 and w_3.
    __device__ __forceinline__ void close_leaf(const Level &at, u32 which, u32 what, u32 first) const {
        const Node of = node(leaf, which);
        Cell *const to = scratch_of(2 + 4 * which + what);
        if (what < 2) return close(at, of, 2 * what, first, to);
        const auto p = [&](u32 j, u32 k) -> const Cell * { return of.numbers + at.entry(j, k) * at.stride; };
        Number sum[width];
        convolve<width, 2>(a, {{p(0, what), p(1, what)}, {p(1, 4), p(0, 4)}}, first, sum);
#pragma unroll
        for (u32 c = 0; c < width; ++c)
            if (first + c < at.length) to[first + c].x = sum[c];
    }

    // Coefficients of the hafnian of the four lines that are left.
    __device__ __forceinline__ void add_hafnian(const Level &at, u32 which, u32 first) const {
        const Node of = node(leaf, which);
        const auto p = [&](u32 j, u32 k) -> const Cell * { return of.numbers + at.entry(j, k) * at.stride; };
        Number sum[leaf_width];
        if (all.has_loops) {
            const Cell *const q01 = scratch_of(2 + 4 * which), *const q23 = scratch_of(3 + 4 * which),
                              *const w2 = scratch_of(4 + 4 * which), *const w3 = scratch_of(5 + 4 * which);
            convolve<leaf_width, 5>(
                a, {{q01, p(0, 2), p(0, 3), p(2, 4), p(3, 4)}, {q23, p(1, 3), p(1, 2), w3, w2}}, first, sum);
        } else {
            convolve<leaf_width, 3>(a, {{p(0, 1), p(0, 2), p(0, 3)}, {p(2, 3), p(1, 3), p(1, 2)}}, first,
                                    sum);
        }
#pragma unroll
        for (u32 c = 0; c < leaf_width; ++c)
            if (first + c < at.length) scratch_of(which)[first + c].x = sum[c];
    }

    // [r^leaf] g haf
    __device__ __forceinline__ void add_up(const Level &at, u32 which) const {
        const Node of = node(leaf, which);
        const Cell *const haf = scratch_of(which), *const g = of.numbers + at.g() * at.stride;
        Number sum = Arith::number(0);
#pragma unroll 4
        for (u32 k = 0; k <= leaf; ++k) sum = a.madd(haf[k].x, g[leaf - k].x, sum);
        values[which].x = sum;
        errors[which] = Arith::bounded ? leaf_error(at, of) : 0;
    }

    __device__ __forceinline__ double leaf_error(const Level &at, const Node &of) const {
        const auto norm = [&](u32 j, u32 k) { return of.norm(at.entry(j, k)); };
        Norm haf = norm(0, 2) * norm(1, 3) + norm(0, 3) * norm(1, 2);
        if (all.has_loops) {
            const double once = per_product * at.length + unit;
            for (u32 j = 2; j < 4; ++j)
                haf = haf +
                      norm(5 - j, 4) * rounded(norm(0, j) * norm(1, 4) + norm(1, j) * norm(0, 4), 2 * once);
        }
        haf = rounded(haf + closed_norm(at, of, 0) * closed_norm(at, of, 2), per_product * 5 * at.length);
        return rounded(of.norm(at.g()) * haf, per_product * at.length + unit * (all.pairs + 2)).error;
    }

    // What the leaves of a walk come to, by halves of halves. `number`: of a piece, and within it the lane.
    __device__ __forceinline__ void sum(u64 number, double *told) const {
        const u32 walk_bits = lane_bits + all.piece_bits;
        begin();
        for (u32 s = 0; s <= walk_bits; ++s)
            split(s, node(s, 0), s > 0 && (number >> (s - 1) & 1) ? -1 : 1, 1);
        const u32 top = walk_bits + 1, levels = leaf - top;
        double error = 0;
        if (levels == 0) {
            take_leaves(1);
            tell(values[0].x, errors[0], told);
            return;
        }
        for (u32 two = 0; two < 1u << (levels - 1); ++two) {
            // Of a counter's bits one has become 1, the node with the other sign, and all below it 0.
            const u32 changed = two == 0 ? levels - 1 : __ffs(static_cast<int>(two)) - 1,
                      first = leaf - 1 - changed;
            for (u32 s = first; s < leaf; ++s) split(s, node(s, s == first && two > 0 ? 1 : 0), 1, 2);
            take_leaves(2);
            if (threadIdx.x == 0) {
                error += errors[0];
                error += errors[1];
                Number x = a.subtract(values[0].x, values[1].x);
                u32 level = 0;
                for (; two >> level & 1; ++level) x = a.subtract(sums[level].x, x);
                sums[level].x = x;
            }
        }
        tell(sums[levels - 1].x, error, told);
    }

    __device__ __forceinline__ void tell(const Number &x, double error, double *told) const {
        if (threadIdx.x != 0) return;
        const double *const of_parts = reinterpret_cast<const double *>(&x);
        for (u32 part = 0; part < parts; ++part) told[part] = of_parts[part];
        told[parts] = error;
    }
};

__device__ __forceinline__ void walk_pair_signs(const HafnianWalks &all, unsigned char *shared) {
    const Walk walk(all, reinterpret_cast<double *>(shared));
    for (u64 k = blockIdx.x; k < all.count << lane_bits; k += gridDim.x) {
        const u64 piece = all.pieces[k >> lane_bits], lane = k & ((1u << lane_bits) - 1);
        walk.sum(piece << lane_bits | lane, all.told + k * (parts + 1));
        __syncthreads();
    }
}
