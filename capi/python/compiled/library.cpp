#include "capi/python/compiled/library.hpp"

namespace perm_python {

Library library;

PyObject *bind(PyObject *, PyObject *args) {
    unsigned long long compute, clear, execute, execute_batch, of_integers;
    if (!PyArg_ParseTuple(args, "KKKKK", &compute, &clear, &execute, &execute_batch, &of_integers))
        return nullptr;
    library = {reinterpret_cast<decltype(library.compute)>(compute),
               reinterpret_cast<decltype(library.clear)>(clear),
               reinterpret_cast<decltype(library.execute)>(execute),
               reinterpret_cast<decltype(library.execute_batch)>(execute_batch),
               reinterpret_cast<const perm_opts *>(of_integers)};
    Py_RETURN_NONE;
}

} // namespace perm_python
