#include "lib/structure/modular_background.hpp"

#include "preprocess/index.hpp"

#include <algorithm>

namespace libperm {
namespace {

constexpr std::int32_t most_kinds_tried = 16; // of columns

std::uint64_t inverse_of(const Montgomery &field, std::uint64_t x) {
    return field.power(x, field.prime() - 2);
}

// Rows that are far from each other, as entries beside the background are often near to each other.
std::vector<std::int32_t> who_is_asked(const std::vector<std::int32_t> &rows, std::int32_t base) {
    std::vector<std::int32_t> asked{base};
    for (const std::size_t k : {rows.size() / 3, 2 * rows.size() / 3})
        if (rows[k] != base && rows[k] != asked.back()) asked.push_back(rows[k]);
    return asked;
}

} // namespace

ModularBackground::ModularBackground(const Montgomery &field, const ResidueRows &a, const Likeness &by,
                                     const Poll &poll)
    : field_(field), a_(a), rows_(row_classes(field, a, by, poll)), v_(at(a.n)) {
    if (rows_.bases.empty()) return;
    const auto classes = static_cast<std::int32_t>(rows_.bases.size());
    for (std::int32_t c = 0; c < classes; ++c) profiles_.push_back(profile_of(c, poll));
    found_.base_cols = common_columns();
    if (is_none()) return;
    found_.base_rows = rows_.bases;
    class_columns();
    found_.row_class = rows_.of_row;
    for (std::int32_t &c : found_.row_class) c = std::max(c, 0); // any will do where u_i = 0
    found_.col_of_row.assign(at(a_.n), -1);
    std::vector<char> is_asked(at(a_.n));
    for (const std::int32_t i : found_.row_of_col)
        if (i >= 0) is_asked[at(i)] = 1;
    for (std::int32_t i = 0; i < a_.n; ++i) choose_columns(i, is_asked[at(i)]);
    beside_ = places_beside(poll);
}

ModularBackground::Profile ModularBackground::profile_of(std::int32_t c, const Poll &poll) const {
    const std::vector<std::int32_t> rows = rows_.rows_of(c);
    Profile profile{std::vector<std::uint64_t>(at(a_.n)), std::vector<std::int32_t>(at(a_.n), -1)};
    std::vector<std::int32_t> most(at(a_.n), static_cast<std::int32_t>(rows.size() / 2));
    PolledSteps steps(poll);
    for (const std::int32_t r : who_is_asked(rows, rows_.bases[at(c)])) {
        const std::uint64_t inverse = inverse_of(field_, rows_.scale[at(r)]);
        std::vector<std::uint64_t> said;
        for (const std::uint64_t x : a_.row(r)) said.push_back(field_.multiply(x, inverse));
        std::vector<std::int32_t> count(at(a_.n));
        for (const std::int32_t i : rows) {
            steps.take(4 * a_.n);
            const std::uint64_t scale = rows_.scale[at(i)];
            for (std::size_t j = 0; j < said.size(); ++j)
                count[j] += field_.multiply(scale, said[j]) == a_.row(i)[j];
        }
        for (std::size_t j = 0; j < said.size(); ++j) {
            if (said[j] == 0 || count[j] <= most[j]) continue;
            most[j] = count[j];
            profile.values[j] = said[j];
            profile.said_by[j] = r;
        }
    }
    return profile;
}

// Whether the base rows say of it what most rows do, and not only zeros.
bool ModularBackground::is_clean(std::int32_t j) const {
    bool is_zero = true;
    for (std::size_t c = 0; c < profiles_.size(); ++c) {
        if (a_.row(rows_.bases[c])[at(j)] != profiles_[c].values[at(j)]) return false;
        is_zero = is_zero && profiles_[c].values[at(j)] == 0;
    }
    return !is_zero;
}

// Of the kinds of columns with most columns the first of each: columns are of one kind if all classes of rows
// say multiples of each other.
std::vector<std::int32_t> ModularBackground::common_columns() const {
    struct Kind {
        std::int32_t col, count = 1;
    };
    const auto is_multiple = [this](std::int32_t x, std::int32_t y) {
        const auto of = [&](std::size_t c, std::int32_t j) { return profiles_[c].values[at(j)]; };
        std::size_t pivot = 0;
        while (of(pivot, x) == 0) ++pivot;
        bool is = of(pivot, y) != 0;
        for (std::size_t c = 0; is && c < profiles_.size(); ++c)
            is = field_.multiply(of(c, x), of(pivot, y)) == field_.multiply(of(c, y), of(pivot, x));
        return is;
    };
    std::vector<Kind> kinds;
    for (std::int32_t j = 0; j < a_.n; ++j) {
        if (!is_clean(j)) continue;
        const auto kind =
            std::find_if(kinds.begin(), kinds.end(), [&](const Kind &k) { return is_multiple(k.col, j); });
        if (kind != kinds.end())
            ++kind->count;
        else if (std::ssize(kinds) < most_kinds_tried)
            kinds.push_back({j});
    }
    std::ranges::stable_sort(kinds, std::greater(), &Kind::count);
    std::vector<std::int32_t> cols;
    for (const Kind &kind : kinds)
        if (std::ssize(cols) < most_classes && (kind.count > 1 || cols.empty())) cols.push_back(kind.col);
    return cols;
}

// Each column to the class, and by the factor, that most rows agree with.
void ModularBackground::class_columns() {
    const std::size_t p = profiles_.size(), q = found_.base_cols.size();
    std::vector<std::uint64_t> inverse(p * q); // of C
    std::vector<std::size_t> rows;
    for (std::size_t c = 0; c < p; ++c) {
        rows.push_back(rows_.rows_of(static_cast<std::int32_t>(c)).size());
        for (std::size_t b = 0; b < q; ++b)
            inverse[c * q + b] = inverse_of(field_, profiles_[c].values[at(found_.base_cols[b])]);
    }
    found_.col_class.assign(at(a_.n), 0);
    found_.row_of_col.assign(at(a_.n), -1);
    for (std::size_t j = 0; j < at(a_.n); ++j) {
        std::size_t most = 0;
        for (std::size_t b = 0; b < q; ++b)
            for (std::size_t by = 0; by < p; ++by) {
                const std::uint64_t factor = field_.multiply(profiles_[by].values[j], inverse[by * q + b]);
                if (factor == 0) continue;
                std::size_t agree = 0;
                for (std::size_t c = 0; c < p; ++c) {
                    const std::uint64_t of_base = profiles_[c].values[at(found_.base_cols[b])];
                    if (field_.multiply(factor, of_base) == profiles_[c].values[j]) agree += rows[c];
                }
                if (agree <= most) continue;
                most = agree;
                v_[j] = factor;
                found_.col_class[j] = static_cast<std::int32_t>(b);
                found_.row_of_col[j] = profiles_[by].said_by[j];
            }
    }
    for (std::size_t b = 0; b < q; ++b)
        found_.col_class[at(found_.base_cols[b])] = static_cast<std::int32_t>(b);
}

// Of a row that says something of a column, a column of which a base row says it.
void ModularBackground::choose_columns(std::int32_t i, bool is_asked) {
    const std::vector<std::int32_t> &bases = found_.base_rows;
    if (rows_.scale[at(i)] == 0 || std::find(bases.begin(), bases.end(), i) != bases.end()) return;
    for (std::int32_t step = 0; step < a_.n; ++step) {
        const std::int32_t j = (i + 1 + step) % a_.n;
        const std::uint64_t there = value(i, j);
        if (there == 0 || there != a_.row(i)[at(j)]) continue;
        if (is_asked && std::find(bases.begin(), bases.end(), found_.row_of_col[at(j)]) == bases.end())
            continue;
        found_.col_of_row[at(i)] = j;
        return;
    }
    rows_.scale[at(i)] = 0;
}

std::uint64_t ModularBackground::value(std::int32_t i, std::int32_t j) const {
    const std::size_t c = at(found_.row_class[at(i)]), b = at(found_.col_class[at(j)]);
    const std::uint64_t of_classes = profiles_[c].values[at(found_.base_cols[b])];
    return field_.multiply(field_.multiply(rows_.scale[at(i)], of_classes), v_[at(j)]);
}

std::int64_t ModularBackground::places_beside(const Poll &poll) const {
    std::int64_t count = 0;
    PolledSteps steps(poll);
    for (std::int32_t i = 0; i < a_.n; ++i) {
        steps.take(4 * a_.n);
        for (std::int32_t j = 0; j < a_.n; ++j) count += value(i, j) != a_.row(i)[at(j)];
    }
    return count;
}

} // namespace libperm
