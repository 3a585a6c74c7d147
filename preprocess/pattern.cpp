#include "preprocess/pattern.hpp"

#include <iterator>

namespace libperm {

Transposed transpose(const Pattern &a) {
    PolledSteps steps;
    Transposed t;
    t.pattern.rows = a.cols;
    t.pattern.cols = a.rows;
    t.pattern.row_ptr.assign(static_cast<std::size_t>(a.cols) + 1, 0);
    t.pattern.col.resize(a.col.size());
    t.source.resize(a.col.size());
    for (std::int32_t i = 0; i < a.rows; ++i) {
        steps.take(1 + std::ssize(a.row(i)));
        for (const std::int32_t j : a.row(i)) ++t.pattern.row_ptr[static_cast<std::size_t>(j) + 1];
    }
    for (std::size_t j = 1; j < t.pattern.row_ptr.size(); ++j)
        t.pattern.row_ptr[j] += t.pattern.row_ptr[j - 1];
    std::vector<std::int64_t> next(t.pattern.row_ptr.begin(), t.pattern.row_ptr.end() - 1);
    for (std::int32_t i = 0; i < a.rows; ++i) {
        steps.take(1 + 2 * std::ssize(a.row(i)));
        std::int64_t entry = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) {
            const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++);
            t.pattern.col[place] = i;
            t.source[place] = entry++;
        }
    }
    return t;
}

} // namespace libperm
