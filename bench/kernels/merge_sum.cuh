// ---- The sum of two sparse matrices along a balanced path ------------------------------------------------
//
// C = A + B is the union of their sorted (row, column) pairs (jit/device/balanced_path.cuh). Each tile has as
// many pairs of both, whatever the rows' lengths; in one pass it learns from the tiles before where its own
// output begins (jit/device/chained_tiles.cuh). perm_merge_pairs writes a matrix's pairs out of its rows'
// beginnings.

// merge_path.cuh and jit/device/balanced_path.cuh stand above.

struct Rows {
    u32 rows, entries;
    const u32 *first; // of each row's entries, and their number
    const u32 *column;
};
struct Pairs {
    u64 size;
    const u64 *key; // row 2^32 + column
    const double *value;
};
struct Sum {
    u32 rows;
    u32 *first; // and the number of entries
    u32 *column;
    double *value;
};

struct SumRoom { // of a block
    PathRoom path;
    ChainRoom chain;
};

__device__ __forceinline__ void write_pairs(const Rows &a, u64 *key) {
    __shared__ u32 ends[2];
    const u32 begin = blockIdx.x * blockDim.x * items, all = blockDim.x * items,
              end = a.entries - begin < all ? a.entries : begin + all;
    if (threadIdx.x < 2)
        ends[threadIdx.x] = row_of(a.first, 0, a.rows - 1, threadIdx.x == 0 ? begin : end - 1);
    __syncthreads();
    for (u32 k = begin + threadIdx.x; k < end; k += blockDim.x)
        key[k] = static_cast<u64>(row_of(a.first, ends[0], ends[1], k)) << 32 | a.column[k];
}

__device__ __forceinline__ u64 key_of(const PathRoom &room, unsigned a_size, unsigned source) {
    const unsigned i = source & 0xffff, j = source >> 16;
    return room.key[i != none ? i : a_size + j];
}

// Rows begin where an entry's row is behind that of the entry before.
__device__ __forceinline__ void begin_rows(const Sum &c, u64 after, u64 upto,
                                           u64 place) { // after: a row, and 1
    for (u64 row = after; row <= upto; ++row) c.first[row] = static_cast<u32>(place);
}

__device__ __forceinline__ void add(const Pairs &a, const Pairs &b, const Sum &c, const Chain &chain) {
    __shared__ SumRoom shared;
    PathRoom &room = shared.path;
    const unsigned t = threadIdx.x;
    enter(chain);
    const u64 tile = take_tile(chain, shared.chain), all = a.size + b.size, size = u64{blockDim.x} * items,
              from = smaller(tile * size, all), to = smaller(from + size, all);
    cut_tile(a.key, a.size, b.key, b.size, from, to, room);
    const Cut begin = room.ends[0], end = room.ends[1];
    const auto a_size = static_cast<unsigned>(end.a - begin.a),
               b_size = static_cast<unsigned>(end.b - begin.b);
    for (unsigned x = t; x < a_size + b_size; x += blockDim.x)
        room.key[x] = x < a_size ? a.key[begin.a + x] : b.key[begin.b + x - a_size];
    __syncthreads();
    Part part = part_of(a_size, b_size, room);
    unsigned total;
    const unsigned rank = sum_before(shared.chain, part.size, total);
    announce(chain, chain.sums + tile, total, tile == 0);
    part.write(room.source + rank);
    const u64 base = look_back(chain, chain.sums, tile, total, shared.chain);
    __syncthreads();
    for (unsigned x = t; x < total; x += blockDim.x) {
        const unsigned source = room.source[x], i = source & 0xffff, j = source >> 16;
        const u64 key = key_of(room, a_size, source);
        double value = i != none ? a.value[begin.a + i] : b.value[begin.b + j];
        if (i != none && j != none) value += b.value[begin.b + j];
        c.column[base + x] = static_cast<u32>(key);
        c.value[base + x] = value;
        u64 after = 0; // the row of the entry before, and 1
        if (x > 0) {
            after = (key_of(room, a_size, room.source[x - 1]) >> 32) + 1;
        } else {
            if (begin.a > 0) after = (a.key[begin.a - 1] >> 32) + 1;
            const u64 other = begin.b > 0 ? (b.key[begin.b - 1] >> 32) + 1 : 0;
            after = other > after ? other : after;
        }
        begin_rows(c, after, key >> 32, base + x);
        if (to == all && x + 1 == total) begin_rows(c, (key >> 32) + 1, c.rows, base + total);
    }
}
