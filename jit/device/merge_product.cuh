// ---- A sparse matrix times a vector, balanced by merge path ----------------------------------------------
//
// Merge path lays the ends of A's rows and its entries in one list: a row's end behind its last entry
// (Dalton, Baxter, Merrill, Garland, Olson, "Optimizing Sparse Matrix Operations on GPUs using Merge Path",
// §III-A; with the rows' ends counted as work, as in Merrill and Garland, "Merge-based parallel sparse
// matrix-vector multiplication", 2016). Each tile has as much of the list, each thread `items` of it,
// whatever the rows' lengths. Where tiles begin is found once for a matrix.
//
// A row that several tiles share ends in one of them, which adds up what the tiles before it had of it: the
// same sums in the same order each time.
//
// device/chained_tiles.cuh, most_threads and items stand above.

typedef unsigned int u32;

struct Carry {
    u64 state;  // launch, and whether a row ends in the tile
    double sum; // of its entries behind the last end
};

struct Matrix {
    u32 rows, entries;
    const u32 *first; // of each row's entries, and their number
    const u32 *column;
    const double *value;
    u32 *cuts; // rows that end before each tile, and all
    u32 tile;  // of the list; threads of a block times items
};

struct ProductRoom { // of a block
    double product[most_threads * items];
    u32 end[most_threads * items + 1];
    double tail[most_threads], of_group[most_threads / 16];
    bool ends[most_threads], group_ends[most_threads / 16];
    double before[most_threads];
    double first_sum;
    u32 first_row;
    bool any;
};

__device__ __forceinline__ u32 row_at(const u32 *end, u32 rows, u32 entries, u64 diagonal) {
    u32 low = diagonal > entries ? static_cast<u32>(diagonal - entries) : 0;
    u32 high = diagonal < rows ? static_cast<u32>(diagonal) : rows;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (end[middle] < diagonal - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__device__ __forceinline__ void cut(const Matrix &a) {
    const u64 all = static_cast<u64>(a.rows) + a.entries, tiles = (all + a.tile - 1) / a.tile;
    const u64 t = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (t <= tiles) a.cuts[t] = row_at(a.first + 1, a.rows, a.entries, smaller(t * a.tile, all));
}

// The sum of the tiles' parts before this one that belong to the row which it ends first: back to the tile
// where another row ended.
__device__ __forceinline__ double parts_before(const Carry *carries, u64 launch, u64 tile, ProductRoom &room,
                                               ChainRoom &chain_room) {
    const u32 t = threadIdx.x;
    double sum = 0;
    for (u64 end = tile; end > 0; end -= smaller(end, blockDim.x)) {
        if (t == 0) chain_room.nearest = blockDim.x;
        __syncthreads();
        double mine = 0;
        if (t < end) {
            const Carry *const carry = carries + (end - 1 - t);
            u64 state;
            do state = load(&carry->state);
            while (state >> 1 != launch);
            __threadfence();
            mine = *static_cast<const volatile double *>(&carry->sum);
            if (state & 1) atomicMin(&chain_room.nearest, t);
        }
        __syncthreads();
        room.before[t] = t <= chain_room.nearest ? mine : 0;
        for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) room.before[t] += room.before[t + half];
        }
        __syncthreads();
        sum += room.before[0];
        const bool found = chain_room.nearest < blockDim.x;
        __syncthreads();
        if (found) break;
    }
    return sum;
}

__device__ __forceinline__ void multiply(const Matrix &a, const double *x, double *y, Carry *carries,
                                         const Chain &chain) {
    __shared__ ProductRoom room;
    __shared__ ChainRoom chain_room;
    const u32 t = threadIdx.x, groups = (blockDim.x + 15) / 16;
    enter(chain);
    const u64 tile = take_tile(chain, chain_room);
    const u64 from = tile * a.tile, all = static_cast<u64>(a.rows) + a.entries,
              to = smaller(from + a.tile, all);
    const u32 row_begin = a.cuts[tile], rows = a.cuts[tile + 1] - row_begin;
    const u32 begin = static_cast<u32>(from - row_begin), entries = static_cast<u32>(to - from) - rows;
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const u32 i = t + static_cast<u32>(k) * blockDim.x;
        if (i < entries) room.product[i] = a.value[begin + i] * x[a.column[begin + i]];
    }
    for (u32 i = t; i <= rows; i += blockDim.x) // the row behind the last end, too
        room.end[i] = row_begin + i < a.rows ? a.first[row_begin + i + 1] - begin : ~0u;
    __syncthreads();

    const u32 size = rows + entries, diagonal = t * items < size ? t * items : size,
              stop = diagonal + items < size ? diagonal + items : size;
    u32 row = row_at(room.end, rows, entries, diagonal), entry = diagonal - row, first_row = 0;
    double sum = 0, first_sum = 0;
    bool ends = false;
    for (u32 k = diagonal; k < stop; ++k) {
        if (room.end[row] > entry) {
            sum += room.product[entry++];
            continue;
        }
        if (ends)
            y[row_begin + row] = sum;
        else
            first_row = row, first_sum = sum;
        ends = true;
        sum = 0;
        ++row;
    }
    room.tail[t] = sum;
    room.ends[t] = ends;
    __syncthreads();
    // What the threads before have of the row that a thread ends first: by groups of 16, then over the
    // groups.
    double carried = 0;
    if (t < groups) {
        bool any = false;
        for (u32 k = 16 * t; k < 16 * t + 16 && k < blockDim.x; ++k) {
            const double tail = room.tail[k];
            room.tail[k] = carried;
            carried = room.ends[k] ? tail : carried + tail;
            const bool before = any;
            any = any || room.ends[k];
            room.before[k] = before ? 1 : 0; // a row ended before it in its group
        }
        room.of_group[t] = carried;
        room.group_ends[t] = any;
    }
    __syncthreads();
    if (t == 0) {
        double run = 0;
        bool any = false;
        for (u32 g = 0; g < groups; ++g) {
            const double tail = room.of_group[g];
            const bool group_ends = room.group_ends[g];
            room.of_group[g] = run;
            room.group_ends[g] = any;
            run = group_ends ? tail : run + tail;
            any = any || group_ends;
        }
        room.any = any;
        carries[tile].sum = run;
        __threadfence();
        *static_cast<volatile u64 *>(&carries[tile].state) = chain.launch << 1 | u64{any};
    }
    __syncthreads();
    if (ends) {
        const bool in_group = room.before[t] != 0;
        const double whole = (in_group ? room.tail[t] : room.of_group[t / 16] + room.tail[t]) + first_sum;
        if (in_group || room.group_ends[t / 16]) {
            y[row_begin + first_row] = whole;
        } else {
            room.first_row = first_row;
            room.first_sum = whole;
        }
    }
    if (!room.any) return; // of the whole block
    __syncthreads();
    const bool shared = begin > a.first[row_begin]; // with tiles before
    const double prefix = shared ? parts_before(carries, chain.launch, tile, room, chain_room) : 0;
    if (t == 0) y[row_begin + room.first_row] = prefix + room.first_sum;
}
