// Fields as they are written and read again; the same functions do both. Nothing that is read is trusted:
// enumerators and flags are held against what there is, counts grow no vector before what they count is there
// (lib/base/archive.hpp), and amounts are neither negative nor NaN.
#pragma once

#include "lib/base/archive.hpp"

#include <perm.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace libperm {

// What was read cannot have been written. Whoever reads says of what it is, and what to do about it.
class DamagedField : public std::runtime_error {
  public:
    explicit DamagedField(const char *what) : std::runtime_error(what) {}
};

inline void require(bool holds, const char *what) {
    if (!holds) throw DamagedField(what);
}

// Of what this archive reads. What is written may be anything that a computation comes to.
template <class Archive> void require_read(bool holds, const char *what) {
    if constexpr (Archive::is_loading::value) require(holds, what);
}

inline void require_permutation(const std::vector<std::int32_t> &order, std::int32_t n, const char *what) {
    std::vector<bool> seen(order.size());
    for (const std::int32_t i : order) {
        require(i >= 0 && i < std::ssize(order) && !seen[static_cast<std::size_t>(i)], what);
        seen[static_cast<std::size_t>(i)] = true;
    }
    require(std::ssize(order) == n, what);
}

// A choice stands as its number, at most that of `last`.
template <class Archive, class Enum> void choice(Archive &ar, Enum &x, Enum last) {
    auto number = static_cast<std::int32_t>(x);
    ar(number);
    require(0 <= number && number <= static_cast<std::int32_t>(last), "a choice");
    x = static_cast<Enum>(number);
}
template <class Archive> void flag(Archive &ar, bool &x) {
    std::uint8_t number = x;
    ar(number);
    require(number <= 1, "a flag");
    x = number == 1;
}
template <class Archive, class... Flag> void flags(Archive &ar, Flag &...x) { (flag(ar, x), ...); }
template <class Archive, class... Amount> void amounts(Archive &ar, Amount &...x) {
    ar(x...);
    require_read<Archive>((... && (x >= 0)), "an amount");
}
template <class Archive> void status(Archive &ar, perm_status &x) {
    constexpr std::array all{PERM_OK,          PERM_BAD_ARGUMENT,   PERM_BAD_MATRIX,
                             PERM_BAD_OPTION,  PERM_REFUSED_MEMORY, PERM_REFUSED_TIME,
                             PERM_UNSUPPORTED, PERM_CANCELLED,      PERM_OUT_OF_MEMORY,
                             PERM_GPU_FAILED,  PERM_INTERNAL};
    auto number = static_cast<std::int32_t>(x);
    ar(number);
    const auto found = std::find(all.begin(), all.end(), number);
    require(found != all.end(), "a status");
    x = *found;
}

// What the bytes hold, and nothing else.
template <class Content> Content all_from(std::string_view bytes, const char *what) {
    try {
        Content content = read_from<Content>(bytes);
        require(bytes.empty(), what);
        return content;
    } catch (const cereal::Exception &) { // no more bytes
        throw DamagedField(what);
    }
}

} // namespace libperm
