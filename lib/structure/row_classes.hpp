// Rows of residues that are multiples of each other at most places, in classes.
#pragma once

#include "lib/number/montgomery.hpp"
#include "preprocess/poll.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

struct ResidueRows {
    std::int32_t n; // columns
    std::span<const std::uint64_t> residues;

    std::int32_t count() const { return static_cast<std::int32_t>(std::ssize(residues) / n); }
    std::span<const std::uint64_t> row(std::int32_t i) const {
        const auto length = static_cast<std::size_t>(n);
        return residues.subspan(static_cast<std::size_t>(i) * length, length);
    }
};

// Rows are alike that differ at one in so many columns where either is not 0, or fewer; so many classes of
// them are kept.
struct Likeness {
    std::int32_t one_in, classes;
};

struct RowClasses {
    std::vector<std::int32_t> bases;  // by class; none: no two of the rows that were looked at are alike
    std::vector<std::int32_t> of_row; // -1: of none
    std::vector<std::uint64_t> scale; // by row: how many times its base it is

    std::vector<std::int32_t> rows_of(std::int32_t a) const;
};

// The rows by which the others are measured: those that are like most others of a sample.
std::vector<std::int32_t> class_bases(const Montgomery &field, const ResidueRows &a, const Likeness &by);

RowClasses row_classes(const Montgomery &field, const ResidueRows &a, const Likeness &by, const Poll &poll);

} // namespace libperm
