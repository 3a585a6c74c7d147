// ---- Rows of a product that tiles share ------------------------------------------------------------------
//
// What tiles have of such a row, each in a run, is sorted together once more, piece by piece: columns that
// have no more entries than a tile. Equal ones are added up in the order of their tiles. The tiles behind the
// row's first one have a share of its columns each, in windows.
//
// product_tiles.cuh stands above; columns are below 2^31.

constexpr u32 most_windows = 256;

struct PieceRoom { // of a block
    SortRoom sort;
    u32 low, high, entries;
    u32 begin[most_threads], end[most_threads], place[most_threads]; // of runs
};

struct SharedRow {
    u32 row, first, last; // tiles
    bool is_here;         // in this block's tile, and began before
    u32 low, high, width, windows, piece;

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
    __device__ __forceinline__ Window *window(const Product &p) const {
        return p.window + first * most_windows;
    }

    // Columns into windows, and how many of them are thought to be a piece.
    __device__ __forceinline__ void cut(const Product &p, u32 tile, PieceRoom &room) {
        if (threadIdx.x == 0) {
            room.low = ~0u;
            room.high = room.entries = 0;
        }
        __syncthreads();
        for (u32 k = first + threadIdx.x; k <= last; k += blockDim.x) {
            const u32 from = begin(p, tile, k), to = end(p, tile, k);
            atomicMin(&room.low, p.column[from]);
            atomicMax(&room.high, p.column[to - 1] + 1);
            atomicAdd(&room.entries, to - from);
        }
        __syncthreads();
        low = room.low;
        high = room.high;
        const u32 range = high - low, tiles = last - first,
                  most = tiles < most_windows ? tiles : most_windows, each = tile * 3 / 4;
        width = (range - 1) / most + 1;
        windows = (range - 1) / width + 1;
        piece = room.entries <= tile ? range : static_cast<u32>(u64{range} * each / room.entries) + 1;
    }
};

// The row's entries in columns from `low` to `high`, run by run; more than a tile: only their number counts.
__device__ __forceinline__ u32 gather(const Product &p, const SharedRow &row, u32 tile, u32 low, u32 high,
                                      PieceRoom &room) {
    const u32 t = threadIdx.x;
    const bool is_all = low == row.low && high == row.high;
    u32 total = 0;
    for (u32 k = row.first; k <= row.last && total <= tile; k += blockDim.x) {
        u32 begin = 0, end = 0, all;
        if (k + t <= row.last) {
            begin = row.begin(p, tile, k + t);
            end = row.end(p, tile, k + t);
            if (!is_all) {
                begin = first_behind(begin, end, [&](u32 i) { return p.column[i] >= low; });
                end = first_behind(begin, end, [&](u32 i) { return p.column[i] >= high; });
            }
        }
        const u32 place = total + scan(end - begin, all, room.sort.scan, Plus());
        total += all;
        if (total > tile) break;
        room.begin[t] = begin;
        room.end[t] = end;
        room.place[t] = place;
        __syncthreads();
        const u32 runs = row.last - k + 1 < blockDim.x ? row.last - k + 1 : blockDim.x;
        u32 group = blockDim.x; // threads for a run
        while (group > 32 && blockDim.x / group < runs) group /= 2;
        for (u32 r = t / group; r < runs; r += blockDim.x / group)
            for (u32 i = room.begin[r] + t % group; i < room.end[r]; i += group) {
                const u32 to = room.place[r] + (i - room.begin[r]);
                room.sort.key[to] = u64{p.column[i] - low} << place_bits | to;
                room.sort.value[to] = p.value[i];
            }
        __syncthreads();
    }
    return total;
}

// One column of which more tiles than a tile has places have an entry.
__device__ __forceinline__ double sum_column(const Product &p, const SharedRow &row, u32 tile, u32 column,
                                             PieceRoom &room) {
    const u32 t = threadIdx.x;
    double sum = 0;
    for (u32 k = row.first; k <= row.last; k += blockDim.x) {
        room.sort.value[t] = 0;
        if (k + t <= row.last) {
            const u32 end = row.end(p, tile, k + t),
                      i = first_behind(row.begin(p, tile, k + t), end,
                                       [&](u32 x) { return p.column[x] >= column; });
            if (i < end && p.column[i] == column) room.sort.value[t] = p.value[i];
        }
        __syncthreads();
        for (u32 i = 0; i < blockDim.x; ++i) sum += room.sort.value[i];
        __syncthreads();
    }
    return sum;
}

