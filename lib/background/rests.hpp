// The permanents of what matchings of B leave of a background: of r_a rows and c_b columns of each class
//
//     prod_b c_b! [y^c] prod_a (sum_b C_ab y_b)^r_a,
//
// for each row chooses a class of columns, and then the columns of a class are ordered.
#pragma once

#include "lib/background/class_counts.hpp"
#include "lib/number/montgomery.hpp"
#include "preprocess/poll.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace libperm {

// The products of linear forms have a coefficient for the exponents of all variables but the last: the degree
// says that one.
class Rests {
  public:
    // `classes`: C by row; u and v are 1.
    Rests(const Montgomery &field, const ClassCounts &counts, const std::vector<std::uint64_t> &classes);

    // Over all counts, weight(count) times the permanent of the rest, in Montgomery's form.
    std::uint64_t sum(const std::function<std::uint64_t(std::size_t)> &weight, const Poll &poll) const;

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
