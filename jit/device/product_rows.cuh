// ---- Rows of a product that tiles share ------------------------------------------------------------------
//
// What tiles have of such a row, each in a run, is put together in their order, by a map of the columns that
// it has: a bit for each. So nothing is sorted twice, and each sum has one order. The columns fall into
// windows, and the tiles behind the row's first one have a share of these.
//
// device/product_tiles.cuh stands above; columns are below 2^31.

constexpr u32 columns_of_thread = 16, least_of_thread = 2, most_windows = 64;

struct MapRoom { // of a block
    ScanRoom scan;
    u32 low, high;
    u32 begin[most_threads], end[most_threads]; // of runs, in a piece
    u32 bits[most_threads * columns_of_thread / 32];
};

struct SumRoom {
    double sum[most_threads * columns_of_thread];
    u32 before[most_threads * columns_of_thread / 32];
};

struct SharedRow {
    u32 row, first, last; // tiles
    bool is_here;         // in this block's tile, and began before
    u32 low, width, pieces, pieces_of_window, windows;

    __device__ __forceinline__ SharedRow(const Product &p, u32 tile) : row(p.cuts[blockIdx.x].row) {
        const u32 from = p.before[p.a_first[row]];
        is_here = from < blockIdx.x * tile;
        first = from / tile;
        last = (p.before[p.a_first[row + 1]] - 1) / tile;
    }
    __device__ __forceinline__ u32 begin(const Product &p, u32 tile, u32 k) const {
        return k == first ? p.begin[row] : k * tile;
    }
    __device__ __forceinline__ u32 end(const Product &p, u32 tile, u32 k) const {
        return k == last ? p.end[row] : k * tile + p.size[k];
    }
    __device__ __forceinline__ u32 *sizes(const Product &p) const { return p.window + first * most_windows; }

    // A piece is what a block has room for; or less, that each tile has one.
    __device__ __forceinline__ void cut(const Product &p, u32 tile, MapRoom &room) {
        if (threadIdx.x == 0) {
            room.low = ~0u;
            room.high = 0;
        }
        __syncthreads();
        for (u32 k = first + threadIdx.x; k <= last; k += blockDim.x) {
            atomicMin(&room.low, p.column[begin(p, tile, k)]);
            atomicMax(&room.high, p.column[end(p, tile, k) - 1]);
        }
        __syncthreads();
        low = room.low;
        const u32 range = room.high - low + 1, most = blockDim.x * columns_of_thread,
                  least = blockDim.x * least_of_thread, share = range / (last - first) + 1;
        width = share < least ? least : share > most ? most : (share + 31) / 32 * 32;
        pieces = (range - 1) / width + 1;
        pieces_of_window = (pieces - 1) / most_windows + 1;
        windows = (pieces - 1) / pieces_of_window + 1;
    }
};

// Runs of a piece, as many at once as there are threads: visit(their number), they stand in the room.
template <class Visit>
__device__ __forceinline__ void visit_runs(const Product &p, const SharedRow &row, u32 tile, u32 low,
                                           MapRoom &room, const Visit &visit) {
    const u32 t = threadIdx.x;
    for (u32 k = row.first; k <= row.last; k += blockDim.x) {
        if (k + t <= row.last) {
            u32 begin = row.begin(p, tile, k + t), end = row.end(p, tile, k + t);
            if (row.pieces > 1) {
                begin = first_behind(begin, end, [&](u32 i) { return p.column[i] >= low; });
                end = first_behind(begin, end, [&](u32 i) { return p.column[i] >= low + row.width; });
            }
            room.begin[t] = begin;
            room.end[t] = end;
        }
        __syncthreads();
        visit(row.last - k + 1 < blockDim.x ? row.last - k + 1 : blockDim.x);
        __syncthreads();
    }
}

// The map of a piece; as many threads for a run as there are for all.
__device__ __forceinline__ void mark(const Product &p, const SharedRow &row, u32 tile, u32 low,
                                     MapRoom &room) {
    const u32 t = threadIdx.x;
    if (t < row.width / 32) room.bits[t] = 0;
    visit_runs(p, row, tile, low, room, [&](u32 runs) {
        u32 group = blockDim.x;
        while (group > 32 && blockDim.x / group < runs) group /= 2;
        for (u32 k = t / group; k < runs; k += blockDim.x / group)
#pragma unroll 4
            for (u32 i = room.begin[k] + t % group; i < room.end[k]; i += group) {
                const u32 column = p.column[i] - low;
                atomicOr(&room.bits[column / 32], 1u << column % 32);
            }
    });
}