// Where a window's sums stand until C has room: as many places on as the row has entries before it.
__device__ __forceinline__ u32 place_of(const Product &p, const SharedRow &row, u32 tile, u32 low,
                                        PieceRoom &room) {
    u32 mine = 0, all;
    for (u32 k = row.first + threadIdx.x; k <= row.last; k += blockDim.x) {
        const u32 begin = row.begin(p, tile, k), end = row.end(p, tile, k);
        mine += first_behind(begin, end, [&](u32 i) { return p.column[i] >= low; }) - begin;
    }
    scan(mine, all, room.sort.scan, Plus());
    return p.before[p.a_first[row.row]] + all;
}

__device__ __forceinline__ u32 put_together(const Product &p, const SharedRow &row, u32 tile, u32 begin,
                                            u32 stop, u32 place, PieceRoom &room) {
    const u32 t = threadIdx.x;
    u32 size = 0, piece = row.piece;
    for (u32 low = begin; low < stop;) {
        const u32 high = stop - low < piece ? stop : low + piece,
                  total = gather(p, row, tile, low, high, room);
        if (total > tile && high - low > 1) {
            piece = (high - low + 1) / 2;
            continue;
        }
        u32 all = 1;
        if (total > tile) {
            const double sum = sum_column(p, row, tile, low, room);
            if (t == 0) {
                p.shared_column[place + size] = low;
                p.shared_value[place + size] = sum;
            }
        } else {
            u64 key[items];
#pragma unroll
            for (int k = 0; k < items; ++k) {
                const u32 i = t * items + k;
                key[k] = i < total ? room.sort.key[i] : ~u64{0};
            }
            __syncthreads();
            sort(key, total, room.sort.key);
            const u32 heads = heads_of(total, place_bits, room.sort);
            u32 to = place + size + scan(heads, all, room.sort.scan, Plus());
            for (u32 i = t * items; i < (t + 1) * items && i < total; ++i) {
                if (!is_head(i, place_bits, room.sort)) continue;
                p.shared_column[to] = low + static_cast<u32>(room.sort.key[i] >> place_bits);
                p.shared_value[to++] = sum_from(i, total, room.sort);
            }
            __syncthreads();
        }
        size += all;
        low = high;
        if (total < tile / 4 && piece < row.width) piece *= 2;
    }
    return size;
}

__device__ __forceinline__ void add_shared(const Product &p) {
    __shared__ PieceRoom room;
    const u32 tile = blockDim.x * items;
    SharedRow row(p, tile);
    if (!row.is_here) return;
    row.cut(p, tile, room);
    for (u32 w = blockIdx.x - row.first - 1; w < row.windows; w += row.last - row.first) {
        const u32 begin = row.low + w * row.width,
                  stop = row.high - begin < row.width ? row.high : begin + row.width,
                  place = place_of(p, row, tile, begin, room),
                  size = put_together(p, row, tile, begin, stop, place, room);
        if (threadIdx.x > 0) continue;
        row.window(p)[w] = {size, place, row.windows};
        atomicAdd(&p.shared[row.row], size);
    }
}

__device__ __forceinline__ void write_shared(const Product &p, const SharedRow &row) {
    __shared__ ScanRoom room;
    const Window *const window = row.window(p);
    const u32 t = threadIdx.x, windows = window->count;
    for (u32 w = blockIdx.x - row.first - 1; w < windows; w += row.last - row.first) {
        u32 mine = 0, before;
        for (u32 k = t; k < w; k += blockDim.x) mine += window[k].size;
        scan(mine, before, room, Plus());
        const u32 to = p.c_first[row.row] + before, from = window[w].place;
        for (u32 i = t; i < window[w].size; i += blockDim.x) {
            p.c_column[to + i] = p.shared_column[from + i];
            p.c_value[to + i] = p.shared_value[from + i];
        }
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
    const SharedRow row(p, tile);
    if (row.is_here) write_shared(p, row);
}
