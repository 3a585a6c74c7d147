// libperm._core.compiled: the calls of microseconds, without the microseconds that ctypes takes. What they
// cannot do, or what fails, they leave to the package's general way, in Python: each returns None then. So
// errors, warnings and odd inputs are treated in one place.
#include "capi/python/compiled/module.hpp"

#include "capi/python/loaded.hpp"

namespace perm_python {
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
