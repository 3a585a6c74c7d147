#include "preprocess/repeated_lines.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace libperm {
namespace {

constexpr std::int64_t node_bytes = 128; // of a map, beside what it names

// Of the rows as lines, then the columns: pattern, places, and what making them takes.
std::int64_t lines_bytes(const Pattern &a) { return 2 * bytes_of(a) + 8 * a.nnz() + 16 * a.rows; }

// What a pass holds, and how often it is to look up.
struct Watch {
    Charge &charge;
    PolledSteps &steps;

    void after(std::size_t entries) const { steps.take(of_an_entry * static_cast<std::int64_t>(entries)); }
    // Long numbers are divided in more than the time of their length.
    template <class Value> void after_dividing(const std::vector<Value> &numbers) const {
        std::int64_t words = 0;
        if constexpr (std::is_same_v<Value, Gaussian>)
            for (const Gaussian &x : numbers) words += number_bytes(x) / 8;
        steps.take(of_an_entry * (std::ssize(numbers) + 8 * words));
    }

  private:
    static constexpr std::int64_t of_an_entry = 8; // steps
};

// A row divided by a number that is proportional to it: the same for all multiples of a row, and computed
// without rounding.
template <class Value> class Primitive;

// By the greatest number that leaves coprime odd parts, with the lowest exponent 0 and the first entry
// positive.
template <> class Primitive<Tracked> {
  public:
    Primitive(const Tracked *values, std::size_t count) {
        std::int64_t divisor = 1, lowest = 0;
        odd_.reserve(count);
        exp2_.reserve(count);
        for (std::size_t k = 0; k < count; ++k) {
            const Tracked &x = values[k];
            if (x.value == 0 || std::fabs(x.value) != x.magnitude) return;
            const auto digits = static_cast<std::int64_t>(std::ldexp(x.value, 53));
            const int zeros = std::countr_zero(static_cast<std::uint64_t>(digits));
            odd_.push_back(digits >> zeros);
            exp2_.push_back(x.exp2 - 53 + zeros);
            if (k == 0)
                divisor = std::abs(odd_[0]);
            else if (odd_[k] % divisor != 0)
                divisor = std::gcd(divisor, odd_[k]);
            lowest = k == 0 ? exp2_[0] : std::min(lowest, exp2_[k]);
        }
        if (count > 0 && odd_[0] < 0) divisor = -divisor;
        for (std::size_t k = 0; k < count; ++k) {
            odd_[k] /= divisor;
            exp2_[k] -= lowest;
        }
        divisor_ = times_power(divisor, lowest);
        is_valid_ = true;
    }

    bool is_valid() const { return is_valid_; } // not of numbers that are 0 or in which something cancelled
    std::int64_t bytes() const { return static_cast<std::int64_t>(16 * odd_.size()); }
    Tracked divisor() const { return divisor_; }
    Tracked entry(std::size_t k) const { return times_power(odd_[k], exp2_[k]); }

    friend bool operator<(const Primitive &x, const Primitive &y) {
        return x.odd_ != y.odd_ ? x.odd_ < y.odd_ : x.exp2_ < y.exp2_;
    }

  private:
    static Tracked times_power(std::int64_t odd, std::int64_t exp2) {
        Tracked x = tracked(static_cast<double>(odd)); // at most 53 bits
        x.exp2 += exp2;
        return x;
    }

    std::vector<std::int64_t> odd_, exp2_;
    Tracked divisor_;
    bool is_valid_ = false;
};

// Divides a line by its first entry.
template <> class Primitive<Gaussian> {
  public:
    Primitive(const Gaussian *values, std::size_t count) {
        if (count == 0 || is_zero(values[0])) return;
        divisor_ = values[0];
        for (std::size_t k = 0; k < count; ++k) entries_.push_back(values[k] / divisor_);
    }

    bool is_valid() const { return !entries_.empty(); }
    std::int64_t bytes() const {
        return std::transform_reduce(entries_.begin(), entries_.end(), std::int64_t{0}, std::plus<>(),
                                     number_bytes);
    }
    const Gaussian &divisor() const { return divisor_; }
    const Gaussian &entry(std::size_t k) const { return entries_[k]; }

    friend bool operator<(const Primitive &x, const Primitive &y) {
        return std::lexicographical_compare(x.entries_.begin(), x.entries_.end(), y.entries_.begin(),
                                            y.entries_.end(), [](const Gaussian &a, const Gaussian &b) {
                                                const int order = cmp(a.re, b.re);
                                                return order != 0 ? order < 0 : a.im < b.im;
                                            });
    }

  private:
    std::vector<Gaussian> entries_;
    Gaussian divisor_;
};

std::int32_t roundings_of(const Tracked &x) { return x.roundings; }
std::int32_t roundings_of(const Gaussian &) { return 0; }
void set_roundings(Tracked &x, std::int32_t roundings) { x.roundings = roundings; }
void set_roundings(Gaussian &, std::int32_t) {}

// The rows of a block, or its columns: where their values lie in it.
struct Lines {
    Pattern pattern;
    std::vector<std::int64_t> source; // empty: the pattern's entries are the block's

