// A background as one prime shows it: the classes of rows first, then the columns by what most rows of each
// class say.
#pragma once

#include "lib/structure/row_classes.hpp"
#include "lib/structure/structure.hpp"

#include <cstdint>
#include <vector>

namespace libperm {

class ModularBackground {
  public:
    ModularBackground(const Montgomery &field, const ResidueRows &a, const Likeness &by, const Poll &poll);

    bool is_none() const { return found_.base_cols.empty(); }
    std::int64_t beside() const { return beside_; } // places where it does not hold
    const Background &found() const { return found_; }

  private:
    // What most rows of a class say of each column, as rows times their scale, and one that says it.
    struct Profile {
        std::vector<std::uint64_t> values; // 0: most say so, or nothing else
        std::vector<std::int32_t> said_by;
    };

    Profile profile_of(std::int32_t a, const Poll &poll) const;
    bool is_clean(std::int32_t j) const;
    std::vector<std::int32_t> common_columns() const;
    void class_columns();
    void choose_columns(std::int32_t i, bool is_asked);
    std::uint64_t value(std::int32_t i, std::int32_t j) const;
    std::int64_t places_beside(const Poll &poll) const;

    Montgomery field_;
    ResidueRows a_;
    RowClasses rows_;
    std::vector<Profile> profiles_; // by class of rows
    std::vector<std::uint64_t> v_;
    Background found_; // without B
    std::int64_t beside_ = 0;
};

} // namespace libperm
