// What a task was made of: with it another process makes the same one (perm_task_save, perm_task_load). A
// saved plan is one without values.
#pragma once

#include "capi/given_matrix.hpp"
#include "lib/base/archive.hpp"
#include "lib/plan/plan.hpp"

#include <perm.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace capi {

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
