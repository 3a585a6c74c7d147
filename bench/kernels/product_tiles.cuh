// ---- The product of two sparse matrices, as many single products a tile ----------------------------------
//
// C = A B is, row by row, the sum of B's rows that A's entries name. All single products lie in one list, in
// the order of A's entries, and each tile has as much of it, whatever the rows' lengths. A tile expands its
// products, sorts them by row and column by merge path and adds up equal ones (Dalton, Baxter, Merrill,
// Garland, Olson, "Optimizing Sparse Matrix Operations on GPUs using Merge Path", §III-C). A row that several
// tiles share is put together from what they came to (product_rows.cuh).
//
// merge_path.cuh, most_threads and items stand above. A block has a power of two of threads.

struct Cut { // of a tile's first product
    u32 entry, row;
};

struct Window {             // of a shared row's columns: its entries in C, and where they are before
    u32 size, place, count; // windows of the row
};

struct Product {
    u32 rows, entries; // of A; it has entries
    const u32 *a_first, *a_column;
    const double *a_value;
    const u32 *b_first, *b_column;
    const double *b_value;
    u64 *sums;   // of the tiles of a list that is summed, and over all
    u32 *before; // of each entry of A the products before it, and all
    u32 products;
    Cut *cuts; // of each tile, and A's last entry and row
    u32 *column;
    double *value;             // what tiles came to, each where its products are
    u32 *size;                 // of each tile that
    u32 *begin, *end, *shared; // of each row where it begins and ends there; if tiles share it, its size in C
    u32 *shared_column;
    double *shared_value; // of rows that tiles share, where the row's products are
    Window *window;       // of the tile where such a row begins
    u32 *c_first, *c_column;
    double *c_value;
};

constexpr u32 most_products = most_threads * items, place_bits = 11;
static_assert(most_products <= 1u << place_bits && place_bits + 32 + place_bits <= 64,
              "row, column and place are one key");

struct SortRoom { // of a block
    ScanRoom scan;
    u64 key[most_products]; // each with the place of its number below place_bits
    double value[most_products];
};

struct TileRoom {
    SortRoom sort;
    u32 row[most_products]; // that begins with a product, less the tile's first
};

// ---- Lists of lengths, summed: a pass for the sums of tiles, another for each place ----

template <class Length>
__device__ __forceinline__ void sum_lengths(u32 count, const Length &length, u64 *sums) {
    __shared__ ScanRoom room;
    u64 mine = 0, all;
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const u64 i = (u64{blockIdx.x} * items + k) * blockDim.x + threadIdx.x;
        if (i < count) mine += length(static_cast<u32>(i));
    }
    scan(mine, all, room, Plus());
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

template <class Length>
__device__ __forceinline__ void sum_up(u32 count, const Length &length, u64 *sums, u32 *to) {
    __shared__ ScanRoom room;
    u64 base = 0, before = 0, all;
    for (u32 k = threadIdx.x; k < blockIdx.x; k += blockDim.x) before += sums[k];
    scan(before, base, room, Plus());
    for (int k = 0; k < items; ++k) {
        const u64 i = (u64{blockIdx.x} * items + k) * blockDim.x + threadIdx.x;
        const u64 mine = i < count ? length(static_cast<u32>(i)) : 0, place = scan(mine, all, room, Plus());
        if (i < count) to[i] = static_cast<u32>(base + place);
        base += all;
        if (i + 1 == count) {
            to[count] = static_cast<u32>(base);
            sums[gridDim.x] = base;
        }
    }
}

__device__ __forceinline__ u32 products_of(const Product &p, u32 entry) {
    const u32 row = p.a_column[entry];
    return p.b_first[row + 1] - p.b_first[row];
}

__device__ __forceinline__ u32 size_of(const Product &p, u32 row) {
    const u32 from = p.before[p.a_first[row]], to = p.before[p.a_first[row + 1]], tile = blockDim.x * items;
    if (from == to) return 0;
    return from / tile == (to - 1) / tile ? p.end[row] - p.begin[row] : p.shared[row];
}

__device__ __forceinline__ void cut(const Product &p) {
    const u32 tile = blockDim.x * items, tiles = (p.products - 1) / tile + 1,
              t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t > tiles) return;
    const u32 entry = t < tiles ? row_of(p.before, 0, p.entries - 1, t * tile) : p.entries - 1;
    p.cuts[t] = {entry, row_of(p.a_first, 0, p.rows - 1, entry)};
}

// ---- A tile ----

__device__ __forceinline__ void sort_few(u64 (&key)[items]) { // by neighbours that change places
#pragma unroll
    for (int round = 0; round < items; ++round)
#pragma unroll
        for (int k = round % 2; k + 1 < items; k += 2) {
            const u64 x = key[k], y = key[k + 1];
            key[k] = x < y ? x : y;
            key[k + 1] = x < y ? y : x;
        }
}

