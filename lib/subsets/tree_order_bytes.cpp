#include "lib/subsets/tree_order_bytes.hpp"

#include "lib/base/fields.hpp"
#include "preprocess/index.hpp"
#include "preprocess/tree_shape.hpp"

namespace libperm {
namespace {

struct SavedPart { // of a tree; `parts` that follow lie in it
    std::int32_t begin = 0, loop = 0, end = 0, parts = 0;
};

struct SavedOrder {
    bool transposed = false;
    std::vector<std::int32_t> columns;
    std::vector<SavedPart> parts; // the root first
    double operations = 0;
};

template <class Archive> void serialize(Archive &ar, SavedPart &part) {
    ar(part.begin, part.loop, part.end, part.parts);
}
template <class Archive> void serialize(Archive &ar, SavedOrder &order) {
    flags(ar, order.transposed);
    ar(order.columns, order.parts);
    amounts(ar, order.operations);
}

void flatten(const TreeShape &shape, std::vector<SavedPart> &parts) {
    parts.push_back({shape.begin, shape.loop, shape.end, static_cast<std::int32_t>(shape.parts.size())});
    for (const TreeShape &p : shape.parts) flatten(p, parts);
}

TreeShape shape_from(const std::vector<SavedPart> &parts, std::size_t &next, int depth) {
    require(next < parts.size() && depth <= most_tree_columns, "parts of a tree");
    const SavedPart &part = parts[next++];
    TreeShape shape{part.begin, part.loop, part.end, {}};
    for (std::int32_t k = 0; k < part.parts; ++k) shape.parts.push_back(shape_from(parts, next, depth + 1));
    return shape;
}

// Of columns that are in range. Returns the rows that they touch.
LineSet check_shape(const TreeShape &shape, const std::vector<LineSet> &columns) {
    constexpr std::int32_t most_in_leaf = 16;
    constexpr double most_instructions = 1 << 16;
    require(shape.begin <= shape.loop && shape.loop <= shape.end, "columns of a tree");
    LineSet rows = 0;
    std::int32_t next = shape.begin;
    for (const TreeShape &part : shape.parts) {
        require(part.begin == next && part.begin < part.end && part.end <= shape.loop, "parts of a tree");
        const LineSet own = check_shape(part, columns);
        require((rows & own) == 0, "rows in two parts of a tree");
        rows |= own;
        next = part.end;
    }
    const std::vector<LineSet> leaf(columns.begin() + next, columns.begin() + shape.loop);
    require(leaf.empty() || (shape.parts.empty() && std::ssize(leaf) <= most_in_leaf &&
                             leaf_work(leaf).operations <= most_instructions),
            "a leaf of a tree");
    for (std::int32_t c = next; c < shape.end; ++c) rows |= columns[at(c)];
    return rows;
}

TreeShape checked_shape(const SavedOrder &order, const Pattern &columns) {
    const std::int32_t n = columns.rows;
    require(n <= most_tree_columns, "columns of a tree");
    require_permutation(order.columns, n, "columns of a tree");
    std::vector<LineSet> sets;
    for (const std::int32_t c : order.columns) {
        sets.push_back(0);
        for (const std::int32_t i : columns.row(c)) sets.back() |= LineSet{1} << i;
    }
    for (const SavedPart &part : order.parts)
        require(0 <= part.begin && part.end < n && part.parts >= 0, "columns of a tree");
    std::size_t next = 0;
    TreeShape root = shape_from(order.parts, next, 0);
    require(next == order.parts.size() && root.begin == 0 && root.end == n - 1, "the root of a tree");
    check_shape(root, sets);
    return root;
}

} // namespace

std::string bytes_of(const TreeOrder &order) {
    SavedOrder saved{order.transposed, order.columns, {}, order.operations};
    flatten(order.root, saved.parts);
    return written(saved);
}

TreeOrder tree_order_from(std::string_view bytes, const Pattern &a, const Pattern &at) {
    const auto saved = all_from<SavedOrder>(bytes, "a tree");
    return {saved.transposed, saved.columns, checked_shape(saved, saved.transposed ? a : at),
            saved.operations};
}

} // namespace libperm
