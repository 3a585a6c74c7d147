#include "capi/python/compiled/library.hpp"

#include "capi/python/loaded.hpp"

namespace perm_python {

Library library;

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

} // namespace perm_python
