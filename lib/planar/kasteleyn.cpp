#include "lib/planar/kasteleyn.hpp"

#include "preprocess/index.hpp"

#include <array>
#include <queue>

namespace libperm {
namespace {

// The entries of a tree that reaches all lines.
std::vector<char> spanning_tree(const Pattern &a) {
    const Transposed columns = transpose(a);
    std::vector<char> in_tree(at(a.nnz()), 0), met(at(a.rows) + at(a.cols), 0);
    std::queue<std::int32_t> lines;
    const auto meet = [&](std::int32_t line, std::int64_t entry) {
        if (met[at(line)]) return;
        met[at(line)] = 1;
        in_tree[at(entry)] = 1;
        lines.push(line);
    };
    if (a.rows == 0) return in_tree;
    met[0] = 1;
    lines.push(0);
    for (; !lines.empty(); lines.pop()) {
        const std::int32_t line = lines.front();
        if (line < a.rows) {
            std::int64_t k = a.row_begin(line);
            for (const std::int32_t j : a.row(line)) meet(a.rows + j, k++);
        } else {
            std::int64_t k = columns.pattern.row_begin(line - a.rows);
            for (const std::int32_t i : columns.pattern.row(line - a.rows)) meet(i, columns.source[at(k++)]);
        }
    }
    return in_tree;
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
    // The entries outside the tree are a tree of faces: from its leaves on, each face has one that is open.
    std::vector<char> is_known = spanning_tree(a), is_negative(at(a.nnz()), 0);
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