    std::size_t place(std::int64_t entry) const { return source.empty() ? at(entry) : at(source[at(entry)]); }
};

// Lines with the same entries, by their first.
std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> lines_by_pattern(const Pattern &a,
                                                                                const Watch &watch) {
    std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> lines;
    std::vector<std::pair<std::uint64_t, std::int32_t>> sums; // to leave out at once what stands alone
    sums.reserve(at(a.rows));
    for (std::int32_t i = 0; i < a.rows; ++i) {
        watch.after(a.row(i).size());
        std::uint64_t sum = 0;
        for (const std::int32_t j : a.row(i))
            sum = (sum ^ static_cast<std::uint64_t>(j)) * 0x9e3779b97f4a7c15u;
        sums.emplace_back(sum, i);
    }
    std::sort(sums.begin(), sums.end(), [&watch](const auto &x, const auto &y) {
        watch.after(1);
        return x < y;
    });
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const bool alone = (k == 0 || sums[k - 1].first != sums[k].first) &&
                           (k + 1 == sums.size() || sums[k + 1].first != sums[k].first);
        if (alone) continue;
        const auto row = a.row(sums[k].second);
        watch.after(row.size());
        const auto [place, is_new] = lines.try_emplace({row.begin(), row.end()});
        if (is_new) watch.charge.grow(static_cast<std::int64_t>(row.size_bytes()) + node_bytes);
        place->second.push_back(sums[k].second);
    }
    return lines;
}

// The lines of these whose first entries are proportional to those of another: no other line is to be looked
// at to its end. In the order they came in.
template <class PrimitiveOf>
std::vector<std::int32_t> that_begin_alike(const std::vector<std::int32_t> &lines, std::size_t entries,
                                           const PrimitiveOf &primitive_of, Charge &charge) {
    constexpr std::size_t looked_at = 8;
    if (entries <= looked_at) return lines;
    const std::int64_t held = charge.bytes();
    std::map<decltype(primitive_of(0, entries)), std::vector<std::int32_t>> beginnings;
    for (const std::int32_t i : lines) {
        auto p = primitive_of(i, looked_at);
        if (!p.is_valid()) continue;
        const std::int64_t bytes = p.bytes() + node_bytes;
        const auto [place, is_new] = beginnings.try_emplace(std::move(p));
        if (is_new) charge.grow(bytes);
        place->second.push_back(i);
    }
    std::vector<std::int32_t> alike;
    for (const auto &[p, equal] : beginnings)
        if (equal.size() > 1) alike.insert(alike.end(), equal.begin(), equal.end());
    std::sort(alike.begin(), alike.end());
    charge.resize(held);
    return alike;
}

