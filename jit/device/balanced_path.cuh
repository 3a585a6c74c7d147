// ---- The union of two sorted lists along a balanced path -------------------------------------------------
//
// Dalton, Baxter, Merrill, Garland, Olson, "Optimizing Sparse Matrix Operations on GPUs using Merge Path",
// §III-B. On diagonal d merge path cuts off the first d keys of both lists together, of equal keys the one of
// `a` first. No key stands twice in a list here, so a pair is cut apart only if the last key of `a` before
// the cut is the first of `b` after it. Such a diagonal is starred: the cut takes that key of `b` as well.
//
// `words` of a key, `items` of a thread, `most_threads` stand above.

constexpr unsigned most_items = most_threads * items + 1; // of a tile that ends with a star
constexpr unsigned none = 0xffff;                         // no item of this list
static_assert(most_items < none && items < 16, "places are 16 bits, a thread's choices 32");

struct Cut {
    u64 a, b;
};

struct PathRoom { // of a block
    u64 key[most_items * words];
    unsigned cut[most_threads + 1]; // where each thread begins, in b and in a: 16 bits each
    unsigned source[most_items];    // of each key of the union its items, in b and in a: 16 bits each
    unsigned before[2];
    Cut ends[2];
};

// Keys as numbers, highest word first: below 0 if x < y.
__device__ __forceinline__ int compare(const u64 *x, const u64 *y) {
    for (int w = 0; w < words; ++w)
        if (x[w] != y[w]) return x[w] < y[w] ? -1 : 1;
    return 0;
}

__device__ __forceinline__ bool is_starred(const u64 *a, const u64 *b, u64 b_size, Cut cut) {
    return cut.a > 0 && cut.b < b_size && compare(a + (cut.a - 1) * words, b + cut.b * words) == 0;
}

// Is item i of `a` among the first `diagonal` ones?
__device__ __forceinline__ bool is_before(const u64 *a, const u64 *b, u64 diagonal, u64 i) {
    return compare(a + i * words, b + (diagonal - 1 - i) * words) <= 0;
}

// The cuts of a tile, from diagonal to diagonal of the whole lists: one half of the block looks for each, and
// asks in every turn as many places as it has threads.
__device__ __forceinline__ void cut_tile(const u64 *a, u64 a_size, const u64 *b, u64 b_size, u64 from, u64 to,
                                         PathRoom &room) {
    const unsigned half = blockDim.x / 2, which = threadIdx.x / half, lane = threadIdx.x % half;
    const u64 diagonal = which == 0 ? from : to;
    u64 low = diagonal > b_size ? diagonal - b_size : 0, high = smaller(diagonal, a_size);
    // Both halves take as many turns, for they wait for each other.
    for (u64 span = smaller(a_size, b_size); span > 0; span /= half) {
        const u64 stretch = (high - low) / half + 1, asked = low + (lane + 1) * stretch - 1;
        if (lane == 0) room.before[which] = 0;
        __syncthreads();
        if (asked < high && is_before(a, b, diagonal, asked)) atomicAdd(&room.before[which], 1u);
        __syncthreads();
        low += room.before[which] * stretch;
        high = smaller(high, low + stretch - 1);
        __syncthreads();
    }
    if (lane == 0) {
        Cut cut{low, diagonal - low};
        if (is_starred(a, b, b_size, cut)) ++cut.b;
        room.ends[which] = cut;
    }
    __syncthreads();
}

// One thread's cut within a tile.
__device__ __forceinline__ Cut cut_at(const u64 *a, unsigned a_size, const u64 *b, unsigned b_size,
                                      unsigned diagonal) {
    unsigned low = diagonal > b_size ? diagonal - b_size : 0;
    unsigned high = diagonal < a_size ? diagonal : a_size;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (is_before(a, b, diagonal, middle))
            low = middle + 1;
        else
            high = middle;
    }
    Cut cut{low, diagonal - low};
    if (is_starred(a, b, b_size, cut)) ++cut.b;
    return cut;
}

// A thread's part of the union: which lists each of its keys comes from, two bits for each.
struct Part {
    unsigned i, j;
    unsigned size = 0, lists = 0;

    __device__ __forceinline__ Part(const u64 *a, const u64 *b, unsigned from, unsigned to)
        : i(from & 0xffff), j(from >> 16) {
        const unsigned i_end = to & 0xffff, j_end = to >> 16;
        for (unsigned x = i, y = j; x < i_end || y < j_end; ++size) {
            const int order = x == i_end ? 1 : y == j_end ? -1 : compare(a + x * words, b + y * words);
            lists |= ((order <= 0 ? 1u : 0u) | (order >= 0 ? 2u : 0u)) << 2 * size;
            x += order <= 0;
            y += order >= 0;
        }
    }
    __device__ __forceinline__ void write(unsigned *source) {
        for (unsigned k = 0; k < size; ++k) {
            const bool from_a = lists >> 2 * k & 1, from_b = lists >> 2 * k & 2;
            source[k] = (from_a ? i : none) | (from_b ? j : none) << 16;
            i += from_a;
            j += from_b;
        }
    }
};

// The tile's keys stand in room.key, those of `a` first.
__device__ __forceinline__ Part part_of(unsigned a_size, unsigned b_size, PathRoom &room) {
    const u64 *a = room.key, *b = room.key + a_size * words;
    const unsigned t = threadIdx.x, size = a_size + b_size, diagonal = t * items < size ? t * items : size;
    const Cut cut = cut_at(a, a_size, b, b_size, diagonal);
    room.cut[t] = static_cast<unsigned>(cut.a | cut.b << 16);
    if (t == 0) room.cut[blockDim.x] = a_size | b_size << 16;
    __syncthreads();
    return Part(a, b, room.cut[t], room.cut[t + 1]);
}
