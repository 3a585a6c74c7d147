// ---- A join of two lists of states (lib/frontier/sparse_join.hpp) -----------------------------------------
//
// A state's bits are put into an order in which the lines that both sides have stand above those that one has
// alone: its *pattern* and its *own* bits. Patterns and own bits that occur are marked in words of 32 and get
// ranks in their ascending order; each side becomes a table of numbers by rank of the pattern, then of the
// own bits, in which absent states are 0. For each pattern of the lines that stay the pairs of rows that meet
// are listed in ascending order of the left pattern; a thread adds up the products for some targets in that
// order, as the CPU does, into sums that stand in the order of the states they become, and those that are not
// 0 are taken.

// Bits of a word of a key that move together.
struct BitRun {
    u64 word, from, to, mask;
};

// Sets of bits that occur, each a place in `marks`.
struct Ranking {
    unsigned *marks, *before; // sets marked in the words before
    unsigned *sets;           // ascending
    u64 words;

    __device__ __forceinline__ bool holds(u64 set) const { return marks[set / 32] >> set % 32 & 1; }
    __device__ __forceinline__ unsigned rank(u64 set) const {
        return before[set / 32] + __popc(marks[set / 32] & ((1U << set % 32) - 1));
    }
    __device__ __forceinline__ void mark(u64 set) const {
        const unsigned bit = 1U << set % 32;
        if ((*static_cast<volatile unsigned *>(marks + set / 32) & bit) == 0) atomicOr(marks + set / 32, bit);
    }
};

struct Side {
    const u64 *keys; // `words` each
    const Number *numbers;
    u64 states, own_bits;
    const BitRun *runs;
    u64 run_count;
    u64 *bits; // of each state, in their new order
    Ranking patterns, own;
    Number *table;
    u64 ranks;       // of own bits: a row of the table
    unsigned *sizes; // states of each pattern
};

// Rows of the tables.
struct Pair {
    unsigned left, right;
};

// Pairs for patterns of the lines that stay, each pattern's candidates in slices of equally many.
struct Search {
    Ranking left, right;
    u64 left_patterns;
    const unsigned *left_sizes, *right_sizes;
    u64 closing, staying, rows; // masks of a pattern; of the left side those of its lines that are rows
    u64 slices, by_subsets;
};

constexpr unsigned weights = 32; // that a left pattern may have, and more

struct JoinReport {
    u64 products, states;
    u64 largest, smallest; // an Extent's bits
    u64 most_items;        // pairs of a pattern whose left ones have one weight, at most
};

// `rows` left ranks from `first` on, and all right ones, of some patterns of the lines that stay.
struct Targets {
    const Number *left, *right;
    u64 left_ranks, right_ranks;
    const Pair *pairs;
    const u64 *begins; // of each slice of each pattern, and the end
    u64 slices, patterns, first, rows;
    Number *sums; // by pattern, left rank, right rank
    double prime, inverse;
};

struct Taken {
    const unsigned *pattern, *left_own, *right_own;
    u64 left_bits, right_bits; // their own
    u64 *keys;
    Number *numbers;
    u64 capacity; // what is beyond it is counted, not written
};

