#include "preprocess/contraction.hpp"

#include "preprocess/index.hpp"

#include <numeric>

namespace libperm {
template <class Value>
Contraction<Value>::Contraction(BlockOf<Value> block)
    : n_(block.n()),
      lists_(block.pattern),
      factors_{WeightedForest<Value>(n_), WeightedForest<Value>(n_)},
      values_(std::move(block.values)) {
    for (std::vector<std::int32_t> &node : node_of_line_) {
        node.resize(at(n_));
        std::iota(node.begin(), node.end(), 0);
    }
    node_of_entry_.reserve(values_.size());
    for (std::int32_t i = 0; i < n_; ++i)
        for (const std::int32_t j : block.pattern.row(i)) {
            node_of_entry_.push_back({i, j});
            factors_[0].hold(i);
            factors_[1].hold(j);
        }
}

template <class Value> std::vector<std::int32_t> Contraction<Value>::crossing(Line line) {
    std::vector<std::int32_t> out;
    for (const auto &[other, entry] : lists_.crossings(line)) out.push_back(other);
    return out;
}

// The entry's value with all factors up to now.
template <class Value> Value &Contraction<Value>::value(std::int32_t entry) {
    for (const std::size_t side : {0u, 1u})
        factors_[side].raise(node_of_entry_[at(entry)][side], values_[at(entry)]);
    return values_[at(entry)];
}

template <class Value> void Contraction<Value>::forget(std::int32_t entry) {
    for (const std::size_t side : {0u, 1u}) factors_[side].release(node_of_entry_[at(entry)][side]);
    values_[at(entry)] = Value();
}

template <class Value> void Contraction<Value>::drop(Line line) {
    lists_.drop(line, [this](std::int32_t entry) { forget(entry); });
}

template <class Value> Value Contraction<Value>::remove(Line line, std::int32_t other) {
    Value factor = std::move(value(lists_.entry(line, other)));
    drop(line);
    drop({!line.is_column, other});
    return factor;
}

template <class Value> void Contraction<Value>::contract(Line line, std::int32_t first, std::int32_t second) {
    Value at_first = std::move(value(lists_.entry(line, first)));
    Value at_second = std::move(value(lists_.entry(line, second)));
    drop(line);
    const bool columns = !line.is_column; // are merged
    const std::size_t side = columns ? 1 : 0;
    std::int32_t &node = node_of_line_[side][at(first)];
    node =
        factors_[side].join(node, std::move(at_second), node_of_line_[side][at(second)], std::move(at_first));
    lists_.merge(columns, first, second, [this](const EntryLists::Twins &twins) {
        const std::int32_t stays = twins.first_stays ? twins.at_first : twins.at_second;
        const std::int32_t goes = twins.first_stays ? twins.at_second : twins.at_first;
        Value &sum = value(stays);
        add_to(sum, value(goes));
        forget(goes);
    });
}

template <class Value> BlockOf<Value> Contraction<Value>::block() {
    BlockOf<Value> out;
    std::vector<std::int32_t> place(at(n_));
    for (std::int32_t j = 0; j < n_; ++j) place[at(j)] = out.pattern.cols += is_there({true, j});
    for (std::int32_t i = 0; i < n_; ++i) {
        if (!is_there({false, i})) continue;
        for (const auto &[j, entry] : lists_.crossings({false, i})) {
            out.pattern.col.push_back(place[at(j)] - 1);
            out.values.push_back(std::move(value(entry)));
        }
        out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
        ++out.pattern.rows;
    }
    return out;
}

template class Contraction<Tracked>;
template class Contraction<Gaussian>;

} // namespace libperm
