// The functions of the libperm.so.1 that the package has loaded: nothing is linked, so that there is one
// loader.
#pragma once

#include "capi/python/compiled/python.hpp"

#include <perm.h>

namespace perm_python {

struct Library {
    decltype(&perm_compute) compute = nullptr;
    decltype(&perm_result_clear) clear = nullptr;
    decltype(&perm_plan_execute) execute = nullptr;
    decltype(&perm_plan_execute_batch) execute_batch = nullptr; // null where the library is older
    decltype(&perm_permanents) permanents = nullptr;            // the same
    decltype(&perm_sub_permanents) sub_permanents = nullptr;
    decltype(&perm_gradients) gradients = nullptr;
    const perm_opts *of_integers = nullptr; // the options that are theirs by default
};

extern Library library;

// bind(compute, clear, execute, execute_batch, permanents, sub_permanents, gradients, of_integers):
// addresses.
PyObject *bind(PyObject *, PyObject *args);

// A result that frees its text.
struct Result {
    Result() = default;
    ~Result() { library.clear(&of_c); }
    Result(const Result &) = delete;
    Result &operator=(const Result &) = delete;

    perm_result of_c = PERM_RESULT_INIT;
};

} // namespace perm_python
