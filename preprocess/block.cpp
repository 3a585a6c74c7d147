#include "preprocess/block.hpp"

#include "preprocess/index.hpp"

#include <algorithm>

namespace libperm {
double most_roundings(const Block &block) {
    double by_row = 0, by_column = 0;
    std::vector<std::int32_t> of_column(at(block.pattern.cols), 0);
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        std::int32_t of_row = 0;
        for (const std::int32_t j : block.pattern.row(i)) {
            const std::int32_t r = block.values[k++].roundings;
            of_row = std::max(of_row, r);
            of_column[at(j)] = std::max(of_column[at(j)], r);
        }
        by_row += of_row;
    }
    for (const std::int32_t r : of_column) by_column += r;
    return std::min(by_row, by_column);
}

template <class Value> Pattern nonzero_pattern(const BlockOf<Value> &block) {
    Pattern nonzero{block.pattern.rows, block.pattern.cols, {0}, {}, block.pattern.one_sided};
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i) {
        for (const std::int32_t j : block.pattern.row(i))
            if (!is_zero(block.values[k++])) nonzero.col.push_back(j);
        nonzero.row_ptr.push_back(static_cast<std::int64_t>(nonzero.col.size()));
    }
    return nonzero;
}

template Pattern nonzero_pattern(const Block &block);
template Pattern nonzero_pattern(const ExactBlock &block);

template <class Value> BlockOf<Value> transposed(const BlockOf<Value> &block) {
    Transposed t = transpose(block.pattern);
    PolledSteps steps;
    BlockOf<Value> out;
    out.pattern = std::move(t.pattern);
    out.values.reserve(block.values.size());
    for (const std::int64_t source : t.source) {
        steps.take(2);
        out.values.push_back(block.values[at(source)]);
    }
    return out;
}

template Block transposed(const Block &block);
template ExactBlock transposed(const ExactBlock &block);

namespace {

std::int64_t bytes_beside(const Tracked &) { return 0; }
std::int64_t bytes_beside(const Gaussian &x) { return number_bytes(x) - std::int64_t{sizeof(Gaussian)}; }

} // namespace

std::int64_t bytes_of(const Pattern &pattern) {
    constexpr std::int64_t of_a_vector = 48;
    return 2 * of_a_vector + static_cast<std::int64_t>(pattern.row_ptr.size() * sizeof(std::int64_t) +
                                                       pattern.col.size() * sizeof(std::int32_t));
}

template <class Value> std::int64_t bytes_of(const BlockOf<Value> &block) {
    std::int64_t bytes =
        bytes_of(block.pattern) + static_cast<std::int64_t>(sizeof(Value) * (block.values.size() + 1));
    for (const Value &x : block.values) bytes += bytes_beside(x);
    return bytes;
}

template std::int64_t bytes_of(const Block &block);
template std::int64_t bytes_of(const ExactBlock &block);

} // namespace libperm
