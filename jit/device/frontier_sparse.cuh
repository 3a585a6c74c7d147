// ---- The sparse frontier: a row as unions of sorted lists ------------------------------------------------
//
// new[S + j] += a[i,j] old[S]. Step 0 makes for each term of the row, in its order, a run of the states that
// it leads to: sorted, since adding to counters that have room and taking closed ones out keep the order. The
// steps after it unite runs 0 and 1, 2 and 3, ..., numbers of equal keys added, until one is left. All runs
// of a step stand one behind the other in one list, and two lists take turns.
//
// `counts` (some counter is wider than a bit) and `entries` (a step may take a single entry, with its row, or
// none) stand above.

struct List {
    u64 *keys; // `words` each
    Number *numbers;
};

// A column of the row; its counter lies in one word. Of an entry also its row's bit; a mask that is never
// full for none.
struct Term {
    u64 one, mask, full; // in place
    u64 word, shift;
    u64 other, other_word;
};

// What the counters of one word must be after the row: those that close are full.
struct Closing {
    u64 mask, full, word;
};
// What a counter that stays open must have reached.
struct Floor {
    u64 mask, least, word;
};

struct Row {
    u64 states, terms, closings, floors; // how many
    const Term *term;
    const Closing *closing;
    const Floor *floor;
    const double *coefficients; // by term, `stride` each
    double prime, inverse;      // of residues
};

struct Report {
    u64 candidates, states;
    u64 largest, smallest; // an Extent's bits
};

// Of a row: where the runs of each step begin, and where the last one ends; one step behind the other.
struct Runs {
    u64 *begin;
    u64 size;

    __device__ __forceinline__ Runs united() const { return {begin + size + 1, (size + 1) / 2}; }
    __device__ __forceinline__ u64 end() const { return begin[size]; }
    // The tile that pair p begins with, each pair having tiles of its own, at least one.
    __device__ __forceinline__ u64 tile_of_pair(u64 p, u64 tile_size) const {
        return begin[smaller(2 * p, size)] / tile_size + p;
    }
};

struct Room {
    ChainRoom chain;
    PathRoom path;
    u64 pair;
};

// A tile of a step, and what it writes.
struct Tile {
    const Chain &chain;
    Room &room;
    u64 first, number, count; // ticket of the step's first tile; this one's number in the step, of so many

    __device__ __forceinline__ u64 size() const { return u64{blockDim.x} * items; }
    __device__ __forceinline__ bool is_last() const { return number + 1 == count; }
    __device__ __forceinline__ void announce_total(unsigned total) const {
        announce(chain, chain.sums + first + number, total, number == 0);
    }
    __device__ __forceinline__ u64 begin_of_output(unsigned total) const {
        return look_back(chain, chain.sums + first, number, total, room.chain);
    }
};

__device__ __forceinline__ u64 word_after(const u64 *key, const Term &term, u64 word) {
    u64 x = key[word] + (word == term.word ? term.one : 0);
    if (entries && word == term.other_word) x += term.other;
    return x;
}

__device__ __forceinline__ bool leads_somewhere(const Row &row, const Term &term, const u64 *key) {
    bool leads = (key[term.word] & term.mask) != term.full;
    if (entries) leads = leads && (key[term.other_word] & term.other) == 0;
    for (u64 c = 0; c < row.closings; ++c) {
        const Closing &closing = row.closing[c];
        leads = leads && (word_after(key, term, closing.word) & closing.mask) == closing.full;
    }
    if (counts)
        for (u64 f = 0; f < row.floors; ++f) {
            const Floor &floor = row.floor[f];
            leads = leads && (word_after(key, term, floor.word) & floor.mask) >= floor.least;
        }
    return leads;
}

__device__ __forceinline__ u64 new_word(const Row &row, const Term &term, const u64 *key, u64 word) {
    u64 x = word_after(key, term, word);
    for (u64 c = 0; c < row.closings; ++c)
        if (row.closing[c].word == word) x ^= row.closing[c].full;
    return x;
}

