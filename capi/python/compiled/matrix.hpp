// libperm.permanent() of a small array.
#pragma once

#include "capi/python/compiled/python.hpp"

namespace perm_python {

// permanent(A), or permanent(A, of_reals, of_integers) with addresses of perm_opts, to which the rows' and
// columns' multiplicities may be added: the number, or None where the general way is to be taken.
PyObject *permanent(PyObject *, PyObject *const *args, Py_ssize_t count);

// compute(A, result[, of_reals, of_integers[, rows, columns]]): the perm_value_type, and the perm_result at
// this address is filled; or None.
PyObject *compute(PyObject *, PyObject *const *args, Py_ssize_t count);

} // namespace perm_python
