#include "lib/structure/find_nested.hpp"

#include "lib/number/wide_value.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <numeric>

namespace libperm {
namespace {

// Whether each is the entry of the full row there times its row's first entry, by that of the full row.
bool is_product_of_lines(const ExactBlock &block, std::int32_t full, PolledSteps &steps) {
    const std::int64_t base = block.pattern.row_begin(full); // its entry of column j is the j-th
    for (std::int32_t i = 0; i < block.n(); ++i) {
        std::int64_t k = block.pattern.row_begin(i);
        const auto row = block.pattern.row(i);
        const Gaussian &first = block.values[at(k)], &above = block.values[at(base + row.front())];
        if (is_zero(above) || is_zero(first)) return false;
        for (const std::int32_t j : row) {
            steps.take(32);
            if (!(block.values[at(k++)] * above == block.values[at(base + j)] * first)) return false;
        }
    }
    return true;
}

} // namespace

bool may_be_nested(const Pattern &a) {
    if (a.nnz() == std::int64_t{a.rows} * a.rows) return false; // equal lines
    bool some_full = false;
    for (std::int32_t i = 0; i < a.rows && !some_full; ++i) some_full = std::ssize(a.row(i)) == a.cols;
    return some_full;
}

template <class Value> std::vector<std::int32_t> find_nested(const BlockOf<Value> &block, const Poll &poll) {
    const Pattern &a = block.pattern;
    PolledSteps steps(poll);
    std::vector<std::int32_t> rows(at(a.rows));
    std::iota(rows.begin(), rows.end(), 0);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::int32_t i, std::int32_t j) { return a.row(i).size() < a.row(j).size(); });
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
        const auto row = a.row(rows[k]), next = a.row(rows[k + 1]);
        steps.take(std::ssize(next));
        if (row.empty() || !std::includes(next.begin(), next.end(), row.begin(), row.end())) return {};
    }
    const bool is_product = is_product_of_lines(exact_block(block), rows.back(), steps);
    return is_product ? rows : std::vector<std::int32_t>();
}

template std::vector<std::int32_t> find_nested(const Block &block, const Poll &poll);
template std::vector<std::int32_t> find_nested(const ExactBlock &block, const Poll &poll);

} // namespace libperm
