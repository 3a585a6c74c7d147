// How many lines of each class a matching of B takes, and the permanents of what it leaves of a background:
// of r_a rows and c_b columns of each class
//
//     prod_b c_b! [y^c] prod_a (sum_b C_ab y_b)^r_a,
//
// for each row chooses a class of columns, and then the columns of a class are ordered.
#pragma once

#include "lib/number/montgomery.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/poll.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

// As one number. The counts are digits. As many rows as columns are taken of classes that entries of B join,
// so that of these the one that may be taken from most often has none: the others say how many of it.
struct ClassCounts {
    struct Class {
        std::int32_t lines, most;  // of the class, and at most in a matching
        std::size_t component = 0; // of classes that entries join, numbered as one of them
        std::size_t stride = 0;
    };
    std::vector<Class> rows, cols;
    std::size_t numbers = 1; // all are below

    std::size_t of_entry(const Background &b, std::int32_t i, std::int32_t j) const;
};

constexpr double most_counts = 0x1p24;

// No rows: there would be more numbers.
ClassCounts class_counts(const Background &b);

// The products of linear forms have a coefficient for the exponents of all variables but the last: the degree
// says that one.
class Rests {
  public:
    // `classes`: C by row; u and v are 1.
    Rests(const Montgomery &field, const ClassCounts &counts, const std::vector<std::uint64_t> &classes);

    // Over all counts, weight(count) times the permanent of the rest, in Montgomery's form.
    std::uint64_t sum(const std::function<std::uint64_t(std::size_t)> &weight) const;

  private:
    struct Variable {
        std::int32_t lines, most;
        std::size_t component, stride, step; // step: of the coefficients
    };
    struct Form {
        std::int32_t lines, most;
        std::size_t component, stride;
        std::vector<std::uint64_t> coefficients; // by variable
    };
    using Polynomial = std::vector<std::uint64_t>;
    struct Sum;

    void multiply(Polynomial &a, const Form &by) const;

    const Montgomery &field_;
    std::vector<Variable> variables_;
    std::vector<Form> forms_;
    std::vector<std::uint8_t> has_; // by coefficient: a bit for each variable that it has
    std::vector<std::uint64_t> factorial_;
};

double coefficients_of_rests(const ClassCounts &counts);
double products_of_rests(const ClassCounts &counts);

} // namespace libperm
