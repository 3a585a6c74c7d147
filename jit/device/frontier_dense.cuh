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
// Number and most_high, most_terms stand above.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

constexpr int low_slots = 12, most_threads = 256, warp = 32; // of a block of threads; of a warp
constexpr int chunk_bits = 12;                               // of a high set, looked up at once
constexpr u64 no_block = ~0ull;
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
    int high_bits, parts_log2;
    u32 opening;                       // the high entries whose column is new
    u32 from_bit[most_high];           // of a high entry that is not
    int places_move;                   // whether the places for no entry differ from those in the new block
    double coefficient[most_terms][2]; // value, magnitude: of the low entries, then of the high ones
};

__device__ __forceinline__ u32 rank_of(const u32 *ranks, u32 set) {
    const u32 lower = set & ((1u << chunk_bits) - 1), upper = set >> chunk_bits;
    const u32 rank = ranks[lower];
    return upper == 0 ? rank : rank + ranks[(1u << chunk_bits) + upper * (chunk_bits + 1) + __popc(lower)];
}

__device__ __forceinline__ u64 source_block(const Row &row, u32 set) {
    const int high = __popc(set), low = row.from_weight - high;
    if (low < 0 || low > row.from_low) return no_block;
    return row.from_begin[high] + static_cast<u64>(rank_of(row.ranks, set)) * row.from_sets[low];
}

template <int high_terms> struct Block {
    u64 to;
    u64 from;                                     // of the low entries
    u64 of_term[high_terms > 0 ? high_terms : 1]; // of the high ones
    int low;                                      // slots used in it; -1: there is no such block
};

// The lanes of a warp share the work: each looks for one of the blocks' places.
template <int high_terms>
__device__ __forceinline__ void find_blocks(const Row &row, u64 number, bool exists,
                                            Block<high_terms> &block) {
    const u32 lane = threadIdx.x % warp;
    HighSet set = row.high[number & ((1u << chunk_bits) - 1)];
    if (row.high_bits > chunk_bits) {
        const HighSet upper = row.high[(1u << chunk_bits) + (number >> chunk_bits)];
        set.to |= upper.to, set.from |= upper.from, set.present |= upper.present;
    }
    const int high = __popc(set.to), low = row.to_weight - high;
    exists = exists && low >= 0 && low <= row.to_low;
    if (lane == 0) block.low = exists ? low : -1;
    if (!exists) return;
    const u32 opened = set.present & row.opening; // one row cannot use two new columns
    if (lane == 0)
        block.to = row.to_begin[high] + static_cast<u64>(rank_of(row.ranks, set.to)) * row.to_sets[low];
    if (lane == 1) block.from = opened == 0 ? source_block(row, set.from) : no_block;
    for (u32 k = lane; k < warp; k += warp) { // once
        const u32 t = k - 2, bit = 1u << (t & 31);
        if (k < 2 || t >= high_terms) continue;
        const bool leads = (set.present & bit) && (opened == 0 || opened == bit);
        block.of_term[t] =
            leads ? source_block(row, row.opening & bit ? set.from : set.from ^ row.from_bit[t]) : no_block;
    }
}

template <int low_terms, int high_terms>
__device__ __forceinline__ void fill_block(const Row &row, const Block<high_terms> &block, u32 part,
                                           Extent &extent) {
    const u32 count = row.to_sets[block.low], step = static_cast<u32>(warp) << row.parts_log2;
    const u16 *places = row.places + row.list_begin[block.low];
    const Number *from = block.from == no_block ? nullptr : row.from + block.from;
    Number *to = row.to + block.to;
    u64 sources[high_terms > 0 ? high_terms : 1];
#pragma unroll
    for (int t = 0; t < high_terms; ++t) sources[t] = block.of_term[t];
    for (u32 r = part * warp + threadIdx.x % warp; r < count; r += step) {
        Number sum = zero();
        if (low_terms > 0 && from != nullptr) {
#pragma unroll
            for (int t = 0; t < low_terms; ++t) {
                const u16 place = places[(t + 1) * row.list_size + r];
                if (place != no_place) add_product(sum, row.coefficient[t], from[place]);
            }
        }
        const u32 place = row.places_move ? places[r] : r;
        if (high_terms > 0 && place != no_place) {
#pragma unroll
            for (int t = 0; t < high_terms; ++t)
                if (sources[t] != no_block)
                    add_product(sum, row.coefficient[low_terms + t], row.from[sources[t] + place]);
        }
        to[r] = sum;
        extent.take(sum);
    }
}

template <int low_terms, int high_terms> __device__ __forceinline__ void fill(const Row &row) {
    __shared__ Block<high_terms> blocks[most_threads / warp];
    const u32 warps = blockDim.x / warp;
    Block<high_terms> &block = blocks[threadIdx.x / warp];
    const u64 items = 1ull << (row.high_bits + row.parts_log2);
    Extent extent;
    for (u64 first = static_cast<u64>(blockIdx.x) * warps; first < items;
         first += static_cast<u64>(gridDim.x) * warps) {
        const u64 item = first + threadIdx.x / warp;
        const bool exists = item < items;
        find_blocks(row, exists ? item >> row.parts_log2 : 0, exists, block);
        __syncwarp();
        if (block.low >= 0)
            fill_block<low_terms>(row, block, static_cast<u32>(item & ((1u << row.parts_log2) - 1)), extent);
        __syncwarp();
    }
    add_extent<most_threads>(extent, row.extent);
}
