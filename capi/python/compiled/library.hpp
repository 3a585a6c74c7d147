// The functions of the library that are called here.
#pragma once

#include "capi/python/compiled/python.hpp"

#include <perm.h>

namespace perm_python {

struct Library {
    decltype(&perm_compute) compute = nullptr;
    decltype(&perm_result_clear) clear = nullptr;
    decltype(&perm_plan_execute) execute = nullptr;
    decltype(&perm_plan_execute_batch) execute_batch = nullptr;
    decltype(&perm_permanents) permanents = nullptr;
    decltype(&perm_sub_permanents) sub_permanents = nullptr;
    decltype(&perm_gradients) gradients = nullptr;
    const perm_opts *of_integers = nullptr; // the options that are theirs by default
};

extern Library library;

// bind(handle of the library, address of the options of integers).
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
