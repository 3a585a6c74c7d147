// From the caller's perm_csr to a checked pattern and values of the library's own.
#pragma once

#include "lib/input/input_pattern.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/numbers.hpp"

#include <cstddef>
#include <perm.h>
#include <string>
#include <vector>

namespace libperm {

// As many as are given for each matrix of a plan.
inline std::int64_t values_given(const InputPattern &input) { return value_count(as_given(input)); }

// In a batch matrix k's values begin k * stride after the first's. Throws Error (PERM_BAD_ARGUMENT).
void check_stride(const InputPattern &input, std::int64_t stride, std::int64_t count);

// What tells two matrices apart, in words; null where the same values stand for the same entries of both.
const char *difference(const InputPattern &x, const InputPattern &y);

// Throws Error (PERM_BAD_ARGUMENT, PERM_BAD_MATRIX, PERM_UNSUPPORTED) naming the row and column at fault.
// `account` (may be none) throws before what it cannot hold is copied.
InputPattern read_pattern(const perm_csr *a, MemoryAccount *account = nullptr);

// Each line once, whatever its multiplicity, which is checked: so `values_given` are known.
InputPattern read_once(const perm_csr *a, MemoryAccount *account = nullptr);

// Of what is computed of it: a graph, for hafnians.
InputPattern read_pattern(const perm_csr *a, MatrixFunction function, MemoryAccount *account = nullptr);

// As if every row and every column might stay unmatched, with weight 1, whose places must be given as 1.
InputPattern read_free(const perm_csr *a, MatrixFunction function, MemoryAccount *account = nullptr);

// With no more rows than columns, as it was given: `pattern` is that; there are no multiplicities, and no
// weights.
InputPattern read_rectangle(const perm_csr *a, MemoryAccount *account = nullptr);

std::size_t size_of(perm_value_type type); // of one value, in bytes

// In words: an entry's value, or a line's weight. `given` as the caller gave it, entries in its order.
std::string place_of(const InputPattern &given, std::int64_t value);

// The caller's values, weights behind them, as a plan is given them.
class GivenValues {
  public:
    GivenValues(const InputPattern &input, const perm_csr &a);
    const void *data() const { return data_; }

  private:
    std::vector<std::byte> joined_; // where there are weights
    const void *data_;
};

Values read_values(const InputPattern &input, const void *values, MemoryAccount *account = nullptr);

// The values of `written`, each as often as its entry stands in the pattern; `source` as InputPattern's.
Values spread(const Values &written, const std::vector<std::int64_t> &source);

// Leaves out the entries whose value is 0. Complex values that are all real become real.
void simplify(InputPattern &input, Values &values);

bool some_negative(const Values &values); // or not real
bool some_long(const Values &values);     // of more than 24 significant bits
bool some_complex(const Values &values);

std::int64_t bytes_of(const Values &values);

// What values are told from others by.

// 32 hexadecimal digits.
std::string digest_of(const Values &values);

// The caller's dense matrices, but for their values.

// Throws Error for one whose shape, type or size is none.
const perm_dense &require_dense(const perm_dense *a);

constexpr std::size_t bytes_of_value(const perm_dense &a) { return a.value_type == PERM_VALUE_C128 ? 16 : 8; }

} // namespace libperm
