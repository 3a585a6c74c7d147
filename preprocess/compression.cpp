#include "preprocess/compression.hpp"

#include "preprocess/contraction.hpp"

#include <deque>
#include <limits>

namespace libperm {

namespace {

constexpr std::int64_t most_entries = std::numeric_limits<std::int32_t>::max(); // that a contraction numbers

} // namespace

bool has_light_line(const Pattern &a) {
    std::vector<std::int32_t> of_column(static_cast<std::size_t>(a.cols), 0);
    for (const std::int32_t j : a.col) ++of_column[static_cast<std::size_t>(j)];
    for (std::int32_t i = 0; i < a.rows; ++i)
        if (a.row(i).size() <= 2 || of_column[static_cast<std::size_t>(i)] <= 2) return true;
    return false;
}

template <class Value> Compression<Value> compress(BlockOf<Value> block, const CompressionRule &rule) {
    Compression<Value> out;
    const std::int32_t n = block.n();
    poll();
    if (!has_light_line(block.pattern) || block.pattern.nnz() > most_entries) {
        out.part.block = std::move(block);
        return out;
    }
    Contraction<Value> matrix(std::move(block));
    std::deque<Line> light[3]; // lines that had this degree when they were put here
    const auto note = [&](Line line) {
        const std::int32_t degree = matrix.is_there(line) ? matrix.degree(line) : 3;
        if (degree <= 2) light[degree].push_back(line);
    };
    for (std::int32_t i = 0; i < n; ++i) {
        note({false, i});
        note({true, i});
    }
    for (;;) {
        if (!light[0].empty()) {
            out.is_zero = true;
            return out;
        }
        const std::int32_t degree = rule.degree_1 && !light[1].empty() ? 1 : 2;
        if (light[degree].empty() || (degree == 2 && !rule.degree_2)) break;
        const Line line = light[degree].front();
        light[degree].pop_front();
        if (!matrix.is_there(line) || matrix.degree(line) != degree) continue;
        const std::vector<std::int32_t> crossing = matrix.crossing(line);
        if (degree == 1) {
            out.part.factor = out.part.factor * matrix.remove(line, crossing[0]);
            ++out.degree_1;
        } else {
            matrix.contract(line, crossing[0], crossing[1]);
            ++out.degree_2;
        }
        for (const Line changed : matrix.take_changed()) note(changed);
    }
    out.part.block = matrix.block();
    return out;
}

template Compression<Tracked> compress(Block block, const CompressionRule &rule);
template Compression<Gaussian> compress(ExactBlock block, const CompressionRule &rule);

} // namespace libperm
