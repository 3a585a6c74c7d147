// Which shards' partial results have come.
#pragma once

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace libperm {

class ShardsThere {
  public:
    explicit ShardsThere(std::int64_t count) : is_there_(static_cast<std::size_t>(count), 0) {}

    std::size_t count() const { return is_there_.size(); }
    void take(std::uint64_t number) { is_there_[number] = 1; } // below count()

    // Throws Error (PERM_BAD_ARGUMENT) that names the first one missing.
    void require_all() const {
        const auto missing = std::count(is_there_.begin(), is_there_.end(), 0);
        if (missing == 0) return;
        const auto first = std::find(is_there_.begin(), is_there_.end(), 0) - is_there_.begin();
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("{} of {} shards are missing, the first is {}: run them and combine all",
                              missing, is_there_.size(), first));
    }

  private:
    std::vector<char> is_there_;
};

} // namespace libperm
