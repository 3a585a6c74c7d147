// One side of a join: its states by the pattern of the shared lines.
//
// What a state has of the lines that its side has alone is its *own*. As many rows as columns are matched
// below a branch, so the weight of the own lines (its columns in a state and its rows not in it) follows from
// the pattern's: a pattern's states are a *class*, all of the own sets of one weight, if all are alive. Where
// most are, the side is a table with a number for each, ranked by class, and no keys; else its states are
// listed.
#pragma once

#include "jit/lanes/outer_products.hpp"
#include "lib/frontier/join_order.hpp"
#include "lib/frontier/sparse.hpp"

#include <algorithm>
#include <bit>

namespace libperm {

// Which bits of a side's states go where, and which of them are rows'.
struct JoinLines {
    const std::vector<BitRun> &runs;
    const std::vector<std::int32_t> &rows;
    std::int32_t own, shared; // lines; the own ones below
};

// Bits of a key that move together.
template <int Words> StateKey<Words> rearranged(const StateKey<Words> &key, const std::vector<BitRun> &runs) {
    StateKey<Words> to;
    for (const BitRun &run : runs) {
        const std::uint64_t mask = run.width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << run.width) - 1;
        to.word[to.word_of(run.to)] |= (key.word[key.word_of(run.from)] >> run.from % 64 & mask)
                                       << run.to % 64;
    }
    return to;
}

