#include "preprocess/equal_lines.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

namespace libperm {
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
