// ---- A sparse matrix times a vector, balanced by merge path ----------------------------------------------
//
// Merge path lays the ends of A's rows and its entries in one list: a row's end behind its last entry
// (Dalton, Baxter, Merrill, Garland, Olson, "Optimizing Sparse Matrix Operations on GPUs using Merge Path",
// §III-A; with the rows' ends counted as work, as in Merrill and Garland, "Merge-based parallel sparse
// matrix-vector multiplication", 2016). Each tile has as much of the list, each thread `items` of it,
// whatever the rows' lengths. Where tiles begin is found once for a matrix.
//
// Tiles that share a row leave their parts of it; the last to come adds them up in the tiles' order. So no
// tile waits for another, and sums are the same each time.
//
// merge_path.cuh, most_threads and items stand above.

struct Matrix { // rows + entries < 2^32
    u32 rows, entries;
    const u32 *first; // of each row's entries, and their number
    const u32 *column;
    const double *value;
    u32 *cuts; // rows that end before each tile, and all
    u32 tile;  // of the list; threads of a block times items
};

struct Part {
    double head, tail; // of a tile: what it has of the row that it ends first, and of the one behind the last
    u64 arrived;       // tiles that left their parts of the row that ends here; 0 between launches
};

struct ProductRoom { // of a block
    double product[most_threads * items];
    u32 end[most_threads * items + 1];
    double of_warp[most_threads / 32];
    bool ends[most_threads / 32];
    u32 first_tile[2], row[2]; // of rows that are whole now, to be summed by all threads
    double sum[most_threads];
};

constexpr u32 nothing = ~0u, few_tiles = 8;

__device__ __forceinline__ u32 row_at(const u32 *end, u32 rows, u32 entries, u32 diagonal) {
    return first_behind(diagonal > entries ? diagonal - entries : 0, diagonal < rows ? diagonal : rows,
                        [&](u32 row) { return end[row] >= diagonal - row; });
}

__device__ __forceinline__ void cut(const Matrix &a) {
    const u32 all = a.rows + a.entries, t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t <= (all - 1) / a.tile) a.cuts[t] = row_at(a.first + 1, a.rows, a.entries, t * a.tile);
    if (t == 0) a.cuts[(all - 1) / a.tile + 1] = a.rows;
}

__device__ __forceinline__ double part_at(const Part *parts, u32 tile, u32 last) {
    return *static_cast<const volatile double *>(tile < last ? &parts[tile].tail : &parts[tile].head);
}

// A part of `row`, which ends in tile `last`, has been left.
__device__ __forceinline__ void arrive(const Matrix &a, Part *parts, u32 row, u32 last, double *y,
                                       ProductRoom &room, u32 which) {
    const u32 first_tile = (row + a.first[row]) / a.tile, tiles = last - first_tile + 1;
    __threadfence();
    if (atomicAdd(&parts[last].arrived, u64{1}) + 1 < tiles) return;
    parts[last].arrived = 0;
    __threadfence();
    if (tiles > few_tiles) {
        room.first_tile[which] = first_tile;
        room.row[which] = row;
        return;
    }
    double sum = 0;
    for (u32 k = first_tile; k <= last; ++k) sum += part_at(parts, k, last);
    y[row] = sum;
}

__device__ __forceinline__ void multiply(const Matrix &a, const double *__restrict__ x, double *y,
                                         Part *parts) {
    __shared__ ProductRoom room;
    const u32 t = threadIdx.x, tile = blockIdx.x, from = tile * a.tile, all = a.rows + a.entries,
              size = all - from < a.tile ? all - from : a.tile;
    const u32 row_begin = a.cuts[tile], rows = a.cuts[tile + 1] - row_begin, begin = from - row_begin,
              entries = size - rows;
    u32 column[items]; // read once: __ldcs leaves the caches to x
    double value[items];
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const u32 i = t + static_cast<u32>(k) * blockDim.x;
        column[k] = i < entries ? __ldcs(a.column + begin + i) : 0;
        value[k] = i < entries ? __ldcs(a.value + begin + i) : 0;
    }
    for (u32 i = t; i <= rows; i += blockDim.x) // the row behind the last end, too
        room.end[i] = row_begin + i < a.rows ? a.first[row_begin + i + 1] - begin : ~0u;
    const bool head_is_shared = a.first[row_begin] < begin; // with tiles before
