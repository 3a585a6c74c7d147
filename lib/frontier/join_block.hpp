// Sums of outer products of tables' classes, of all kinds of numbers: those of doubles in vectors
// (jit/lanes/outer_products.hpp), the others one by one in the same order.
#pragma once

#include "jit/lanes/outer_products.hpp"
#include "lib/number/state_number.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace libperm {

template <class Trait> class JoinBlock {
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;
    static constexpr bool pairs = std::is_same_v<Number, Signed<number::Real<double>>>;

  public:
    static constexpr bool in_vectors = pairs || std::is_same_v<Number, NonNegative<number::Real<double>>>;

  private:
    using Left = std::conditional_t<in_vectors, double, Number>;
    using Right = std::conditional_t<in_vectors, double, Factor>;

  public:
    void clear() {
        left_.clear();
        right_.clear();
    }
    void reserve(std::size_t products) {
        left_.resize(products);
        right_.resize(products);
    }
    // Product k is of these rows and columns.
    void put(std::size_t k, const Number *rows, const Factor *columns) {
        if constexpr (in_vectors) {
            left_[k] = reinterpret_cast<const double *>(rows);
            right_[k] = reinterpret_cast<const double *>(columns);
        } else {
            left_[k] = rows;
            right_[k] = columns;
        }
    }

    // c[r, v] = sum over products [first, last). Rows of c are as long as the columns, filled up.
    void sum(const Trait &numbers, std::size_t first, std::size_t last, std::size_t rows, std::size_t columns,
             Number *c) const {
        const std::span<const Left *const> left(left_.data() + first, last - first);
        const std::span<const Right *const> right(right_.data() + first, last - first);
        const std::size_t stride = filled_up(columns);
        if constexpr (in_vectors) {
            sum_outer_products({left, right, rows, stride, reinterpret_cast<double *>(c), stride}, pairs);
        } else {
            for (std::size_t v = 0; v < columns; v += outer_columns)
                for (std::size_t r = 0; r < rows; ++r)
                    sum_few(numbers, left, right, r, v, std::min(outer_columns, columns - v),
                            c + r * stride + v);
        }
    }

    // Adds the products of subsets, of tables that begin at a and b, to the matrices at c.
    static double add_subsets(const Trait &numbers, const SubsetProducts &of, const Number *a,
                              const Factor *b, Number *c) {
        if constexpr (in_vectors) {
            SubsetProducts here = of;
            here.a = reinterpret_cast<const double *>(a);
            here.b = reinterpret_cast<const double *>(b);
            here.c = reinterpret_cast<double *>(c);
            return add_subset_products(here, pairs);
        } else {
            std::uint64_t products = 0;
            const std::uint32_t all = (std::uint32_t{1} << of.lines) - 1;
            const SubsetIndex index(of.right);
            for (const SubsetPiece &left : of.left) {
                const std::uint32_t rest = all & ~std::uint32_t{left.subset};
                for (std::uint32_t t = rest;; t = (t - 1) & rest) {
                    if (index.at[t] != SubsetIndex::none) {
                        const SubsetPiece &right = of.right[index.at[t]];
                        const std::size_t matrix = (left.subset | t) * of.kinds + left.kind;
                        add_outer(numbers, {a + left.begin, left.count}, {b + right.begin, right.count},
                                  c + of.c_begin[matrix]);
                        ++of.added[matrix];
                        products += std::uint64_t{left.states} * right.states;
                    }
                    if (t == 0) break;
                }
            }
            return static_cast<double>(products);
        }
    }

  private:
    static constexpr std::size_t filled_up(std::size_t columns) {
        return (columns + outer_columns - 1) / outer_columns * outer_columns;
    }

    static void sum_few(const Trait &numbers, std::span<const Left *const> left,
                        std::span<const Right *const> right, std::size_t row, std::size_t first,
                        std::size_t count, Number *c) {
        std::array<Number, outer_columns> sums;
        sums.fill(Trait::zero());
        const auto add = [&](auto columns) { // of a number that the compiler knows, if it can be
            for (std::size_t k = 0; k < left.size(); ++k) {
                const Number x = left[k][row];
                if (Trait::is_zero(x)) continue;
                for (std::size_t i = 0; i < columns; ++i)
                    sums[i] = numbers.add(sums[i], numbers.multiply(right[k][first + i], x));
            }
        };
        if (count == outer_columns)
            add(std::integral_constant<std::size_t, outer_columns>{});
        else
            add(count);
        std::copy_n(sums.data(), count, c);
    }

    static void add_outer(const Trait &numbers, std::span<const Number> rows, std::span<const Factor> columns,
                          Number *c) {
        const std::size_t stride = filled_up(columns.size());
        for (const Number &x : rows) {
            for (std::size_t v = 0; v < columns.size(); ++v)
                c[v] = numbers.add(c[v], numbers.multiply(columns[v], x));
            c += stride;
        }
    }

    std::vector<const Left *> left_;
    std::vector<const Right *> right_;
};

} // namespace libperm
