// Determinants and inverses at the entries, by dense fronts.
#pragma once

#include "lib/planar/fronts.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace libperm {

// Of one that takes each k to `to[k]`: by its cycles.
inline bool is_odd_permutation(const std::vector<std::int32_t> &to) {
    std::vector<char> is_met(to.size(), 0);
    bool is_odd = false;
    for (std::size_t k = 0; k < to.size(); ++k)
        for (std::size_t next = k; !is_met[next]; next = at(to[next])) {
            is_met[next] = 1;
            is_odd ^= next != k;
        }
    return is_odd;
}

// Determinants by dense fronts, with pivots that are delayed to a later front where all that are left in one
// may be 0 (Duff and Reid, ACM Trans. Math. Softw. 9, 1983).

// A front at work: lines that may be eliminated here, then the others.
template <class Number> struct DenseFront {
    std::vector<std::int32_t> rows, cols; // their pairs
    std::size_t candidates = 0;
    std::vector<Number> numbers; // by row
    Number *row(std::size_t i) { return numbers.data() + i * cols.size(); }
};

// Field: the numbers, which it makes of entries and computes with (lib/planar/fields.hpp).
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

// The inverse of a matrix at its entries alone: from the root's front back to the leaves, each front's part
// from its parent's (Takahashi, Fagan and Chin, PICA Proc. 8, 1973; Erisman and Tinney, CACM 18, 1975).

