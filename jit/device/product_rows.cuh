// ---- Rows of a product that tiles share ------------------------------------------------------------------
//
// What tiles have of such a row is put together in their order, by a map of the columns that it has: a bit
// for each. So nothing is sorted twice, and each sum has one order. It is the second tile's to do it.
//
// device/product_tiles.cuh stands above; columns are below 2^31.

struct RowRoom {
    ScanRoom scan;
    u32 low, high;
};

// What the tiles have of the row, each in a run.
struct Runs {
    u32 row, first, last; // tiles
    bool are_here = false;

    __device__ __forceinline__ Runs(const Product &p, u32 tile) : row(p.cuts[blockIdx.x].row) {
        if (blockIdx.x == 0) return;
        const u32 from = p.before[p.a_first[row]], here = blockIdx.x * tile;
        are_here = from < here && here - from <= tile;
        first = blockIdx.x - 1;
        last = (p.before[p.a_first[row + 1]] - 1) / tile;
    }
    __device__ __forceinline__ u32 begin(const Product &p, u32 tile, u32 k) const {
        return k == first ? p.begin[row] : k * tile;
    }
    __device__ __forceinline__ u32 end(const Product &p, u32 tile, u32 k) const {
        return k == last ? p.end[row] : k * tile + p.size[k];
    }
};

__device__ __forceinline__ void find_range(const Product &p, const Runs &runs, u32 tile, RowRoom &room) {
    if (threadIdx.x == 0) {
        room.low = ~0u;
        room.high = 0;
    }
    __syncthreads();
    for (u32 k = runs.first + threadIdx.x; k <= runs.last; k += blockDim.x) {
        atomicMin(&room.low, p.column[runs.begin(p, tile, k)]);
        atomicMax(&room.high, p.column[runs.end(p, tile, k) - 1]);
    }
    __syncthreads();
}

__device__ __forceinline__ u32 *map_of_columns() {
    extern __shared__ unsigned char shared_memory[];
    return reinterpret_cast<u32 *>(shared_memory);
}

// The map, of the columns from `low` on.
__device__ __forceinline__ void mark(const Product &p, const Runs &runs, u32 tile, u32 low, u32 words,
                                     u32 *bits) {
    for (u32 w = threadIdx.x; w < words; w += blockDim.x) bits[w] = 0;
    __syncthreads();
    for (u32 k = runs.first; k <= runs.last; ++k) {
        const u32 end = runs.end(p, tile, k);
        for (u32 i = runs.begin(p, tile, k) + threadIdx.x; i < end; i += blockDim.x) {
            const u32 column = p.column[i] - low;
            if (column / 32 < words) atomicOr(&bits[column / 32], 1u << column % 32);
        }
    }
    __syncthreads();
}

__device__ __forceinline__ u32 words_from(const Product &p, u32 low, u32 high) {
    const u32 words = (high - low) / 32 + 1;
    return words < p.words ? words : p.words;
}

__device__ __forceinline__ void size_shared(const Product &p) {
    u32 *const bits = map_of_columns();
    __shared__ RowRoom room;
    const u32 tile = blockDim.x * items;
    const Runs runs(p, tile);
    if (!runs.are_here) return;
    find_range(p, runs, tile, room);
    u32 mine = 0, all;
    for (u64 low = room.low; low <= room.high; low += u64{p.words} * 32) {
        const u32 words = words_from(p, static_cast<u32>(low), room.high);
        mark(p, runs, tile, static_cast<u32>(low), words, bits);
        for (u32 w = threadIdx.x; w < words; w += blockDim.x) mine += __popc(bits[w]);
        __syncthreads();
    }
    scan(mine, all, room.scan, Plus());
    if (threadIdx.x == 0) p.shared[runs.row] = all;
}

__device__ __forceinline__ void write_shared(const Product &p, const Runs &runs, u32 tile) {
    __shared__ RowRoom room;
    u32 *const bits = map_of_columns(), *const before = bits + p.words;
    const u32 t = threadIdx.x;
    find_range(p, runs, tile, room);
    u32 to = p.c_first[runs.row];
    for (u64 base = room.low; base <= room.high; base += u64{p.words} * 32) {
        const u32 low = static_cast<u32>(base), words = words_from(p, low, room.high),
                  each = (words + blockDim.x - 1) / blockDim.x, begin = t * each < words ? t * each : words,
                  end = begin + each < words ? begin + each : words;
        mark(p, runs, tile, low, words, bits);
        u32 count = 0, all;
        for (u32 w = begin; w < end; ++w) count += __popc(bits[w]);
        u32 place = to + scan(count, all, room.scan, Plus());
        for (u32 w = begin; w < end; ++w) {
            before[w] = place;
            for (u32 left = bits[w]; left != 0; left &= left - 1) {
                p.c_column[place] = low + w * 32 + static_cast<u32>(__ffs(static_cast<int>(left))) - 1;
                p.c_value[place++] = 0;
            }
        }
        __syncthreads();
        for (u32 k = runs.first; k <= runs.last; ++k) {
            const u32 stop = runs.end(p, tile, k);
            for (u32 i = runs.begin(p, tile, k) + t; i < stop; i += blockDim.x) {
                const u32 column = p.column[i] - low, w = column / 32;
                if (w < words) p.c_value[before[w] + __popc(bits[w] & ~(~0u << column % 32))] += p.value[i];
            }
            __syncthreads();
        }
        to += all;
    }
}

// Rows that a tile has whole follow each other there and in C.
__device__ __forceinline__ void write_whole(const Product &p, u32 tile) {
    const u32 from = blockIdx.x * tile, row = p.cuts[blockIdx.x].row, end = from + p.size[blockIdx.x],
              to = from + tile;
    const bool began_before = p.before[p.a_first[row]] < from;
    u32 begin = from, stop = end;
    if (began_before) begin = p.before[p.a_first[row + 1]] <= to ? p.end[row] : end;
    if (to < p.products) {
        const u32 next = p.cuts[blockIdx.x + 1].row;
        if (p.before[p.a_first[next]] < to) stop = next == row && began_before ? begin : p.begin[next];
    }
    const u32 place = p.c_first[began_before ? row + 1 : row];
    for (u32 i = begin + threadIdx.x; i < stop; i += blockDim.x) {
        p.c_column[place + i - begin] = p.column[i];
        p.c_value[place + i - begin] = p.value[i];
    }
}

__device__ __forceinline__ void write(const Product &p) {
    const u32 tile = blockDim.x * items;
    write_whole(p, tile);
    const Runs runs(p, tile);
    if (runs.are_here) write_shared(p, runs, tile);
}