// The block's keys in ascending order: each thread's, then runs merged by twos, where each thread finds its
// part of the merge path. Behind `size` they are ~0.
__device__ __forceinline__ void sort(u64 (&key)[items], u32 size, u64 *sorted) {
    const u32 mine = threadIdx.x * items;
    sort_few(key);
#pragma unroll
    for (int k = 0; k < items; ++k) sorted[mine + k] = key[k];
    __syncthreads();
    for (u32 width = items; width < size; width *= 2) {
        const u32 base = mine / (2 * width) * (2 * width), diagonal = mine - base;
        const u64 *const a = sorted + base, *const b = a + width;
        u32 i = first_behind(diagonal > width ? diagonal - width : 0, diagonal < width ? diagonal : width,
                             [&](u32 x) { return a[x] > b[diagonal - 1 - x]; });
        u32 j = diagonal - i;
        u64 x = i < width ? a[i] : ~u64{0}, y = j < width ? b[j] : ~u64{0};
#pragma unroll
        for (int k = 0; k < items; ++k) {
            const bool take = x <= y;
            key[k] = take ? x : y;
            if (take)
                x = ++i < width ? a[i] : ~u64{0};
            else
                y = ++j < width ? b[j] : ~u64{0};
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < items; ++k) sorted[mine + k] = key[k];
        __syncthreads();
    }
}

// Where a key differs from the one before, in the bits from `bits` on; how often that is among a thread's.
__device__ __forceinline__ bool is_head(u32 i, u32 bits, const SortRoom &room) {
    return i == 0 || room.key[i - 1] >> bits != room.key[i] >> bits;
}
__device__ __forceinline__ u32 heads_of(u32 size, u32 bits, const SortRoom &room) {
    u32 heads = 0;
    for (u32 i = threadIdx.x * items; i < (threadIdx.x + 1) * items && i < size; ++i)
        heads += is_head(i, bits, room);
    return heads;
}
// The numbers of equal keys, in the order of their places.
__device__ __forceinline__ double sum_from(u32 i, u32 size, const SortRoom &room) {
    constexpr u64 places = (u64{1} << place_bits) - 1;
    double sum = room.value[room.key[i] & places];
    for (u32 j = i + 1; j < size && room.key[j] >> place_bits == room.key[i] >> place_bits; ++j)
        sum += room.value[room.key[j] & places];
    return sum;
}

// Of each product of the tile its entry of A, less the first one, and where its row begins.
__device__ __forceinline__ void expand(const Product &p, u32 from, u32 size, TileRoom &room, u32 *entries,
                                       u32 *starts) {
    const u32 t = threadIdx.x;
    const Cut first = p.cuts[blockIdx.x], last = p.cuts[blockIdx.x + 1];
    for (u32 i = t; i < blockDim.x * items; i += blockDim.x) entries[i] = room.row[i] = 0;
    __syncthreads();
    // Of those that begin at one place the last has products.
    for (u32 e = first.entry + 1 + t; e <= last.entry; e += blockDim.x) {
        const u32 place = p.before[e] - from;
        if (place < size) atomicMax(&entries[place], e - first.entry);
    }
    for (u32 r = first.row + 1 + t; r <= last.row; r += blockDim.x) {
        const u32 place = p.before[p.a_first[r]] - from;
        if (place < size) atomicMax(&room.row[place], r - first.row);
    }
    __syncthreads();
    u32 entry = 0, start = 0, all;
    for (u32 i = t * items; i < (t + 1) * items; ++i) {
        entry = Most()(entry, entries[i]);
        if (room.row[i] != 0) start = i;
    }
    entry = scan(entry, all, room.sort.scan, Most());
    start = scan(start, all, room.sort.scan, Most());
    for (u32 i = t * items; i < (t + 1) * items; ++i) {
        entry = entries[i] = Most()(entry, entries[i]);
        if (room.row[i] != 0) start = i;
        starts[i] = start;
    }
    __syncthreads();
}

__device__ __forceinline__ void multiply_tile(const Product &p) {
    __shared__ TileRoom tile_room;
    SortRoom &room = tile_room.sort;
    const u32 t = threadIdx.x, tile = blockDim.x * items, from = blockIdx.x * tile,
              size = p.products - from < tile ? p.products - from : tile;
    const Cut first = p.cuts[blockIdx.x];
    // Both lists are where the keys will be.
    u32 *const entries = reinterpret_cast<u32 *>(room.key), *const starts = entries + most_products;
    expand(p, from, size, tile_room, entries, starts);
    u64 key[items];
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const u32 i = t + k * blockDim.x;
        key[k] = ~u64{0};
        if (i >= size) continue;
        const u32 entry = first.entry + entries[i],
                  other = p.b_first[p.a_column[entry]] + (from + i - p.before[entry]);
        key[k] = u64{starts[i]} << (32 + place_bits) | u64{p.b_column[other]} << place_bits | i;
        room.value[i] = p.a_value[entry] * p.b_value[other];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items; ++k) room.key[t + k * blockDim.x] = key[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items; ++k) key[k] = room.key[t * items + k];
    __syncthreads();
    sort(key, size, room.key);
    u32 all, place = from + scan(heads_of(size, place_bits, room), all, room.scan, Plus());
    const auto row_at = [&](u32 i) { return first.row + tile_room.row[room.key[i] >> (32 + place_bits)]; };
    for (u32 i = t * items; i < (t + 1) * items && i < size; ++i) {
        if (!is_head(i, place_bits, room)) continue;
        if (i == 0 ? p.before[p.a_first[first.row]] == from : is_head(i, 32 + place_bits, room)) {
            p.begin[row_at(i)] = place;
            p.shared[row_at(i)] = 0;
            if (i > 0) p.end[row_at(i - 1)] = place;
        }
        p.column[place] = static_cast<u32>(room.key[i] >> place_bits);
        p.value[place++] = sum_from(i, size, room);
    }
    if (t > 0) return;
    p.size[blockIdx.x] = all;
    const u32 last = row_at(size - 1);
    if (p.before[p.a_first[last + 1]] == from + size) p.end[last] = from + all;
}