// `width` bits of it from `first` on, at most 64.
template <int Words>
std::uint64_t bits_of(const StateKey<Words> &key, std::int32_t first, std::int32_t width) {
    if (width == 0) return 0;
    const std::size_t w = key.word_of(first);
    std::uint64_t bits = key.word[w] >> first % 64;
    if (w > 0 && first % 64 != 0) bits |= key.word[w - 1] << (64 - first % 64);
    return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

// Moves the bits of many keys by a table for each of their bytes.
template <int Words> class ByteMoves {
    using Key = StateKey<Words>;

  public:
    explicit ByteMoves(const std::vector<BitRun> &runs) {
        int bits = 0;
        for (const BitRun &run : runs) bits = std::max(bits, run.from + run.width);
        bytes_ = (bits + 7) / 8;
        tables_.resize(static_cast<std::size_t>(bytes_) * 256);
        for (int b = 0; b < bytes_; ++b)
            for (int value = 1; value < 256; ++value) {
                const int lowest = std::countr_zero(static_cast<unsigned>(value));
                at(b, value) = at(b, value & (value - 1)) | rearranged(Key::slot(8 * b + lowest), runs);
            }
    }
    Key operator()(const Key &key) const {
        Key to;
        for (int b = 0; b < bytes_; ++b)
            to =
                to |
                tables_[256 * static_cast<std::size_t>(b) + (key.at(key.word_of(8 * b)) >> 8 * b % 64 & 255)];
        return to;
    }

  private:
    Key &at(int byte, int value) {
        return tables_[256 * static_cast<std::size_t>(byte) + static_cast<std::size_t>(value)];
    }

    int bytes_;
    std::vector<Key> tables_;
};

template <class... Buffers> void give_back_large(std::size_t bytes, Buffers &...buffers) {
    const auto one = [bytes](auto &buffer) {
        if (buffer.capacity() * sizeof *buffer.data() > bytes) buffer.release();
    };
    (one(buffers), ...);
}

// A state that is being sorted.
template <int Words> struct JoinItem {
    StateKey<Words> key;
    std::uint32_t place;
};

// What sorting a side takes, for one join after the other.
template <int Words> using JoinRoom = Buffer<JoinItem<Words>>;

// Own sets of one weight: places [first, first + count) of all.
struct OwnClass {
    std::size_t first = 0, count = 0;
};

// The right side's classes fill whole vectors, with zeros behind them.
constexpr std::size_t padded_class(std::size_t count) { return (count + 7) / 8 * 8; }

template <int Words, class Value> class JoinSide {
    using Key = StateKey<Words>;
    using Item = JoinItem<Words>;

  public:
    JoinSide(MemoryBudget &memory, JoinRoom<Words> &room, bool padded)
        : values(memory),
          rank(memory),
          own(memory),
          room_(room),
          padded_(padded),
          parts_(memory),
          own_at_(memory),
          group_at_(memory) {}

    // As a list: by pattern, then by own set, ascending. As a table: by group, a class each.
    Buffer<Value> values;
    Buffer<std::uint32_t> rank; // of a list's states: the place of the own set
    Buffer<Key> own;            // own sets: of a list ascending, of a table by class, then ascending
    std::size_t ranks = 0;      // of them
    PatternGroups groups;
    // Filled where the side is a table.
    std::vector<OwnClass> classes;            // by weight
    std::vector<std::uint32_t> places;        // in `own`, of the sets in ascending order
    std::vector<std::uint8_t> class_of_place; // in `own`
    std::vector<std::uint8_t> class_of_group;

    // Of a table and the other side's: the weights of both own sets together in what comes to a pattern,
    // those that close with it.
    template <class Other> std::size_t both_classes(const Other &other, std::uint64_t pattern) const {
        return weight_ + other.weight_ -
               static_cast<std::size_t>(std::popcount(pattern ^ pattern_rows_) +
                                        std::popcount(pattern_rows_));
    }

    // Begins with an ascending list.
    void begin(const Key *keys, std::size_t count, const JoinLines &lines) {
        if (count >> 32 != 0)
            throw Error(PERM_REFUSED_MEMORY, "engine frontier: a join of more than 2^32 states");
        keys_ = keys;
        count_ = count;
        lines_ = &lines;
        indexed_ = false;
        groups.clear();
    }

    // Looks at the states. Returns the share of a table that they would fill; 0: they
    // cannot be one.
    double survey() {
        const auto can_be_indexed = [this](std::int32_t bits) {
            return bits <= 26 && std::size_t{1} << bits <= std::max<std::size_t>(16 * count_, 1 << 16);
        };
        indexed_ = count_ > 0 && can_be_indexed(lines_->own) && can_be_indexed(lines_->shared);
        if (!indexed_) return 0;
        mark_parts();
        find_classes();
        return find_groups();
    }

    // value_of(k): of state k as it stands in the list.
    template <class ValueOf> void fill_table(const ValueOf &value_of) {
        index_by_class();
        std::vector<std::size_t> base; // of each group, less its class's first place
        cells_ = 0;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const OwnClass &c = classes[class_of_group[g]];
            groups[g].begin = cells_;
            groups[g].end = cells_ + c.count;
            base.push_back(cells_ - c.first);
            cells_ += size_in_table(c);
        }
        values.grow(cells_);
        std::fill_n(values.data(), cells_, Value{});
        for (std::size_t k = 0; k < count_; ++k) {
            const Parts parts = parts_.data()[k];
            const std::uint32_t g = group_at_.data()[parts.pattern];
            const std::size_t cell = base[g] + own_at_.data()[parts.own];
            if (cell - groups[g].begin >= groups[g].end - groups[g].begin)
                throw Error(PERM_INTERNAL, "engine frontier: a state that matches more rows than columns");
            values.data()[cell] = value_of(k);
        }
    }

    template <class ValueOf> void fill_list(const ValueOf &value_of) {
        values.grow(count_);
        rank.grow(count_);
        if (!indexed_) return sort_list(value_of);
        index_ascending();
        std::size_t begin = 0;
        for (PatternGroup &g : groups) {
            g.begin = g.end = begin;
            begin += g.states;
        }
        for (std::size_t k = 0; k < count_; ++k) { // the states of a pattern ascend already
            const Parts parts = parts_.data()[k];
            const std::size_t to = groups[group_at_.data()[parts.pattern]].end++;
            values.data()[to] = value_of(k);
            rank.data()[to] = own_at_.data()[parts.own];
        }
    }

    std::size_t cells() const { return cells_; } // of the table, by the last survey

    // Of a table: its groups as pieces, by the last lines of their patterns.
    void list_pieces(std::int32_t lines, std::vector<SubsetPiece> &pieces) const {
        pieces.clear();
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const PatternGroup &group = groups[g];
            const std::uint64_t subset = group.pattern & ((std::uint64_t{1} << lines) - 1);
            pieces.push_back({static_cast<std::uint32_t>(group.begin), group.states,
                              static_cast<std::uint16_t>(group.end - group.begin),
                              static_cast<std::uint8_t>(subset), class_of_group[g]});
        }
    }

    // Gives back what is of so many bytes.
    void release(std::size_t large) {
        give_back_large(large, values, rank, own, parts_, own_at_, group_at_, room_);
    }

  private:
    template <int, class> friend class JoinSide;
    struct Parts {
        std::uint32_t own, pattern;
    };
    static constexpr std::uint32_t absent = ~std::uint32_t{0};

    void mark_parts() {
        const std::size_t own_sets = std::size_t{1} << lines_->own,
                          patterns = std::size_t{1} << lines_->shared;
        own_at_.grow(own_sets);
        group_at_.grow(patterns);
        parts_.grow(count_);
        std::fill_n(own_at_.data(), own_sets, absent);
        std::fill_n(group_at_.data(), patterns, 0);
        const ByteMoves<Words> moved(lines_->runs);
        for (std::size_t k = 0; k < count_; ++k) {
            const Key key = moved(keys_[k]);
            const Parts parts{static_cast<std::uint32_t>(bits_of(key, 0, lines_->own)),
                              static_cast<std::uint32_t>(bits_of(key, lines_->own, lines_->shared))};
            parts_.data()[k] = parts;
            own_at_.data()[parts.own] = 0;
            ++group_at_.data()[parts.pattern];
        }
    }

    void find_classes() {
        own_rows_ = pattern_rows_ = 0;
        for (const std::int32_t row : lines_->rows)
            (row < lines_->own ? own_rows_ : pattern_rows_) |=
                std::uint32_t{1} << (row < lines_->own ? row : row - lines_->own);
        classes.assign(static_cast<std::size_t>(lines_->own) + 1, {});
        for (std::uint32_t set = 0; set >> lines_->own == 0; ++set)
            if (own_at_.data()[set] != absent) ++classes[own_weight(set)].count;
        ranks = 0;
        for (OwnClass &c : classes) c.first = std::exchange(ranks, ranks + c.count);
        const Parts first = parts_.data()[0];
        weight_ = own_weight(first.own) + pattern_weight(first.pattern);
    }
    std::size_t own_weight(std::uint32_t set) const {
        return static_cast<std::size_t>(std::popcount(set ^ own_rows_));
    }
    std::size_t pattern_weight(std::uint32_t pattern) const {
        return static_cast<std::size_t>(std::popcount(pattern ^ pattern_rows_));
    }

    double find_groups() {
        class_of_group.clear();
        cells_ = 0;
        double numbers = 0;
        for (std::uint32_t pattern = 0; pattern >> lines_->shared == 0; ++pattern) {
            std::uint32_t &at = group_at_.data()[pattern];
            if (at == 0) continue;
            const std::size_t weight = weight_ - pattern_weight(pattern);
            if (weight >= classes.size()) return 0;
            groups.push_back({pattern, 0, 0, at});
            class_of_group.push_back(static_cast<std::uint8_t>(weight));
            cells_ += size_in_table(classes[weight]);
            numbers += static_cast<double>(classes[weight].count);
            at = static_cast<std::uint32_t>(groups.size() - 1);
        }
        return static_cast<double>(count_) / numbers;
    }
    std::size_t size_in_table(const OwnClass &c) const { return padded_ ? padded_class(c.count) : c.count; }

    void put_own(std::size_t place, std::uint32_t set) {
        Key &key = own.data()[place] = Key{};
        key.word[Words - 1] = set;
        own_at_.data()[set] = static_cast<std::uint32_t>(place);
    }
    void index_by_class() {
        own.grow(ranks);
        places.clear();
        class_of_place.resize(ranks);
        std::vector<std::size_t> next;
        for (const OwnClass &c : classes) next.push_back(c.first);
        for (std::uint32_t set = 0; set >> lines_->own == 0; ++set) {
            if (own_at_.data()[set] == absent) continue;
            const std::size_t weight = own_weight(set), place = next[weight]++;
            class_of_place[place] = static_cast<std::uint8_t>(weight);
            places.push_back(static_cast<std::uint32_t>(place));
            put_own(place, set);
        }
    }
    void index_ascending() {
        own.grow(ranks);
        std::size_t place = 0;
        for (std::uint32_t set = 0; set >> lines_->own == 0; ++set)
            if (own_at_.data()[set] != absent) put_own(place++, set);
    }

    // Without tables of all sets: the whole key is the pattern above the own set.
    template <class ValueOf> void sort_list(const ValueOf &value_of) {
        Key own_bits = Key::slots_from(lines_->own);
        for (std::uint64_t &word : own_bits.word) word = ~word;
        room_.grow(count_);
        own.grow(count_);
        for (std::size_t k = 0; k < count_; ++k) {
            const Key key = rearranged(keys_[k], lines_->runs);
            room_.data()[k] = {key, static_cast<std::uint32_t>(k)};
            own.data()[k] = key & own_bits;
        }
        std::sort(room_.data(), room_.data() + count_,
                  [](const Item &x, const Item &y) { return x.key < y.key; });
        std::sort(own.data(), own.data() + count_);
        const Key *const end = std::unique(own.data(), own.data() + count_);
        ranks = static_cast<std::size_t>(end - own.data());
        for (std::size_t k = 0; k < count_; ++k) {
            const Item &item = room_.data()[k];
            values.data()[k] = value_of(item.place);
            rank.data()[k] = static_cast<std::uint32_t>(
                std::lower_bound(static_cast<const Key *>(own.data()), end, item.key & own_bits) -
                own.data());
            const std::uint64_t pattern = bits_of(item.key, lines_->own, lines_->shared);
            if (groups.empty() || groups.back().pattern != pattern) groups.push_back({pattern, k, k, 0});
            groups.back().end = k + 1;
            ++groups.back().states;
        }
    }

    JoinRoom<Words> &room_;
    const bool padded_;
    const Key *keys_ = nullptr;
    const JoinLines *lines_ = nullptr;
    std::size_t count_ = 0;
    bool indexed_ = false;
    Buffer<Parts> parts_;
    Buffer<std::uint32_t> own_at_, group_at_; // by own set, by pattern
    std::uint32_t own_rows_ = 0, pattern_rows_ = 0;
    std::size_t cells_ = 0;
    std::size_t weight_ = 0; // of own set and pattern, the same for all states
};

} // namespace libperm
