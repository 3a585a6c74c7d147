// Boson sampling, a sample photon by photon; and the columns of an interferometer's matrix that photons
// come in by, on a grid on which sums of 41 entries with signs are exact, and where they are not 0.
#pragma once

#include "lib/base/aligned_doubles.hpp"
#include "lib/base/randomness.hpp"
#include "lib/samples/boson/narrow_minors.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <perm.h>
#include <span>
#include <vector>

namespace libperm {

class Amplitudes {
  public:
    // Takes the columns of these modes in. Throws Error where they are none of a unitary matrix.
    Amplitudes(const perm_boson &a, const std::vector<std::int64_t> &modes_in);

    std::size_t modes() const { return modes_; }
    std::size_t columns() const { return reached_.size(); }
    const double *re(std::size_t j) const { return re_.data() + j * modes_; }
    const double *im(std::size_t j) const { return im_.data() + j * modes_; }

    struct Range { // of modes: all that are reached lie within
        std::size_t first = 0, end = 0;
    };
    Range reached(std::size_t j) const { return reached_[j]; }
    bool reaches(std::size_t j, std::size_t z) const { return re(j)[z] != 0 || im(j)[z] != 0; }

    // The columns that reach a mode.
    std::span<const std::uint32_t> columns_of(std::size_t z) const {
        return {column_.data() + first_[z], first_[z + 1] - first_[z]};
    }

    // Columns by their place in an order in which those that reach the same modes are near each other.
    std::size_t place(std::size_t j) const { return place_[j]; }

  private:
    void require_orthonormal(const std::vector<std::int64_t> &modes_in) const;
    void find_reached();
    std::vector<std::size_t> breadth_first(std::size_t from) const;
    double width(const std::vector<std::size_t> &order) const;
    void find_order();

    std::size_t modes_;
    std::vector<double> re_, im_; // one column after the other
    std::vector<Range> reached_;
    std::vector<std::size_t> first_; // of each mode among
    std::vector<std::uint32_t> column_;
    std::vector<std::size_t> place_;
};

// One sample of boson sampling: each photon is drawn from the law that those before it leave.

constexpr std::size_t most_photons = NarrowMatrix::most_rows + 1;
constexpr std::size_t most_summed_photons = 41; // whose sub-permanents are sums over counts

// Modes with how many photons each has.
struct OccupiedModes {
    std::array<std::size_t, most_photons> mode{};
    std::array<int, most_photons> count{};
    int kinds = 0;

    void add(std::size_t one); // those with the most copies stand first
};

[[noreturn]] void throw_too_wide(std::size_t photons);

class BosonShot {
  public:
    BosonShot(const Amplitudes &u, MemoryAccount &account);

    // photons: of each the column that it comes in by. Throws Error.
    void run(Randomness random, std::vector<std::size_t> photons, std::int64_t *occupation);

    // What a sample takes on one thread where photons leave as if each were alone, about; infinity: it is
    // beyond what can be sampled.
    double seconds(Randomness random, std::vector<std::size_t> photons);

  private:
    using Value = std::complex<double>;
    using Photons = std::uint64_t; // a bit for each

    // The columns that the next photon's weights are made of, each with its copies.
    struct Share {
        std::size_t column;
        int copies;
        Value minor;
    };
    // Photons that came and those that left which alone tell these, the former one more.
    struct Block {
        Photons came = 0, left = 0;
    };
    struct Road {
        double seconds = 0;
        bool narrow = false; // by the frontier, not by sums over counts
    };
    void begin(Randomness random, std::vector<std::size_t> &photons);
    Block block();
    void leave(const Block &block, std::size_t mode);

    Road road_of(const Block &block);
    void order(const Block &block);
    double summed_seconds() const;
    double narrow_seconds() const;
    void sum_minors();
    void run_narrow();
    void weigh();
    std::size_t drawn();

    const Amplitudes &u_;
    Randomness random_;

    std::size_t newest_ = 0;                             // as many have left
    std::array<std::size_t, most_photons> in_{}, out_{}; // the columns, the modes
    std::array<std::size_t, most_photons> taken_{};      // of who came: who left that is matched to it
    std::array<std::size_t, most_photons> partner_{},
        found_by_{};           // of who left: its match, by whom it was found
    std::vector<Photons> met_; // of each column: who left by a mode it reaches

    OccupiedModes came_, left_;        // of the block
    std::vector<std::size_t> ordered_; // the columns, copies apart
    NarrowMatrix matrix_;
    NarrowMinors narrow_;
    std::vector<Value> minors_;
    std::vector<Share> shares_;
    std::vector<double> x_, y_, weight_, summed_;
    AlignedDoubles space_;
    std::size_t space_size_ = 0;
};

} // namespace libperm
