// Matchings of a graph drawn line by line, from hafnians of what is left (lib/bjorklund): of full graphs, of
// which a tape is too long. The lowest line that is left takes the entry a_ij with the share of
// a_ij haf(the lines left without i and j) in the sum of these; all by doubles, whose proven bounds say that
// no choice is further from its share than `tolerance`.
#pragma once

#include "lib/input/options.hpp"
#include "lib/samples/sampled_parts.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

class GraphShots final : public NumberedShots {
  public:
    static constexpr double tolerance = 1e-9;
    static constexpr std::int32_t most_lines = 64;

    // One thread's, of so many shots that are drawn together; infinite where there are too many lines.
    static double seconds(const SampledPart &part, std::int64_t shots);

    // The part must outlive this.
    GraphShots(const SampledPart &part, std::int64_t shots, std::uint64_t seed);

    // Those that are drawn together have their first choices in common. Throws Error (PERM_UNSUPPORTED) where
    // doubles lose too much.
    void draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const override;

    double shot_seconds() const override { return shot_seconds_; }

  private:
    using Lines = std::uint64_t; // those that are left
    struct Choices {
        std::vector<std::uint32_t> entries;
        std::vector<double> up_to; // sums of their weights
    };

    Choices choices(Lines left) const;
    Lines without(Lines left, std::uint32_t entry) const;

    const SampledPart &part_;
    const std::uint64_t seed_;
    std::vector<std::int32_t> line_; // the lower one of each entry
    double shot_seconds_;
};

} // namespace libperm
