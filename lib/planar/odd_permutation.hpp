#pragma once

#include "preprocess/index.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

// Of one that takes each k to `to[k]`: by its cycles.
inline bool is_odd_permutation(const std::vector<std::int32_t> &to) {
    std::vector<char> is_met(to.size(), 0);
    bool is_odd = false;
    for (std::size_t k = 0; k < to.size(); ++k)
        for (std::size_t next = k; !is_met[next]; next = at(to[next])) {
            is_met[next] = 1;
            is_odd ^= next != k;
        }
    return is_odd;
}

} // namespace libperm
