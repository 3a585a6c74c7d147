// The calls of libperm._core.compiled.
#pragma once

#include "capi/python/compiled/common.hpp"

namespace perm_python {

constexpr Py_ssize_t largest_order = 16; // more may take so long that it is to be interruptible
constexpr Py_ssize_t largest_graph = 20; // the same of hafnians
constexpr Py_ssize_t most_lines = 100;   // the same of repeated lines

// permanent(A), or permanent(A, of_reals, of_integers) with addresses of perm_opts, to which the rows' and
// columns' multiplicities may be added: the number, or None where the general way is to be taken.
PyObject *permanent(PyObject *, PyObject *const *args, Py_ssize_t count);

// compute(A, result[, of_reals, of_integers[, rows, columns]]): the perm_value_type, and the perm_result at
// this address is filled; or None.
PyObject *compute(PyObject *, PyObject *const *args, Py_ssize_t count);

// Of full arrays where they lie, by functions that tell no more than numbers and bounds. Options, whose
// address may stand behind the other arguments, say how to run them and change no result.

// permanents(batch, numbers[, options]): of an array (count, n, n) into one of as many numbers; False where
// the general way is to be taken.
PyObject *permanents(PyObject *, PyObject *const *args, Py_ssize_t count);

// sub_permanents(a[, options]), gradient(a[, options]): of a small array of doubles or complex numbers as a
// new one; None where the general way is to be taken, of gradients for an entry that is 0, too.
PyObject *sub_permanents(PyObject *, PyObject *const *args, Py_ssize_t count);
PyObject *gradient(PyObject *, PyObject *const *args, Py_ssize_t count);

// ---------------------------------------------------------------- libperm.Plan

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