// A line, and what it is divided by to be what all its multiples are.
template <class Value> struct Multiple {
    std::int32_t line;
    Value divisor;
};

// Makes proportional lines equal; returns for each line the lowest one equal to it, or nothing if none is.
template <class Value>
std::vector<std::int32_t> merge_lines(const Lines &lines, std::vector<Value> &values, Value &factor,
                                      const Watch &watch) {
    std::vector<std::int32_t> kind;
    std::vector<Value> line;
    const auto entry = [&](std::int32_t i, std::size_t k) -> Value & {
        return values[lines.place(lines.pattern.row_begin(i) + static_cast<std::int64_t>(k))];
    };
    const auto primitive_of = [&](std::int32_t i, std::size_t count) {
        line.clear();
        for (std::size_t k = 0; k < count; ++k) line.push_back(entry(i, k));
        watch.after_dividing(line);
        return Primitive<Value>(line.data(), count);
    };
    for (const auto &[columns, alike] : lines_by_pattern(lines.pattern, watch)) {
        std::map<Primitive<Value>, std::vector<Multiple<Value>>> multiples;
        const std::int64_t held = watch.charge.bytes();
        for (const std::int32_t i : that_begin_alike(alike, columns.size(), primitive_of, watch.charge)) {
            Primitive<Value> p = primitive_of(i, columns.size());
            if (!p.is_valid()) continue;
            const std::int64_t bytes = p.bytes() + node_bytes;
            const Value divisor = p.divisor();
            const auto [place, is_new] = multiples.try_emplace(std::move(p));
            watch.charge.grow((is_new ? bytes : 0) + std::int64_t{sizeof(Multiple<Value>)});
            place->second.push_back({i, divisor});
        }
        for (const auto &[p, equal] : multiples) {
            if (equal.size() < 2) continue;
            if (kind.empty()) {
                kind.resize(at(lines.pattern.rows));
                std::iota(kind.begin(), kind.end(), 0);
            }
            line.clear();
            for (std::size_t k = 0; k < columns.size(); ++k) line.push_back(p.entry(k));
            std::vector<std::int32_t> roundings(columns.size(), 0);
            for (const Multiple<Value> &multiple : equal) {
                kind[at(multiple.line)] = equal.front().line;
                factor = factor * multiple.divisor;
                watch.after(columns.size());
                for (std::size_t k = 0; k < columns.size(); ++k)
                    roundings[k] = std::max(roundings[k], roundings_of(entry(multiple.line, k)));
            }
            for (std::size_t k = 0; k < columns.size(); ++k) set_roundings(line[k], roundings[k]);
            for (const Multiple<Value> &multiple : equal) {
                watch.after(columns.size());
                for (std::size_t k = 0; k < columns.size(); ++k) entry(multiple.line, k) = line[k];
            }
        }
        watch.charge.resize(held);
    }
    return kind;
}

} // namespace

std::vector<EqualLines> kinds_of(const std::vector<std::int32_t> &lowest, std::int32_t n) {
    std::vector<std::int32_t> count(at(n), lowest.empty() ? 1 : 0);
    for (const std::int32_t line : lowest) ++count[at(line)];
    std::vector<EqualLines> kinds;
    for (std::int32_t line = 0; line < n; ++line)
        if (count[at(line)] > 0) kinds.push_back({line, count[at(line)]});
    return kinds;
}

template <class Value>
RepeatedLines<Value> merge_repeated_lines(BlockOf<Value> &block, MemoryAccount *account) {
    RepeatedLines<Value> out{{}, number_one<Value>()};
    Charge charge(account);
    PolledSteps steps;
    const Watch watch{charge, steps};
    charge.grow(lines_bytes(block.pattern));
    poll(); // the caller may have copied the block, and its pattern is now
    Lines lines{block.pattern, {}};
    out.kinds.of_row = merge_lines(lines, block.values, out.factor, watch);
    Transposed columns = transpose(block.pattern);
    lines = {std::move(columns.pattern), std::move(columns.source)};
    out.kinds.of_col = merge_lines(lines, block.values, out.factor, watch);
    return out;
}

