#include "lib/structure/separable/band_states.hpp"

#include "lib/structure/separable/band_price.hpp"

#include <algorithm>

namespace libperm {

BandSums::BandSums(const Montgomery &field, const BandShape &shape)
    : field_(field),
      shape_(shape),
      rows_(shape.rows.kinds, shape.n / 2 + 1),
      cols_(shape.cols.kinds, shape.n / 2 + 1),
      most_numbers_(static_cast<std::size_t>(most_beside_a_set(shape))) {
    for (std::size_t w = 0; w <= shape.n + 1; ++w) counts_.push_back(field_.to(w));
}

std::size_t BandSums::row_divisions(std::ptrdiff_t w) const {
    return divisions_of(static_cast<std::size_t>(w), shape_.rows.kinds);
}
std::size_t BandSums::col_divisions(std::ptrdiff_t columns) const {
    return divisions_of(static_cast<std::size_t>(columns), shape_.cols.kinds);
}

BandStates BandSums::sum(const WaitingRange &range, const std::vector<StateSource> &sources) {
    BandStates states{range, {}, {}};
    if (spare_.empty()) {
        states.numbers.reserve(most_numbers_);
    } else {
        states.numbers = std::move(spare_.back());
        spare_.pop_back();
    }
    std::size_t numbers = 0;
    for (std::ptrdiff_t w = range.first; w <= range.last; ++w) {
        states.begins.push_back(numbers);
        numbers += row_divisions(w) * (col_divisions(range.columns(w)) + 1);
    }
    states.numbers.resize(numbers);
    for (std::ptrdiff_t w = range.first; w <= range.last; ++w)
        fill(w, range.columns(w), sources,
             states.numbers.data() + states.begins[static_cast<std::size_t>(w - range.first)]);
    return states;
}

void BandSums::take_back(BandStates &&states) {
    if (states.numbers.capacity() >= most_numbers_) spare_.push_back(std::move(states.numbers));
}

double BandSums::products(const BandStates &states, std::size_t sources) const {
    StateCount count;
    for (std::ptrdiff_t w = states.range.first; w <= states.range.last; ++w) {
        const auto lines = static_cast<double>(row_divisions(w));
        count.lines += lines;
        count.states += lines * static_cast<double>(col_divisions(states.range.columns(w)));
    }
    return products_of_sums(count, sources);
}

void BandSums::leave_out(BandStates &states, unsigned rows, unsigned cols) const {
    const auto has = [](const Divisions &lines, std::size_t kinds, unsigned ended, std::size_t total,
                        std::size_t division) {
        for (std::size_t t = 0; t < kinds; ++t)
            if ((ended >> t & 1) != 0 && lines.count(t, total, division) > 0) return true;
        return false;
    };
    std::uint64_t *own = states.numbers.data();
    for (std::ptrdiff_t w = states.range.first; w <= states.range.last; ++w) {
        const auto count = static_cast<std::size_t>(w),
                   columns = static_cast<std::size_t>(states.range.columns(w));
        for (std::size_t r = 0; r < row_divisions(w); ++r, ++own) {
            const bool all = has(rows_, shape_.rows.kinds, rows, count, r);
            for (std::size_t c = 0; c < col_divisions(states.range.columns(w)); ++c, ++own)
                if (all || has(cols_, shape_.cols.kinds, cols, columns, c)) *own = 0;
        }
    }
}

void BandSums::fill(std::ptrdiff_t w, std::ptrdiff_t columns, const std::vector<StateSource> &sources,
                    std::uint64_t *to) {
    find_in_reach(w, sources);
    for (std::size_t k = 0; k < by_place_.size(); ++k) find_places(*by_place_[k].source, columns, k);
    const std::size_t size = col_divisions(columns);
    for (std::size_t line = 0; line < row_divisions(w); ++line, to += size + 1) fill_line(w, line, size, to);
}

void BandSums::find_in_reach(std::ptrdiff_t w, const std::vector<StateSource> &sources) {
    using Way = StateSource::Way;
    by_line_.clear();
    by_place_.clear();
    for (const StateSource &source : sources) {
        const std::ptrdiff_t rows = source.way == Way::more_rows    ? w + 1
                                    : source.way == Way::fewer_rows ? w - 1
                                                                    : w;
        const std::uint64_t *const numbers = source.from->slice(rows);
        if (!numbers) continue;
        const bool by_place = source.way == Way::more_cols || source.way == Way::fewer_cols;
        (by_place ? by_place_ : by_line_)
            .push_back({&source, numbers, col_divisions(source.from->range.columns(rows)) + 1});
    }
}

// The k-th source's place and factor by division of so many columns.
void BandSums::find_places(const StateSource &source, std::ptrdiff_t columns, std::size_t k) {
    const std::size_t size = col_divisions(columns), kind = source.kind;
    places_[k].resize(size);
    factors_[k].assign(size, source.factor);
    if (source.way == StateSource::Way::more_cols) {
        const auto total = static_cast<std::size_t>(columns);
        for (std::size_t c = 0; c < size; ++c) {
            places_[k][c] = cols_.more(kind)[c];
            factors_[k][c] = field_.multiply(source.factor, counts_[cols_.count(kind, total, c) + 1]);
        }
    } else {
        const auto none = static_cast<std::uint32_t>(columns == 0 ? 0 : col_divisions(columns - 1));
        for (std::size_t c = 0; c < size; ++c) places_[k][c] = std::min(cols_.less(kind)[c], none);
    }
}

void BandSums::fill_line(std::ptrdiff_t w, std::size_t line, std::size_t size, std::uint64_t *to) const {
    std::array<const std::uint64_t *, most_sources> from{};
    std::array<std::uint64_t, most_sources> x{}, y{};
    std::size_t lines = 0;
    for (const auto &[source, numbers, line_size] : by_line_) {
        std::size_t other = line;
        y[lines] = source->factor;
        if (source->way == StateSource::Way::more_rows) {
            other = rows_.more(source->kind)[line];
            const std::size_t count = rows_.count(source->kind, static_cast<std::size_t>(w), line) + 1;
            y[lines] = field_.multiply(source->factor, counts_[count]);
        } else if (source->way == StateSource::Way::fewer_rows) {
            other = rows_.less(source->kind)[line];
            if (other >= row_divisions(w - 1)) continue;
        }
        from[lines++] = numbers + other * line_size;
    }
    const std::size_t places = by_place_.size();
    for (std::size_t k = 0; k < places; ++k)
        from[lines + k] = by_place_[k].numbers + line * by_place_[k].line_size;
    for (std::size_t c = 0; c < size; ++c) {
        for (std::size_t k = 0; k < lines; ++k) x[k] = from[k][c];
        for (std::size_t k = 0; k < places; ++k) {
            x[lines + k] = from[lines + k][places_[k][c]];
            y[lines + k] = factors_[k][c];
        }
        to[c] = field_.sum_of_products(x.data(), y.data(), lines + places);
    }
    to[size] = 0;
}

} // namespace libperm
