#include "preprocess/middle_sets.hpp"

#include <algorithm>

namespace libperm {

void MiddleSets::set(std::int32_t node, std::span<const std::int32_t> lines) {
    Slot &slot = slots_[static_cast<std::size_t>(node)];
    const auto size = static_cast<std::int32_t>(lines.size());
    if (size > slot.room) {
        lost_ += static_cast<std::size_t>(slot.room);
        slot.begin = lines_.size();
        slot.room = slot.room == 0 ? size : size + size / 4 + 2;
        slot.size = 0;
        lines_.resize(lines_.size() + static_cast<std::size_t>(slot.room));
    }
    std::copy(lines.begin(), lines.end(), lines_.begin() + static_cast<std::ptrdiff_t>(slot.begin));
    slot.size = size;
    if (lost_ > 1024 + lines_.size() / 2) compact();
}

void MiddleSets::compact() {
    std::vector<std::int32_t> kept;
    kept.reserve(lines_.size() - lost_);
    for (Slot &slot : slots_) {
        const auto from = lines_.begin() + static_cast<std::ptrdiff_t>(slot.begin);
        slot.begin = kept.size();
        slot.room = slot.size;
        kept.insert(kept.end(), from, from + slot.size);
    }
    lines_ = std::move(kept);
    lost_ = 0;
}

} // namespace libperm
