// ---- The walk over signs without vanishing prefixes, on a GPU -------------------------------------------
//
// jit/program/sieve.hpp's, a warp a walk, depth first over blocks of prefixes: the next step is the last
// whose block has one for each lane, so that memory is bounded and lanes are busy until all prefixes are
// taken. Products are counted by their codes in whole numbers, whose sums are the same whoever adds them up.
//
// What the steps do is written for the pattern, behind: struct Steps. Above stand first_word, of a prefix as
// the first step reads it, prefix_words, levels, the steps, capacity, of a block, room_words and tables; and
// near_cells, the counts that a warp keeps near, all or none: products are many, and memory adds up slowly.

constexpr u32 warp = 32; // threads of a block

// What follows stands in kernel/sieve_walk.hpp as well.
struct SieveWalks {
    const u32 *prefixes; // each of prefix_words
    u32 *next;           // that no warp has taken
    u32 *room;           // room_words for each warp
    u64 *counts;         // of +1 and -1 by code
    u64 *met;            // prefixes and products
    u32 count, share;    // of prefixes; that a warp takes at once
    u32 stride;          // from one that is taken to the next: neighbours are large or small together

    __device__ __forceinline__ u64 place(u32 k) const { return static_cast<u64>(k) * stride % count; }
};

// Where products are counted.
struct Counts {
    u64 *const all;
    u32 *const near;
    u32 met = 0; // since the near ones were added to all: they hold 32 bits

    __device__ __forceinline__ void add(u64 cell, bool is_negative) {
        if (near_cells > 0)
            atomicAdd(near + cell, is_negative ? ~0u : 1u);
        else
            atomicAdd(all + cell, is_negative ? ~u64{0} : u64{1});
    }
    __device__ __forceinline__ void hand_over() {
        __syncwarp();
        for (u32 k = threadIdx.x; k < near_cells; k += warp) {
            const u32 x = near[k];
            near[k] = 0;
            if (x != 0) atomicAdd(all + k, static_cast<u64>(static_cast<long long>(static_cast<int>(x))));
        }
        met = 0;
        __syncwarp();
    }
};

// The place of a lane's prefix among those that stay, behind `out` others.
__device__ __forceinline__ u32 place_of(bool stays, u32 &out) {
    const u32 votes = __ballot_sync(~0u, stays), below = (1u << threadIdx.x) - 1;
    const u32 place = out + __popc(votes & below);
    out += __popc(votes);
    return place;
}

__device__ __forceinline__ u32 highest(u64 bits) {
    const u32 high = static_cast<u32>(bits >> 32), low = static_cast<u32>(bits);
    return high != 0 ? 63 - __clz(static_cast<int>(high)) : 31 - __clz(static_cast<int>(low));
}
__device__ __forceinline__ u32 lowest(u64 bits) { return __ffsll(static_cast<long long>(bits)) - 1; }

// Prefixes that the blocks of a warp hold, by step.
struct Held {
    u32 *const count;
    u64 full = 0, some = 0; // steps of as many as there are lanes, or of any

    __device__ __forceinline__ void set(u32 step, u32 x) {
        if (threadIdx.x == 0) count[step] = x;
        const u64 bit = u64{1} << step;
        full = x >= warp ? full | bit : full & ~bit;
        some = x > 0 ? some | bit : some & ~bit;
    }
};

template <class Steps> __device__ __forceinline__ void walk_signs(const SieveWalks &all) {
    __shared__ u32 held_counts[levels], tables[table_words], begin, near[near_cells + 1];
    const u32 lane = threadIdx.x;
    u32 *const room = all.room + static_cast<u64>(blockIdx.x) * room_words;
    for (u32 k = lane; k < levels; k += warp) held_counts[k] = 0;
    for (u32 k = lane; k < near_cells; k += warp) near[k] = 0;
    for (u32 k = lane; k < table_words; k += warp) tables[k] = table_values[k];
    __syncwarp();
    Held held{held_counts};
    Counts counts{all.counts, near};
    u64 met = 0;
    for (bool more = true;;) {
        if (held.full == 0 && more) {
            if (lane == 0) begin = atomicAdd(all.next, all.share);
            __syncwarp();
            const u32 from = begin, before = held_counts[0];
            more = from < all.count;
            const u32 left = more ? all.count - from : 0, taken = left < all.share ? left : all.share;
            const u32 *const own = all.prefixes + all.place(from + lane) * prefix_words;
            if (lane < taken)
                for (u32 w = first_word; w < prefix_words; ++w)
                    room[(w - first_word) * capacity + before + lane] = own[w];
            __syncwarp();
            held.set(0, before + taken);
            __syncwarp();
            continue;
        }
        if (held.some == 0) break;
        const u32 step = held.full != 0 ? highest(held.full) : lowest(held.some), count = held_counts[step],
                  taken = count < warp ? count : warp, before = step + 1 < levels ? held_counts[step + 1] : 0;
        const u32 out = Steps::go(step, room, count - taken + lane, lane < taken, before, tables, counts);
        met += out - before;
        __syncwarp();
        held.set(step, count - taken);
        if (step + 1 < levels)
            held.set(step + 1, out);
        else if ((counts.met += out) > 1u << 30)
            counts.hand_over();
        __syncwarp();
    }
    counts.hand_over();
    if (lane == 0) atomicAdd(all.met, met);
}
