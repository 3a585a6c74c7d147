// ---- A period's table, carried along in place (lib/periodic/table/table_program.hpp)
// ---------------------------
//
// Blocks as the dense frontier has them: one for each set of high slots, ranked among those of its size. With
// p the slot of the column that opens with a row, sets without p are computed from themselves and from sets
// with p, which perm_table_open multiplies afterwards. A warp takes a block, or 1/2^parts_log2 of one.
//
// Number, low_slots, high_slots stand above.

constexpr int warp = 32, most_threads = 256; // of a block of threads

struct Row {
    Number *table;
    const u16 *places;    // own, with p, and of each low entry's source; list_size each
    const u32 *high_sets; // by the lower half of a block's number, then by the upper one
    const u32 *ranks;     // of high sets: 2^chunk_bits lower halves; 13 for each upper half
    u64 begin[high_slots + 1];
    u32 sets[low_slots + 1];
    u32 list_begin[low_slots + 2]; // low sets without p, by size
    int low, used;
    int number_bits;
    int parts_log2;
    u32 pivot_high;
    int pivot_low;
    int low_terms, high_terms, is_kept; // the row's entries: a kernel for more takes it as well
    u32 high_bit[high_slots];
    double prime, inverse; // of residues
    double of_pivot[stride], low_coefficient[low_slots][stride], high_coefficient[high_slots][stride];
};

__device__ __forceinline__ Number *block_of(const Row &row, u32 set) { // null: there is none
    const int high = __popc(set), low = row.used - high;
    if (low < 0 || low > row.low) return nullptr;
    return row.table + row.begin[high] + static_cast<u64>(rank_of(row.ranks, set)) * row.sets[low];
}

// The warp's block: which high set without p it is, and which part of it is the warp's.
struct Share {
    u32 set, first, step;
    int low; // slots used in the block's sets

    __device__ __forceinline__ bool has_number(const Row &row) {
        const u64 item = static_cast<u64>(blockIdx.x) * (blockDim.x / warp) + threadIdx.x / warp;
        const u64 number = item >> row.parts_log2;
        if (number >> row.number_bits != 0) return false;
        set = row.high_sets[number & ((1u << chunk_bits) - 1)];
        if (row.number_bits > chunk_bits) set |= row.high_sets[(1u << chunk_bits) + (number >> chunk_bits)];
        low = row.used - __popc(set);
        step = static_cast<u32>(warp) << row.parts_log2;
        first = (static_cast<u32>(item) & ((1u << row.parts_log2) - 1)) * warp + threadIdx.x % warp;
        return true;
    }
    __device__ __forceinline__ bool has_block(const Row &row) {
        return has_number(row) && low >= 0 && low <= row.low;
    }
};

// All sets without p. Several places at once, so that their numbers are on the way together. Without entries
// it clears them: p's column has been met for the last time.
template <int low_terms, int high_terms> __device__ __forceinline__ void fill(const Row &row) {
    constexpr int terms = low_terms + high_terms + 1, numbers = 16 * 8 / sizeof(Number);
    constexpr int together = 4 * terms <= numbers ? 4 : 2 * terms <= numbers ? 2 : 1;
    Share share;
    if (!share.has_block(row)) return;
    const Arithmetic arithmetic = arithmetic_of(row.prime, row.inverse);
    Number *const own = block_of(row, share.set);
    const Number *const base = block_of(row, share.set | row.pivot_high);
    const Number *of_term[high_terms > 0 ? high_terms : 1];
#pragma unroll
    for (int t = 0; t < high_terms; ++t) {
        const bool leads = t < row.high_terms && (share.set & row.high_bit[t]) != 0;
        of_term[t] = leads ? block_of(row, (share.set | row.pivot_high) ^ row.high_bit[t]) : nullptr;
    }
    const u32 begin = row.list_begin[share.low], count = row.list_begin[share.low + 1] - begin;
    const u32 list_size = row.list_begin[low_slots + 1];
    const u16 *const places = row.places + begin;
    for (u32 at = share.first; at < count; at += share.step * together) {
        Number kept[together], low[together][low_terms + 1], high[together][high_terms + 1];
        u32 place[together];
#pragma unroll
        for (int k = 0; k < together; ++k) {
            const u32 r = at + static_cast<u32>(k) * share.step;
            const bool exists = r < count;
            place[k] = exists ? places[r] : no_place;
            kept[k] = exists && row.is_kept ? own[place[k]] : zero();
#pragma unroll
            for (int t = 0; t < low_terms; ++t) {
                const u32 from = exists && t < row.low_terms ? places[(t + 2) * list_size + r] : no_place;
                low[k][t] = from != no_place ? base[from] : zero();
            }
            const u32 with_pivot = exists && high_terms > 0 ? places[list_size + r] : no_place;
#pragma unroll
            for (int t = 0; t < high_terms; ++t)
                high[k][t] = exists && of_term[t] ? of_term[t][with_pivot] : zero();
        }
#pragma unroll
        for (int k = 0; k < together; ++k) {
            Number sum = zero();
            add_product(arithmetic, sum, row.of_pivot, kept[k]);
#pragma unroll
            for (int t = 0; t < low_terms; ++t)
                add_product(arithmetic, sum, row.low_coefficient[t], low[k][t]);
            if (low_terms > 0 && high_terms > 0) reduce(arithmetic, sum);
#pragma unroll
            for (int t = 0; t < high_terms; ++t)
                add_product(arithmetic, sum, row.high_coefficient[t], high[k][t]);
            reduce(arithmetic, sum);
            if (place[k] != no_place) own[place[k]] = sum;
        }
    }
}

// All sets with p.
__device__ __forceinline__ void open(const Row &row) {
    Share share;
    if (!share.has_number(row)) return;
    share.set |= row.pivot_high;
    const int size = row.used - __popc(share.set) - row.pivot_low; // of the low sets without p
    Number *const own = block_of(row, share.set);
    if (!own || size < 0) return;
    const Arithmetic arithmetic = arithmetic_of(row.prime, row.inverse);
    const u32 begin = row.list_begin[size], count = row.list_begin[size + 1] - begin;
    const u16 *const places = row.places + row.list_begin[low_slots + 1] + begin;
    for (u32 at = share.first; at < count; at += share.step) {
        Number sum = zero();
        add_product(arithmetic, sum, row.of_pivot, own[places[at]]);
        reduce(arithmetic, sum);
        own[places[at]] = sum;
    }
}
