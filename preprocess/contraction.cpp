#include "preprocess/contraction.hpp"

#include <algorithm>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class Entries> auto place_of(Entries &entries, std::int32_t other) {
    return std::lower_bound(entries.begin(), entries.end(), other,
                            [](const auto &e, std::int32_t o) { return e.other < o; });
}

} // namespace

template <class Value>
Contraction<Value>::Contraction(const BlockOf<Value> &block)
    : order_(block.n()),
      rows_(at(block.n())),
      columns_(at(block.n())),
      row_is_there_(at(block.n()), 1),
      column_is_there_(at(block.n()), 1) {
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i)
        for (const std::int32_t j : block.pattern.row(i)) {
            row(i).push_back({j, block.values[k++]});
            column(j).push_back(i);
        }
}

template <class Value> bool Contraction<Value>::is_there(Line line) const {
    return (line.is_column ? column_is_there_ : row_is_there_)[at(line.index)] != 0;
}

template <class Value> std::int32_t Contraction<Value>::degree(Line line) const {
    return static_cast<std::int32_t>(line.is_column ? columns_[at(line.index)].size()
                                                    : rows_[at(line.index)].size());
}

template <class Value> auto Contraction<Value>::entries(Line line) const -> std::vector<Entry> {
    if (!line.is_column) return rows_[at(line.index)];
    std::vector<Entry> out;
    for (const std::int32_t i : columns_[at(line.index)]) out.push_back({i, value(i, line.index)});
    return out;
}

template <class Value> Value Contraction<Value>::remove(Line line, std::int32_t other) {
    const std::int32_t i = line.is_column ? other : line.index;
    const std::int32_t j = line.is_column ? line.index : other;
    Value factor = value(i, j);
    drop_row(i);
    drop_column(j);
    --order_;
    return factor;
}

template <class Value> void Contraction<Value>::contract(Line line, std::int32_t first, std::int32_t second) {
    if (line.is_column) {
        const Value at_first = value(first, line.index), at_second = value(second, line.index);
        drop_column(line.index);
        merge_rows(first, at_second, second, at_first);
    } else {
        const Value at_first = value(line.index, first), at_second = value(line.index, second);
        drop_row(line.index);
        merge_columns(first, at_second, second, at_first);
    }
    --order_;
}

template <class Value> const Value &Contraction<Value>::value(std::int32_t i, std::int32_t j) const {
    return place_of(rows_[at(i)], j)->value;
}

template <class Value> void Contraction<Value>::erase_from_row(std::int32_t i, std::int32_t j) {
    work_ += 1 + static_cast<double>(row(i).size()) / 8;
    row(i).erase(place_of(row(i), j));
    changed_.push_back({false, i});
}

template <class Value> void Contraction<Value>::erase_from_column(std::int32_t j, std::int32_t i) {
    work_ += 1 + static_cast<double>(column(j).size()) / 32;
    column(j).erase(std::lower_bound(column(j).begin(), column(j).end(), i));
    changed_.push_back({true, j});
}

template <class Value> void Contraction<Value>::drop_row(std::int32_t i) {
    for (const Entry &e : row(i)) erase_from_column(e.other, i);
    row(i) = {};
    row_is_there_[at(i)] = 0;
}

template <class Value> void Contraction<Value>::drop_column(std::int32_t j) {
    for (const std::int32_t i : column(j)) erase_from_row(i, j);
    column(j) = {};
    column_is_there_[at(j)] = 0;
}

template <class Value>
void Contraction<Value>::merge_columns(std::int32_t p, const Value &times_p, std::int32_t q,
                                       const Value &times_q) {
    work_ += static_cast<double>(column(p).size() + column(q).size());
    for (const std::int32_t i : column(p)) {
        Value &x = place_of(row(i), p)->value;
        x = x * times_p;
    }
    const std::vector<std::int32_t> rows_of_p = column(p);
    std::vector<std::int32_t> merged;
    std::set_union(rows_of_p.begin(), rows_of_p.end(), column(q).begin(), column(q).end(),
                   std::back_inserter(merged));
    for (const std::int32_t i : column(q)) {
        const Value x = value(i, q) * times_q;
        erase_from_row(i, q);
        const auto place = place_of(row(i), p);
        if (place != row(i).end() && place->other == p)
            place->value = place->value + x;
        else
            row(i).insert(place, {p, x});
    }
    column(p) = std::move(merged);
    changed_.push_back({true, p});
    column(q) = {};
    column_is_there_[at(q)] = 0;
}

template <class Value>
void Contraction<Value>::merge_rows(std::int32_t p, const Value &times_p, std::int32_t q,
                                    const Value &times_q) {
    const std::vector<Entry> &a = row(p), &b = row(q);
    work_ += static_cast<double>(a.size() + b.size());
    std::vector<Entry> merged;
    for (auto x = a.begin(), y = b.begin(); x != a.end() || y != b.end();) {
        if (y == b.end() || (x != a.end() && x->other < y->other)) {
            merged.push_back({x->other, x->value * times_p});
            ++x;
            continue;
        }
        const std::int32_t j = y->other;
        const bool in_both = x != a.end() && x->other == j;
        const Value from_q = y->value * times_q;
        merged.push_back({j, in_both ? x->value * times_p + from_q : from_q});
        erase_from_column(j, q);
        if (!in_both) column(j).insert(std::lower_bound(column(j).begin(), column(j).end(), p), p);
        if (in_both) ++x;
        ++y;
    }
    row(p) = std::move(merged);
    changed_.push_back({false, p});
    row(q) = {};
    row_is_there_[at(q)] = 0;
}

template <class Value> BlockOf<Value> Contraction<Value>::block() const {
    BlockOf<Value> out;
    std::vector<std::int32_t> place(columns_.size());
    for (std::size_t j = 0; j < columns_.size(); ++j) place[j] = out.pattern.cols += column_is_there_[j];
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (!row_is_there_[i]) continue;
        for (const Entry &e : rows_[i]) {
            out.pattern.col.push_back(place[at(e.other)] - 1);
            out.values.push_back(e.value);
        }
        out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
        ++out.pattern.rows;
    }
    return out;
}

template class Contraction<Tracked>;
template class Contraction<Gaussian>;

} // namespace libperm
