// Shots of a planar block in numbers of one kind, all together along its lines: each line chooses a column
// with the share that what it leaves has.
#pragma once

#include "lib/run/run_control.hpp"
#include "lib/samples/planar/narrow_order.hpp"
#include "lib/samples/planar/planar_shot.hpp"
#include "preprocess/tracked.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace libperm {

// A block's lines, with what stands in them, by entry: signed, and scaled so that a double does. Both must
// outlive it.
struct PlanarLines {
    const NarrowOrder &order;
    const std::vector<Tracked> &entries;

    std::int32_t n() const { return static_cast<std::int32_t>(order.lines.size()); }
};

class PlanarLevel {
  public:
    PlanarLevel() = default;
    PlanarLevel(const PlanarLevel &) = delete;
    PlanarLevel &operator=(const PlanarLevel &) = delete;
    virtual ~PlanarLevel() = default;

    // From their beginning to their end, or until they are lost. From any thread.
    virtual void draw(std::span<PlanarShot> shots, RunControl &control) const = 0;
};

// Of so many bits; these are doubles, and two for a number.
constexpr int in_doubles = 53, in_two_doubles = 106;
std::unique_ptr<const PlanarLevel> planar_level(const PlanarLines &lines, int bits, RunControl &control);
// That it holds, and each draw as much again.
std::int64_t planar_level_bytes(const NarrowOrder &order, int bits);

} // namespace libperm
