// Matchings of a planar block, line by line, from determinants with Kasteleyn's signs: no states are counted.
//
// What proves them. A matching is come to in one way, so that the probability q of it is the product of those
// with which its columns were chosen, as they were computed, by whatever roundings. It should be
// p = (product of its entries) / perm, and perm is known by a determinant in balls (lib/planar). So each shot
// is checked: if q and p differ by more than `tolerance` of p, it is drawn again by the same random numbers
// in more digits. Let f be the probability that a first attempt fails. The matchings that pass have in sum 1
// - f by q, and so 1 - f, but for the tolerance, by p; what is drawn again is f in all. So the law of what is
// told is within tolerance + f of p in total variation. Choices are made with random numbers of 106 bits, and
// sums of some hundred: that adds 2^-96 a line, at most.
//
// f is not known beforehand but seen: some shots say which digits are begun with. In doubles q and p differ
// by some 1e-14 on boards of 100 x 100 squares, with weights or without, and by 1e-11 in Aztec diamonds; f is
// 0 for all that was seen.
#pragma once

#include "lib/planar/plan.hpp"
#include "lib/samples/part_shots.hpp"
#include "lib/samples/planar/planar_level.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace libperm {

// What is known of it before it is prepared.
struct PlanarOutline {
    std::shared_ptr<const PlanarPlan> plan;
    NarrowOrder order;

    // One thread's: before the first shot, of each, and of those besides that are drawn together.
    double start_seconds() const;
    double shot_seconds(int bits = in_doubles) const;
    double batch_seconds(int bits = in_doubles) const;
    double seconds(std::int64_t shots) const; // all in all
};

// None: it is not planar, or lines may stay unmatched.
std::optional<PlanarOutline> planar_outline(const SampledPart &part);

class PlanarShots final : public NumberedShots {
  public:
    static constexpr double tolerance = 0x1p-32;

    // Throws Error: PERM_UNSUPPORTED where no digits prove its shots. `bits`: begun with even if most shots
    // have to be drawn again, for tests.
    PlanarShots(PlanarOutline outline, const SampledPart &part, std::uint64_t seed, const Options &options,
                std::optional<int> bits = {});

    void draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const override;

    int bits() const { return bits_; } // that are begun with
    double shot_seconds() const override;
    std::uint32_t at_once() const override;
    std::int64_t bytes() const override { return bytes_for(outline_, bits_); }
    static std::int64_t bytes_for(const PlanarOutline &outline, int bits = in_doubles);
    std::string digest() const override;

  private:
    using Numbers = std::vector<std::uint64_t>; // of shots

    void prepare(const SampledPart &part, const Options &options);
    void begin_with_enough();
    bool is_right(const PlanarShot &shot) const;
    std::vector<PlanarShot> drawn(const PlanarLevel &level, const Numbers &numbers, std::uint64_t seed) const;

    const PlanarOutline outline_;
    const std::uint64_t seed_;
    std::vector<Tracked> entries_; // scaled and signed
    LongProduct permanent_;        // of their sizes
    int bits_;
    std::unique_ptr<const PlanarLevel> level_;
};

} // namespace libperm
