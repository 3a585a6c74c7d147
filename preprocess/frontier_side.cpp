#include "preprocess/frontier_side.hpp"

#include "preprocess/index.hpp"

#include <iterator>
#include <numeric>

namespace libperm {
namespace {

// `source`: by entry of p, the entry of A.
FrontierSide merge_columns(const Pattern &p, const std::vector<std::int64_t> &source,
                           const std::vector<std::int32_t> &of_col, bool transposed) {
    PolledSteps steps;
    FrontierSide side;
    side.transposed = transposed;
    std::vector<std::int32_t> kind(at(p.cols), -1); // of a column that stands for its kind
    for (std::int32_t j = 0; j < p.cols; ++j) {
        const std::int32_t lowest = of_col.empty() ? j : of_col[at(j)];
        if (lowest == j) {
            kind[at(j)] = static_cast<std::int32_t>(side.multiplicity.size());
            side.multiplicity.push_back(0);
        }
        ++side.multiplicity[at(kind[at(lowest)])];
    }
    side.rows.rows = p.rows;
    side.rows.cols = static_cast<std::int32_t>(side.multiplicity.size());
    for (std::int32_t i = 0; i < p.rows; ++i) {
        steps.take(1 + std::ssize(p.row(i)));
        std::int64_t entry = p.row_begin(i);
        for (const std::int32_t j : p.row(i)) {
            if (kind[at(j)] >= 0) {
                side.rows.col.push_back(kind[at(j)]);
                side.entry.push_back(source[at(entry)]);
            }
            ++entry;
        }
        side.rows.row_ptr.push_back(static_cast<std::int64_t>(side.rows.col.size()));
    }
    side.columns = transpose(side.rows).pattern;
    return side;
}

} // namespace

std::array<FrontierSide, 2> frontier_sides(const Pattern &a, const LineClasses &kinds) {
    std::vector<std::int64_t> itself(a.col.size());
    std::iota(itself.begin(), itself.end(), 0);
    const Transposed t = transpose(a);
    return {merge_columns(a, itself, kinds.of_col, false),
            merge_columns(t.pattern, t.source, kinds.of_row, true)};
}

} // namespace libperm
