// Determinants by dense fronts, with pivots that are delayed to a later front where all that are left in one
// may be 0 (Duff and Reid, ACM Trans. Math. Softw. 9, 1983).
#pragma once

#include "lib/planar/fronts.hpp"
#include "lib/planar/odd_permutation.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace libperm {

// A front at work: lines that may be eliminated here, then the others.
template <class Number> struct DenseFront {
    std::vector<std::int32_t> rows, cols; // their pairs
    std::size_t candidates = 0;
    std::vector<Number> numbers; // by row
    Number *row(std::size_t i) { return numbers.data() + i * cols.size(); }
};

// Field: the numbers, which it makes of entries and computes with (lib/planar/modular_field.hpp,
// ball_field.hpp).
template <class Field> class Determinant {
    using Number = typename Field::Number;
    using Work = DenseFront<Number>;

  public:
    Determinant(const Fronts &fronts, Field &field) : fronts_(fronts), field_(field) {}

    // Of the matrix whose rows and columns are the pairs, so that they stand on its diagonal: into the
    // field's product. `entry(k)`: the number of entry k; `done(x)`: after x products of numbers, now and
    // then; `hold(x)`: so many numbers are held, before they are. Where no pivots are left that are certain
    // not to be 0, the field bounds what is left, and false is returned.
    template <class Entry, class Done, class Hold>
    bool find(const Entry &entry, const Done &done, const Hold &hold) {
        return find(entry, done, hold, [](Work &&, std::size_t) {});
    }
    // keep(front, pivots): of each in its turn, when so many lines are eliminated: L U of these, U beside
    // them, L below; the rest is gone.
    template <class Entry, class Done, class Hold, class Keep>
    bool find(const Entry &entry, const Done &done, const Hold &hold, const Keep &keep) {
        const std::size_t n = fronts_.pairs();
        row_place_.assign(n, 0);
        col_place_.assign(n, 0);
        col_of_row_.assign(n, 0);
        bool is_whole = true;
        const auto of_front = [&](std::size_t f) {
            const Front &front = fronts_.all()[f];
            Work work = assembled(f, entry, hold);
            const std::size_t pivots = eliminate(work);
            if (front.parent != -1)
                rests_.push_back(rest_of(work, pivots));
            else
                lose(work, pivots);
            is_whole &= front.parent != -1 || pivots == work.candidates;
            const double products = std::max(front.products(), products_of(work, pivots));
            keep(std::move(work), pivots);
            return products;
        };
        fronts_.each(of_front, done);
        if (is_odd_permutation(col_of_row_)) field_.negate_product();
        return is_whole;
    }

  private:
    // What is left of a front: the delayed lines come first.
    struct Rest {
        std::vector<std::int32_t> rows, cols; // their pairs
        std::size_t delayed = 0;
        std::vector<Number> numbers; // by row
    };
    static double products_of(const Work &work, std::size_t pivots) {
        const auto size = static_cast<double>(work.rows.size());
        return static_cast<double>(pivots) * size * size;
    }

    template <class Entry, class Hold> Work assembled(std::size_t f, const Entry &entry, const Hold &hold) {
        const Front &front = fronts_.all()[f];
        const auto first_child = rests_.end() - front.children;
        Work work;
        for (std::int32_t k = front.first; k < front.last; ++k) work.rows.push_back(k);
        work.cols = work.rows;
        for (auto child = first_child; child != rests_.end(); ++child) {
            const auto delayed = static_cast<std::ptrdiff_t>(child->delayed);
            work.rows.insert(work.rows.end(), child->rows.begin(), child->rows.begin() + delayed);
            work.cols.insert(work.cols.end(), child->cols.begin(), child->cols.begin() + delayed);
        }
        work.candidates = work.rows.size();
        work.rows.insert(work.rows.end(), front.rest.begin(), front.rest.end());
        work.cols.insert(work.cols.end(), front.rest.begin(), front.rest.end());
        const std::size_t size = work.rows.size();
        for (std::size_t k = 0; k < size; ++k) {
            row_place_[at(work.rows[k])] = k;
            col_place_[at(work.cols[k])] = k;
        }
        std::size_t held = size * size;
        for (const Rest &rest : rests_) held += rest.numbers.size();
        hold(static_cast<double>(held));
        work.numbers.assign(size * size, field_.zero());
        for (const Fronts::Entry &e : fronts_.entries(f))
            field_.add(work.row(row_place_[at(e.row)])[col_place_[at(e.col)]], entry(at(e.entry)));
        for (auto child = first_child; child != rests_.end(); ++child) {
            const Number *number = child->numbers.data();
            for (const std::int32_t r : child->rows) {
                Number *const row = work.row(row_place_[at(r)]);
                for (const std::int32_t c : child->cols) field_.add(row[col_place_[at(c)]], *number++);
            }
        }
        rests_.erase(first_child, rests_.end());
        return work;
    }

    // Exchanges rows and columns so that the pivot of this step is not 0; false: all that are left may be.
    bool bring_pivot(Work &work, std::size_t step) {
        for (std::size_t i = step; i < work.candidates; ++i)
            for (std::size_t j = step; j < work.candidates; ++j) {
                if (field_.may_be_zero(work.row(i)[j])) continue;
                if (i != step) {
                    std::swap_ranges(work.row(i), work.row(i) + work.cols.size(), work.row(step));
                    std::swap(work.rows[i], work.rows[step]);
                }
                if (j != step) {
                    for (std::size_t r = 0; r < work.rows.size(); ++r)
                        std::swap(work.row(r)[j], work.row(r)[step]);
                    std::swap(work.cols[j], work.cols[step]);
                }
                return true;
            }
        return false;
    }

    // Of the lines that may be eliminated as many as there are pivots for: L U of these, U beside them, L
    // below, and what these leave of the others.
    std::size_t eliminate(Work &work) {
        const std::size_t size = work.rows.size(), lines = work.candidates;
        std::vector<Number> inverse;
        for (std::size_t t = 0; t < lines && bring_pivot(work, t); ++t) {
            const Number *const pivot = work.row(t);
            field_.multiply_product(pivot[t]);
            inverse.push_back(field_.inverse(pivot[t]));
            col_of_row_[at(work.rows[t])] = work.cols[t];
            for (std::size_t i = t + 1; i < lines; ++i) {
                Number *const row = work.row(i);
                if (field_.is_zero(row[t])) continue;
                field_.multiply(row[t], inverse[t]);
                for (std::size_t j = t + 1; j < lines; ++j)
                    field_.subtract_products(row[j], &row[t], &pivot[j], 1);
            }
        }
        const std::size_t pivots = inverse.size();
        std::vector<Number> columns; // of U, one behind the other
        columns.reserve(size * pivots);
        for (std::size_t j = 0; j < size; ++j)
            for (std::size_t t = 0; t < pivots; ++t) {
                Number &x = work.row(t)[j];
                if (j >= lines) field_.subtract_products(x, work.row(t), columns.data() + j * pivots, t);
                columns.push_back(x);
            }
        for (std::size_t i = pivots; i < size; ++i) {
            Number *const row = work.row(i);
            for (std::size_t t = 0; t < pivots && i >= lines; ++t) {
                field_.subtract_products(row[t], row, columns.data() + t * pivots, t);
                field_.multiply(row[t], inverse[t]);
            }
            for (std::size_t j = i < lines ? lines : pivots; j < size; ++j)
                field_.subtract_products(row[j], row, columns.data() + j * pivots, pivots);
        }
        return pivots;
    }

    // Of the lines of a last front those without pivots.
    void lose(Work &work, std::size_t pivots) {
        for (std::size_t t = pivots; t < work.candidates; ++t) {
            field_.multiply_bound(work.row(t) + pivots, work.candidates - pivots);
            col_of_row_[at(work.rows[t])] = work.cols[t];
        }
    }

    static Rest rest_of(Work &work, std::size_t pivots) {
        const auto from = static_cast<std::ptrdiff_t>(pivots);
        Rest rest{{work.rows.begin() + from, work.rows.end()},
                  {work.cols.begin() + from, work.cols.end()},
                  work.candidates - pivots,
                  {}};
        rest.numbers.reserve(rest.rows.size() * rest.cols.size());
        for (std::size_t i = pivots; i < work.rows.size(); ++i)
            std::move(work.row(i) + from, work.row(i) + work.cols.size(), std::back_inserter(rest.numbers));
        return rest;
    }

    const Fronts &fronts_;
    Field &field_;
    std::vector<Rest> rests_;
    std::vector<std::size_t> row_place_, col_place_; // by pair, in the front at work
    std::vector<std::int32_t> col_of_row_;           // by pair, of the pivots
};

} // namespace libperm
