// The middle sets of a tree's nodes, in one piece of memory: copied at once, and changed with few moves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

class MiddleSets {
  public:
    std::span<const std::int32_t> operator[](std::int32_t node) const {
        const Slot &s = slots_[static_cast<std::size_t>(node)];
        return {lines_.data() + s.begin, static_cast<std::size_t>(s.size)};
    }
    void add(std::span<const std::int32_t> lines) {
        slots_.push_back({});
        set(static_cast<std::int32_t>(slots_.size()) - 1, lines);
    }
    // `lines` lie elsewhere.
    void set(std::int32_t node, std::span<const std::int32_t> lines);
    void clear(std::int32_t node) { slots_[static_cast<std::size_t>(node)].size = 0; }
    void compact();

    std::int64_t bytes() const {
        return static_cast<std::int64_t>(slots_.capacity() * sizeof(Slot) +
                                         lines_.capacity() * sizeof(std::int32_t));
    }

  private:
    struct Slot {
        std::size_t begin = 0;
        std::int32_t size = 0, room = 0;
    };
    std::vector<Slot> slots_;
    std::vector<std::int32_t> lines_;
    std::size_t lost_ = 0; // room in lines_ that belongs to no slot
};

} // namespace libperm
