// Python's C API, as far as it is stable from 3.11 on: one build serves that version and all later ones.
// Buffers belong to it since 3.11, which is Debian 12's. (nanobind and pybind11 begin at 3.12, or build for
// each version.)
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

namespace perm_python {

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
