// libperm._core.compiled: the calls of microseconds, without the microseconds that ctypes takes. What they
// cannot do, or what fails, they leave to the package's general way, in Python: each returns None then. So
// errors, warnings and odd inputs are treated in one place.
#include "capi/python/compiled/dense.hpp"
#include "capi/python/compiled/library.hpp"
#include "capi/python/compiled/matrix.hpp"
#include "capi/python/compiled/multiplicities.hpp"
#include "capi/python/compiled/plan.hpp"

namespace perm_python {
namespace {

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
