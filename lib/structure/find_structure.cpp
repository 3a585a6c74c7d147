#include "lib/structure/find_structure.hpp"

#include "jit/text/text.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/structure/find_background.hpp"
#include "lib/structure/find_integers.hpp"
#include "lib/structure/find_low_rank.hpp"
#include "lib/structure/find_nested.hpp"
#include "lib/structure/probe.hpp"
#include "lib/structure/separable/orders.hpp"
#include "preprocess/index.hpp"

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr std::int32_t least_order = 12;
constexpr std::int32_t least_separable = 24;  // below, looking for it takes a share of what the block takes
constexpr std::int32_t most_separable = 2000; // beyond, a walk takes hours

bool is_looked_at(const Pattern &a) {
    return a.rows >= least_order && 2 * a.nnz() >= std::int64_t{a.rows} * a.rows;
}

template <class Value> std::vector<std::uint64_t> all_residues(const Probe<Value> &probe, const Poll &poll) {
    const auto n = static_cast<std::size_t>(probe.n());
    PolledSteps steps(poll);
    std::vector<std::uint64_t> residues(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        steps.take(16 * static_cast<std::int64_t>(n));
        probe.row(static_cast<std::int32_t>(i), std::span(residues).subspan(i * n, n));
    }
    return residues;
}

Separable find_separable(std::vector<std::uint64_t> residues, std::size_t n, const Poll &poll) {
    const auto shape = separable_shape({n, probe_prime(), std::move(residues)}, poll);
    return shape ? Separable{shape->order, shape->above, shape->below, shape->band} : Separable();
}

std::string in_words(const Separable &x) {
    if (x.band.is_none())
        return formatted("values: along a staircase through the matrix of rank {} above and {} below",
                         x.above, x.below);
    return formatted("values: of rank {} above and {} below a band, the diagonals {} to {}", x.above, x.below,
                     -static_cast<int>(x.band.below), x.band.above);
}

std::string in_words(const Background &x) {
    const std::int64_t n = x.beside.rows;
    const std::size_t p = x.base_rows.size(), q = x.base_cols.size();
    const std::string classes =
        p * q == 1 ? "" : formatted(" c_ab, with {} classes a of rows and {} classes b of columns,", p, q);
    return formatted("values: u_i v_j{} but for {} of {} places", classes, x.beside.nnz(), n * n);
}

// With so few entries beside it that nothing else can be cheaper.
bool is_background_light(const Background &b, std::int32_t n) {
    return b.beside.rows > 0 && b.base_rows.size() == 1 && b.base_cols.size() == 1 &&
           b.beside.nnz() <= 2 * std::int64_t{n};
}

} // namespace

std::vector<std::string> in_words(const Structure &x, const Pattern &a) {
    if (!is_looked_at(a)) return {};
    std::vector<std::string> lines;
    if (x.has_background()) lines.push_back(in_words(x.background));
    if (!x.low_rank.rows.empty()) lines.push_back(formatted("values: of rank {}", x.low_rank.rows.size()));
    if (x.nearly_rank_one) lines.emplace_back("values: of rank one up to rounding");
    if (x.is_separable()) lines.push_back(in_words(x.separable));
    if (!x.nested.empty()) lines.emplace_back("values: u_i v_j in nested rows");
    if (lines.empty())
        lines.emplace_back(
            "values: not u_i v_j at most places, of no rank below 7, not of nested rows, and of no low "
            "ranks beside the diagonal, as far as was looked");
    return lines;
}

template <class Value>
Structure structure_of(const BlockOf<Value> &block, const Poll &poll, MemoryAccount *account) {
    Structure found;
    const std::int32_t n = block.n();
    found.integers = find_integers(block, poll);
    if (!is_looked_at(block.pattern)) return found;
    if (may_be_nested(block.pattern)) {
        const Charge charge(account, bytes_made_exact(block));
        found.nested = find_nested(block, poll);
    }
    if (!found.nested.empty()) return found;
    const Probe<Value> probe(block);
    const bool low = may_have_low_rank(probe), beside = may_have_background(probe);
    const bool may_be_separable = least_separable <= n && n <= most_separable;
    if (low || beside || may_be_separable) {
        constexpr std::int64_t of_an_entry = 8;
        const Charge charge(account, of_an_entry * n * n + (low || beside ? bytes_made_exact(block) : 0));
        std::vector<std::uint64_t> residues = all_residues(probe, poll);
        if (low) found.low_rank = find_low_rank(block, probe, residues, poll);
        if (beside) found.background = find_background(block, probe, residues, poll);
        if (may_be_separable && found.low_rank.rows.empty() && !is_background_light(found.background, n))
            found.separable = find_separable(std::move(residues), at(n), poll);
    }
    if constexpr (std::is_same_v<Value, Tracked>)
        found.nearly_rank_one = found.low_rank.rows.size() != 1 && is_nearly_rank_one(block, poll);
    return found;
}

template Structure structure_of(const Block &block, const Poll &poll, MemoryAccount *account);
template Structure structure_of(const ExactBlock &block, const Poll &poll, MemoryAccount *account);

} // namespace libperm
