// ---- A row of the dense frontier -----------------------------------------------------------------------
//
// Before and after a row, the states are the subsets of one size of the open columns' slots. They are stored
// ranked, without the dead ones: one block of numbers for each subset h of the high slots, which holds the
// subsets of the low slots that complete the size, ascending. Blocks of equally many high slots stand side by
// side, in ascending order of h: both kinds of sets are ranked as combinations are (Knuth, TAOCP
// 4A, 7.2.1.3).
//
//     to[S] = sum over the row's entries j in S of a[j] * from[S - j]
//
// with the columns that close put back into S. The blocks that differ in the first high entries' columns
// alone are a *cube*, which a block of threads fills: a thread takes a low set, for which the sets of these
// entries that complete the size are all of one weight, and so are the sources, one less: they are read once,
// and serve all sums that they go into. Other entries lead to other cubes, low ones to another place of the
// same blocks, which is in a list that all blocks with equally many low slots share. Cubes that differ in the
// row's own columns follow each other, so what they take from comes from the memory once.
//
// Number, most_high and most_cube stand above.

constexpr int low_slots = 12, most_threads = 256; // of a block of threads

// What a cube's high sets have in common; for the lower and the upper half of its number.
struct __align__(16) HighSet {
    u32 to;      // in the new table, packed
    u32 from;    // with closing columns, without opening ones, packed as the old table's
    u32 present; // which of the row's other high entries it holds, closing ones too
    u32 unused;
};

struct Row {
    const Number *from;
    Number *to;
    const u16 *places;   // of the source in its block: for no entry, then for each low one; list_size each
    const HighSet *high; // 2^chunk_bits for the lower half, then the upper half's
    const u32 *ranks;    // of packed sets: 2^chunk_bits lower halves; 13 for each upper half
    u64 *extent;         // bits of the largest magnitude, and of the smallest that is not 0
    u64 from_begin[most_high + 1], to_begin[most_high + 1]; // of the blocks with so many high slots
    u32 from_sets[low_slots + 1], to_sets[low_slots + 1];   // low sets of each size
    u32 list_begin[low_slots + 2];                          // of those of each size, in a list of places
    u32 list_size;
    int from_low, to_low;           // open low slots
    int from_weight, to_weight;     // slots used in every state
    int cube_bits;                  // of the cubes' numbers
    int parts_log2, numbers_log2;   // of a cube for each block of threads; of cubes for one
    int cube_terms;                 // of the row; a kernel for more takes it as well
    u32 cube_opening, cube_closing; // of them
    u32 cube_to[most_cube];         // their columns' bits in the new table's packed sets; 0: not open there
    u32 cube_from[most_cube];       // in the old table's
    u32 opening;                    // the other high entries whose column is new
    u32 from_bit[most_high];        // of such an entry that is not
    int places_move;                // whether the places for no entry differ from those in the new block
    int low_terms;                  // the row's low entries: a kernel for more takes it as well
    double prime, inverse;          // of residues
    double low_coefficient[low_slots][stride], high_coefficient[most_high][stride];
};

__device__ __forceinline__ const Number *source_block(const Row &row, u32 set) {
    const int high = __popc(set), low = row.from_weight - high;
    if (low < 0 || low > row.from_low) return nullptr;
    return row.from + row.from_begin[high] + static_cast<u64>(rank_of(row.ranks, set)) * row.from_sets[low];
}
__device__ __forceinline__ Number *target_block(const Row &row, u32 set) {
    const int high = __popc(set), low = row.to_weight - high;
    if (low < 0 || low > row.to_low) return nullptr;
    return row.to + row.to_begin[high] + static_cast<u64>(rank_of(row.ranks, set)) * row.to_sets[low];
}

__device__ __forceinline__ HighSet high_set(const Row &row, u64 number) {
    HighSet set = row.high[number & ((1u << chunk_bits) - 1)];
    if (row.cube_bits > chunk_bits) {
        const HighSet upper = row.high[(1u << chunk_bits) + (number >> chunk_bits)];
        set.to |= upper.to, set.from |= upper.from, set.present |= upper.present;
    }
    return set;
}

