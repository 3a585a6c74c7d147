// The coefficients of perm(C + x L) from permanents with numbers in x's place.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/input/written_out.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/run_control.hpp"
#include "lib/run/task.hpp"
#include "preprocess/index.hpp"

#include <perm.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace libperm {

// A matrix whose entries are c + l x, as a caller gave it.
struct LinearEntries {
    // `linear`: of each entry of `a`, in its order and its kind of numbers. Throws Error.
    LinearEntries(const perm_csr *a, const void *linear, MatrixFunction function, RunControl &control);

    std::size_t entries() const { return at(as_given(input).pattern.nnz()); }
    std::size_t values() const { return at(value_count(as_given(input))); }
    Gaussian constant_at(std::size_t k) const { return number_at(constant, k); }
    Gaussian linear_at(std::size_t k) const {
        return k < entries() ? number_at(linear, k) : Gaussian{0, 0}; // weights have none
    }
    LineCounts row_count() const;
    LineCounts column_count() const; // of a graph those of the rows

    // The power of two r where the products over the rows' sums in |C| and in r |L| are about equal.
    std::int64_t balanced_radius(const Poll &poll = no_poll) const;

    // For values that stand in its pattern's order, of another kind of numbers.
    InputPattern input_of(perm_value_type type) const;

    InputPattern input;
    Values constant, linear; // in the order of as_given(input)'s pattern, constant weights behind
    std::int64_t count = 0;  // of coefficients
    std::int64_t degree = 0; // at most
    std::int64_t lowest = 0; // power of x
    std::string digest;      // of all of it

  private:
    static Gaussian number_at(const Values &values, std::size_t k) {
        return values.wide.empty() ? Gaussian{mpq_class(values.real[k]), 0} : values.wide[k];
    }
    void find_powers(const Poll &poll);

    std::vector<std::int64_t> row_counts_, column_counts_; // empty: each once
};

class Substitution {
  public:
    virtual ~Substitution() = default;

    virtual const Plan &plan() const = 0; // of sums over signs the matrix and the options alone
    virtual const Task &task() const = 0; // the permanents
    virtual bool is_planned() const { return true; }
    virtual double seconds() const = 0; // predicted

    // entries().degree + 1 of them, as the numbers of the plan have them. Of a store of one shard alone:
    // none. Throws Error.
    virtual std::vector<Outcome> coefficients(PieceStore *store, RunControl &control) const = 0;
};

// Of each: `plan` is a saved one, or null: it is made here. Throws Error where the bytes are of another
// matrix.

// One exact permanent, with a power of two (kronecker.hpp).
std::unique_ptr<Substitution> by_power_of_two(const LinearEntries &entries, const Options &options,
                                              RunControl &control, const std::string *plan = nullptr);

// Of a small full matrix, by a sum over signs of products of polynomials, in doubles; null where there is no
// such sum.
std::unique_ptr<Substitution> by_signs(const LinearEntries &entries, const Options &options);

// At roots of unity, in doubles or dd; null where entries lie too far apart for these.
std::unique_ptr<Substitution> on_circle(const LinearEntries &entries, const Options &options,
                                        RunControl &control, const std::string *plan = nullptr);

// Modulo the options' prime, at 0, 1, 2, ...; null where it has fewer residues than there are coefficients.
std::unique_ptr<Substitution> by_residues(const LinearEntries &entries, const Options &options,
                                          RunControl &control, const std::string *plan = nullptr);

// The plan of these values, of the input's square pattern.
Plan plan_for(InputPattern input, const Values &values, const Options &options, RunControl &control,
              const std::string *plan);

} // namespace libperm
