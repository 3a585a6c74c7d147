// libperm._core.compiled: the calls of microseconds, without the microseconds that ctypes takes. What they
// cannot do, or what fails, they leave to the package's general way, in Python: each returns None then. So
// errors, warnings and odd inputs are treated in one place.
//
// Python's C API, as far as it is stable from 3.11 on, Debian 12's: one build serves that version and all
// later ones. nanobind's stable ABI begins at 3.12, and these few functions need little of what it does.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <perm.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace perm_python {

inline PyObject *none() { return Py_NewRef(Py_None); }

// Whether a call has one of these numbers of arguments; else false, with an error.
inline bool has_arguments(Py_ssize_t count, std::initializer_list<Py_ssize_t> expected) {
    for (const Py_ssize_t one : expected)
        if (count == one) return true;
    PyErr_SetString(PyExc_TypeError, "another number of arguments is expected");
    return false;
}

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

// ---------------------------------------------------------------- the library

struct Library {
    decltype(&perm_compute) compute = nullptr;
    decltype(&perm_result_clear) clear = nullptr;
    decltype(&perm_plan_execute) execute = nullptr;
    decltype(&perm_plan_execute_batch) execute_batch = nullptr;
    decltype(&perm_permanents) permanents = nullptr;
    decltype(&perm_sub_permanents) sub_permanents = nullptr;
    decltype(&perm_gradients) gradients = nullptr;
    const perm_opts *of_integers = nullptr; // the options that are theirs by default
};

extern Library library;

// A result that frees its text.
struct Result {
    Result() = default;
    ~Result() { library.clear(&of_c); }
    Result(const Result &) = delete;
    Result &operator=(const Result &) = delete;

    perm_result of_c = PERM_RESULT_INIT;
};

// ---------------------------------------------------------------- arrays

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

// ---------------------------------------------------------------- numbers

// Makes an int, a float or a complex. Null, with no error set, where there is more to say: a tolerance that
// was missed, a value beyond doubles, an integer that is not exact.
PyObject *number_of(const perm_result &result, perm_value_type type, bool as_numpy);
PyObject *number_of(double re, double im, perm_value_type type, bool as_numpy);

// ---------------------------------------------------------------- the calls

constexpr Py_ssize_t largest_order = 16; // more may take so long that it is to be interruptible
constexpr Py_ssize_t largest_graph = 20; // the same of hafnians
constexpr Py_ssize_t most_lines = 100;   // the same of repeated lines

// permanent(A), or permanent(A, of_reals, of_integers) with addresses of perm_opts, to which the rows' and
// columns' multiplicities may be added: the number, or None where the general way is to be taken.
PyObject *permanent(PyObject *, PyObject *const *args, Py_ssize_t count);

// compute(A, result[, of_reals, of_integers[, rows, columns]]): the perm_value_type, and the perm_result at
// this address is filled; or None.
PyObject *compute(PyObject *, PyObject *const *args, Py_ssize_t count);

// Of full arrays where they lie, by functions that tell no more than numbers and bounds. Options, whose
// address may stand behind the other arguments, say how to run them and change no result.

// permanents(batch, numbers[, options]): of an array (count, n, n) into one of as many numbers; False where
// the general way is to be taken.
PyObject *permanents(PyObject *, PyObject *const *args, Py_ssize_t count);

// sub_permanents(a[, options]), gradient(a[, options]): of a small array of doubles or complex numbers as a
// new one; None where the general way is to be taken, of gradients for an entry that is 0, too.
PyObject *sub_permanents(PyObject *, PyObject *const *args, Py_ssize_t count);
PyObject *gradient(PyObject *, PyObject *const *args, Py_ssize_t count);

// ---------------------------------------------------------------- libperm.Plan

// plan(owner, plan, for_signs, csr, is_signless, seconds, is_long, as_numpy): a capsule that keeps the owner,
// and with it all that the addresses point to. for_signs, which may be 0: for values of both signs where the
// plan was told of none. is_long: one execution is to be interruptible, or to show its progress, which
// execute() leaves to the general way. as_numpy: whether the number of the plan's own values is numpy's.
PyObject *plan(PyObject *, PyObject *args);

// execute(capsule, values): the number, or None where the general way is to be taken. values: None for the
// plan's own, or an array of the entries or of the whole matrix.
PyObject *execute(PyObject *, PyObject *const *args, Py_ssize_t count);

// execute_batch(capsule, values, numbers, rel_error_bounds, abs_error_bounds, exact, mantissas, exp2): the
// perm_status, or None where the general way is to be taken. values: an array of rows of entries, or of
// matrices. The arrays of results may be None, but for the first. It may be long: the caller sees to it that
// it can be stopped.
PyObject *execute_batch(PyObject *, PyObject *const *args, Py_ssize_t count);

} // namespace perm_python
