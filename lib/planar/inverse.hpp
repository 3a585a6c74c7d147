// The inverse of a matrix at its entries alone: from the root's front back to the leaves, each front's part
// from its parent's (Takahashi, Fagan and Chin, PICA Proc. 8, 1973; Erisman and Tinney, CACM 18, 1975).
#pragma once

#include "lib/planar/determinant.hpp"

namespace libperm {

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
