#include "preprocess/forbert_marx.hpp"

#include <algorithm>

namespace libperm {
namespace {

std::vector<std::int32_t> column_degrees(const Pattern &a) {
    std::vector<std::int32_t> degree(static_cast<std::size_t>(a.cols), 0);
    for (const std::int32_t j : a.col) ++degree[static_cast<std::size_t>(j)];
    return degree;
}

} // namespace

Line lightest_line(const Pattern &a) {
    const std::vector<std::int32_t> of_column = column_degrees(a);
    Line lightest;
    std::size_t least = a.col.size() + 1;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto row = a.row(i).size();
        const auto column = static_cast<std::size_t>(of_column[static_cast<std::size_t>(i)]);
        if (std::min(row, column) >= least) continue;
        least = std::min(row, column);
        lightest = {column < row, i};
    }
    return lightest;
}

std::int32_t degree_of(const Pattern &a, Line line) {
    return line.is_column ? column_degrees(a)[static_cast<std::size_t>(line.index)]
                          : static_cast<std::int32_t>(a.row(line.index).size());
}

template <class Value> std::vector<PartOf<Value>> expand(const BlockOf<Value> &block, Line line) {
    std::vector<PartOf<Value>> parts;
    const std::vector<std::int32_t> crossing = Contraction<Value>(block).crossing(line);
    for (std::size_t k = 0; k < crossing.size(); k += 2) {
        Contraction<Value> matrix(block);
        PartOf<Value> &part = parts.emplace_back();
        if (k + 1 < crossing.size())
            matrix.contract(line, crossing[k], crossing[k + 1]);
        else
            part.factor = matrix.remove(line, crossing[k]);
        part.block = matrix.block();
    }
    return parts;
}

template std::vector<PartOf<Tracked>> expand(const Block &block, Line line);
template std::vector<PartOf<Gaussian>> expand(const ExactBlock &block, Line line);

} // namespace libperm
