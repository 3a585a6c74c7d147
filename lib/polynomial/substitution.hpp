// The coefficients of perm(C + x L) from permanents with numbers in x's place.
#pragma once

#include "lib/plan/plan.hpp"
#include "lib/polynomial/linear_entries.hpp"
#include "lib/run/outcome.hpp"
#include "lib/run/task.hpp"

#include <memory>
#include <string>
#include <vector>

namespace libperm {

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
