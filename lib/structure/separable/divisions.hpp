// Ways to divide a total among kinds, numbered: what a state of waiting lines is on one side of the diagonal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

// The number of ways to divide a total among so many kinds, C(total + kinds - 1, kinds - 1).
std::size_t divisions_of(std::size_t total, std::size_t kinds);

// A division's number depends on the counts of all kinds but the first, with r of them together before those
// with r + 1: so divisions of any total w have the numbers 0 .. divisions_of(w) - 1 of one table, and one of
// the first kind more, or less, changes the total alone.
class Divisions {
  public:
    static constexpr std::uint32_t none = UINT32_MAX;

    // Of totals up to `most`, among 3 kinds at most.
    Divisions(std::size_t kinds, std::size_t most);

    std::uint32_t count(std::size_t kind, std::size_t total, std::size_t division) const {
        return kind == 0 ? static_cast<std::uint32_t>(total) - others_[division] : counts_[kind][division];
    }
    // By division, the count of a kind; of the first kind that of all others.
    const std::vector<std::uint32_t> &told(std::size_t kind) const {
        return kind == 0 ? others_ : counts_[kind];
    }
    // By division, that with one more, or one less, of a kind. One less of the first kind has the same
    // number, which is too large for the lesser total where there is no such division; of other kinds it is
    // none.
    const std::vector<std::uint32_t> &more(std::size_t kind) const { return more_[kind]; }
    const std::vector<std::uint32_t> &less(std::size_t kind) const { return less_[kind]; }

  private:
    std::vector<std::uint32_t> others_; // all but the first kind
    std::array<std::vector<std::uint32_t>, 3> counts_, more_, less_;
};

} // namespace libperm
