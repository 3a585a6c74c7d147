// How many lines of each class a matching of B takes, and the permanents of what it leaves of a background:
// of r_a rows and c_b columns of each class
//
//     prod_b c_b! [y^c] prod_a (sum_b C_ab y_b)^r_a,
//
// for each row chooses a class of columns, and then the columns of a class are ordered.
#pragma once

#include "lib/number/residues.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/engine_input.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/pattern.hpp"

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

// Engine `background`: the permanent of B + L, L_ij = u_i C_ab v_j for row i of class a and column j of class
// b, by the matchings of B.
//
//     perm(B + L) = sum over matchings M of B of (entries in M) prod u_i prod v_j perm(C_ab alone),
//
// i and j the lines that M has not: the last factor depends only on how many of each class these are
// (above). With one class of rows and of columns it is (n - |M|)!: Kaplansky
// and Riordan's rook polynomials, Duke Math. J. 13 (1946), with weights.

// A line opens; each entry that it has in common with an open one may be taken; then those close of which no
// other line has an entry.
struct CountingStep {
    struct Term {
        std::int32_t slot; // of the open lines, in the order in which they were opened
        std::int64_t entry;
    };
    struct Closing {
        std::int32_t slot; // among those that are left after the closings before
        std::int32_t line;
    };
    std::vector<Term> terms;
    std::vector<Closing> closings;
};

// Sets of open lines that a step goes through, times what is done at each, and those of all steps.
double sets_of(const CountingStep &step, std::int32_t open);
double sets_gone_through(const std::vector<CountingStep> &steps);

class Proposals;

// How the matchings of B are gone through, by how many lines of each class they take.
class BackgroundPlan final : public EnginePlan {
  public:
    Background background;
    std::vector<std::int32_t> order; // of the lines of B
    std::vector<CountingStep> steps;
    ClassCounts counts;
    std::int32_t open = 0; // at most
    double products = 0;   // of a matrix
    EntriesRead read;

    bool is_fit(const Residues &residues,
                std::size_t matrix) const override; // for what u and v are quotients of
    double matrix_products() const override { return products; }
    std::int64_t bytes() const override;
    std::span<const std::int64_t> entries_read() const override { return read.all(); }
    double table_bytes() const;
};

void propose_background(Proposals &task, Engine self);
// Of residues. Progress is counted in products.
EngineResult run_background(const EngineRun &run, const EngineInput &input);

std::string saved_background(const EnginePlan &plan, bool with_predictions);
std::shared_ptr<const EnginePlan> restored_background(std::string_view bytes, const PlanSource &of);
void check_background(const Candidate &c);

} // namespace libperm
