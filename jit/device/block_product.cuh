// ---- A sparse matrix in dense blocks times a dense one ---------------------------------------------------
//
// Y = A X, X and Y by rows, `lanes` numbers each. A's rows, in an order that brings like ones together, are
// cut into strips of 64; of a strip the columns in which it has entries are met 16 at a time, and each 16 of
// its rows have a dense tile there, or none. A block of threads takes a strip and 128 lanes: it reads 16 rows
// of X for all, each warp multiplies the tiles of 16 rows with 64 lanes.
//
// device/tensor_tile.cuh stands above.

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

// 16 rows of X on their way from global memory to shared: while one such is multiplied, the next is read.
class Stage {
  public:
    __device__ __forceinline__ Stage(const BlockProduct &m, u32 lane)
        : x_(m.x),
          lanes_(m.lanes),
          at_(lane + 2 * (threadIdx.x % (block_lanes / 2))),
          row_(threadIdx.x / (block_lanes / 2)) {}

    __device__ __forceinline__ void fetch(const u32 *columns) {
#pragma unroll
        for (int k = 0; k < each; ++k) {
            const Pair none = {0, 0};
            pair_[k] = at_ < lanes_
                           ? *reinterpret_cast<const Pair *>(
                                 x_ + static_cast<u64>(columns[row_ + rows_at_once * k]) * lanes_ + at_)
                           : none;
        }
    }
    __device__ __forceinline__ void put(double (*room)[pitch]) const {
#pragma unroll
        for (int k = 0; k < each; ++k)
            *reinterpret_cast<Pair *>(room[row_ + rows_at_once * k] + 2 * (threadIdx.x % (block_lanes / 2))) =
                pair_[k];
    }

  private:
    static constexpr int rows_at_once = most_threads / (block_lanes / 2), each = step_columns / rows_at_once;

    const double *x_;
    u32 lanes_, at_, row_;
    Pair pair_[each];
};

template <bool residues> __device__ __forceinline__ void multiply(const BlockProduct &m) {
    __shared__ __align__(16) double room[2][step_columns][pitch];
    constexpr int parts = warp_lanes / tile_columns;
    const u32 groups = (m.lanes + block_lanes - 1) / block_lanes, begin = blockIdx.x % groups * block_lanes;
    const Strip strip = m.strips[blockIdx.x / groups];
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const u32 tile = warp % strip_tiles, part = warp / strip_tiles * warp_lanes;
    double sum[parts][4] = {};
    const auto reduce = [&] {
#pragma unroll
        for (int n = 0; n < parts; ++n)
#pragma unroll
            for (int k = 0; k < 4; ++k) sum[n][k] = reduced(sum[n][k], m.prime, m.inverse);
    };
    u32 unreduced = 0;
    Stage stage(m, begin);
    const u32 *const columns = m.columns + static_cast<u64>(strip.step) * step_columns;
    if (strip.steps > 0) stage.fetch(columns);
    for (u32 s = 0; s < strip.steps; ++s) {
        stage.put(room[s % 2]);
        __syncthreads();
        if (s + 1 < strip.steps) stage.fetch(columns + (s + 1) * step_columns);
        const Step step = m.steps[strip.step + s];
        const bool has_tile = step.mask >> tile & 1;
        if (warps_go_apart && !has_tile) continue;
        double a[2 * 4] = {};
        if (has_tile) {
            const Pair *const pairs =
                m.tiles + static_cast<u64>(step.tile + __popc(step.mask & ((1U << tile) - 1))) * tile_pairs +
                lane;
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const Pair pair = pairs[32 * k];
                a[2 * k] = pair.x;
                a[2 * k + 1] = pair.y;
            }
        }
#pragma unroll
        for (int n = 0; n < parts; ++n) {
            double b[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) b[k] = room[s % 2][4 * k + t][part + n * tile_columns + g];
            add_product<4>(sum[n], a, b);
        }
        if (residues && has_tile && ++unreduced == m.steps_before_reducing) {
            reduce();
            unreduced = 0;
        }
    }
    if (residues) reduce();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const u32 place = strip.row + tile * tile_rows + half * 8 + g;
        if (place >= m.height) continue;
        double *const to = m.y + static_cast<u64>(m.rows[place]) * m.lanes;
#pragma unroll
        for (int n = 0; n < parts; ++n) {
            const u32 at = begin + part + n * tile_columns + 2 * t;
            const Pair pair = {sum[n][2 * half], sum[n][2 * half + 1]};
            if (at < m.lanes) *reinterpret_cast<Pair *>(to + at) = pair;
        }
    }
}
