// The executions of a libperm.Plan.
#pragma once

#include "capi/python/compiled/python.hpp"

namespace perm_python {

// plan(owner, plan, for_signs, csr, is_signless, seconds, is_long): a capsule that keeps the owner, and with
// it all that the addresses point to. for_signs, which may be 0: for values of both signs where the plan was
// told of none. is_long: one execution is to be interruptible, or to show its progress, which execute()
// leaves to the general way.
PyObject *plan(PyObject *, PyObject *args);

// execute(capsule, values): the number, or None where the general way is to be taken. values: None for the
// plan's own, or an array of the entries or of the whole matrix.
PyObject *execute(PyObject *, PyObject *const *args, Py_ssize_t count);

// execute_batch(capsule, values, numbers, rel_error_bounds, abs_error_bounds, exact): the perm_status, or
// None where the general way is to be taken. values: an array of rows of entries, or of matrices. The arrays
// of results may be None, but for the first. It may be long: the caller sees to it that it can be stopped.
PyObject *execute_batch(PyObject *, PyObject *const *args, Py_ssize_t count);

} // namespace perm_python
