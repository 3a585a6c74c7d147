// Matrices whose lines may stay unmatched, written for the C API, and the sum over their matchings by its
// definition.
#pragma once

#include "bench/families.hpp"
#include "tests/support/oracle.hpp"

#include <perm.h>

#include <optional>
#include <string>
#include <vector>

struct MatchingMatrix {
    oracle::GaussianMatrix entries; // rows of `cols` numbers
    std::int64_t cols = 0;
    std::optional<std::vector<oracle::Gaussian>> row_weights, col_weights;
    std::vector<std::int64_t> row_times, col_times; // empty: once

    std::int64_t rows() const { return std::ssize(entries); }
};

namespace oracle {

// The sum over matchings of entries and weights, row after row over the sets of used columns. Without any
// weights it is as perm.h has it for rectangles: lines of the longer side may stay unmatched, with weight 1.
Gaussian over_matchings(const MatchingMatrix &a);

} // namespace oracle

inline oracle::Gaussian real_number(double x) { return {mpq_class(x), 0}; }

// Numbers that are drawn at random, and as which the C API is given them.
struct DrawnKind {
    const char *name;
    perm_value_type type;
    oracle::Gaussian (*draw)(perm::families::Random &);
};

// Of at most 4 x 5 lines, often fewer, some entries missing; `draw` makes entry or weight.
template <class Draw> MatchingMatrix random_matchings(perm::families::Random &random, const Draw &draw) {
    MatchingMatrix a;
    const std::int64_t rows = random.integer(0, 4);
    a.cols = random.integer(0, 5);
    const double density = random.uniform(0.3, 1);
    a.entries.assign(static_cast<std::size_t>(rows),
                     std::vector<oracle::Gaussian>(static_cast<std::size_t>(a.cols)));
    for (auto &row : a.entries)
        for (oracle::Gaussian &x : row)
            if (random.chance(density)) x = draw(random);
    const auto weights = [&](std::int64_t count) {
        std::vector<oracle::Gaussian> out;
        for (std::int64_t i = 0; i < count; ++i)
            out.push_back(random.chance(0.15) ? oracle::Gaussian{} : draw(random));
        return out;
    };
    if (random.chance(0.6)) a.row_weights = weights(rows);
    if (random.chance(0.6)) a.col_weights = weights(a.cols);
    const auto times = [&](std::int64_t count) {
        std::vector<std::int64_t> out;
        for (std::int64_t i = 0; i < count; ++i) out.push_back(random.integer(0, 2));
        return out;
    };
    if (random.chance(0.2)) a.row_times = times(rows);
    if (random.chance(0.2)) a.col_times = times(a.cols);
    return a;
}

// Whole numbers, doubles of both signs, positive ones, some far apart, complex ones, fractions in text.
extern const std::vector<DrawnKind> kinds_of_numbers;
extern const std::vector<DrawnKind> kinds_of_weights; // above 0

// Numbers of one perm_value_type, none of them nowhere.
class TypedNumbers {
  public:
    TypedNumbers() = default;
    TypedNumbers(const std::vector<oracle::Gaussian> &numbers, std::int32_t type);
    TypedNumbers(const TypedNumbers &) = delete;
    TypedNumbers &operator=(TypedNumbers &&) = default;
    const void *data() const { return data_; }

  private:
    std::vector<double> doubles_;
    std::vector<std::int64_t> integers_;
    std::vector<std::string> texts_;
    std::vector<const char *> pointers_;
    const void *data_ = nullptr;
};

// What perm_csr points to; the zero entries are left out now and then.
class MatchingInput {
  public:
    MatchingInput(const MatchingMatrix &a, perm_value_type type, perm::families::Random &random);
    MatchingInput(const MatchingInput &) = delete;

    const perm_csr &csr() const { return csr_; }
    const void *values() const {
        return csr_.value_type == PERM_VALUE_PATTERN ? nullptr : all_.data();
    } // weights behind
    std::int64_t value_count() const { return count_; }
    // Of each value: the entry it stands for, or the line whose weight it is.
    struct Place {
        std::int64_t row = -1, col = -1;
    };
    const std::vector<Place> &places() const { return places_; }

  private:
    std::vector<std::int64_t> row_ptr_{0}, col_;
    std::vector<Place> places_;
    TypedNumbers all_;
    std::int64_t count_ = 0;
    perm_csr csr_ = PERM_CSR_INIT;
};
