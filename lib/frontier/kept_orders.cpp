#include "lib/frontier/kept_orders.hpp"

#include "lib/base/archive.hpp"
#include "lib/run/kept_orders.hpp"
#include "preprocess/branch_decomposition.hpp"

namespace libperm {
namespace {

struct KeptOrder { // of rows
    FrontierOrder order;
};

template <class Archive> void serialize(Archive &ar, KeptOrder &kept) {
    flags(ar, kept.order.feasible, kept.order.transposed, kept.order.too_wide);
    ar(kept.order.rows);
    amounts(ar, kept.order.seconds);
}

FrontierOrder order_from(std::string_view bytes, const std::array<FrontierSide, 2> &sides,
                         const FrontierOrderOptions &search) {
    FrontierOrder order = all_from<KeptOrder>(bytes, "an order of rows").order;
    require(!search.transposed || order.transposed == *search.transposed, "an order of rows");
    if (order.feasible)
        require_permutation(order.rows, sides[order.transposed ? 1 : 0].rows.rows, "an order of rows");
    return order;
}

struct WrittenTree {
    std::vector<std::uint8_t> kind;        // of each leaf
    std::vector<std::int64_t> index;       // of its line or entry
    std::vector<std::int32_t> left, right; // of each join
};

template <class Archive> void serialize(Archive &ar, WrittenTree &tree) {
    ar(tree.kind, tree.index, tree.left, tree.right);
}

struct KeptBranches {
    bool found = false;
    std::string tree;
    double seconds = 0, peak_states = 0;
};

template <class Archive> void serialize(Archive &ar, KeptBranches &kept) {
    flags(ar, kept.found);
    ar(kept.tree);
    amounts(ar, kept.seconds, kept.peak_states);
}

void add(SearchArguments &to, const SearchBudget &budget) {
    to.all(budget.share, budget.least, budget.start, budget.effort, budget.limit, budget.of_refused);
}
void add(SearchArguments &to, const FrontierPrice &price) {
    to.all(price.expansion, price.state, price.most_states, price.widest);
}
void add(SearchArguments &to, const FrontierSide &side) {
    to.add(side.transposed).add(side.rows);
    for (const std::int32_t m : side.multiplicity) to.add(m);
}

} // namespace

FrontierOrder kept_frontier_order(const Proposals &task, const std::array<FrontierSide, 2> &sides,
                                  const FrontierOrderOptions &search) {
    SearchArguments arguments;
    for (const FrontierSide &side : sides) add(arguments, side);
    add(arguments, search.sparse);
    add(arguments, search.dense);
    add(arguments, search.budget);
    arguments.all(search.seed, search.transposed ? 1 + *search.transposed : 0, search.other_seconds,
                  search.other_search, search.may_fall_behind ? 1 : 0, search.branches_seconds,
                  search.limit_seconds, search.most_bytes);
    FrontierOrder order;
    with_kept_order(
        task.kept_orders(), {"rows", "frontier", task.a.rows, task.a.nnz()}, arguments,
        [&](std::string_view bytes) { order = order_from(bytes, sides, search); },
        [&] { return written(KeptOrder{order = find_frontier_order(sides, search)}); });
    return order;
}

std::optional<FoundBranches> kept_branches(const Proposals &task, const BranchSearchOptions &search) {
    SearchArguments arguments;
    arguments.add(task.a).all(search.seed, search.price.product, search.price.state, search.price.step,
                              search.price.node, search.most_states, search.other_seconds);
    add(arguments, search.budget);
    std::optional<FoundBranches> found;
    const auto read = [&](std::string_view bytes) {
        const auto kept = all_from<KeptBranches>(bytes, "a tree of branches");
        if (kept.found) found = FoundBranches{tree_from(kept.tree, task.a), kept.seconds, kept.peak_states};
    };
    const auto find = [&] {
        found = find_branches(task.a, search);
        return written(found
                           ? KeptBranches{true, written_tree(found->tree), found->seconds, found->peak_states}
                           : KeptBranches());
    };
    with_kept_order(task.kept_orders(), {"branches", "frontier", task.a.rows, task.a.nnz()}, arguments, read,
                    find);
    return found;
}

std::string written_tree(const BranchDecomposition &tree) {
    WrittenTree written_as;
    for (const BranchLeaf &leaf : tree.leaves) {
        written_as.kind.push_back(static_cast<std::uint8_t>(leaf.kind));
        written_as.index.push_back(leaf.kind == BranchLeaf::Kind::entry ? leaf.entry : leaf.index);
    }
    for (const auto &[left, right] : tree.joins) {
        written_as.left.push_back(left);
        written_as.right.push_back(right);
    }
    return written(written_as);
}

BranchDecomposition tree_from(std::string_view bytes, const Pattern &a) {
    const auto read = all_from<WrittenTree>(bytes, "a tree of branches");
    require(read.kind.size() == read.index.size() && read.left.size() == read.right.size(),
            "a tree of branches");
    BranchDecomposition tree;
    for (std::size_t k = 0; k < read.kind.size(); ++k) {
        const auto kind = static_cast<BranchLeaf::Kind>(read.kind[k]);
        require(kind <= BranchLeaf::Kind::entry && 0 <= read.index[k] && read.index[k] < a.nnz(), "a leaf");
        const bool is_entry = kind == BranchLeaf::Kind::entry;
        tree.leaves.push_back(
            {kind, is_entry ? -1 : static_cast<std::int32_t>(read.index[k]), is_entry ? read.index[k] : -1});
    }
    for (std::size_t k = 0; k < read.left.size(); ++k) tree.joins.push_back({read.left[k], read.right[k]});
    require(is_decomposition(a, tree), "a tree of branches");
    return tree;
}

} // namespace libperm
