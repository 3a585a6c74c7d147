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
// with the columns that close put back into S. A warp fills one block, or 1/2^parts_log2 of it: which block a
// high column takes from is the same for all of it, and for a low column the place inside the source block is
// in a list that all blocks with equally many low slots share. Blocks that differ in the row's own columns
// follow each other, so what they take from comes from the memory once.
//
// Number and most_high stand above.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

constexpr int low_slots = 12, most_threads = 256, warp = 32; // of a block of threads; of a warp
constexpr int chunk_bits = 12;                               // of a high set, looked up at once
constexpr u16 no_place = 0xffff;

// What a high set of the new table is made of; for the lower and the upper half of its number.
struct __align__(16) HighSet {
    u32 to;      // itself, packed
    u32 from;    // with closing columns, without opening ones, packed as the old table's
    u32 present; // which high entries of the row it holds, closing ones too
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
    u32 list_begin[low_slots + 1];                          // of those of each size, in a list of places
    u32 list_size;
    int from_low, to_low;       // open low slots
    int from_weight, to_weight; // slots used in every state
    int high_bits;
    int parts_log2, numbers_log2; // of a block for each warp; of blocks' numbers for each warp
    u32 opening;                  // the high entries whose column is new
    u32 from_bit[most_high];      // of a high entry that is not
    int places_move;              // whether the places for no entry differ from those in the new block
    int low_terms, high_terms;    // the row's entries: a kernel for more takes it as well
    double prime, inverse;        // of residues
    double low_coefficient[low_slots][stride], high_coefficient[most_high][stride];
};

__device__ __forceinline__ u32 rank_of(const u32 *ranks, u32 set) {
    const u32 lower = set & ((1u << chunk_bits) - 1), upper = set >> chunk_bits;
    const u32 rank = ranks[lower];
    return upper == 0 ? rank : rank + ranks[(1u << chunk_bits) + upper * (chunk_bits + 1) + __popc(lower)];
}

__device__ __forceinline__ const Number *source_block(const Row &row, u32 set) {
    const int high = __popc(set), low = row.from_weight - high;
    if (low < 0 || low > row.from_low) return nullptr;
    return row.from + row.from_begin[high] + static_cast<u64>(rank_of(row.ranks, set)) * row.from_sets[low];
}

// Where the high entries take from, by the target's block: all lanes of a warp find the same.
template <int high_terms> struct Block {
    int low; // slots used in it; -1: there is no such block
    Number *to;
    const Number *from;                                     // of the low entries; null: from nowhere
    const Number *of_term[high_terms > 0 ? high_terms : 1]; // of the high ones

    __device__ __forceinline__ Block(const Row &row, u64 number) {
        HighSet set = row.high[number & ((1u << chunk_bits) - 1)];
        if (row.high_bits > chunk_bits) {
            const HighSet upper = row.high[(1u << chunk_bits) + (number >> chunk_bits)];
            set.to |= upper.to, set.from |= upper.from, set.present |= upper.present;
        }
        const int high = __popc(set.to);
        low = row.to_weight - high;
        if (low > row.to_low) low = -1;
        if (low < 0) return;
        const u32 opened = set.present & row.opening; // one row cannot use two new columns
        to = row.to + row.to_begin[high] + static_cast<u64>(rank_of(row.ranks, set.to)) * row.to_sets[low];
        from = opened == 0 ? source_block(row, set.from) : nullptr;
#pragma unroll
        for (int t = 0; t < high_terms; ++t) {
            const u32 bit = 1u << t;
            const bool leads = (set.present & bit) && (opened == 0 || opened == bit);
            of_term[t] = leads ? source_block(row, row.opening & bit ? set.from : set.from ^ row.from_bit[t])
                               : nullptr;
        }
    }
};

// Several places at once, so that their numbers are on the way together. What leads nowhere counts as 0,
// which changes no bit of a sum that begins with +0.
template <int low_terms, int high_terms>
__device__ __forceinline__ void fill_block(const Row &row, const Arithmetic &arithmetic,
                                           const Block<high_terms> &block, u32 part, Extent &extent) {
    constexpr int terms = low_terms + high_terms, numbers = 16 * 8 / sizeof(Number);
    constexpr int together = 4 * terms <= numbers ? 4 : 2 * terms <= numbers ? 2 : 1;
    const u32 count = row.to_sets[block.low], step = static_cast<u32>(warp) << row.parts_log2;
    const u16 *places = row.places + row.list_begin[block.low];
    for (u32 first = part * warp + threadIdx.x % warp; first < count; first += step * together) {
        Number sum[together], low[together][low_terms + 1], high[together][high_terms + 1];
#pragma unroll
        for (int k = 0; k < together; ++k) {
            const u32 r = first + static_cast<u32>(k) * step;
            const bool exists = r < count;
#pragma unroll
            for (int t = 0; t < low_terms; ++t) {
                const u16 place = exists && block.from && t < row.low_terms
                                      ? places[(t + 1) * row.list_size + r]
                                      : no_place;
                low[k][t] = place != no_place ? block.from[place] : zero();
            }
            const u32 place = exists && row.places_move ? places[r] : r;
#pragma unroll
            for (int t = 0; t < high_terms; ++t)
                high[k][t] =
                    exists && block.of_term[t] && place != no_place ? block.of_term[t][place] : zero();
        }
#pragma unroll
        for (int k = 0; k < together; ++k) {
            sum[k] = zero();
#pragma unroll
            for (int t = 0; t < low_terms; ++t)
                add_product(arithmetic, sum[k], row.low_coefficient[t], low[k][t]);
            if (low_terms > 1 && high_terms > 0) reduce(arithmetic, sum[k]);
#pragma unroll
            for (int t = 0; t < high_terms; ++t)
                add_product(arithmetic, sum[k], row.high_coefficient[t], high[k][t]);
            reduce(arithmetic, sum[k]);
            const u32 r = first + static_cast<u32>(k) * step;
            if (r < count) block.to[r] = sum[k];
            extent.take(sum[k]);
        }
    }
}

// Warps take blocks in the order of their numbers, a few numbers each where most of them name no block: all
// that run at the same time are neighbours.
template <int low_terms, int high_terms> __device__ __forceinline__ void fill(const Row &row) {
    const u64 item = static_cast<u64>(blockIdx.x) * (blockDim.x / warp) + threadIdx.x / warp;
    const u32 part = static_cast<u32>(item) & ((1u << row.parts_log2) - 1);
    const u64 first = item >> row.parts_log2 << row.numbers_log2, all = 1ull << row.high_bits;
    const Arithmetic arithmetic = arithmetic_of(row.prime, row.inverse);
    Extent extent;
    for (u64 number = first; number < first + (1u << row.numbers_log2) && number < all; ++number) {
        const Block<high_terms> block(row, number);
        if (block.low >= 0) fill_block<low_terms>(row, arithmetic, block, part, extent);
    }
    add_extent<most_threads>(extent, row.extent);
}
