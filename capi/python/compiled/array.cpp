#include "capi/python/compiled/array.hpp"

#include <string_view>

namespace perm_python {

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

} // namespace perm_python