// The blocks of a cube, by the set of its entries that they hold; null: there is none, or nothing comes from
// it.
template <int cube, int others> struct Cube {
    Number *to[1 << cube];
    const Number *from[1 << cube];                              // of a set less an entry, and of the low ones
    const Number *of_other[others > 0 ? others : 1][1 << cube]; // of other high entries

    // A row cannot use two new columns: sums of sets with two are 0.
    __device__ __forceinline__ void find_block(const Row &row, const HighSet &common, u32 k) {
        const u32 set = k & ((1u << cube) - 1), what = k >> cube;
        const u32 opened = common.present & row.opening, cube_opened = set & row.cube_opening;
        u32 to_bits = common.to, from_bits = common.from;
#pragma unroll
        for (int t = 0; t < cube; ++t)
            if (set >> t & 1) to_bits |= row.cube_to[t], from_bits |= row.cube_from[t];
        const bool exists = set >> row.cube_terms == 0;
        if (what == 0) {
            const bool closes = (set & row.cube_closing) == row.cube_closing;
            to[set] = exists && closes ? target_block(row, to_bits) : nullptr;
        } else if (what == 1) {
            from[set] = exists && opened == 0 && cube_opened == 0 ? source_block(row, from_bits) : nullptr;
        } else {
            const u32 t = what - 2, bit = 1u << t;
            const bool leads =
                exists && (common.present & bit) && (opened == 0 || opened == bit) && cube_opened == 0;
            of_other[t][set] =
                leads ? source_block(row, row.opening & bit ? from_bits : from_bits ^ row.from_bit[t])
                      : nullptr;
        }
    }
};

// The sets of a cube's entries, by how many they hold.
template <int cube> struct Sets {
    int count[cube + 1] = {}, set[cube + 1][1 << cube] = {};

    __device__ constexpr Sets() {
        for (int k = 0; k < 1 << cube; ++k) {
            int used = 0;
            for (int bits = k; bits != 0; bits &= bits - 1) ++used;
            set[used][count[used]++] = k;
        }
    }
};

// What comes from the row's entries outside of the cube: numbers of the blocks of one set.
template <int low_terms, int others> struct Outside { Number low[low_terms + 1], other[others + 1]; };

// The low entries first, then the cube's, then the others: by slot, as on a CPU.
template <int low_terms, int cube, int others>
__device__ __forceinline__ Number sum_of(const Row &row, const Arithmetic &arithmetic, int set,
                                         const Number *from, const Outside<low_terms, others> &outside) {
    Number sum = zero();
#pragma unroll
    for (int t = 0; t < low_terms; ++t) add_product(arithmetic, sum, row.low_coefficient[t], outside.low[t]);
    if (low_terms > 1 && cube + others > 0) reduce(arithmetic, sum);
#pragma unroll
    for (int t = 0; t < cube; ++t)
        if (set >> t & 1) add_product(arithmetic, sum, row.high_coefficient[t], from[set ^ (1 << t)]);
#pragma unroll
    for (int t = 0; t < others; ++t)
        add_product(arithmetic, sum, row.high_coefficient[cube + t], outside.other[t]);
    reduce(arithmetic, sum);
    return sum;
}

// A number of a block; what leads nowhere counts as 0, which changes no bit of a sum that begins with +0.
__device__ __forceinline__ Number number_at(const Number *block, u32 place) {
    return block && place != no_place ? block[place] : zero();
}