// The sums of a piece, run by run; the next one's numbers are on their way meanwhile.
__device__ __forceinline__ void add_up(const Product &p, const SharedRow &row, u32 tile, u32 low,
                                       MapRoom &room, double *sum) {
    const u32 t = threadIdx.x;
    for (u32 i = t; i < row.width; i += blockDim.x) sum[i] = 0;
    visit_runs(p, row, tile, low, room, [&](u32 runs) {
        u32 i = room.begin[0] + t, end = room.end[0];
        u32 column = i < end ? p.column[i] : 0;
        double value = i < end ? p.value[i] : 0;
        for (u32 k = 0; k < runs; ++k) {
            const u32 next = k + 1 < runs ? room.begin[k + 1] + t : 0,
                      next_end = k + 1 < runs ? room.end[k + 1] : 0;
            const u32 next_column = next < next_end ? p.column[next] : 0;
            const double next_value = next < next_end ? p.value[next] : 0;
            if (i < end) sum[column - low] += value;
            for (i += blockDim.x; i < end; i += blockDim.x) sum[p.column[i] - low] += p.value[i];
            __syncthreads();
            i = next, end = next_end, column = next_column, value = next_value;
        }
    });
}

// visit(window, the first column of each of its pieces) for the windows of this block.
template <class Begin, class Visit, class End>
__device__ __forceinline__ void for_windows(const SharedRow &row, const Begin &begin, const Visit &visit,
                                            const End &end) {
    for (u32 w = blockIdx.x - row.first - 1; w < row.windows; w += row.last - row.first) {
        begin(w);
        for (u32 k = 0; k < row.pieces_of_window; ++k) {
            const u32 piece = w * row.pieces_of_window + k;
            if (piece < row.pieces) visit(row.low + piece * row.width);
        }
        end(w);
    }
}

__device__ __forceinline__ void size_shared(const Product &p) {
    __shared__ MapRoom room;
    const u32 tile = blockDim.x * items, t = threadIdx.x;
    SharedRow row(p, tile);
    if (!row.is_here) return;
    row.cut(p, tile, room);
    u32 mine = 0, all;
    for_windows(
        row, [&](u32) { mine = 0; },
        [&](u32 low) {
            mark(p, row, tile, low, room);
            if (t < row.width / 32) mine += static_cast<u32>(__popc(room.bits[t]));
        },
        [&](u32 window) {
            scan(mine, all, room.scan, Plus());
            if (t > 0) return;
            row.sizes(p)[window] = all;
            atomicAdd(&p.shared[row.row], all);
        });
}

__device__ __forceinline__ void write_shared(const Product &p, SharedRow row, u32 tile) {
    __shared__ MapRoom room;
    __shared__ SumRoom sums;
    const u32 t = threadIdx.x;
    row.cut(p, tile, room);
    u32 place = 0;
    for_windows(
        row,
        [&](u32 window) {
            place = p.c_first[row.row];
            for (u32 w = 0; w < window; ++w) place += row.sizes(p)[w];
        },
        [&](u32 low) {
            mark(p, row, tile, low, room);
            u32 all;
            const u32 count = t < row.width / 32 ? static_cast<u32>(__popc(room.bits[t])) : 0,
                      before = scan(count, all, room.scan, Plus());
            if (t < row.width / 32) sums.before[t] = place + before;
            add_up(p, row, tile, low, room, sums.sum);
            for (u32 i = t; i < row.width; i += blockDim.x) {
                const u32 bits = room.bits[i / 32], bit = 1u << i % 32;
                if ((bits & bit) == 0) continue;
                const u32 to = sums.before[i / 32] + static_cast<u32>(__popc(bits & (bit - 1)));
                p.c_column[to] = low + i;
                p.c_value[to] = sums.sum[i];
            }
            place += all;
            __syncthreads();
        },
        [](u32) {});
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
    const SharedRow row(p, tile);
    if (row.is_here) write_shared(p, row, tile);
}
