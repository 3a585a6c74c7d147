// What the lines behind a cut make of the open columns: for each set of these that they may be left with, one
// minor of a matrix M with as many rows as there are columns left.
//
// Lines k, k + 1, ... have the determinant c det M[:, S] where S are the open columns that are left to them,
// and c is the same for all S: the columns that they alone touch are eliminated. M is kept as [I X] up to the
// order of its columns. Its basis is chosen by the largest pivots, so that the numbers of X stay small.
#pragma once

#include "lib/samples/planar/narrow_order.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace libperm {

// Field: the numbers and what is done with them (lib/samples/planar/planar_level.cpp).
template <class Field> class Rest {
    using Number = typename Field::Number;

  public:
    // Of no lines. The field must outlive it.
    explicit Rest(const Field &field) : field_(&field) {}

    // Row i of M is 1 in the column basis()[i] and row(i) in the others.
    const std::vector<std::int32_t> &basis() const { return basis_; }
    const std::vector<std::int32_t> &others() const { return others_; }
    const Number *row(std::size_t i) const { return rows_[i].data(); }

    // With a line before these. `entries`: of its own, with their signs. False: no pivot is left that is not
    // 0.
    bool prepend(const OrderedLine &line, const std::vector<Number> &entries) {
        for (const std::int32_t column : line.closes) {
            others_.push_back(column);
            for (std::vector<Number> &row : rows_) row.push_back(field_->zero());
        }
        if (!add_row(line, entries)) return false;
        for (const std::int32_t column : line.opens)
            if (!eliminate(column)) return false;
        return true;
    }

  private:
    static constexpr std::size_t none = ~std::size_t{0};

    static std::size_t place_in(const std::vector<std::int32_t> &columns, std::int32_t column) {
        const auto found = std::find(columns.begin(), columns.end(), column);
        return found == columns.end() ? none : static_cast<std::size_t>(found - columns.begin());
    }

    // to -= factor * row.
    void subtract(std::vector<Number> &to, const Number &factor, const std::vector<Number> &row) const {
        if (Field::is_zero(factor)) return;
        field_->subtract_multiple(to.data(), factor, row.data(), row.size());
    }

    // Without what the basis has of it, it is one more row, and has a column of its own in the basis.
    bool add_row(const OrderedLine &line, const std::vector<Number> &entries) {
        std::vector<Number> own(others_.size(), field_->zero());
        for (std::size_t k = 0; k < entries.size(); ++k)
            if (const std::size_t place = place_in(others_, line.entries[k].column); place != none)
                own[place] = entries[k];
        for (std::size_t k = 0; k < entries.size(); ++k)
            if (const std::size_t i = place_in(basis_, line.entries[k].column); i != none)
                subtract(own, entries[k], rows_[i]);
        const std::size_t pivot = largest(own);
        if (pivot == none) return false;
        for (std::size_t c = 0; c < own.size(); ++c)
            if (c != pivot) field_->divide(own[c], own[pivot]);
        basis_.push_back(others_[pivot]);
        for (std::vector<Number> &row : rows_) {
            const Number factor = row[pivot];
            row[pivot] = field_->zero();
            subtract(row, factor, own);
            take_out(row, pivot);
        }
        take_out(own, pivot);
        take_out(others_, pivot);
        rows_.push_back(std::move(own));
        return true;
    }

    // A column that no line before these touches: one row goes with it.
    bool eliminate(std::int32_t column) {
        std::size_t i = place_in(basis_, column);
        if (i == none) {
            const std::size_t c = place_in(others_, column);
            for (std::size_t k = 0; k < rows_.size(); ++k)
                if (!Field::is_zero(rows_[k][c]) && (i == none || Field::is_larger(rows_[k][c], rows_[i][c])))
                    i = k;
            if (i == none) return false;
            exchange(i, c);
        }
        take_out(basis_, i);
        take_out(rows_, i);
        return true;
    }

    // The columns basis()[i] and others()[c] change their places.
    void exchange(std::size_t i, std::size_t c) {
        std::vector<Number> &pivot_row = rows_[i];
        const Number pivot = std::exchange(pivot_row[c], field_->one());
        for (Number &x : pivot_row) field_->divide(x, pivot);
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            if (k == i) continue;
            const Number factor = std::exchange(rows_[k][c], field_->zero());
            subtract(rows_[k], factor, pivot_row);
        }
        std::swap(basis_[i], others_[c]);
    }

    std::size_t largest(const std::vector<Number> &row) const {
        std::size_t best = none;
        for (std::size_t c = 0; c < row.size(); ++c)
            if (!Field::is_zero(row[c]) && (best == none || Field::is_larger(row[c], row[best]))) best = c;
        return best;
    }

    template <class T> static void take_out(std::vector<T> &list, std::size_t place) {
        if (place + 1 != list.size()) std::swap(list[place], list.back());
        list.pop_back();
    }

    const Field *field_;
    std::vector<std::int32_t> basis_, others_;
    std::vector<std::vector<Number>> rows_; // X
};

} // namespace libperm
