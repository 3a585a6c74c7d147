// ---- A sparse matrix in dense blocks times a dense one ---------------------------------------------------
//
// Y = A X, X and Y by rows, `lanes` numbers each. A's rows, in an order that brings like ones together, are
// cut into strips of 64; of a strip the columns in which it has entries are met 16 at a time, and each 16 of
// its rows have a dense tile there, or none. A block of threads takes a strip and 128 lanes: it brings 16
// rows of X and the tiles to shared memory, and each warp multiplies the tile of 16 rows with 64 lanes.
//
// tensor_tile.cuh stands above.

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr int most_threads = 256, strip_tiles = 4, step_columns = 16, block_lanes = 128, warp_lanes = 64;
constexpr int pitch = block_lanes + 4; // rows in shared memory, so that a warp's reads share no bank
constexpr int tile_pairs = tile_rows * step_columns / 2;

struct __align__(16) Pair {
    double x, y;
};
struct Strip {
    u32 row, step, steps; // its first place in `rows`, its first step, and how many
};
struct Step {
    u32 tile, mask; // its first tile, and which of the strip's four have one
};
struct BlockProduct {
    const Strip *strips;
    const Step *steps;
    const u32 *columns; // 16 a step
    const Pair *tiles;  // as lanes hold them: A[g][4 s + t] and A[g + 8][4 s + t] for s = 0 .. 3
    const u32 *rows;    // by place; none: beyond the last
    const double *x;
    double *y;
    u32 lanes;  // a multiple of 32
    u32 height; // rows of A
    u32 steps_before_reducing;
    double prime, inverse;
};

// Two numbers to shared memory, or zeros; they are there when they have been waited for.
__device__ __forceinline__ void bring_pair(double *to, const double *from, bool is_there) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from), "r"(is_there ? 16 : 0)
                 : "memory");
#else
    const Pair none = {0, 0};
    *reinterpret_cast<Pair *>(to) = is_there ? *reinterpret_cast<const Pair *>(from) : none;
#endif
}
__device__ __forceinline__ void wait_for_what_is_brought() { // by this thread
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

struct __align__(16) Room { // what a step multiplies
    double x[step_columns][pitch];
    Pair tiles[strip_tiles * tile_pairs];
};

// Steps on their way from global memory to shared: while one is multiplied the next is brought, and where the
// one after that lies is looked up.
class Courier {
  public:
    __device__ __forceinline__ Courier(const BlockProduct &m, const Strip &strip, u32 begin)
        : x_(m.x + begin + 2 * place),
          tiles_(m.tiles),
          columns_(m.columns + u64{strip.step} * step_columns + row),
          steps_(m.steps + strip.step),
          left_(strip.steps),
          lanes_(m.lanes),
          is_there_(begin + 2 * place < m.lanes) {
        look_up();
    }
    // The next one, if there is any; which of the strip's tiles it has.
    __device__ __forceinline__ u32 bring(Room &room) {
        if (left_ == 0) return 0;
#pragma unroll
        for (int k = 0; k < each; ++k)
            bring_pair(room.x[row + rows_at_once * k] + 2 * place,
                       is_there_ ? x_ + u64{column_[k]} * lanes_ : x_, is_there_);
        const u32 mask = step_.mask, pairs = static_cast<u32>(__popc(mask)) * tile_pairs;
        const Pair *const tiles = tiles_ + u64{step_.tile} * tile_pairs;
        for (u32 k = threadIdx.x; k < pairs; k += most_threads)
            bring_pair(&room.tiles[k].x, &tiles[k].x, true);
        --left_;
        look_up();
        return mask;
    }

  private:
    static constexpr int row_pairs = block_lanes / 2, rows_at_once = most_threads / row_pairs,
                         each = step_columns / rows_at_once;
    const u32 place = threadIdx.x % row_pairs, row = threadIdx.x / row_pairs;

    __device__ __forceinline__ void look_up() {
        if (left_ == 0) return;
#pragma unroll
        for (int k = 0; k < each; ++k) column_[k] = columns_[rows_at_once * k];
        columns_ += step_columns;
        step_ = *steps_++;
    }

    const double *x_;
    const Pair *tiles_;
    const u32 *columns_;
    const Step *steps_;
    u32 left_, lanes_, column_[each];
    bool is_there_;
    Step step_;
};

// A residue to which products have been added, reduced again: |x| < 2^53, p > 4. To be called at least once
// every `products_before_reducing` (block_walk.hpp).
__device__ __forceinline__ double reduced(double x, double prime, double inverse) {
    constexpr double magic = 0x1.8p52; // rounds to a whole number, where its quotient is below 2^51
    return fma(-(fma(x, inverse, magic) - magic), prime, x);
}

extern __shared__ __align__(16) unsigned char shared_memory[];

template <bool residues> __device__ __forceinline__ void multiply(const BlockProduct &m) {
    Room *const room = reinterpret_cast<Room *>(shared_memory);
    constexpr int parts = warp_lanes / tile_columns;
    const u32 groups = (m.lanes + block_lanes - 1) / block_lanes, begin = blockIdx.x % groups * block_lanes;
    const Strip strip = m.strips[blockIdx.x / groups];
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    // A tile's two warps are in different quarters of a multiprocessor, each of which has tensor cores.
    const u32 tile = warp / 2, part = warp % 2 * warp_lanes;
    double sum[parts][4] = {};
    const auto reduce = [&] {
#pragma unroll
        for (int n = 0; n < parts; ++n)
#pragma unroll
            for (int k = 0; k < 4; ++k) sum[n][k] = reduced(sum[n][k], m.prime, m.inverse);
    };
    Courier courier(m, strip, begin);
    u32 next = courier.bring(room[0]), unreduced = 0;
    for (u32 s = 0; s < strip.steps; ++s) {
        wait_for_what_is_brought();
        __syncthreads(); // and all are done with the step before
        const u32 mask = next;
        next = courier.bring(room[(s + 1) % 2]);
        const bool has_tile = mask >> tile & 1;
        if (has_tile || !warps_go_apart) {
            const Pair *const pairs =
                room[s % 2].tiles + __popc(mask & ((1U << tile) - 1)) * tile_pairs + lane;
            double a[2 * 4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const Pair none = {0, 0}, pair = has_tile ? pairs[32 * k] : none;
                a[2 * k] = pair.x;
                a[2 * k + 1] = pair.y;
            }
#pragma unroll
            for (int n = 0; n < parts; ++n) {
                double b[4];
#pragma unroll
                for (int k = 0; k < 4; ++k) b[k] = room[s % 2].x[4 * k + t][part + n * tile_columns + g];
                add_product<4>(sum[n], a, b);
            }
        }
        if (residues && ++unreduced == m.steps_before_reducing) { // all at once: none waits for another
            reduce();
            unreduced = 0;
        }
    }
    if (residues) reduce();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const u32 place = strip.row + tile * tile_rows + half * 8 + g;
        if (place >= m.height) continue;
        double *const to = m.y + u64{m.rows[place]} * m.lanes;
#pragma unroll
        for (int n = 0; n < parts; ++n) {
            const u32 at = begin + part + n * tile_columns + 2 * t;
            const Pair pair = {sum[n][2 * half], sum[n][2 * half + 1]};
            if (at < m.lanes) *reinterpret_cast<Pair *>(to + at) = pair;
        }
    }
}
