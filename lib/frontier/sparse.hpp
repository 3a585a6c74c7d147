// The sparse form of the frontier engine: states as sorted lists.
//
// Adding a column to the keys of a sorted list that have room for it leaves them sorted, and so does taking
// closed columns out, since every surviving key holds all of them. A row is therefore the union of deg(row)
// sorted lists, equal keys added: the set union of Merge Path SpAdd (Dalton, Baxter, Merrill, Garland, Olson,
// §III-B), here with the key space cut into chunks that fit the cache and are merged pairwise, in the same
// tree for every chunk.
#pragma once

#include "lib/frontier/numbers.hpp"
#include "lib/frontier/state_key.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <span>

namespace libperm {

// Where the numbers are no doubles (lib/frontier/sparse_wide.cpp).
EngineResult run_wide_sparse_frontier(const FrontierRun &run);

constexpr std::size_t chunks_in_flight = 16; // at most, whatever the threads: their room is part of the plan
// (state, entry) pairs of a row below which no thread is woken.
constexpr std::size_t serial_candidates = 32768;

// Pairs that lead somewhere in a chunk: enough to be worth its while, few enough for the cache, and a small
// part of the lists themselves.
constexpr std::size_t chunk_size(std::size_t states) {
    return std::clamp<std::size_t>(states / 32, 512, 8192);
}

// States in ascending order of their keys.
template <int Words, class Number> struct StateList {
    Buffer<StateKey<Words>> keys;
    Buffer<Number> numbers;
    std::size_t size = 0;

    explicit StateList(MemoryBudget &memory) : keys(memory), numbers(memory) {}
    // So many parts of what is asked for and one more, so that growing stays cheap.
    void reserve(std::size_t count, std::size_t parts = 16) {
        if (count <= std::min(keys.capacity(), numbers.capacity())) return;
        keys.grow(count + count / parts);
        numbers.grow(count + count / parts);
    }
    void release() {
        keys.release();
        numbers.release();
        size = 0;
    }
    void append(const StateList &other) {
        reserve(size + other.size);
        std::copy_n(other.keys.data(), other.size, keys.data() + size);
        std::copy_n(other.numbers.data(), other.size, numbers.data() + size);
        size += other.size;
    }
    void begin(const Number &one) { // with the empty state
        reserve(1);
        keys.data()[0] = StateKey<Words>{};
        numbers.data()[0] = one;
        size = 1;
    }
};

// Chunks of work, one after the other or several in flight: next(chunk) makes the next one, unless there is
// none and it returns false, work(chunk) is done at any time, append(chunk) in the order they were made.
template <class Chunk, class Next, class Work, class Append>
void in_chunks(std::deque<Chunk> &pool, const FrontierWork &of, bool serial, const Next &next,
               const Work &work, const Append &append) {
    const std::size_t in_flight =
        serial ? 1 : std::min(chunks_in_flight, 2 * static_cast<std::size_t>(of.threads));
    while (pool.size() < in_flight) pool.emplace_back(of.memory);
    if (serial) {
        for (Chunk &chunk = pool.front(); next(chunk);) {
            work(chunk);
            append(chunk);
        }
        return;
    }
    std::size_t made = 0;
    parallel_pipeline<Chunk>(
        in_flight,
        [&]() -> Chunk * {
            Chunk &chunk = pool[made++ % in_flight]; // free again: chunks retire in order
            return next(chunk) ? &chunk : nullptr;
        },
        work, append);
}

template <int Words, class Trait> class SparseFrontier {
    using Key = StateKey<Words>;
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;
    using List = StateList<Words, Number>;

    // A counter of the key. Its place is kept as a word and a mask, not as a key: most keys have more words.
    struct Counter {
        std::size_t word;
        int shift;
        std::uint64_t mask;

        explicit Counter(const FrontierTerm &t)
            : word(Key::word_of(t.slot)),
              shift(t.slot % 64),
              mask(((std::uint64_t{1} << t.width) - 1) << shift) {}
        std::uint64_t in_place(std::int32_t count) const {
            return static_cast<std::uint64_t>(count) << shift;
        }
        std::uint64_t of(const Key &key) const { return key.at(word) & mask; } // in place
    };

    struct Term {
        Key one, above; // in the counter; all bits above it
        Counter counter;
        std::uint64_t full; // in place
        std::size_t factor; // of the entry; with counters, of 0 copies of the column, 1, 2, ...
    };

    // What a counter that stays open must have reached.
    struct Floor {
        Counter counter;
        std::uint64_t least; // in place
    };

    // Places in the old list where each term's candidates for one range of new keys begin.
    using Cut = std::vector<std::size_t>;

    struct Chunk {
        Cut begin, end;
        List list, other;              // in the end what it comes to; unions are made from one into the other
        std::vector<std::size_t> runs; // ends of the sorted runs in the list
        std::size_t expansions = 0;

        explicit Chunk(MemoryBudget &memory) : list(memory), other(memory) {}
    };

  public:
    SparseFrontier(const FrontierWork &work, Trait &numbers)
        : work_(work), numbers_(&numbers), old_(work.memory), new_(work.memory) {}

    // The last state's number.
    Number compute(Counts &counts) {
        old_.begin(numbers_->one());
        run(work_.program.steps, counts);
        return old_.size > 0 ? old_.numbers.data()[0] : Trait::zero();
    }

    // Another list, whose numbers have books of their own, goes through some steps.
    void run(List &list, Trait &numbers, std::span<const FrontierStep> steps, Counts &counts) {
        std::swap(old_, list);
        numbers_ = &numbers;
        run(steps, counts);
        std::swap(old_, list);
    }

  private:
    void run(std::span<const FrontierStep> steps, Counts &counts) {
        for (const FrontierStep &step : steps) {
            const double expansions = advance(step);
            counts.operations += expansions;
            counts.states += static_cast<double>(old_.size);
            counts.peak_states = std::max(counts.peak_states, static_cast<double>(old_.size));
        }
    }

    double advance(const FrontierStep &step) {
        const std::vector<Factor> &entries = numbers_->begin_step(step);
        terms_.clear();
        pairs_ = !step.terms.empty() && step.terms.front().other_slot >= 0;
        factors_.clear();
        floors_.clear();
        closing_ = closing_mask_ = Key{};
        for (std::size_t k = 0; k < step.terms.size(); ++k) {
            const FrontierTerm &t = step.terms[k];
            const Counter counter(t);
            if (pairs_) {
                if (t.closes) closing_ = closing_ | Key::slot(t.slot);
                if (t.other_closes) closing_ = closing_ | Key::slot(t.other_slot);
                closing_mask_ = closing_;
            } else if (t.closes) {
                closing_ = closing_ | Key::slot(t.slot, static_cast<std::uint64_t>(t.multiplicity));
                closing_mask_ = closing_mask_ | Key::slot(t.slot, counter.mask >> counter.shift);
            } else if (t.least > 0) {
                floors_.push_back({counter, counter.in_place(t.least)});
            }
            terms_.push_back({one_of(t), Key::slots_from(t.slot + t.width), counter,
                              counter.in_place(t.multiplicity), factors_.size()});
            if (!work_.program.counts)
                factors_.push_back(entries[k]);
            else
                for (std::int32_t copies = 0; copies <= t.multiplicity; ++copies)
                    factors_.push_back(numbers_->times(entries[k], copies));
        }
        new_.size = 0;
        extent_ = {};
        double expansions = 0;
        const std::size_t candidates = old_.size * terms_.size();
        const std::vector<Key> bounds = chunk_bounds(candidates);
        std::size_t made = 0;
        Cut cut(terms_.size(), 0);
        in_chunks(
            pool_, work_, candidates <= serial_candidates,
            [&](Chunk &chunk) {
                if (made > bounds.size()) return false;
                cut_chunk(chunk, cut, bounds, made++);
                return true;
            },
            [this](Chunk &chunk) { merge_chunk(chunk); },
            [&](Chunk &chunk) {
                extent_ = join(extent_, Trait::extent_of(chunk.list.numbers.data(), chunk.list.size));
                new_.append(chunk.list);
                expansions += static_cast<double>(chunk.expansions);
                call().advance(static_cast<double>(chunk.expansions));
            });
        std::swap(old_, new_);
        numbers_->end_step(static_cast<double>(std::bit_width(terms_.size() - 1)), expansions, extent_);
        return expansions;
    }

    // Chunk `next` lies between two bounds; `cut` moves from one to the other.
    void cut_chunk(Chunk &chunk, Cut &cut, const std::vector<Key> &bounds, std::size_t next) const {
        chunk.begin = cut;
        for (std::size_t t = 0; t < terms_.size(); ++t)
            cut[t] = next < bounds.size() ? std::max(cut[t], first_at(terms_[t], bounds[next])) : old_.size;
        chunk.end = cut;
    }

    // Regular sampling: for every term evenly spaced states, those that lead somewhere; evenly spaced among
    // all these samples, the bounds cut off about the same number of pairs.
    std::vector<Key> chunk_bounds(std::size_t candidates) const {
        constexpr std::size_t samples_per_chunk = 8;
        std::vector<Key> bounds;
        const std::size_t chunks = candidates / chunk_size(old_.size) + 1;
        if (chunks == 1) return bounds;
        std::vector<Key> samples;
        const std::size_t per_term = std::min(old_.size, samples_per_chunk * chunks / terms_.size() + 1);
        for (const Term &term : terms_)
            for (std::size_t s = 0; s < per_term; ++s) {
                const Key &key = old_.keys.data()[old_.size * s / per_term];
                if (has_room(term, key) && survives(key + term.one))
                    samples.push_back((key + term.one) ^ closing_);
            }
        std::sort(samples.begin(), samples.end());
        for (std::size_t s = samples_per_chunk; s < samples.size(); s += samples_per_chunk)
            if (bounds.empty() || bounds.back() < samples[s]) bounds.push_back(samples[s]);
        return bounds;
    }

    // The first old state that may give, through this term, a new key at or above `bound`. Survivors hold all
    // closing columns, so they can be compared before these are taken out.
    std::size_t first_at(const Term &term, const Key &bound) const {
        const Key full = bound | closing_;
        const Key source = pairs_                       ? full.least_with(term.one) - term.one
                           : term.counter.of(full) != 0 ? full - term.one
                                                        : full & term.above;
        const Key *keys = old_.keys.data();
        return static_cast<std::size_t>(std::lower_bound(keys, keys + old_.size, source) - keys);
    }

    // What a term adds to a state: a column of a kind, an entry's row and column, or nothing.
    Key one_of(const FrontierTerm &t) const {
        if (!pairs_) return Key::slot(t.slot);
        return t.entry < 0 ? Key{} : Key::slot(t.slot) | Key::slot(t.other_slot);
    }
    bool has_room(const Term &term, const Key &key) const {
        return pairs_ ? !key.meets(term.one) : term.counter.of(key) != term.full;
    }

    bool survives(const Key &key) const { return key.shows(closing_, closing_mask_); }

    void merge_chunk(Chunk &chunk) const {
        Trait::with([&] { expand_and_merge(chunk); });
    }

    void expand_and_merge(Chunk &chunk) const {
        chunk.runs.clear();
        std::size_t size = 0;
        for (std::size_t t = 0; t < terms_.size(); ++t) {
            size = pairs_                 ? expand<Room::pair>(chunk, t, size)
                   : work_.program.counts ? expand<Room::counter>(chunk, t, size)
                                          : expand<Room::column>(chunk, t, size);
            chunk.runs.push_back(size);
        }
        chunk.other.reserve(size);
        chunk.expansions = size;
        while (chunk.runs.size() > 1) merge_pairs(chunk);
        chunk.list.size = chunk.runs.empty() ? 0 : chunk.runs.front();
    }

    // The term's part of a chunk, behind what is there already.
    enum class Room { column, counter, pair }; // what a term asks of a state
    template <Room room> std::size_t expand(Chunk &chunk, std::size_t t, std::size_t size) const {
        constexpr std::size_t stretch = 256; // states looked at between two checks for room
        const Term &term = terms_[t];
        const Key *old_keys = old_.keys.data();
        const Number *old_numbers = old_.numbers.data();
        const Factor *factors = factors_.data() + term.factor;
        for (std::size_t k = chunk.begin[t]; k < chunk.end[t];) {
            chunk.list.reserve(size + stretch, 4);
            Key *keys = chunk.list.keys.data();
            Number *numbers = chunk.list.numbers.data();
            for (const std::size_t end = std::min(chunk.end[t], k + stretch); k < end; ++k) {
                const Key key = old_keys[k] + term.one;
                const std::uint64_t count = term.counter.of(old_keys[k]);
                bool leads = survives(key);
                if constexpr (room == Room::pair)
                    leads = leads && !old_keys[k].meets(term.one);
                else
                    leads = leads && count != term.full;
                if constexpr (room == Room::counter)
                    for (const Floor &f : floors_) leads = leads && f.counter.of(key) >= f.least;
                if (Trait::is_slow && !leads) continue;
                keys[size] = key ^ closing_;
                if constexpr (room == Room::counter) {
                    const std::uint64_t left = (term.full - count) >> term.counter.shift;
                    numbers[size] = numbers_->multiply(factors[left], old_numbers[k]);
                } else {
                    numbers[size] = numbers_->multiply(factors[0], old_numbers[k]);
                }
                size += leads;
            }
        }
        return size;
    }

    // Runs 0 and 1, 2 and 3, ... into one each.
    void merge_pairs(Chunk &chunk) const {
        std::size_t out = 0, begin = 0;
        std::vector<std::size_t> &runs = chunk.runs;
        std::size_t merged = 0;
        for (std::size_t r = 0; r < runs.size(); r += 2) {
            const std::size_t middle = runs[r];
            const std::size_t end = r + 1 < runs.size() ? runs[r + 1] : middle;
            out = unite(chunk, begin, middle, end, out);
            begin = end;
            runs[merged++] = out;
        }
        runs.resize(merged);
        std::swap(chunk.list, chunk.other);
    }

    std::size_t unite(Chunk &chunk, std::size_t a, std::size_t middle, std::size_t end,
                      std::size_t out) const {
        const Key *keys = chunk.list.keys.data();
        const Number *numbers = chunk.list.numbers.data();
        Key *out_keys = chunk.other.keys.data();
        Number *out_numbers = chunk.other.numbers.data();
        std::size_t b = middle;
        while (a < middle && b < end) {
            const bool from_a = !(keys[b] < keys[a]), from_b = !(keys[a] < keys[b]);
            out_keys[out] = from_a ? keys[a] : keys[b];
            if (Trait::is_slow && !(from_a && from_b))
                out_numbers[out] = from_a ? numbers[a] : numbers[b];
            else
                out_numbers[out] =
                    numbers_->add(from_a ? numbers[a] : Trait::zero(), from_b ? numbers[b] : Trait::zero());
            ++out;
            a += from_a;
            b += from_b;
        }
        out = static_cast<std::size_t>(std::copy(keys + a, keys + middle, out_keys + out) - out_keys);
        std::copy(numbers + a, numbers + middle, out_numbers + (out - (middle - a)));
        std::copy(keys + b, keys + end, out_keys + out);
        std::copy(numbers + b, numbers + end, out_numbers + out);
        return out + (end - b);
    }

    const FrontierWork work_;
    Trait *numbers_;
    List old_, new_;
    bool pairs_ = false; // the step takes a single entry
    std::vector<Term> terms_;
    std::vector<Factor> factors_;
    std::vector<Floor> floors_;
    Key closing_{}, closing_mask_{}; // counters that close, full; all of their bits
    std::deque<Chunk> pool_;         // chunks in flight
    Extent extent_;
};

template <int Words> struct SparseKeys {
    template <class Numbers> using Frontier = SparseFrontier<Words, Numbers>;
};

// compute<Keys>() with keys as wide as the program's.
template <class Compute> EngineResult with_keys(const FrontierProgram &program, const Compute &compute) {
    switch (sparse_key_words(program)) {
    case 1:
        return compute.template operator()<SparseKeys<1>>();
    case 4:
        return compute.template operator()<SparseKeys<4>>();
    case 64:
        return compute.template operator()<SparseKeys<64>>();
    default:
        throw_too_wide(program);
    }
}

} // namespace libperm
