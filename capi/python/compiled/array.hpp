// Arrays of numpy, read where they lie.
#pragma once

#include "capi/python/compiled/python.hpp"

#include <perm.h>

#include <complex>
#include <cstdint>
#include <cstring>

namespace perm_python {

// Returns what numpy has by this name; null if it is not imported.
PyObject *of_numpy(const char *name);

// Whether it is a numpy.ndarray itself: a subclass may mean something else.
bool is_array(PyObject *object);

// Borrows an array's memory. It is empty, with no error set, for what is no such array or holds no float64,
// complex128 or int64, aligned and in the machine's byte order.
class Array {
  public:
    explicit Array(PyObject *object);
    ~Array() {
        if (borrowed_) PyBuffer_Release(&view_);
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    explicit operator bool() const { return is_read_; }
    perm_value_type type() const { return type_; }
    Py_ssize_t item_size() const { return view_.itemsize; }
    int dimensions() const { return view_.ndim; }
    Py_ssize_t extent(int axis) const { return view_.shape[axis]; }
    Py_ssize_t stride(int axis) const { return view_.strides[axis]; } // in bytes
    const char *data() const { return static_cast<const char *>(view_.buf); }

    // Whether the axes from this one on lie in memory as C has them.
    bool is_contiguous_from(int axis) const;

  private:
    Py_buffer view_{};
    bool borrowed_ = false, is_read_ = false;
    perm_value_type type_ = PERM_VALUE_F64;
};

// Borrows the C-contiguous memory of an array that is to be written; null with an error, or for None without
// one.
class Output {
  public:
    Output() = default;
    ~Output() {
        if (view_.obj) PyBuffer_Release(&view_);
    }
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    bool open(PyObject *object, Py_ssize_t bytes);
    template <class Number> Number *as() const { return static_cast<Number *>(view_.buf); }

  private:
    Py_buffer view_{};
};

template <class Number> Number read(const char *at) {
    Number x;
    std::memcpy(&x, at, sizeof x);
    return x;
}

// Calls work(Number()) for the numbers of this type.
template <class Work> auto with_type(perm_value_type type, const Work &work) {
    if (type == PERM_VALUE_I64) return work(std::int64_t{});
    if (type == PERM_VALUE_C128) return work(std::complex<double>{});
    return work(double{});
}

} // namespace perm_python