template RepeatedLines<Tracked> merge_repeated_lines(Block &block, MemoryAccount *account);
template RepeatedLines<Gaussian> merge_repeated_lines(ExactBlock &block, MemoryAccount *account);

namespace {

std::uint64_t stirred(std::uint64_t x) { // Steele, Lea and Flood's finaliser (splitmix64)
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
std::uint64_t stirred(std::uint64_t x, std::uint64_t y) { return stirred(stirred(x) + y); }

std::uint64_t digest_of(const Tracked &x) {
    return stirred(std::bit_cast<std::uint64_t>(x.value + 0.0), static_cast<std::uint64_t>(x.exp2));
}
std::uint64_t digest_of(const mpz_class &x) {
    std::uint64_t digest = static_cast<std::uint64_t>(mpz_sgn(x.get_mpz_t()));
    for (std::size_t k = 0; k < mpz_size(x.get_mpz_t()); ++k)
        digest = stirred(digest, mpz_getlimbn(x.get_mpz_t(), static_cast<mp_size_t>(k)));
    return digest;
}
std::uint64_t digest_of(const Gaussian &x) {
    std::uint64_t digest = 0;
    for (const mpq_class *part : {&x.re, &x.im})
        digest = stirred(stirred(digest, digest_of(part->get_num())), digest_of(part->get_den()));
    return digest;
}

bool are_same(const Tracked &x, const Tracked &y) {
    return x.value == y.value && x.magnitude == y.magnitude && x.exp2 == y.exp2;
}
bool are_same(const Gaussian &x, const Gaussian &y) { return x == y; }

// All entries of each line, of both halves of the symmetric matrix.
class WholeLines {
  public:
    WholeLines(const Pattern &graph) : graph_(graph), lower_(transpose(graph)) {}

    // same(entry, entry) compares the values of two.
    template <class Same> bool are_equal(std::int32_t i, std::int32_t j, const Same &same) {
        gather(i, j, of_first_);
        gather(j, i, of_second_);
        return std::ranges::equal(of_first_, of_second_, [&](const Entry &x, const Entry &y) {
            return x.first == y.first && same(x.second, y.second);
        });
    }
    std::int64_t degree(std::int32_t i) const {
        return std::ssize(graph_.row(i)) + std::ssize(lower_.pattern.row(i));
    }

  private:
    using Entry = std::pair<std::int32_t, std::int64_t>; // the other line; its own loop last, as -1

    // But for that with `without`.
    void gather(std::int32_t i, std::int32_t without, std::vector<Entry> &to) const {
        to.clear();
        std::int64_t loop = -1, k = lower_.pattern.row_begin(i);
        const auto add = [&](std::int32_t other, std::int64_t entry) {
            if (other == i)
                loop = entry;
            else if (other != without)
                to.emplace_back(other, entry);
        };
        for (const std::int32_t other : lower_.pattern.row(i)) add(other, lower_.source[at(k++)]);
        k = graph_.row_begin(i);
        for (const std::int32_t other : graph_.row(i)) add(other, k++);
        if (loop >= 0) to.emplace_back(-1, loop);
    }

    const Pattern &graph_;
    Transposed lower_;
    std::vector<Entry> of_first_, of_second_;
};

// Pairs of lines that may be equal, each with the lowest it may be equal to: no other line is looked at to
// its end. The sum over a line's entries of what (other line, value) are stirred to is that of its copies,
// but for the entry with each other.
template <class Value> class LineDigests {
  public:
    LineDigests(const BlockOf<Value> &graph, PolledSteps &steps)
        : graph_(graph), sums_(at(graph.n()), 0), steps_(steps) {
        std::size_t k = 0;
        for (std::int32_t i = 0; i < graph.n(); ++i)
            for (const std::int32_t j : graph.pattern.row(i)) {
                steps.take(of_an_entry);
                const std::uint64_t value = digest_of(graph.values[k++]);
                sums_[at(i)] += stirred(value, j == i ? own_loop : static_cast<std::uint64_t>(j));
                if (j != i) sums_[at(j)] += stirred(value, static_cast<std::uint64_t>(i));
            }
    }

    // Calls take(lower, higher), by the lower one; of lines with no entry with each other, and of others.
    template <class Take> void for_candidates(const Take &take) const {
        std::vector<std::pair<std::uint64_t, std::int32_t>> order;
        for (std::int32_t i = 0; i < graph_.n(); ++i) order.emplace_back(sums_[at(i)], i);
        std::sort(order.begin(), order.end());
        for (std::size_t first = 0, k = 1; k < order.size(); ++k)
            if (order[k].first == order[first].first)
                take(order[first].second, order[k].second);
            else
                first = k;
        std::size_t k = 0;
        for (std::int32_t i = 0; i < graph_.n(); ++i)
            for (const std::int32_t j : graph_.pattern.row(i)) {
                steps_.take(of_an_entry);
                const std::uint64_t value = digest_of(graph_.values[k++]);
                if (j != i && sums_[at(i)] + stirred(value, static_cast<std::uint64_t>(i)) ==
                                  sums_[at(j)] + stirred(value, static_cast<std::uint64_t>(j)))
                    take(i, j);
            }
    }

  private:
    static constexpr std::int64_t of_an_entry = 8; // steps
    static constexpr std::uint64_t own_loop = ~std::uint64_t{0};

    const BlockOf<Value> &graph_;
    std::vector<std::uint64_t> sums_;
    PolledSteps &steps_;
};

} // namespace

template <class Value> LineClasses equal_lines(const BlockOf<Value> &graph, MemoryAccount *account) {
    constexpr int most_tries = 4; // of a line: sums that are equal by chance are rare
    const Charge charge(account, bytes_of(graph.pattern) + 8 * graph.pattern.nnz() + 40 * graph.n());
    PolledSteps steps;
    std::vector<std::int32_t> lowest(at(graph.n()));
    std::iota(lowest.begin(), lowest.end(), 0);
    std::vector<char> tries(at(graph.n()), 0);
    std::optional<WholeLines> lines;
    bool some_are_equal = false;
    LineDigests<Value>(graph, steps).for_candidates([&](std::int32_t i, std::int32_t j) {
        if (lowest[at(j)] != j || tries[at(j)]++ == most_tries) return;
        if (!lines) lines.emplace(graph.pattern);
        steps.take(lines->degree(i) + lines->degree(j));
        if (!lines->are_equal(i, j, [&](std::int64_t x, std::int64_t y) {
                return are_same(graph.values[at(x)], graph.values[at(y)]);
            }))
            return;
        lowest[at(j)] = lowest[at(i)];
        some_are_equal = true;
    });
    return {some_are_equal ? std::move(lowest) : std::vector<std::int32_t>(), {}};
}

template LineClasses equal_lines(const Block &graph, MemoryAccount *account);
template LineClasses equal_lines(const ExactBlock &graph, MemoryAccount *account);

bool are_kinds_of_lines(const Pattern &graph, const std::vector<std::int32_t> &lowest) {
    if (lowest.empty()) return true;
    if (std::ssize(lowest) != graph.rows) return false;
    WholeLines lines(graph);
    for (std::int32_t i = 0; i < graph.rows; ++i) {
        const std::int32_t first = lowest[at(i)];
        const bool is_named = 0 <= first && first <= i && lowest[at(first)] == first;
        if (!is_named || !lines.are_equal(first, i, [](std::int64_t, std::int64_t) { return true; }))
            return false;
    }
    return true;
}

} // namespace libperm