__device__ __forceinline__ Number new_number(const Row &row, const Arithmetic &arithmetic, u64 t,
                                             const u64 *key, const Number &old) {
    const double *coefficient = row.coefficients + t * stride;
    if (!counts) return product(arithmetic, coefficient, old);
    const Term &term = row.term[t];
    const u64 copies = (term.full - (key[term.word] & term.mask)) >> term.shift;
    return product(arithmetic, coefficient, static_cast<double>(copies), old);
}

// Of the pairs (term, state), term by term, those of one tile that lead somewhere.
__device__ __forceinline__ void expand_tile(const Row &row, List from, List to, Runs runs, Report *report,
                                            const Tile &tile) {
    const Arithmetic arithmetic = arithmetic_of(row.prime, row.inverse);
    PathRoom &room = tile.room.path;
    unsigned char *leads = reinterpret_cast<unsigned char *>(room.key);
    const u64 begin = tile.number * tile.size(), pairs = row.states * row.terms;
    const auto size = static_cast<unsigned>(smaller(pairs - begin, tile.size()));
    const unsigned t = threadIdx.x;
    for (unsigned k = t; k < size; k += blockDim.x) {
        const u64 term = (begin + k) / row.states, state = begin + k - term * row.states;
        leads[k] = leads_somewhere(row, row.term[term], from.keys + state * words);
    }
    __syncthreads();
    unsigned count = 0, total;
    for (unsigned k = t * items; k < t * items + items && k < size; ++k) count += leads[k];
    unsigned rank = sum_before(tile.room.chain, count, total);
    tile.announce_total(total);
    for (unsigned k = t * items; k < t * items + items && k < size; ++k)
        if (leads[k]) room.source[rank++] = k;
    const u64 base = tile.begin_of_output(total);
    __syncthreads();
    for (unsigned x = t; x < total; x += blockDim.x) {
        const u64 pair = begin + room.source[x], term = pair / row.states, state = pair - term * row.states;
        to.numbers[base + x] =
            new_number(row, arithmetic, term, from.keys + state * words, from.numbers[state]);
    }
    for (unsigned x = t; x < total * words; x += blockDim.x) {
        const u64 pair = begin + room.source[x / words], term = pair / row.states;
        const u64 *key = from.keys + (pair - term * row.states) * words;
        to.keys[base * words + x] = new_word(row, row.term[term], key, x % words);
    }
    // The terms that begin here.
    for (u64 term = (begin + row.states - 1) / row.states + t; term * row.states < begin + size;
         term += blockDim.x) {
        unsigned low = 0, high = total; // how many items stand before it
        while (low < high) {
            const unsigned middle = (low + high) / 2;
            if (begin + room.source[middle] < term * row.states)
                low = middle + 1;
            else
                high = middle;
        }
        runs.begin[term] = base + low;
    }
    if (tile.is_last() && t == 0) {
        runs.begin[runs.size] = base + total;
        report->candidates = base + total;
        report->largest = 0;
        report->smallest = static_cast<u64>(__double_as_longlong(Extent::infinity()));
    }
}

