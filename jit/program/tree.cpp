#include "jit/program/tree.hpp"

#include "jit/number/index.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <span>

namespace libperm {
namespace {

std::span<const std::int32_t> rows_of(const Tree &tree, std::int32_t column) {
    const auto begin = at(tree.column_ptr[at(column)]), end = at(tree.column_ptr[at(column) + 1]);
    return {tree.row.data() + begin, end - begin};
}

using Columns = std::uint32_t; // of a leaf, by bits

// A value of the program, or none: the product of nothing.
constexpr std::int32_t none = -1;

class LeafWriter {
  public:
    LeafWriter(Tree &tree, std::int32_t begin, std::int32_t end)
        : tree_(tree),
          begin_(begin),
          count_(end - begin),
          has_derivative_(tree.derivative && rows_of(tree, begin).size() > 1),
          builder_(tree.n),
          columns_of_row_(at(tree.n), 0) {
        for (std::int32_t c = 0; c < count_; ++c)
            for (const std::int32_t i : rows_of(tree, begin + c)) {
                columns_of_row_[at(i)] |= Columns{1} << c;
            }
        by_lowest_.resize(at(count_));
        neighbours_.assign(at(count_), 0);
        for (std::int32_t i = 0; i < tree.n; ++i) {
            const Columns of_row = columns_of_row_[at(i)];
            if (of_row == 0) continue;
            by_lowest_[at(std::countr_zero(of_row))].push_back(i);
            for (Columns c = of_row; c != 0; c &= c - 1) neighbours_[at(std::countr_zero(c))] |= of_row;
        }
    }

    StraightLine write() {
        const Sums all = product_of(sums_of((Columns{2} << (count_ - 1)) - 1, 0, false));
        const StraightLine program = std::move(builder_).finish(
            {all.sum, all.absolute}, static_cast<std::int32_t>(tree_.constants.size()));
        return has_derivative_ ? by_depth(program) : program; // one chain alone does not keep a GPU busy
    }

  private:
    // A sum of terms and the sum of their absolute values.
    struct Sums {
        std::int32_t sum = none, absolute = none;
    };

    std::int32_t constant(TreeConstant c) {
        tree_.constants.push_back(std::move(c));
        return static_cast<std::int32_t>(tree_.constants.size()) - 1;
    }

    std::vector<std::int32_t> named(Columns columns) const {
        std::vector<std::int32_t> names;
        for (; columns != 0; columns &= columns - 1) names.push_back(begin_ + std::countr_zero(columns));
        return names;
    }

    // x_i with the columns of `in` that touch it.
    std::int32_t row_sum(std::int32_t i, Columns in) {
        in &= columns_of_row_[at(i)];
        if (in == 0) return i;
        const auto [known, is_new] = row_sums_.try_emplace({i, in}, 0);
        if (is_new) known->second = constant({i, named(in)});
        return builder_.add(i, known->second);
    }

    std::int32_t times(std::int32_t a, std::int32_t b) {
        return a == none ? b : b == none ? a : builder_.multiply(a, b);
    }
    std::int32_t times_absolute(std::int32_t a, std::int32_t b) {
        return a == none ? b : b == none ? a : builder_.multiply_absolute(a, b);
    }

    // What rows that share their columns below `from` come to: `all` times each row, or each group of them.
    template <class Product, class OfRow, class Times>
    Product chain(std::span<const std::int32_t> rows, std::int32_t from, const OfRow &of_row,
                  const Times &times) {
        if (rows.size() == 1) return of_row(rows.front());
        std::vector<std::vector<std::int32_t>> by_next(at(count_) +
                                                       1); // their next column; the last: no more
        for (const std::int32_t i : rows) {
            const Columns rest = columns_of_row_[at(i)] >> from;
            by_next[at(rest == 0 ? count_ : from + std::countr_zero(rest))].push_back(i);
        }
        Product all;
        for (const std::int32_t i : by_next.back()) all = times(all, of_row(i));
        for (std::int32_t c = count_ - 1; c >= from; --c)
            if (!by_next[at(c)].empty())
                all = times(all, chain<Product>(by_next[at(c)], c + 1, of_row, times));
        return all;
    }

