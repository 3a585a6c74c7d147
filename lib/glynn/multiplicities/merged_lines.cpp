#include "lib/glynn/multiplicities/merged_lines.hpp"

#include "lib/glynn/entries.hpp"
#include "lib/input/matrix.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cstring>

namespace libperm {
namespace {

constexpr std::int64_t least_entries = 1 << 18; // of fewer the general way makes a plan in a moment

bool is_large_and_full(const perm_csr &a) {
    return a.struct_size == sizeof(perm_csr) && !a.row_multiplicity && !a.col_multiplicity &&
           !a.row_unmatched && !a.col_unmatched && a.n_rows > 0 && a.n_cols > 0 && a.nnz >= least_entries &&
           a.nnz / a.n_rows <= a.n_cols && a.nnz / a.n_rows >= a.n_cols / 2 && a.row_ptr && a.col_idx &&
           (a.index_type == PERM_INDEX_I64 || a.index_type == PERM_INDEX_I32) &&
           (a.value_type == PERM_VALUE_PATTERN ||
            (a.values && a.value_type >= PERM_VALUE_F64 && a.value_type <= PERM_VALUE_I64));
}

} // namespace

template <class Same>
bool MergedLines::sort(std::int64_t lines, const Same &same, Kinds &kinds, PolledSteps &steps) {
    for (std::int64_t line = 0; line < lines; ++line) {
        steps.take();
        const auto known = std::find_if(kinds.first.begin(), kinds.first.end(),
                                        [&](std::int64_t first) { return same(first, line); });
        if (known != kinds.first.end()) {
            ++kinds.count[at(known - kinds.first.begin())];
            continue;
        }
        if (std::ssize(kinds.first) == most_lines_read) return false;
        kinds.first.push_back(line);
        kinds.count.push_back(1);
    }
    return true;
}

template <class Index> bool MergedLines::merge(const perm_csr &a, std::size_t value_bytes) {
    const auto *row_ptr = static_cast<const Index *>(a.row_ptr), *col = static_cast<const Index *>(a.col_idx);
    const auto *values = static_cast<const std::byte *>(a.values);
    if (row_ptr[0] != 0 || row_ptr[a.n_rows] != a.nnz) return false;
    for (std::int64_t i = 0; i < a.n_rows; ++i)
        if (row_ptr[i + 1] < row_ptr[i] || row_ptr[i + 1] > a.nnz) return false;
    PolledSteps steps;
    const auto are_same = [](const auto *x, const auto *y, std::size_t bytes) {
        return bytes == 0 || std::memcmp(x, y, bytes) == 0;
    };
    const auto same_row = [&](std::int64_t x, std::int64_t y) {
        const auto entries = at(row_ptr[x + 1] - row_ptr[x]), from = at(row_ptr[x]), to = at(row_ptr[y]);
        if (entries != at(row_ptr[y + 1] - row_ptr[y])) return false;
        steps.take(static_cast<std::int64_t>(entries));
        return are_same(col + from, col + to, entries * sizeof(Index)) &&
               are_same(values + from * value_bytes, values + to * value_bytes, entries * value_bytes);
    };
    if (!sort(a.n_rows, same_row, rows_, steps)) return false;
    constexpr std::int64_t none = -1;
    const std::size_t kinds = rows_.first.size();
    std::vector<std::int64_t> entry(at(a.n_cols) * kinds, none); // of each column in a row of each kind
    for (std::size_t r = 0; r < kinds; ++r)
        for (Index k = row_ptr[rows_.first[r]]; k < row_ptr[rows_.first[r] + 1]; ++k) {
            if (col[k] < 0 || col[k] >= a.n_cols || entry[at(col[k]) * kinds + r] != none) return false;
            entry[at(col[k]) * kinds + r] = k;
        }
    const auto same_column = [&](std::int64_t x, std::int64_t y) {
        for (std::size_t r = 0; r < kinds; ++r) {
            const std::int64_t of_x = entry[at(x) * kinds + r], of_y = entry[at(y) * kinds + r];
            if ((of_x == none) != (of_y == none)) return false;
            if (of_x != none &&
                !are_same(values + at(of_x) * value_bytes, values + at(of_y) * value_bytes, value_bytes))
                return false;
        }
        return true;
    };
    if (!sort(a.n_cols, same_column, columns_, steps)) return false;
    row_ptr_.push_back(0);
    for (std::size_t r = 0; r < kinds; ++r) {
        for (std::size_t c = 0; c < columns_.first.size(); ++c) {
            const std::int64_t k = entry[at(columns_.first[c]) * kinds + r];
            if (k == none) continue;
            col_.push_back(static_cast<std::int64_t>(c));
            values_.insert(values_.end(), values + at(k) * value_bytes, values + at(k + 1) * value_bytes);
        }
        row_ptr_.push_back(std::ssize(col_));
    }
    value_type_ = a.value_type;
    return true;
}

std::optional<MergedLines> MergedLines::of(const perm_csr &a) {
    if (!is_large_and_full(a)) return {};
    const std::size_t value_bytes =
        a.value_type == PERM_VALUE_PATTERN ? 0 : size_of(static_cast<perm_value_type>(a.value_type));
    MergedLines merged;
    const bool is_merged = a.index_type == PERM_INDEX_I64 ? merged.merge<std::int64_t>(a, value_bytes)
                                                          : merged.merge<std::int32_t>(a, value_bytes);
    return is_merged ? std::optional(std::move(merged)) : std::nullopt;
}

perm_csr MergedLines::csr() const {
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = std::ssize(rows_.first);
    a.n_cols = std::ssize(columns_.first);
    a.nnz = std::ssize(col_);
    a.row_ptr = row_ptr_.data();
    a.col_idx = col_.data();
    a.values = value_type_ == PERM_VALUE_PATTERN ? nullptr : values_.data();
    a.value_type = value_type_;
    a.row_multiplicity = rows_.count.data();
    a.col_multiplicity = columns_.count.data();
    return a;
}

} // namespace libperm