// With A = L U let Z be the inverse, t a line that is eliminated in a front, k one of its later ones. From
// U Z = L^-1 and Z L = U^-1, s going through all its later lines,
//
//     Z[t,k] = -(sum_s U[t,s] Z[s,k]) / U[t,t],   Z[k,t] = -sum_s Z[k,s] L[s,t],
//     Z[t,t] = (1 - sum_s U[t,s] Z[s,t]) / U[t,t]:
//
// Z on the lines that are left to the parent is all that is needed of it, and twice the products of the
// elimination. Rows and columns have orders of their own where pivots were delayed.
template <class Field> class Inverse {
    using Number = typename Field::Number;
    using Work = DenseFront<Number>;

  public:
    Inverse(const Fronts &fronts, Field &field) : fronts_(fronts), field_(field) {}

    // As Determinant::find.
    template <class Entry, class Done, class Hold>
    bool eliminate(const Entry &entry, const Done &done, const Hold &hold) {
        const auto hold_all = [&](double numbers) { hold(numbers + kept_); };
        const auto keep = [&](Work &&work, std::size_t pivots) { factors_.push_back(factors(work, pivots)); };
        return Determinant(fronts_, field_).find(entry, done, hold_all, keep);
    }

    // Then once put(k, x) for each entry k, in row i and column j: x is the inverse's number in row j and
    // column i.
    template <class Done, class Hold, class Put>
    void go_back(const Done &done, const Hold &hold, const Put &put) {
        children_.assign(factors_.size(), {});
        for (std::size_t f = 0; f < factors_.size(); ++f)
            if (const std::int32_t parent = fronts_.all()[f].parent; parent != -1)
                children_[at(parent)].push_back(f);
        const std::size_t n = fronts_.pairs();
        row_place_.assign(n, 0);
        col_place_.assign(n, 0);
        constexpr double often = 1e5;
        double products = 0;
        for (std::size_t f = factors_.size(); f-- > 0;) {
            Work z = begun(factors_[f], hold);
            for (std::size_t t = factors_[f].pivots; t-- > 0;) {
                products += complete(z, t, factors_[f]);
                if (products < often) continue;
                done(products);
                products = 0;
            }
            tell(f, z, put);
        }
        done(products);
    }

  private:
    struct Factors {
        std::vector<std::int32_t> rows, cols; // their pairs
        std::size_t pivots = 0;
        std::vector<Number> upper, lower; // U by row, from the diagonal on; L by column, below it

        double count() const { return static_cast<double>(upper.size() + lower.size()); }
    };

    Factors factors(Work &work, std::size_t pivots) {
        const std::size_t size = work.rows.size();
        Factors kept{std::move(work.rows), std::move(work.cols), pivots, {}, {}};
        Number *const numbers = work.numbers.data();
        for (std::size_t t = 0; t < pivots; ++t) {
            for (std::size_t j = t; j < size; ++j) kept.upper.push_back(std::move(numbers[t * size + j]));
            for (std::size_t i = t + 1; i < size; ++i) kept.lower.push_back(std::move(numbers[i * size + t]));
        }
        kept_ += kept.count();
        return kept;
    }

    // The inverse, transposed so that it has the rows and columns of the matrix, on the lines that are left
    // to the parent.
    template <class Hold> Work begun(const Factors &of, const Hold &hold) {
        const std::size_t size = of.rows.size();
        Work z{of.rows, of.cols, of.pivots, {}};
        double held = static_cast<double>(size * size);
        for (const std::vector<Number> &numbers : known_) held += static_cast<double>(numbers.size());
        hold(held + kept_);
        z.numbers.assign(size * size, field_.zero());
        if (of.pivots == size) return z; // a root
        auto number = known_.back().begin();
        for (std::size_t i = of.pivots; i < size; ++i)
            for (std::size_t j = of.pivots; j < size; ++j) z.row(i)[j] = std::move(*number++);
        known_.pop_back();
        return z;
    }

    // With row and column t, those behind it being there. Returns how many products it takes.
    double complete(Work &z, std::size_t t, Factors &of) {
        const std::size_t size = of.rows.size(), later = size - t - 1;
        const Number *const u = of.upper.data() + (of.upper.size() - later), *const l =
                                                                                 of.lower.data() +
                                                                                 (of.lower.size() - later);
        const Number inverse = field_.inverse(u[-1]);
        Number *const own = z.row(t);
        for (std::size_t k = t + 1; k < size; ++k) {
            Number *const row = z.row(k);
            field_.subtract_products(row[t], u, row + t + 1, later);
            field_.multiply(row[t], inverse);
            if (field_.is_zero(l[k - t - 1])) continue;
            for (std::size_t j = t + 1; j < size; ++j)
                field_.subtract_products(own[j], &l[k - t - 1], &row[j], 1);
        }
        own[t] = field_.one();
        field_.subtract_products(own[t], u, own + t + 1, later);
        field_.multiply(own[t], inverse);
        of.upper.erase(of.upper.end() - static_cast<std::ptrdiff_t>(later + 1), of.upper.end());
        of.lower.erase(of.lower.end() - static_cast<std::ptrdiff_t>(later), of.lower.end());
        return 2 * static_cast<double>(size) * static_cast<double>(later);
    }

    // What a front's part says to the entries and to its children.
    template <class Put> void tell(std::size_t f, Work &z, const Put &put) {
        for (std::size_t k = 0; k < z.rows.size(); ++k) {
            row_place_[at(z.rows[k])] = k;
            col_place_[at(z.cols[k])] = k;
        }
        const auto number = [&](std::int32_t row, std::int32_t col) -> const Number & {
            return z.row(row_place_[at(row)])[col_place_[at(col)]];
        };
        for (const Fronts::Entry &e : fronts_.entries(f)) put(at(e.entry), number(e.row, e.col));
        for (const std::size_t child : children_[f]) {
            const Factors &of = factors_[child];
            known_.emplace_back();
            for (std::size_t i = of.pivots; i < of.rows.size(); ++i)
                for (std::size_t j = of.pivots; j < of.cols.size(); ++j)
                    known_.back().push_back(number(of.rows[i], of.cols[j]));
        }
    }

    const Fronts &fronts_;
    Field &field_;
    std::vector<Factors> factors_; // by front
    double kept_ = 0;              // numbers of these
    std::vector<std::vector<std::size_t>> children_;
    std::vector<std::vector<Number>> known_;         // for fronts to come, the next one's last
    std::vector<std::size_t> row_place_, col_place_; // by pair, in the front at work
};

} // namespace libperm
