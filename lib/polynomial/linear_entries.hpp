// A matrix whose entries are c + l x, as a caller gave it.
#pragma once

#include "lib/input/matrix.hpp"
#include "lib/input/written_out.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/index.hpp"

#include <perm.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace libperm {

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

} // namespace libperm
