// The columns of an interferometer's matrix that photons come in by, on a grid on which sums of 41 entries
// with signs are exact; and where they are not 0.
#pragma once

#include <perm.h>

#include <cstddef>
#include <cstdint>
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

} // namespace libperm
