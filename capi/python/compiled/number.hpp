// A result as Python's number.
#pragma once

#include "capi/python/compiled/python.hpp"

#include <perm.h>

namespace perm_python {

// Makes an int, a float or a complex. Null, with no error set, where there is more to say: a tolerance that
// was missed, a value beyond doubles, an integer that is not exact.
PyObject *number_of(const perm_result &result, perm_value_type type, bool as_numpy);
PyObject *number_of(double re, double im, perm_value_type type, bool as_numpy);

} // namespace perm_python
