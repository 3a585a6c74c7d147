// The coefficients of perm(C + x L) from permanents with numbers in x's place.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/scaled.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "lib/run/tasks.hpp"
#include "preprocess/index.hpp"

#include <gmpxx.h>
#include <perm.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libperm {

// Coefficients that are whole numbers times `denominator`, of fewer than bits - 1 bits each.
struct CoefficientSize {
    mpz_class denominator = 1;
    double bits = 2; // a sign, and what sums of logarithms are rounded by
};

// A matrix whose entries are c + l x, as a caller gave it.
struct LinearEntries {
    // `linear`: of each entry of `a`, in its order and its kind of numbers. Throws Error.
    LinearEntries(const perm_csr *a, const void *linear, MatrixFunction function);

    // Every entry times x, and every line may stay unmatched with weight 1: the coefficient of x^k is the sum
    // over all matchings of k entries. Whole numbers, times `unit`. Throws Error.
    static LinearEntries of_matchings(const perm_csr *a, MatrixFunction function);

    std::size_t entries() const { return at(as_given(input).pattern.nnz()); }
    std::size_t values() const { return at(value_count(as_given(input))); }
    Gaussian constant_at(std::size_t k) const { return number_at(constant, k); }
    Gaussian linear_at(std::size_t k) const {
        return k < entries() ? number_at(linear, k) : Gaussian{0, 0}; // weights have none
    }
    LineCounts row_count() const;
    LineCounts column_count() const; // of a graph those of the rows

    // The power of two r where the products over the rows' sums in |C| and in r |L| are about equal.
    std::int64_t balanced_radius() const;

    CoefficientSize coefficient_size() const;

    // For values that stand in its pattern's order, of another kind of numbers.
    InputPattern input_of(perm_value_type type) const;

    InputPattern input;
    Values constant, linear; // in the order of as_given(input)'s pattern, constant weights behind
    std::int64_t count = 0;  // of coefficients
    std::int64_t degree = 0; // at most
    std::int64_t lowest = 0; // power of x
    mpz_class unit = 1;      // that was multiplied into the linear parts
    std::string digest;      // of all of it

  private:
    LinearEntries() = default;
    void read_counts(const perm_csr *a);
    void find_digest(MatrixFunction function);
    void make_whole();
    static Gaussian number_at(const Values &values, std::size_t k) {
        return values.wide.empty() ? Gaussian{mpq_class(values.real[k]), 0} : values.wide[k];
    }
    void find_powers();

    std::vector<std::int64_t> row_counts_, column_counts_; // empty: each once
    std::optional<CoefficientSize> size_;                  // where it is known
};

class Substitution {
  public:
    virtual ~Substitution() = default;

    virtual const Plan &plan_made() const = 0; // of sums over signs the matrix and the options alone
    virtual const Task &task() const = 0;      // the permanents
    virtual bool is_planned() const { return true; }
    virtual double seconds() const = 0; // predicted

    // entries().degree + 1 of them, as the numbers of the plan have them. Of a store of one shard alone:
    // none. Throws Error.
    virtual std::vector<Outcome> coefficients(PieceStore *store) const = 0;
};

// Of each: `plan` is a saved one, or null: it is made here. Throws Error where the bytes are of another
// matrix.

// One exact permanent, with a power of two (digits_of).
std::unique_ptr<Substitution> by_power_of_two(const LinearEntries &entries, const Options &options,
                                              const std::string *plan = nullptr);

// Of a small full matrix, by a sum over signs of products of polynomials, in doubles; null where there is no
// such sum.
std::unique_ptr<Substitution> by_signs(const LinearEntries &entries, const Options &options);

// Of coefficients that are numbers of matchings, by sums over subsets of the lines (matching_sums.hpp); null
// where there are none.
std::unique_ptr<Substitution> by_subsets(const LinearEntries &entries, const Options &options);
// And of nested rows at once (plain_sums.hpp); null where they are none.
std::unique_ptr<Substitution> of_nested_rows(const LinearEntries &entries, const Options &options);

// At roots of unity, in doubles or dd; null where entries lie too far apart for these.
std::unique_ptr<Substitution> on_circle(const LinearEntries &entries, const Options &options,
                                        const std::string *plan = nullptr);

// Modulo the options' prime, at 0, 1, 2, ...; null where it has fewer residues than there are coefficients.
std::unique_ptr<Substitution> by_residues(const LinearEntries &entries, const Options &options,
                                          const std::string *plan = nullptr);

// Kronecker's substitution: the coefficients of a polynomial are the digits of its value at a power of two
// that is longer than any of them.
//
// The c_k of sum = sum_k c_k 2^(b k), |c_k| < 2^(b - 1), b = bits. Throws Error where they are not all.
std::vector<mpz_class> digits_of(mpz_class sum, std::size_t count, unsigned long bits);

mpq_class exact_number(const Scaled &x);
Gaussian exact_number(const Outcome &x);

// The plan of these values, of the input's square pattern.
Plan plan_for(InputPattern input, const Values &values, const Options &options, const std::string *plan);

} // namespace libperm
