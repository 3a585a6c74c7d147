// Shots of a planar block in numbers of one kind, all together along its lines: each line chooses a column
// with the share that what it leaves has.
#pragma once

#include "jit/number/number.hpp"
#include "lib/base/randomness.hpp"
#include "lib/run/call.hpp"
#include "lib/samples/planar/narrow_order.hpp"
#include "preprocess/index.hpp"
#include "preprocess/numbers.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace libperm {

using TwoDoubles = number::DD<double>;

// Products of many numbers, with some 100 bits and an exponent that neither overflows nor underflows.
class LongProduct {
  public:
    void multiply(TwoDoubles::Number x, std::int64_t exp2 = 0) {
        product_ = TwoDoubles::multiply(product_, x);
        int by = 0;
        std::frexp(product_.hi, &by);
        product_ = {std::ldexp(product_.hi, -by), std::ldexp(product_.lo, -by)};
        exp2_ += exp2 + by;
    }
    void multiply(const LongProduct &x) { multiply(x.product_, x.exp2_); }

    // |x / y - 1|, or more where that is beyond 1/2; not a number where one is none.
    friend double distance(const LongProduct &x, const LongProduct &y) {
        if (std::abs(x.exp2_ - y.exp2_) > 1) return 1;
        const double scale = std::ldexp(1.0, static_cast<int>(x.exp2_ - y.exp2_));
        const double less =
            TwoDoubles::subtract({x.product_.hi * scale, x.product_.lo * scale}, y.product_).hi;
        return std::fabs(less / y.product_.hi);
    }

  private:
    TwoDoubles::Number product_{1, 0};
    std::int64_t exp2_ = 0;
};

// A shot of a planar block on its way.
struct PlanarShot {
    PlanarShot(const Randomness &numbers, std::int32_t n) : random(numbers), is_used(at(n), 0) {}

    Randomness random;
    std::vector<char> is_used;         // by column
    std::vector<std::int64_t> entries; // taken, by line
    LongProduct drawn, of;             // it was drawn with the probability drawn / of
    bool is_lost = false;              // nothing is known of how it goes on
};

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
    virtual void draw(std::span<PlanarShot> shots) const = 0;
};

// Of so many bits; these are doubles, and two for a number.
constexpr int in_doubles = 53, in_two_doubles = 106;
std::unique_ptr<const PlanarLevel> planar_level(const PlanarLines &lines, int bits);
// That it holds, and each draw as much again.
std::int64_t planar_level_bytes(const NarrowOrder &order, int bits);

} // namespace libperm
