// perm.permanent() of a small array.
#pragma once

#include "capi/python/compiled/python.hpp"

namespace perm_python {

constexpr Py_ssize_t largest_order = 16; // more may take so long that it is to be interruptible

// permanent(A), or permanent(A, of_reals, of_integers) with addresses of perm_opts: the number, or None where
// the general way is to be taken.
PyObject *permanent(PyObject *, PyObject *const *args, Py_ssize_t count);

// compute(A, result[, of_reals, of_integers]): the perm_value_type, and the perm_result at this address is
// filled; or None.
PyObject *compute(PyObject *, PyObject *const *args, Py_ssize_t count);

} // namespace perm_python
