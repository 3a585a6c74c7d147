#include "preprocess/compression.hpp"

#include "preprocess/contraction.hpp"

#include <deque>

namespace libperm {

template <class Value> Compression<Value> compress(const BlockOf<Value> &block, const CompressionRule &rule) {
    Compression<Value> out;
    Contraction<Value> matrix(block);
    const double most_work = 5e7 + 20.0 * static_cast<double>(block.pattern.nnz() + block.n());
    std::deque<Line> light[3]; // lines that had this degree when they were put here
    const auto note = [&](Line line) {
        const std::int32_t degree = matrix.is_there(line) ? matrix.degree(line) : 3;
        if (degree <= 2) light[degree].push_back(line);
    };
    for (std::int32_t i = 0; i < block.n(); ++i) {
        note({false, i});
        note({true, i});
    }
    if (!rule.degree_1 && !rule.degree_2) return {{block, out.part.factor}, !light[0].empty(), 0, 0};
    while (matrix.work() < most_work) {
        if (!light[0].empty()) {
            out.is_zero = true;
            return out;
        }
        const std::int32_t degree = rule.degree_1 && !light[1].empty() ? 1 : 2;
        if (light[degree].empty() || (degree == 2 && !rule.degree_2)) break;
        const Line line = light[degree].front();
        light[degree].pop_front();
        if (!matrix.is_there(line) || matrix.degree(line) != degree) continue;
        const std::vector<EntryOf<Value>> entries = matrix.entries(line);
        if (degree == 1) {
            out.part.factor = out.part.factor * matrix.remove(line, entries[0].other);
            ++out.degree_1;
        } else {
            matrix.contract(line, entries[0].other, entries[1].other);
            ++out.degree_2;
        }
        for (const Line changed : matrix.take_changed()) note(changed);
    }
    out.part.block = matrix.block();
    return out;
}

template Compression<Tracked> compress(const Block &block, const CompressionRule &rule);
template Compression<Gaussian> compress(const ExactBlock &block, const CompressionRule &rule);

} // namespace libperm
