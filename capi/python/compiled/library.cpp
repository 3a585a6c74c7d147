#include "capi/python/compiled/library.hpp"

namespace perm_python {

Library library;

PyObject *bind(PyObject *, PyObject *args) {
    void *compute, *clear, *execute, *execute_batch, *permanents, *sub_permanents, *gradients, *of_integers;
    if (!PyArg_ParseTuple(args, "O&O&O&O&O&O&O&O&", read_address, &compute, read_address, &clear,
                          read_address, &execute, read_address, &execute_batch, read_address, &permanents,
                          read_address, &sub_permanents, read_address, &gradients, read_address,
                          &of_integers))
        return nullptr;
    library = {reinterpret_cast<decltype(library.compute)>(compute),
               reinterpret_cast<decltype(library.clear)>(clear),
               reinterpret_cast<decltype(library.execute)>(execute),
               reinterpret_cast<decltype(library.execute_batch)>(execute_batch),
               reinterpret_cast<decltype(library.permanents)>(permanents),
               reinterpret_cast<decltype(library.sub_permanents)>(sub_permanents),
               reinterpret_cast<decltype(library.gradients)>(gradients),
               static_cast<const perm_opts *>(of_integers)};
    Py_RETURN_NONE;
}

} // namespace perm_python
