#include "preprocess/entry_lists.hpp"

#include <algorithm>
#include <bit>

namespace libperm {
namespace {
constexpr std::int32_t short_list = 32; // is looked through sooner than hashed
} // namespace

EntryLists::EntryLists(const Pattern &a)
    : entries_(at(a.nnz())), mark_(at(std::max(a.rows, a.cols)), -1), steps_() {
    const std::array<std::int32_t, 2> lines{a.rows, a.cols};
    for (const std::size_t side : {0u, 1u})
        for (std::int32_t i = 0; i < lines[side]; ++i) {
            steps_.take();
            lists_[side].push_back({-1, 0, i});
            list_of_line_[side].push_back(i);
        }
    for (std::int32_t i = a.rows; i-- > 0;) { // lists begin with what was linked last
        const auto row = a.row(i);
        steps_.take(1 + 2 * static_cast<std::int64_t>(row.size()));
        for (std::size_t k = row.size(); k-- > 0;) {
            const auto e = static_cast<std::int32_t>(a.row_begin(i) + static_cast<std::int64_t>(k));
            link(e, 0, i);
            link(e, 1, row[k]);
        }
    }
}

const EntryLists::Crossings &EntryLists::crossings(Line line) {
    crossings_.clear();
    const std::size_t side = side_of(line.is_column), across = 1 - side;
    for (std::int32_t e = lists_of(line)[at(list_of(line))].first; e >= 0; e = entries_[at(e)].next[side])
        crossings_.emplace_back(lists_[across][at(entries_[at(e)].list[across])].line, e);
    steps_.take(static_cast<std::int64_t>(crossings_.size()));
    std::sort(crossings_.begin(), crossings_.end());
    return crossings_;
}

std::int32_t EntryLists::entry(Line line, std::int32_t other) const {
    const std::size_t side = side_of(line.is_column);
    return find_in(side, list_of(line), list_of_line_[1 - side][at(other)]);
}

void EntryLists::link(std::int32_t e, std::size_t side, std::int32_t list) {
    List &into = lists_[side][at(list)];
    Entry &entry = entries_[at(e)];
    entry.list[side] = list;
    entry.previous[side] = -1;
    entry.next[side] = into.first;
    if (into.first >= 0) entries_[at(into.first)].previous[side] = e;
    into.first = e;
    ++into.degree;
}

void EntryLists::unlink(std::int32_t e, std::size_t side) {
    const Entry &entry = entries_[at(e)];
    List &from = lists_[side][at(entry.list[side])];
    const std::int32_t next = entry.next[side], previous = entry.previous[side];
    (previous >= 0 ? entries_[at(previous)].next[side] : from.first) = next;
    if (next >= 0) entries_[at(next)].previous[side] = previous;
    --from.degree;
}

void EntryLists::remove(std::int32_t e) {
    for (const std::size_t side : {0u, 1u}) {
        unlink(e, side);
        entries_[at(e)].list[side] = -1;
    }
}

std::int32_t EntryLists::find(std::size_t side, std::int32_t list, std::int32_t across) {
    const std::int32_t degree = lists_[side][at(list)].degree, other = lists_[1 - side][at(across)].degree;
    if (other <= short_list) return find_in(1 - side, across, list);
    if (degree <= short_list) return find_in(side, list, across);
    if (table_.empty()) hash_all();
    const std::int32_t row = side == 0 ? list : across, column = side == 0 ? across : list;
    return table_[place_of(row, column)];
}

std::int32_t EntryLists::find_in(std::size_t side, std::int32_t list, std::int32_t across) const {
    std::int32_t e = lists_[side][at(list)].first;
    while (e >= 0 && entries_[at(e)].list[1 - side] != across) e = entries_[at(e)].next[side];
    return e;
}

// Where the entry of these lists is, or would be.
std::size_t EntryLists::place_of(std::int32_t row, std::int32_t column) const {
    const std::uint64_t key = static_cast<std::uint64_t>(row) << 32 |
                              static_cast<std::uint64_t>(static_cast<std::uint32_t>(column));
    const int bits = std::countr_zero(table_.size());
    std::size_t place = (key ^ key >> 32) * 0x9e3779b97f4a7c15u >> (64 - bits);
    for (; table_[place] >= 0; place = (place + 1) & (table_.size() - 1)) {
        const Entry &e = entries_[at(table_[place])];
        if (e.list[0] == row && e.list[1] == column) break;
    }
    return place;
}

void EntryLists::enter(std::int32_t e) {
    if (2 * ++entered_ > table_.size()) return hash_all();
    table_[place_of(entries_[at(e)].list[0], entries_[at(e)].list[1])] = e;
}

void EntryLists::hash_all() {
    const auto alive = [](const Entry &e) { return e.list[0] >= 0; };
    entered_ = at(std::count_if(entries_.begin(), entries_.end(), alive));
    const std::size_t places = std::bit_ceil(4 * entered_ + 4);
    table_.clear();
    table_.reserve(places);
    while (table_.size() < places) { // bit by bit: memory that is touched for the first time takes its time
        table_.resize(std::min(places, table_.size() + PolledSteps::between), -1);
        steps_.take(PolledSteps::between);
    }
    for (std::size_t e = 0; e < entries_.size(); ++e) {
        steps_.take(2);
        if (alive(entries_[e]))
            table_[place_of(entries_[e].list[0], entries_[e].list[1])] = static_cast<std::int32_t>(e);
    }
}

} // namespace libperm
