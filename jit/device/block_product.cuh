// ---- A sparse matrix in dense blocks times a dense one ---------------------------------------------------
//
// Y = A X, X and Y by rows, `lanes` numbers each. A's rows, in an order that brings like ones together, are
// cut into strips of 64; of a strip the columns in which it has entries are met 16 at a time, and each 16 of
// its rows have a dense tile there, or none. A block of threads takes a strip and 128 lanes: it brings 16
// rows of X and the tiles to shared memory, and each warp multiplies all of these tiles with 16 lanes, so
// that all have the same to do however many tiles there are.
//
// device/tensor_tile.cuh stands above.

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr int most_threads = 256, strip_tiles = 4, step_columns = 16, block_lanes = 128, warp_lanes = 16;
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

extern __shared__ __align__(16) unsigned char shared_memory[];

template <bool residues> __device__ __forceinline__ void multiply(const BlockProduct &m) {
    Room *const room = reinterpret_cast<Room *>(shared_memory);
    constexpr int parts = warp_lanes / tile_columns;
    const u32 groups = (m.lanes + block_lanes - 1) / block_lanes, begin = blockIdx.x % groups * block_lanes;
    const Strip strip = m.strips[blockIdx.x / groups];
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    double sum[strip_tiles][parts][4] = {};
    const auto reduce = [&] {
#pragma unroll
        for (int k = 0; k < strip_tiles * parts * 4; ++k) {
            double &x = sum[k / (parts * 4)][k / 4 % parts][k % 4];
            x = reduced(x, m.prime, m.inverse);
        }
    };
    Courier courier(m, strip, begin);
    u32 next = courier.bring(room[0]), unreduced = 0;
    for (u32 s = 0; s < strip.steps; ++s) {
        wait_for_what_is_brought();
        __syncthreads(); // and all are done with the step before
        const u32 mask = next;
        next = courier.bring(room[(s + 1) % 2]);
        const Room &here = room[s % 2];
        double b[parts][4];
#pragma unroll
        for (int k = 0; k < parts * 4; ++k)
            b[k / 4][k % 4] = here.x[k % 4 * 4 + t][warp * warp_lanes + k / 4 * tile_columns + g];
        const Pair *pairs = here.tiles + lane;
#pragma unroll
        for (int tile = 0; tile < strip_tiles; ++tile) {
            if ((mask >> tile & 1) == 0) continue;
            double a[2 * 4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                a[2 * k] = pairs[32 * k].x;
                a[2 * k + 1] = pairs[32 * k].y;
            }
            pairs += tile_pairs;
#pragma unroll
            for (int n = 0; n < parts; ++n) add_product<4>(sum[tile][n], a, b[n]);
        }
        if (residues && ++unreduced == m.steps_before_reducing) {
            reduce();
            unreduced = 0;
        }
    }
    if (residues) reduce();
#pragma unroll
    for (int half = 0; half < 2 * strip_tiles; ++half) {
        const u32 place = strip.row + half * 8 + g;
        if (place >= m.height) continue;
        double *const to = m.y + u64{m.rows[place]} * m.lanes;
#pragma unroll
        for (int n = 0; n < parts; ++n) {
            const u32 at = begin + warp * warp_lanes + n * tile_columns + 2 * t;
            const double *const two = sum[half / 2][n] + half % 2 * 2;
            const Pair pair = {two[0], two[1]};
            if (at < m.lanes) *reinterpret_cast<Pair *>(to + at) = pair;
        }
    }
}
