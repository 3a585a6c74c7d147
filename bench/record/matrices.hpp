// Matrices of a record, as callers write them: with values of every type, and multiplicities.
#pragma once

#include "bench/families.hpp"

#include <cstdint>
#include <string>
#include <vector>

struct Sample {
    std::string name;
    std::int64_t n_rows = 0, n_cols = 0;
    std::vector<std::int64_t> row_ptr{0}, col_idx;
    perm_value_type type = PERM_VALUE_F64;
    std::vector<double> doubles; // of complex numbers both parts; behind them weights of unmatched lines
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
    std::vector<std::int64_t> row_times, col_times; // none: all 1
    bool unmatched_rows = false, unmatched_cols = false;
};

// A sample as perm.h takes it, for as long as the sample stays.
class GivenSample {
  public:
    explicit GivenSample(const Sample &sample);
    perm_csr csr() const;
    const void *values() const;

  private:
    const Sample &sample_;
    std::vector<const char *> texts_;
};

namespace samples {

Sample real(const std::string &name, const perm::Csr &a);
Sample complex(const std::string &name, const perm::Csr &a); // with random imaginary parts
Sample whole(const std::string &name, const perm::Csr &a);   // int64_t, of whole numbers
Sample pattern(const std::string &name, const perm::Csr &a);

enum class Written {
    integers, // of thirty digits
    decimals, // 0.1 and the like, that no double is
    fractions,
    far_apart, // 1e-400 beside 1e400
    complex
};
Sample text(const std::string &name, const perm::Csr &a, Written how);

// Doubles or complex numbers, with random weights of leaving rows, columns or both unmatched.
Sample unmatched(Sample sample, bool rows, bool cols);

Sample repeated(Sample sample, std::vector<std::int64_t> row_times, std::vector<std::int64_t> col_times);

std::vector<Sample> for_engines(); // small ones: every engine takes them in every precision
std::vector<Sample> of_shapes();   // all shapes that reductions and engines meet
std::vector<Sample> for_passes();  // that the reductions have something to do with
std::vector<Sample> for_plans();   // to be executed again and again

} // namespace samples
