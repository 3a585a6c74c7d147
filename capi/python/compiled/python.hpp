// Python's C API, as far as it is stable from 3.11 on, Debian 12's: one build serves that version and all
// later ones. nanobind's stable ABI begins at 3.12, and these few functions need little of what it does.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

namespace perm_python {

// Reads an int into a void *, as PyArg_ParseTuple's "O&" asks for.
inline int read_address(PyObject *number, void *address) {
    *static_cast<void **>(address) = PyLong_AsVoidPtr(number);
    return !PyErr_Occurred();
}

// The GIL is given up while one lives, unless it is kept: giving it up costs more than the shortest calls
// take, and where other threads compute in Python it comes back only after milliseconds.
class WithoutGil {
  public:
    explicit WithoutGil(bool is_given_up) : state_(is_given_up ? PyEval_SaveThread() : nullptr) {}
    ~WithoutGil() {
        if (state_) PyEval_RestoreThread(state_);
    }
    WithoutGil(const WithoutGil &) = delete;
    WithoutGil &operator=(const WithoutGil &) = delete;

  private:
    PyThreadState *state_;
};

} // namespace perm_python