#pragma unroll
    for (int k = 0; k < items; ++k)
        if (t + static_cast<u32>(k) * blockDim.x < entries) value[k] *= x[column[k]];
    if (t < 2) room.first_tile[t] = nothing;
    __syncthreads();
    const u32 diagonal = t * items < size ? t * items : size,
              stop = diagonal + items < size ? diagonal + items : size;
    u32 row = row_at(room.end, rows, entries, diagonal), entry = diagonal - row, first_row = 0;
#pragma unroll
    for (int k = 0; k < items; ++k) room.product[t + static_cast<u32>(k) * blockDim.x] = value[k];
    __syncthreads();

    double sum = 0, first_sum = 0;
    bool ends = false;
    u32 end = room.end[row];
#pragma unroll
    for (int k = 0; k < items; ++k) {
        if (diagonal + static_cast<u32>(k) >= stop) break;
        if (end > entry) {
            sum += room.product[entry++];
            continue;
        }
        if (ends)
            y[row_begin + row] = sum;
        else
            first_row = row, first_sum = sum;
        ends = true;
        sum = 0;
        end = room.end[++row];
    }
    // What threads have behind their last ends, summed over those since a row ended, in the warp and in those
    // before.
    const u32 lane = t % 32, warp = t / 32;
    const u32 enders = __ballot_sync(all_lanes, ends), upto = enders & ~0u >> (31 - lane),
              since = upto != 0 ? lane - (31 - static_cast<u32>(__clz(static_cast<int>(upto)))) : lane;
#pragma unroll
    for (u32 step = 1; step < 32; step *= 2) {
        const double other = __shfl_up_sync(all_lanes, sum, step);
        if (step <= since) sum += other;
    }
    const double lane_before = __shfl_up_sync(all_lanes, sum, 1);
    const bool ended_in_warp = (enders & ~(~0u << lane)) != 0;
    if (lane == 31 || t + 1 == blockDim.x) {
        room.of_warp[warp] = sum;
        room.ends[warp] = enders != 0;
    }
    __syncthreads();
    double carried = 0;
    bool ended_before = false;
    for (u32 w = 0; w < warp; ++w) {
        carried = room.ends[w] ? room.of_warp[w] : carried + room.of_warp[w];
        ended_before = ended_before || room.ends[w];
    }
    if (ends) {
        const double before = (lane > 0 ? lane_before : 0) + (ended_in_warp ? 0 : carried);
        if (ended_in_warp || ended_before || !head_is_shared) {
            y[row_begin + first_row] = before + first_sum;
        } else {
            parts[tile].head = before + first_sum;
            arrive(a, parts, row_begin, tile, y, room, 0);
        }
    }
    if (t + 1 == blockDim.x && row_begin + rows < a.rows && (rows == 0 || room.end[rows - 1] < entries)) {
        const u32 tail_row = row_begin + rows;
        parts[tile].tail = enders != 0 ? sum : carried + sum;
        arrive(a, parts, tail_row, (tail_row + a.first[tail_row + 1]) / a.tile, y, room, 1);
    }
    __syncthreads();
    for (u32 which = 0; which < 2; ++which) {
        const u32 first_tile = room.first_tile[which];
        if (first_tile == nothing) continue;
        const u32 whole = room.row[which], last = (whole + a.first[whole + 1]) / a.tile;
        double mine = 0;
        for (u32 k = first_tile + t; k <= last; k += blockDim.x) mine += part_at(parts, k, last);
        room.sum[t] = mine;
        for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) room.sum[t] += room.sum[t + half];
        }
        __syncthreads();
        if (t == 0) y[whole] = room.sum[0];
        __syncthreads();
    }
}