__device__ __forceinline__ u64 first_of_grid() { return u64{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 grid_size() { return u64{gridDim.x} * blockDim.x; }

extern "C" __global__ void __launch_bounds__(most_threads) perm_join_fill(u64 *to, u64 count, u64 value) {
    for (u64 k = first_of_grid(); k < count; k += grid_size()) to[k] = value;
}

extern "C" __global__ void __launch_bounds__(most_threads)
    perm_join_copy(u64 *to, const u64 *from, u64 count) {
    for (u64 k = first_of_grid(); k < count; k += grid_size()) to[k] = from[k];
}

extern "C" __global__ void __launch_bounds__(most_threads) perm_join_mark(Side side) {
    for (u64 k = first_of_grid(); k < side.states; k += grid_size()) {
        u64 bits = 0;
        for (u64 r = 0; r < side.run_count; ++r) {
            const BitRun &run = side.runs[r];
            bits |= (side.keys[k * words + run.word] >> run.from & run.mask) << run.to;
        }
        side.bits[k] = bits;
        side.own.mark(bits & ((u64{1} << side.own_bits) - 1));
        side.patterns.mark(bits >> side.own_bits);
    }
}

// Ranks and sets of what is marked, and how many there are.
extern "C" __global__ void __launch_bounds__(most_threads)
    perm_join_rank(Ranking ranking, Chain chain, u64 *total) {
    __shared__ ChainRoom room;
    constexpr unsigned of_thread = 4;
    const u64 size = u64{blockDim.x} * of_thread, tiles = (ranking.words + size - 1) / size;
    enter(chain);
    for (u64 tile = take_tile(chain, room); tile < tiles; tile = take_tile(chain, room)) {
        const u64 first = tile * size + threadIdx.x * of_thread,
                  end = smaller(first + of_thread, ranking.words);
        unsigned count = 0, all;
        for (u64 w = first; w < end; ++w) count += __popc(ranking.marks[w]);
        const unsigned rank = sum_before(room, count, all);
        announce(chain, chain.sums + tile, all, tile == 0);
        u64 next = look_back(chain, chain.sums, tile, all, room) + rank;
        for (u64 w = first; w < end; ++w) {
            ranking.before[w] = static_cast<unsigned>(next);
            for (unsigned left = ranking.marks[w]; left != 0; left &= left - 1)
                ranking.sets[next++] = static_cast<unsigned>(32 * w) + __ffs(static_cast<int>(left)) - 1;
        }
        if (tile + 1 == tiles && threadIdx.x + 1 == blockDim.x) *total = next;
        finish_tile(chain);
    }
}

// Times both powers of 2, of which one alone may be out of range.
__device__ __forceinline__ Number scaled(Number x, double power, double rest) {
    double *doubles = reinterpret_cast<double *>(&x);
    for (unsigned k = 0; k < sizeof(Number) / sizeof(double); ++k) doubles[k] = doubles[k] * power * rest;
    return x;
}

extern "C" __global__ void __launch_bounds__(most_threads) perm_join_sizes(Side side) {
    for (u64 k = first_of_grid(); k < side.states; k += grid_size())
        atomicAdd(side.sizes + side.patterns.rank(side.bits[k] >> side.own_bits), 1U);
}

extern "C" __global__ void __launch_bounds__(most_threads)
    perm_join_spread(Side side, double power, double rest) {
    for (u64 k = first_of_grid(); k < side.states; k += grid_size()) {
        const u64 bits = side.bits[k];
        const u64 row = side.patterns.rank(bits >> side.own_bits),
                  column = side.own.rank(bits & ((u64{1} << side.own_bits) - 1));
        side.table[row * side.ranks + column] = scaled(side.numbers[k], power, rest);
    }
}

// Bits of x, from the lowest up, at the places of the mask.
__device__ __forceinline__ u64 spread_bits(u64 x, u64 mask) {
    u64 set = 0;
    for (; mask != 0; mask &= mask - 1, x >>= 1)
        if (x & 1) set |= mask & (~mask + 1);
    return set;
}

// take(left pattern, its rank, the right one's) for the pairs of one slice that come to a pattern, in order.
template <class Take>
__device__ __forceinline__ void search_slice(const Search &search, u64 pattern, u64 slice, Take take) {
    const u64 all = pattern | search.closing;
    const u64 count =
        search.by_subsets ? u64{1} << __popcll(static_cast<long long>(all)) : search.left_patterns;
    u64 c = count * slice / search.slices;
    const u64 end = count * (slice + 1) / search.slices;
    u64 subset = search.by_subsets ? spread_bits(c, all) : 0;
    for (; c < end; ++c) {
        const u64 set = search.by_subsets ? subset : search.left.sets[c];
        subset = (subset - all) & all; // the next one
        if (!search.by_subsets && (set & ~all) != 0) continue;
        if (!search.right.holds(all ^ set)) continue;
        if (search.by_subsets && !search.left.holds(set)) continue;
        take(set, search.by_subsets ? search.left.rank(set) : static_cast<unsigned>(c),
             search.right.rank(all ^ set));
    }
}

struct CountPairs {
    const Search &search;
    u64 &products;
    unsigned &pairs;
    __device__ __forceinline__ void operator()(u64, unsigned left, unsigned right) const {
        products += u64{search.left_sizes[left]} * search.right_sizes[right];
        ++pairs;
    }
};

// Counts what the patterns 0 .. patterns - 1 come to.
extern "C" __global__ void __launch_bounds__(most_threads)
    perm_join_count(Search search, u64 patterns, unsigned *counts, JoinReport *report) {
    u64 products = 0;
    for (u64 k = first_of_grid(); k < patterns * search.slices; k += grid_size()) {
        unsigned pairs = 0;
        search_slice(search, k / search.slices, k % search.slices, CountPairs{search, products, pairs});
        counts[k] = pairs;
    }
    if (products > 0) atomicAdd(&report->products, products);
}

struct ListPairs {
    Pair *&to;
    unsigned *of_weight; // pairs
    u64 rows;
    __device__ __forceinline__ void operator()(u64 set, unsigned left, unsigned right) const {
        *to++ = {left, right};
        atomicAdd(of_weight + __popcll(static_cast<long long>(set ^ rows)), 1U);
    }
};

// Also counts each pattern's pairs by the weight of the left one: it is the same for all that a target adds
// up.
extern "C" __global__ void __launch_bounds__(most_threads)
    perm_join_pairs(Search search, const unsigned *pattern, u64 patterns, const u64 *begins, Pair *pairs,
                    unsigned *of_weights) {
    for (u64 k = first_of_grid(); k < patterns * search.slices; k += grid_size()) {
        if (begins[k] == begins[k + 1]) continue;
        Pair *to = pairs + begins[k];
        const u64 p = k / search.slices;
        search_slice(search, pattern[p], k % search.slices,
                     ListPairs{to, of_weights + p * weights, search.rows});
    }
}

extern "C" __global__ void __launch_bounds__(most_threads)
    perm_join_most(const unsigned *of_weights, u64 patterns, JoinReport *report) {
    unsigned most = 0;
    for (u64 k = first_of_grid(); k < patterns * weights; k += grid_size())
        most = of_weights[k] > most ? of_weights[k] : most;
    if (most > load(&report->most_items)) atomicMax(&report->most_items, u64{most});
}

template <class N> __device__ __forceinline__ bool is_zero(const N &x) {
    if constexpr (bounds_itself)
        return Arithmetic::is_zero(x.value);
    else
        return x.absolute == 0;
}

template <class N>
__device__ __forceinline__ void add_states(const Arithmetic &a, N &sum, const N &x, const N &y) {
    sum.value = a.add(sum.value, a.multiply(x.value, y.value));
    if constexpr (!bounds_itself) sum.absolute += x.absolute * y.absolute;
}

// A thread has `height` left ranks and `width` right ones of one pattern, the latter as far apart as there
// are threads for a row.
template <unsigned height, unsigned width> __device__ __forceinline__ void multiply(const Targets &targets) {
    const Arithmetic arithmetic = arithmetic_of(targets.prime, targets.inverse);
    const u64 across = (targets.right_ranks + width - 1) / width, down = (targets.rows + height - 1) / height;
    for (u64 k = first_of_grid(); k < targets.patterns * down * across; k += grid_size()) {
        const u64 column = k % across, pattern = k / across / down, row = k / across % down * height;
        Number sums[height][width];
        const Number *left[height], *right[width];
        for (unsigned i = 0; i < height; ++i) { // what is there twice is not kept
            left[i] = targets.left + targets.first + smaller(row + i, targets.rows - 1);
            for (unsigned j = 0; j < width; ++j) sums[i][j] = zero();
        }
        for (unsigned j = 0; j < width; ++j)
            right[j] = targets.right + smaller(column + j * across, targets.right_ranks - 1);
        const Pair *pair = targets.pairs + targets.begins[pattern * targets.slices],
                   *end = targets.pairs + targets.begins[(pattern + 1) * targets.slices];
        for (; pair != end; ++pair) {
            const u64 in_left = pair->left * targets.left_ranks, in_right = pair->right * targets.right_ranks;
            Number y[height];
            bool some = false;
            for (unsigned i = 0; i < height; ++i) {
                y[i] = left[i][in_left];
                some = some || !is_zero(y[i]);
            }
            if (!some) continue;
            for (unsigned j = 0; j < width; ++j) {
                const Number x = right[j][in_right];
                for (unsigned i = 0; i < height; ++i) add_states(arithmetic, sums[i][j], x, y[i]);
            }
        }
        for (unsigned i = 0; i < height; ++i) {
            if (row + i >= targets.rows) continue;
            Number *to = targets.sums + (pattern * targets.rows + row + i) * targets.right_ranks;
            for (unsigned j = 0; j < width; ++j)
                if (column + j * across < targets.right_ranks) to[column + j * across] = sums[i][j];
        }
    }
}

extern "C" __global__ void __launch_bounds__(most_threads) perm_join_multiply(Targets targets) {
    multiply<1, 1>(targets);
}

extern "C" __global__ void __launch_bounds__(most_threads) perm_join_multiply_wide(Targets targets) {
    multiply<wide_height, wide_width>(targets);
}

// Bits that stand at a place of a key, as far as word `w` has them; the highest word stands first.
__device__ __forceinline__ u64 part_of_word(u64 bits, u64 at, unsigned w) {
    const u64 word = words - 1 - w, shift = at % 64;
    if (word == at / 64) return bits << shift;
    return word == at / 64 + 1 && shift != 0 ? bits >> (64 - shift) : 0;
}

// Sums that are not 0 become states, behind the `states` that are there.
extern "C" __global__ void __launch_bounds__(most_threads)
    perm_join_take(Targets targets, Taken taken, u64 states, Chain chain, JoinReport *report) {
    __shared__ ChainRoom room;
    constexpr unsigned of_thread = 4;
    const u64 count = targets.patterns * targets.rows * targets.right_ranks;
    const u64 size = u64{blockDim.x} * of_thread, tiles = (count + size - 1) / size;
    Extent extent;
    enter(chain);
    for (u64 tile = take_tile(chain, room); tile < tiles; tile = take_tile(chain, room)) {
        const u64 first = tile * size + threadIdx.x * of_thread, end = smaller(first + of_thread, count);
        unsigned kept = 0, all;
        for (u64 t = first; t < end; ++t) kept += !is_zero(targets.sums[t]);
        const unsigned rank = sum_before(room, kept, all);
        announce(chain, chain.sums + tile, all, tile == 0);
        const u64 base = look_back(chain, chain.sums, tile, all, room);
        u64 next = states + base + rank;
        for (u64 t = first; t < end && kept > 0; ++t) {
            const Number number = targets.sums[t];
            if (is_zero(number) || next++ >= taken.capacity) continue;
            const u64 right = t % targets.right_ranks, rest = t / targets.right_ranks;
            const u64 left = targets.first + rest % targets.rows, pattern = rest / targets.rows;
            for (unsigned w = 0; w < words; ++w)
                taken.keys[(next - 1) * words + w] =
                    part_of_word(taken.right_own[right], 0, w) |
                    part_of_word(taken.left_own[left], taken.right_bits, w) |
                    part_of_word(taken.pattern[pattern], taken.left_bits + taken.right_bits, w);
            taken.numbers[next - 1] = number;
            extent.take(number);
        }
        if (tile + 1 == tiles && threadIdx.x == 0) report->states = states + base + all;
        finish_tile(chain);
    }
    add_extent<most_threads>(extent, &report->largest);
}
