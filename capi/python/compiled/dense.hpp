// Full arrays where they lie: numbers by perm_permanents, which tells no more than their bounds. Options,
// whose address may stand behind the other arguments, say how to run it and change no result.
#pragma once

#include "capi/python/compiled/array.hpp"
#include "capi/python/compiled/python.hpp"

namespace perm_python {

// Returns a number, or null with no error set where it is to be computed otherwise.
PyObject *number_in_place(const Array &a);

// permanents(batch, numbers[, options]): of an array (count, n, n) into one of as many numbers; False where
// the general way is to be taken.
PyObject *permanents(PyObject *, PyObject *const *args, Py_ssize_t count);

// sub_permanents(a[, options]), gradient(a[, options]): of a small array of doubles or complex numbers as a
// new one; None where the general way is to be taken, of gradients for an entry that is 0, too.
PyObject *sub_permanents(PyObject *, PyObject *const *args, Py_ssize_t count);
PyObject *gradient(PyObject *, PyObject *const *args, Py_ssize_t count);

} // namespace perm_python