// One tile of the union of a pair of runs; of the last one without a partner, a copy.
__device__ __forceinline__ void unite_tile(const Arithmetic &arithmetic, List from, List to, Runs pairs_of,
                                           Runs runs, Report *report, Extent &extent, const Tile &tile) {
    PathRoom &room = tile.room.path;
    const unsigned t = threadIdx.x;
    for (u64 p = t; p < runs.size; p += blockDim.x)
        if (pairs_of.tile_of_pair(p, tile.size()) <= tile.number &&
            tile.number < pairs_of.tile_of_pair(p + 1, tile.size()))
            tile.room.pair = p;
    __syncthreads();
    const u64 pair = tile.room.pair;
    const u64 begin = pairs_of.begin[2 * pair], middle = pairs_of.begin[2 * pair + 1],
              end = pairs_of.begin[smaller(2 * pair + 2, pairs_of.size)];
    const u64 first = pairs_of.tile_of_pair(pair, tile.size());
    const u64 diagonal = smaller((tile.number - first) * tile.size(), end - begin);
    cut_tile(from.keys + begin * words, middle - begin, from.keys + middle * words, end - middle, diagonal,
             smaller(diagonal + tile.size(), end - begin), room);
    const u64 a = begin + room.ends[0].a, b = middle + room.ends[0].b;
    const auto a_size = static_cast<unsigned>(room.ends[1].a - room.ends[0].a),
               b_size = static_cast<unsigned>(room.ends[1].b - room.ends[0].b);
    for (unsigned x = t; x < (a_size + b_size) * words; x += blockDim.x)
        room.key[x] =
            x < a_size * words ? from.keys[a * words + x] : from.keys[b * words + x - a_size * words];
    __syncthreads();
    Part part = part_of(a_size, b_size, room);
    unsigned total;
    const unsigned rank = sum_before(tile.room.chain, part.size, total);
    tile.announce_total(total);
    part.write(room.source + rank);
    const u64 base = tile.begin_of_output(total);
    __syncthreads();
    for (unsigned x = t; x < total; x += blockDim.x) {
        const unsigned i = room.source[x] & 0xffff, j = room.source[x] >> 16;
        Number number = i != none ? from.numbers[a + i] : from.numbers[b + j];
        if (i != none && j != none) number = sum_of(arithmetic, number, from.numbers[b + j]);
        to.numbers[base + x] = number;
        extent.take(number);
    }
    for (unsigned x = t; x < total * words; x += blockDim.x) {
        const unsigned i = room.source[x / words] & 0xffff, j = room.source[x / words] >> 16;
        to.keys[base * words + x] = room.key[(i != none ? i : a_size + j) * words + x % words];
    }
    if (t > 0) return;
    if (tile.number == first) runs.begin[pair] = base;
    if (tile.is_last()) report->states = runs.begin[runs.size] = base + total;
}

// Steps `step` .. `end` - 1 of a row's `steps`; even ones lead from the list with the old states to the
// other.
extern "C" __global__ void __launch_bounds__(most_threads)
    perm_frontier_row(Row row, List old, List other, u64 *begins, Report *report, Chain chain, unsigned step,
                      unsigned end, unsigned steps) {
    __shared__ Room room;
    Runs from{nullptr, 0}, to{begins, row.terms};
    for (unsigned s = 0; s < step; ++s) {
        from = to;
        to = from.united();
    }
    Extent extent;
    enter(chain);
    for (u64 first = 0, ticket = take_tile(chain, room.chain);;) {
        const u64 size = u64{blockDim.x} * items;
        const u64 tiles =
            step == 0 ? (row.states * row.terms + size - 1) / size : from.tile_of_pair(to.size, size);
        const Tile tile{chain, room, first, ticket - first, tiles};
        if (tile.number >= tiles) { // one of a step to come
            if (++step == end) break;
            first += tiles;
            wait_for(chain, first);
            from = to;
            to = from.united();
            extent = Extent();
            continue;
        }
        if (step == 0)
            expand_tile(row, old, other, to, report, tile);
        else
            unite_tile(arithmetic_of(row.prime, row.inverse), step % 2 ? other : old, step % 2 ? old : other,
                       from, to, report, extent, tile);
        finish_tile(chain);
        ticket = take_tile(chain, room.chain);
    }
    if (end == steps) add_extent<most_threads>(extent, &report->largest);
}

// How many of the pairs (term, state) lead somewhere, added to the report.
extern "C" __global__ void __launch_bounds__(most_threads)
    perm_frontier_count(Row row, const u64 *keys, Report *report) {
    __shared__ ChainRoom room;
    unsigned count = 0, total;
    for (u64 pair = u64{blockIdx.x} * blockDim.x + threadIdx.x; pair < row.states * row.terms;
         pair += u64{gridDim.x} * blockDim.x) {
        const u64 term = pair / row.states;
        count += leads_somewhere(row, row.term[term], keys + (pair - term * row.states) * words);
    }
    sum_before(room, count, total);
    if (threadIdx.x == 0) atomicAdd(&report->candidates, u64{total});
}
