// Which column the next line of a shot takes.
//
// The lines behind it have the determinant c det M[:, S] for the open columns S that are left to them
// (lib/samples/planar/rest.hpp). With the line itself these are one more than M has rows, S' say, and if it
// takes column j then det M[:, S' - j] is, but for its sign, v_j where M[:, S'] v = 0. So j has the share
// |a_j v_j| of all that the line can take. M being [I X], v follows from those of its columns that are beside
// the basis and left, and those in the basis that are used.
#pragma once

#include "lib/samples/planar/null_vector.hpp"
#include "lib/samples/planar/planar_shot.hpp"
#include "lib/samples/planar/rest.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

template <class Field> class Chooser {
    using Number = typename Field::Number;

  public:
    Chooser(const Field &field, std::int32_t n) : field_(field), place_(at(n), 0) {}

    // `entries`: of the line, with their signs; `rest`: of the lines behind it.
    void choose(const OrderedLine &line, const std::vector<Number> &entries, const Rest<Field> &rest,
                PlanarShot &shot) {
        free_.clear();
        for (std::size_t k = 0; k < line.entries.size(); ++k)
            if (!shot.is_used[at(line.entries[k].column)]) free_.push_back(k);
        for (const std::int32_t column : line.closes) { // nobody else will take it
            if (shot.is_used[at(column)]) continue;
            std::erase_if(free_, [&](std::size_t k) { return line.entries[k].column != column; });
        }
        if (free_.size() > 1 && !weigh(entries, line, rest, shot)) free_.clear();
        shot.is_lost = free_.empty();
        if (shot.is_lost) return;
        const OrderedLine::Entry &taken = line.entries[free_.size() > 1 ? drawn(shot) : free_.front()];
        shot.is_used[at(taken.column)] = 1;
        shot.entries.push_back(taken.entry);
    }

  private:
    // sizes_: of what is free. False: it is not known.
    bool weigh(const std::vector<Number> &entries, const OrderedLine &line, const Rest<Field> &rest,
               const PlanarShot &shot) {
        const auto &basis = rest.basis(), &others = rest.others();
        used_.clear(), left_.clear();
        for (std::size_t i = 0; i < basis.size(); ++i) {
            place_[at(basis[i])] = i;
            if (shot.is_used[at(basis[i])]) used_.push_back(i);
        }
        for (std::size_t c = 0; c < others.size(); ++c) {
            if (shot.is_used[at(others[c])]) continue;
            place_[at(others[c])] = basis.size() + left_.size();
            left_.push_back(c);
        }
        const std::size_t q = used_.size();
        if (left_.size() != q + 1) return false;
        y_.assign(q * (q + 1), field_.zero());
        for (std::size_t i = 0; i < q; ++i)
            for (std::size_t c = 0; c <= q; ++c) y_[c * q + i] = rest.row(used_[i])[left_[c]];
        if (!null_vector(field_, q, y_, order_, v_)) return false;
        values_.clear();
        std::int64_t unit = Field::exponent(field_.zero());
        for (const std::size_t k : free_) {
            Number value = value_at(place_[at(line.entries[k].column)], rest);
            field_.multiply(value, entries[k]);
            unit = std::max(unit, Field::exponent(value));
            values_.push_back(std::move(value));
        }
        sizes_.clear();
        for (const Number &value : values_) sizes_.push_back(field_.size(value, unit));
        return true;
    }

    // Of the vector.
    Number value_at(std::size_t place, const Rest<Field> &rest) const {
        const std::size_t rows = rest.basis().size();
        if (place >= rows) return v_[place - rows];
        Number value = field_.zero();
        for (std::size_t c = 0; c < left_.size(); ++c)
            field_.subtract_multiple(&value, v_[c], &rest.row(place)[left_[c]], 1);
        return value;
    }

    // The first whose sizes come to more than a random number of 106 bits, times all of them.
    std::size_t drawn(PlanarShot &shot) {
        TwoDoubles::Number sum{0, 0};
        for (const TwoDoubles::Number &size : sizes_) sum = TwoDoubles::add(sum, size);
        const double high = shot.random.uniform();
        TwoDoubles::Number above = TwoDoubles::multiply({high, shot.random.uniform() * 0x1p-53}, sum);
        std::size_t k = 0;
        for (; k + 1 < sizes_.size(); ++k) {
            above = TwoDoubles::subtract(above, sizes_[k]);
            if (above.hi < 0) break;
        }
        shot.drawn.multiply(sizes_[k]);
        shot.of.multiply(sum);
        return free_[k];
    }

    const Field &field_;
    std::vector<std::size_t> place_;       // by column: in the basis, or behind it in left_
    std::vector<std::size_t> used_, left_; // rows whose column is used; other columns that are not
    std::vector<std::size_t> free_;        // entries of the line
    std::vector<Number> y_, v_, values_;
    std::vector<std::size_t> order_;
    std::vector<TwoDoubles::Number> sizes_;
};

} // namespace libperm