// The numbers of the r-th low set in all blocks that hold `used` of the cube's entries, several at once, so
// that what they read is on the way together.
template <int used, int low_terms, int cube, int others>
__device__ __forceinline__ void fill_sets(const Row &row, const Arithmetic &arithmetic,
                                          const Cube<cube, others> &blocks, u32 r, u32 in_list,
                                          Extent &extent) {
    constexpr Sets<cube> sets;
    constexpr int count = sets.count[used], before = used > 0 ? sets.count[used - 1] : 0;
    constexpr int terms = low_terms + others, numbers = 16 * 8 / sizeof(Number);
    constexpr int most = terms == 0 ? count : terms < numbers ? numbers / terms : 1;
    constexpr int together = most < count ? most : count;
    const u16 *places = row.places + in_list;
    const u32 place = row.places_move ? places[0] : r;
    u32 low_place[low_terms + 1];
#pragma unroll
    for (int t = 0; t < low_terms; ++t)
        low_place[t] = t < row.low_terms ? places[(t + 1) * row.list_size] : no_place;
    Number from[1 << cube];
#pragma unroll
    for (int k = 0; k < before; ++k) {
        const int set = sets.set[used - 1][k];
        from[set] = number_at(blocks.from[set], place);
    }
#pragma unroll
    for (int first = 0; first < count; first += together) {
        Outside<low_terms, others> outside[together];
#pragma unroll
        for (int k = 0; k < together; ++k) {
            if (first + k >= count) continue;
            const int set = sets.set[used][first + k];
#pragma unroll
            for (int t = 0; t < low_terms; ++t) outside[k].low[t] = number_at(blocks.from[set], low_place[t]);
#pragma unroll
            for (int t = 0; t < others; ++t) outside[k].other[t] = number_at(blocks.of_other[t][set], place);
        }
#pragma unroll
        for (int k = 0; k < together; ++k) {
            if (first + k >= count) continue;
            const int set = sets.set[used][first + k];
            const Number sum = sum_of<low_terms, cube, others>(row, arithmetic, set, from, outside[k]);
            Number *to = blocks.to[set];
            if (!to) continue; // for all threads
            to[r] = sum;
            extent.take(sum);
        }
    }
}

template <int used, int low_terms, int cube, int others>
__device__ __forceinline__ void fill_sets_of(int weight, const Row &row, const Arithmetic &arithmetic,
                                             const Cube<cube, others> &blocks, u32 r, u32 in_list,
                                             Extent &extent) {
    if (weight == used)
        fill_sets<used, low_terms>(row, arithmetic, blocks, r, in_list, extent);
    else if constexpr (used < cube)
        fill_sets_of<used + 1, low_terms>(weight, row, arithmetic, blocks, r, in_list, extent);
}

// Blocks of threads take cubes in the order of their numbers, a few numbers each where most of them name no
// cube: all that run at the same time are neighbours.
template <int low_terms, int cube, int others> __device__ __forceinline__ void fill(const Row &row) {
    static_assert(cube <= most_cube && cube + others <= most_high, "coefficients");
    __shared__ Cube<cube, others> blocks;
    const u64 item = blockIdx.x;
    const u32 part = static_cast<u32>(item) & ((1u << row.parts_log2) - 1);
    const u64 first = item >> row.parts_log2 << row.numbers_log2, all = 1ull << row.cube_bits;
    const Arithmetic arithmetic = arithmetic_of(row.prime, row.inverse);
    Extent extent;
    for (u64 number = first; number < first + (1u << row.numbers_log2) && number < all; ++number) {
        const HighSet common = high_set(row, number);
        // A low set of w slots goes with `rest` - w of the cube's entries.
        const int closing = __popc(row.cube_closing), rest = row.to_weight - __popc(common.to) + closing;
        const int begin = rest - row.cube_terms < 0 ? 0 : rest - row.cube_terms,
                  end = rest - closing < row.to_low ? rest - closing + 1 : row.to_low + 1;
        if (begin >= end) continue;
        __syncthreads(); // for those still in the last cube
        for (u32 k = threadIdx.x; k < (2u + others) << cube; k += blockDim.x)
            blocks.find_block(row, common, k);
        __syncthreads();
        int weight = begin;
        for (u32 k = row.list_begin[begin] + part * blockDim.x + threadIdx.x; k < row.list_begin[end];
             k += blockDim.x << row.parts_log2) {
            while (k >= row.list_begin[weight + 1]) ++weight;
            fill_sets_of<0, low_terms>(rest - weight, row, arithmetic, blocks, k - row.list_begin[weight], k,
                                       extent);
        }
    }
    add_extent<most_threads>(extent, row.extent);
}
