// Plans of full matrices, by shape: made when they are first asked for, and kept, as XLA keeps what it
// compiled.
#pragma once

#include <perm.h>

#include <cstdint>
#include <string>

namespace perm_xla {

// The functions are those of the libperm.so.1 that the package has loaded.
struct Library {
    decltype(&perm_plan_create) create = nullptr;
    decltype(&perm_plan_execute_batch) execute_batch = nullptr;
    decltype(&perm_plan_gradient_batch) gradient_batch = nullptr;
    decltype(&perm_gradients) gradients = nullptr;
    decltype(&perm_result_clear) clear = nullptr;
    decltype(&perm_last_error) last_error = nullptr;
};
extern Library library;

struct Shape {
    std::int64_t rows, columns;
    perm_value_type type; // PERM_VALUE_F64, PERM_VALUE_C128
    std::string precision;
    double tolerance;
    int threads;

    auto operator<=>(const Shape &) const = default;
};

// Returns null where it cannot be made: perm_last_error tells why. May be called by many threads.
const perm_plan *plan_of(const Shape &shape);

} // namespace perm_xla
