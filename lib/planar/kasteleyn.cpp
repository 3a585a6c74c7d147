#include "lib/planar/kasteleyn.hpp"

#include "preprocess/index.hpp"

#include <array>
#include <queue>

namespace libperm {
namespace {

// The entries of trees that reach all lines, one for each connected part.
std::vector<char> spanning_forest(const Pattern &a) {
    const Transposed columns = transpose(a);
    std::vector<char> in_forest(at(a.nnz()), 0), met(at(a.rows) + at(a.cols), 0);
    std::queue<std::int32_t> lines;
    const auto meet = [&](std::int32_t line, std::int64_t entry) {
        if (met[at(line)]) return;
        met[at(line)] = 1;
        in_forest[at(entry)] = 1;
        lines.push(line);
    };
    const auto look_from = [&](std::int32_t line) {
        const bool is_row = line < a.rows;
        const Pattern &pattern = is_row ? a : columns.pattern;
        const std::int32_t own = is_row ? line : line - a.rows;
        std::int64_t k = pattern.row_begin(own);
        for (const std::int32_t other : pattern.row(own)) {
            meet(is_row ? a.rows + other : other, is_row ? k : columns.source[at(k)]);
            ++k;
        }
    };
    for (std::int32_t root = 0; root < a.rows; ++root) {
        if (met[at(root)]) continue;
        met[at(root)] = 1;
        for (lines.push(root); !lines.empty(); lines.pop()) look_from(lines.front());
    }
    return in_forest;
}

} // namespace

std::vector<char> kasteleyn_signs(const Pattern &a, const Faces &faces) {
    constexpr std::int32_t none = -1;
    std::vector<std::array<std::int32_t, 2>> faces_of_entry(at(a.nnz()), {none, none});
    for (std::size_t f = 0; f < faces.entries.size(); ++f)
        for (const std::int32_t entry : faces.entries[f]) {
            auto &both = faces_of_entry[at(entry)];
            both[both[0] == none ? 0 : 1] = static_cast<std::int32_t>(f);
        }
    // The entries outside join faces to trees: from their leaves on, each face has one that is open.
    std::vector<char> is_known = spanning_forest(a), is_negative(at(a.nnz()), 0);
    std::vector<std::int32_t> open(faces.entries.size(), 0), todo;
    for (std::size_t f = 0; f < open.size(); ++f) {
        for (const std::int32_t entry : faces.entries[f]) open[f] += is_known[at(entry)] ? 0 : 1;
        if (open[f] == 1) todo.push_back(static_cast<std::int32_t>(f));
    }
    while (!todo.empty()) {
        const std::int32_t face = todo.back();
        todo.pop_back();
        if (open[at(face)] != 1) continue;
        std::int32_t last = none;
        bool is_odd = faces.entries[at(face)].size() % 4 == 0;
        for (const std::int32_t entry : faces.entries[at(face)]) {
            if (!is_known[at(entry)])
                last = entry;
            else
                is_odd ^= is_negative[at(entry)] != 0;
        }
        is_negative[at(last)] = is_odd;
        is_known[at(last)] = 1;
        for (const std::int32_t f : faces_of_entry[at(last)])
            if (--open[at(f)] == 1) todo.push_back(f);
    }
    return is_negative;
}

} // namespace libperm
