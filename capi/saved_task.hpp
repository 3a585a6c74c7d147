// What a task was made of, the caller's matrix, plan and options kept as bytes: with them another process
// makes the same one (perm_task_save, perm_task_load). A saved plan is one without values.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/plan/plan.hpp"

#include <cstdint>
#include <perm.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace capi {

// Numbers of one perm_value_type, one behind the other.
class GivenNumbers {
  public:
    GivenNumbers() = default;
    GivenNumbers(const void *values, std::int64_t count, std::int32_t type);
    GivenNumbers(const GivenNumbers &other)
        : doubles_(other.doubles_), integers_(other.integers_), texts_(other.texts_) {
        point();
    }
    GivenNumbers(GivenNumbers &&) = default; // the texts stay where they are
    GivenNumbers &operator=(GivenNumbers other) {
        doubles_ = std::move(other.doubles_);
        integers_ = std::move(other.integers_);
        texts_ = std::move(other.texts_);
        point();
        return *this;
    }

    const void *data() const;                              // valid as long as this is
    bool are(std::int64_t count, std::int32_t type) const; // so many of this type

    template <class Archive> void serialize(Archive &ar) {
        ar(doubles_, integers_, texts_);
        if constexpr (Archive::is_loading::value) point();
    }

  private:
    void point();

    std::vector<double> doubles_;
    std::vector<std::int64_t> integers_;
    std::vector<std::string> texts_;
    std::vector<const char *> pointers_; // to the texts
};

class GivenMatrix {
  public:
    GivenMatrix() = default;
    GivenMatrix(const perm_csr &a, const void *values, std::int64_t count); // of the weights, too (perm_csr)

    perm_csr csr() const; // valid as long as this is

    template <class Archive> void serialize(Archive &ar) {
        ar(n_cols_, row_ptr_, col_idx_, row_multiplicity_, col_multiplicity_, value_type_);
        libperm::flags(ar, row_weights_, col_weights_);
        ar(values_);
        libperm::require_read<Archive>(is_sound(), "the matrix");
    }

  private:
    std::int64_t n_rows() const { return std::ssize(row_ptr_) - 1; }
    bool is_sound() const; // as to lengths: what the numbers are is checked where they are read

    std::int64_t n_cols_ = 0;
    std::vector<std::int64_t> row_ptr_{0}, col_idx_;
    std::vector<std::int64_t> row_multiplicity_, col_multiplicity_; // none: all 1
    std::int32_t value_type_ = PERM_VALUE_F64;
    bool row_weights_ = false, col_weights_ = false; // of unmatched lines, behind the entries
    GivenNumbers values_;
};

// Dense matrices, kept as well.
class GivenDense {
  public:
    GivenDense() = default;
    explicit GivenDense(const perm_dense &a); // checked

    perm_dense dense() const; // valid as long as this is

    template <class Archive> void serialize(Archive &ar) {
        ar(n_rows_, n_cols_, count_, value_type_, row_multiplicity_, col_multiplicity_, values_);
        libperm::require_read<Archive>(is_sound(), "the matrices");
    }

  private:
    bool is_sound() const; // as to lengths

    std::int64_t n_rows_ = 0, n_cols_ = 0, count_ = 0;
    std::int32_t value_type_ = PERM_VALUE_F64;
    std::vector<std::int64_t> row_multiplicity_, col_multiplicity_; // none: all 1
    GivenNumbers values_;
};

// A periodic matrix.
class GivenPeriodic {
  public:
    GivenPeriodic() = default;
    explicit GivenPeriodic(const perm_periodic &a); // which was read, so that it is sound

    // work(the matrix), which is valid within it.
    template <class Work> auto with_view(const Work &work) const {
        const perm_csr cell = cell_.csr(), head = head_.csr(), tail = tail_.csr();
        perm_periodic a = PERM_PERIODIC_INIT;
        a.cell = &cell;
        a.joined = joined_;
        if (has_head_) a.head = &head;
        if (has_tail_) a.tail = &tail;
        return work(a);
    }

    template <class Archive> void serialize(Archive &ar) {
        ar(cell_, head_, tail_);
        libperm::flags(ar, has_head_, has_tail_, joined_);
    }

  private:
    GivenMatrix cell_, head_, tail_;
    bool has_head_ = false, has_tail_ = false, joined_ = false;
};

// What a task was made of: with it another process makes the same one (perm_task_save, perm_task_load). A
// saved plan is one without values.

struct TaskSource {
    std::string kind;                   // of its identity
    GivenMatrix matrix;                 // of all but plans and periodic ones
    GivenDense dense;                   // of minors; amplitudes
    std::vector<std::int64_t> photons;  // of each its mode in
    std::string plan;                   // of plans and others that are planned: as bytes
    GivenNumbers values;                // that the plan is executed with
    std::int64_t stride = 0, count = 1; // of the matrices of a batch
    GivenPeriodic periodic;
    std::int64_t first_term = 0, terms = 0; // of a periodic matrix
    // Of the options those that the answer follows from, and of an estimate what it is to come to; of samples
    // their number and seed.
    std::string engine, precision, without, decompose, chunks, function;
    double tolerance = 0;
    std::uint64_t seed = 0;
    double epsilon = 0, delta = 0;
    std::uint64_t estimate_seed = 0;
    std::int64_t samples = 0;
    std::string method; // of derivatives, too

    TaskSource() = default;
    explicit TaskSource(std::string_view bytes);    // throws Error
    explicit TaskSource(const libperm::Plan &plan); // in blocks

    std::string bytes() const;

    void take(const perm_opts *opts);
    void take(const perm_estimate_opts *wanted);

    // Both valid as long as this is. The caller's options in everything that the answer does not follow from.
    perm_opts options(const perm_opts *caller) const;
    perm_estimate_opts wanted() const;

    template <class Archive> void serialize(Archive &ar) {
        libperm::text_field(ar, kind);
        ar(matrix, dense, photons, plan, values, stride, count);
        libperm::text_fields(ar, engine, precision, without, decompose, chunks, function);
        ar(tolerance, seed, epsilon, delta, estimate_seed, samples);
        libperm::text_field(ar, method);
        ar(periodic, first_term, terms);
    }
};

} // namespace capi
