#include "lib/structure/structure.hpp"

#include "lib/structure/find_background.hpp"
#include "lib/structure/find_low_rank.hpp"
#include "lib/structure/find_nested.hpp"
#include "lib/structure/probe.hpp"
#include "preprocess/index.hpp"

#include <span>
#include <type_traits>

namespace libperm {
namespace {

constexpr std::int32_t least_order = 12;

bool is_mostly_full(const Pattern &a) { return 2 * a.nnz() >= std::int64_t{a.rows} * a.rows; }

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

} // namespace

std::int64_t bytes_of(const Structure &x) {
    const Background &b = x.background;
    return static_cast<std::int64_t>(sizeof x) + bytes_of(b.beside) +
           4 * (std::ssize(b.col_of_row) + std::ssize(b.row_of_col) + std::ssize(x.nested) +
                2 * std::ssize(x.low_rank.rows));
}

template <class Value>
Structure structure_of(const BlockOf<Value> &block, const Poll &poll, MemoryAccount *account) {
    Structure found;
    const std::int32_t n = block.n();
    if (n < least_order || !is_mostly_full(block.pattern)) return found;
    if (may_be_nested(block.pattern)) found.nested = find_nested(block, poll);
    if (!found.nested.empty()) return found;
    const Probe<Value> probe(block);
    const bool low = may_have_low_rank(probe), beside = may_have_background(probe);
    if (low || beside) {
        constexpr std::int64_t of_an_entry = 8, of_an_exact_one = std::is_same_v<Value, Tracked> ? 170 : 0;
        const Charge charge(account, (of_an_entry + of_an_exact_one) * n * n);
        const std::vector<std::uint64_t> residues = all_residues(probe, poll);
        if (low) found.low_rank = find_low_rank(block, probe, residues, poll);
        if (beside) found.background = find_background(block, probe, residues, poll);
    }
    if constexpr (std::is_same_v<Value, Tracked>)
        found.nearly_rank_one = found.low_rank.rows.size() != 1 && is_nearly_rank_one(block, poll);
    return found;
}

template Structure structure_of(const Block &block, const Poll &poll, MemoryAccount *account);
template Structure structure_of(const ExactBlock &block, const Poll &poll, MemoryAccount *account);

} // namespace libperm
