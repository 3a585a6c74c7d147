#include "capi/python/compiled/module.hpp"

#include "capi/python/loaded.hpp"

#include <cmath>
#include <string_view>

namespace perm_python {

Library library;

// Who has an array has imported numpy; it is not imported for those who have none.
PyObject *of_numpy(const char *name) {
    PyObject *module = PyUnicode_FromString("numpy"), *numpy = module ? PyImport_GetModule(module) : nullptr;
    PyObject *found = numpy ? PyObject_GetAttrString(numpy, name) : nullptr;
    Py_XDECREF(numpy);
    Py_XDECREF(module);
    PyErr_Clear();
    return found;
}

bool is_array(PyObject *object) {
    static PyObject *ndarray = nullptr; // for good
    if (!ndarray) ndarray = of_numpy("ndarray");
    return reinterpret_cast<PyObject *>(Py_TYPE(object)) == ndarray;
}

Array::Array(PyObject *object) {
    if (!is_array(object)) return;
    if (PyObject_GetBuffer(object, &view_, PyBUF_RECORDS_RO) != 0) { // dates, for one
        PyErr_Clear();
        return;
    }
    borrowed_ = true;
    const std::string_view format = view_.format ? view_.format : "";
    is_read_ = true;
    if (format == "d")
        type_ = PERM_VALUE_F64;
    else if (format == "Zd")
        type_ = PERM_VALUE_C128;
    else if ((format == "l" || format == "q") && view_.itemsize == 8)
        type_ = PERM_VALUE_I64;
    else
        is_read_ = false;
}

bool Array::is_contiguous_from(int axis) const {
    Py_ssize_t step = view_.itemsize;
    for (int k = view_.ndim - 1; k >= axis; step *= view_.shape[k--])
        if (view_.shape[k] != 1 && view_.strides[k] != step) return false;
    return true;
}

bool Output::open(PyObject *object, Py_ssize_t bytes) {
    if (object == Py_None) return true;
    if (PyObject_GetBuffer(object, &view_, PyBUF_CONTIG) != 0) return false;
    if (view_.len == bytes) return true;
    PyErr_SetString(PyExc_ValueError, "an array for the results has another size");
    return false;
}

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

namespace {

// Reads the handle of the library and the address of the options of integers.
PyObject *bind(PyObject *, PyObject *args) {
    void *handle, *of_integers;
    if (!PyArg_ParseTuple(args, "O&O&", read_address, &handle, read_address, &of_integers)) return nullptr;
    perm_loaded::find(handle, "perm_compute", library.compute);
    perm_loaded::find(handle, "perm_result_clear", library.clear);
    perm_loaded::find(handle, "perm_plan_execute", library.execute);
    perm_loaded::find(handle, "perm_plan_execute_batch", library.execute_batch);
    perm_loaded::find(handle, "perm_permanents", library.permanents);
    perm_loaded::find(handle, "perm_sub_permanents", library.sub_permanents);
    perm_loaded::find(handle, "perm_gradients", library.gradients);
    library.of_integers = static_cast<const perm_opts *>(of_integers);
    Py_RETURN_NONE;
}

using Fast = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t);

PyMethodDef named(const char *name, Fast function) noexcept {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL,
            nullptr};
}

PyMethodDef methods[] = {{"bind", bind, METH_VARARGS, nullptr},
                         {"plan", plan, METH_VARARGS, nullptr},
                         named("permanent", permanent),
                         named("permanents", permanents),
                         named("sub_permanents", sub_permanents),
                         named("gradient", gradient),
                         named("compute", compute),
                         named("execute", execute),
                         named("execute_batch", execute_batch),
                         {}};

PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "libperm._core.compiled",
                      nullptr,
                      -1,
                      methods,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

} // namespace
} // namespace perm_python

PyMODINIT_FUNC PyInit_compiled() {
    PyObject *module = PyModule_Create(&perm_python::module);
    if (module && PyModule_AddIntConstant(module, "LARGEST_ORDER", perm_python::largest_order) == 0 &&
        PyModule_AddIntConstant(module, "MOST_LINES", perm_python::most_lines) == 0)
        return module;
    Py_XDECREF(module);
    return nullptr;
}
