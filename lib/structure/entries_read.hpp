// The few entries that a structure is made of, as an engine reads them of residues.
#pragma once

#include "preprocess/index.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace libperm {

constexpr std::int64_t no_entry = -1;

// Its number in the pattern, or no_entry: it is 0.
inline std::int64_t entry_at(const Pattern &a, std::int32_t i, std::int32_t j) {
    const auto row = a.row(i);
    const auto place = std::lower_bound(row.begin(), row.end(), j);
    return place == row.end() || *place != j ? no_entry : a.row_begin(i) + (place - row.begin());
}

class EntriesRead {
  public:
    EntriesRead() = default;
    // Any, in any order; no_entry is left out.
    explicit EntriesRead(std::vector<std::int64_t> entries) : entries_(std::move(entries)) {
        std::erase(entries_, no_entry);
        std::sort(entries_.begin(), entries_.end());
        entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
    }

    const std::vector<std::int64_t> &all() const { return entries_; }
    // Of one matrix's residues, which are by the order of all().
    std::uint64_t value(const std::vector<std::uint64_t> &residues, std::int64_t entry) const {
        if (entry == no_entry) return 0;
        return residues[at(std::lower_bound(entries_.begin(), entries_.end(), entry) - entries_.begin())];
    }

  private:
    std::vector<std::int64_t> entries_;
};

} // namespace libperm
