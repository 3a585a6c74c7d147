#include "capi/python/compiled/number.hpp"

#include "capi/python/compiled/array.hpp"

#include <cmath>

namespace perm_python {
namespace {

constexpr double most_whole = 9007199254740992; // 2^53: below it doubles are the integers themselves

PyObject *integer_of(const perm_result &result) {
    if (!result.exact) return nullptr;
    if (std::abs(result.re) < most_whole) return PyLong_FromDouble(result.re);
    char *end = nullptr;
    PyObject *integer = result.text ? PyLong_FromString(result.text, &end, 10) : nullptr;
    if (!integer) PyErr_Clear();
    return integer;
}

// Converts to numpy's float64 or complex128.
PyObject *in_numpy(PyObject *number, perm_value_type type) {
    static PyObject *const real = of_numpy("float64"), *const complex = of_numpy("complex128"); // for good
    PyObject *type_of_numpy = type == PERM_VALUE_C128 ? complex : real;
    if (!type_of_numpy) return number;
    PyObject *scalar = PyObject_CallFunctionObjArgs(type_of_numpy, number, nullptr);
    Py_DECREF(number);
    return scalar;
}

} // namespace

PyObject *number_of(double re, double im, perm_value_type type, bool as_numpy) {
    if (!std::isfinite(re) || !std::isfinite(im)) return nullptr;
    if (type == PERM_VALUE_I64) return std::abs(re) < most_whole ? PyLong_FromDouble(re) : nullptr;
    PyObject *number = type == PERM_VALUE_C128 ? PyComplex_FromDoubles(re, im) : PyFloat_FromDouble(re);
    return as_numpy && number ? in_numpy(number, type) : number;
}

PyObject *number_of(const perm_result &result, perm_value_type type, bool as_numpy) {
    if (!result.tolerance_met) return nullptr;
    if (type == PERM_VALUE_I64) return integer_of(result);
    const bool is_0 = result.re == 0 && result.im == 0;
    if (is_0 && (result.mantissa_re != 0 || result.mantissa_im != 0)) return nullptr;
    return number_of(result.re, result.im, type, as_numpy);
}

} // namespace perm_python