    struct Plain {
        std::int32_t value = none;
    };
    std::int32_t product(std::span<const std::int32_t> rows, std::int32_t from, Columns in) {
        const auto of_row = [&](std::int32_t i) { return Plain{row_sum(i, in)}; };
        return chain<Plain>(rows, from, of_row,
                            [this](Plain a, Plain b) { return Plain{times(a.value, b.value)}; })
            .value;
    }

    // A product of rows and its derivative along a column of ones.
    struct Derived {
        std::int32_t product = none, derivative = none; // none: 1, of a row alone
    };
    Derived times(Derived a, Derived b) {
        if (a.product == none) return b;
        const std::int32_t product = builder_.multiply(a.product, b.product);
        if (a.derivative == none && b.derivative == none)
            return {product, builder_.plus(a.product, b.product)};
        if (b.derivative == none) return {product, builder_.madd(a.derivative, b.product, a.product)};
        const std::int32_t rest =
            a.derivative == none ? b.product : builder_.multiply(a.derivative, b.product);
        return {product, builder_.madd(a.product, b.derivative, rest)};
    }

    // Of the lowest column.
    Sums derivative(Columns in) {
        constexpr std::int32_t group = 16; // as Op::reciprocal has it
        std::vector<std::int32_t> least;
        std::int32_t in_group = group;
        const auto of_row = [&](std::int32_t i) {
            const std::int32_t x = row_sum(i, in);
            if (in_group == group)
                least.push_back(x), in_group = 1;
            else
                least.back() = builder_.least(least.back(), x), ++in_group;
            return Derived{x, none};
        };
        const Derived all =
            chain<Derived>(by_lowest_[0], 1, of_row, [this](Derived a, Derived b) { return times(a, b); });
        std::int32_t reciprocals = none;
        if (in_group == 1) least.back() = builder_.least(least.back(), least.back());
        for (const std::int32_t v : least) {
            const std::int32_t r = builder_.reciprocal(v);
            reciprocals = reciprocals == none ? r : builder_.add_absolute(reciprocals, r);
        }
        return {all.derivative, builder_.derivative_absolute(all.product, reciprocals, all.derivative)};
    }

    Columns component(Columns columns) const {
        Columns found = columns & (~columns + 1);
        for (Columns before = 0; found != before;) {
            before = found;
            for (Columns c = before; c != 0; c &= c - 1)
                found |= neighbours_[at(std::countr_zero(c))] & columns;
        }
        return found;
    }

    // The product of both.
    struct SplitSums {
        Sums first, last;
    };

    // In the order of the Gray code, forwards or `backwards`: from one set to the next one column changes.
    SplitSums sums_of(Columns columns, Columns in, bool backwards) {
        SplitSums all;
        while (columns != 0) {
            const Columns part = component(columns);
            columns &= ~part;
            all.first = product_of(all);
            all.last = sums_of_part(part, in, backwards);
        }
        return all;
    }
    Sums product_of(const SplitSums &s) {
        return {times(s.first.sum, s.last.sum), times_absolute(s.first.absolute, s.last.absolute)};
    }

    Sums sums_of_part(Columns columns, Columns in, bool backwards) {
        Columns touching = 0;
        for (Columns c = columns; c != 0; c &= c - 1) touching |= neighbours_[at(std::countr_zero(c))];
        const std::pair key{columns, in & touching & ~columns};
        if (const auto known = sums_.find(key); known != sums_.end()) return known->second;
        const std::int32_t c = 31 - std::countl_zero(columns);
        const Columns bit = Columns{1} << c, below = columns & ~bit;
        if (c == 0 && has_derivative_) return sums_.emplace(key, derivative(in)).first->second;
        const auto &rows = by_lowest_[at(c)];
        struct Half {
            std::int32_t product = none;
            SplitSums below;
        } out, with;
        const auto visit = [&](Half &half, Columns set, bool back) {
            if (!rows.empty()) half.product = product(rows, c + 1, set);
            half.below = sums_of(below, set, back);
        };
        if (!backwards) visit(out, in, false);
        visit(with, in | bit, !backwards);
        if (backwards) visit(out, in, true);
        Sums result;
        if (below == 0) {
            result = {builder_.subtract(out.product, with.product),
                      builder_.add_absolute(out.product, with.product)};
        } else if (rows.empty()) {
            result = less(product_of(out.below), with.below);
        } else {
            const Sums first = product_of(out.below), second = product_of(with.below);
            result = {builder_.nmadd(with.product, second.sum, times(out.product, first.sum)),
                      builder_.madd_absolute(with.product, second.absolute,
                                             times_absolute(out.product, first.absolute))};
        }
        sums_.emplace(key, result);
        return result;
    }

    // The last product is part of the difference.
    Sums less(const Sums &from, const SplitSums &s) {
        if (s.first.sum == none)
            return {builder_.subtract(from.sum, s.last.sum),
                    builder_.add_absolute(from.absolute, s.last.absolute)};
        return {builder_.nmadd(s.first.sum, s.last.sum, from.sum),
                builder_.madd_absolute(s.first.absolute, s.last.absolute, from.absolute)};
    }

    Tree &tree_;
    const std::int32_t begin_, count_;
    const bool has_derivative_; // along column 0
    ProgramBuilder builder_;
    std::vector<Columns> columns_of_row_, neighbours_; // neighbours of a column: it shares rows with them
    std::vector<std::vector<std::int32_t>> by_lowest_; // rows by their lowest column
    std::map<std::pair<std::int32_t, Columns>, std::int32_t> row_sums_; // to constants
    std::map<std::pair<Columns, Columns>, Sums> sums_;
};

// The levels of this part, and all below it.
void write_part(Tree &tree, TreePart &part, const std::vector<std::int32_t> &lowest) {
    part.level.assign(at(part.end - part.loop), {});
    for (std::int32_t i = 0; i < tree.n; ++i) {
        const std::int32_t c = lowest[at(i)];
        if (c >= part.loop && c < part.end) part.level[at(c - part.loop)].push_back(i);
    }
    for (TreePart &p : part.parts) write_part(tree, p, lowest);
    if (part.parts.empty() && part.begin < part.loop)
        part.leaf = LeafWriter(tree, part.begin, part.loop).write();
}

std::int64_t code_below(const TreePart &part) {
    auto code = static_cast<std::int64_t>(part.leaf.code.size());
    for (const TreePart &p : part.parts) code += code_below(p);
    return code;
}

std::int32_t longest_below(const TreePart &part) {
    std::int32_t longest = 0;
    for (const TreePart &p : part.parts) longest = std::max({longest, p.end - p.loop, longest_below(p)});
    return longest;
}

void add_derivative_columns(const Tree &tree, const TreePart &part, std::vector<std::int32_t> &columns) {
    for (const TreePart &p : part.parts) add_derivative_columns(tree, p, columns);
    if (part.parts.empty() && part.begin < part.loop && rows_of(tree, part.begin).size() > 1)
        columns.push_back(part.begin);
}

} // namespace

std::vector<std::int32_t> derivative_columns(const Tree &tree) {
    std::vector<std::int32_t> columns;
    if (tree.derivative) add_derivative_columns(tree, tree.root, columns);
    return columns;
}

void write_programs(Tree &tree) {
    std::vector<std::int32_t> lowest(at(tree.n), tree.n); // column of each row
    for (std::int32_t c = tree.n - 1; c >= 0; --c)
        for (const std::int32_t i : rows_of(tree, c)) lowest[at(i)] = c;
    tree.fixed_rows.clear();
    tree.constants.clear();
    for (std::int32_t i = 0; i < tree.n; ++i)
        if (lowest[at(i)] >= tree.n - 1) tree.fixed_rows.push_back(i);
    write_part(tree, tree.root, lowest);
}

bool have_same_rows(const Tree &tree, std::int32_t x, std::int32_t y) {
    return std::ranges::equal(rows_of(tree, x), rows_of(tree, y));
}

std::int32_t longest_loop(const Tree &tree) { return longest_below(tree.root); }

std::int64_t leaf_code(const Tree &tree) { return code_below(tree.root); }

std::int64_t value_count(const Tree &tree) {
    return tree.n + static_cast<std::int64_t>(tree.row.size() + tree.constants.size());
}

} // namespace libperm
