#include "capi/python/compiled/dense.hpp"

#include "capi/python/compiled/library.hpp"
#include "capi/python/compiled/multiplicities.hpp"
#include "capi/python/compiled/number.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

namespace perm_python {
namespace {

constexpr Py_ssize_t short_order = 9; // below it, it is a microsecond: giving up the GIL is not worth it

// Describes the matrices in the last two dimensions.
perm_dense dense_of(const Array &a) {
    perm_dense dense = PERM_DENSE_INIT;
    dense.n_rows = a.extent(a.dimensions() - 2);
    dense.n_cols = a.extent(a.dimensions() - 1);
    dense.values = a.data();
    dense.value_type = a.type();
    return dense;
}

// Whether perm_result.tolerance_met would be set for the default tolerance.
bool is_told(const double *number, std::size_t parts, double bound) {
    constexpr double tolerance = 1e-9;
    const double size = parts == 1 ? std::fabs(number[0]) : std::hypot(number[0], number[1]);
    return bound <= tolerance * (size - bound);
}

std::size_t parts_of(const Array &a) { return a.type() == PERM_VALUE_C128 ? 2 : 1; }

// Reads the address of options behind as many other arguments, if it is there; false, and an error, if it is
// none or others are there.
bool read_options(PyObject *const *args, Py_ssize_t count, Py_ssize_t others, const perm_opts *&opts) {
    opts = nullptr;
    if (count == others + 1)
        opts = static_cast<const perm_opts *>(PyLong_AsVoidPtr(args[others]));
    else if (count != others)
        PyErr_SetString(PyExc_TypeError, "another number of arguments is expected");
    return !PyErr_Occurred();
}

} // namespace

PyObject *number_in_place(const Array &a) {
    const perm_dense dense = dense_of(a);
    double number[2] = {0, 0}, bound = 0;
    {
        const WithoutGil while_running(dense.n_cols >= short_order);
        if (library.permanents(&dense, nullptr, number, &bound) != PERM_OK) return nullptr;
    }
    if (a.type() == PERM_VALUE_I64 && bound != 0) return nullptr;
    return is_told(number, parts_of(a), bound) ? number_of(number[0], number[1], a.type(), true) : nullptr;
}

PyObject *permanents(PyObject *, PyObject *const *args, Py_ssize_t count) {
    const perm_opts *opts;
    if (!read_options(args, count, 2, opts)) return nullptr;
    const Array a(args[0]);
    if (!a || a.dimensions() != 3 || a.extent(1) != a.extent(2) || a.type() == PERM_VALUE_I64 ||
        !a.is_contiguous_from(0))
        return PyBool_FromLong(0);
    const std::size_t parts = parts_of(a), matrices = static_cast<std::size_t>(a.extent(0));
    Output numbers;
    if (!numbers.open(args[1], a.extent(0) * a.item_size())) return nullptr;
    const std::unique_ptr<double[]> bounds(new (std::nothrow) double[matrices]);
    if (!bounds) return PyErr_NoMemory();
    perm_dense dense = dense_of(a);
    dense.count = a.extent(0);
    bool is_done;
    {
        const WithoutGil while_running(true);
        is_done = library.permanents(&dense, opts, numbers.as<double>(), bounds.get()) == PERM_OK;
        for (std::size_t k = 0; is_done && k < matrices; ++k)
            is_done = is_told(numbers.as<double>() + k * parts, parts, bounds[k]);
    }
    return PyBool_FromLong(is_done);
}

namespace {

// Makes a numpy.empty of two dimensions, or of one where the second is 0.
PyObject *empty(Py_ssize_t rows, Py_ssize_t columns, perm_value_type type) {
    static PyObject *const make = of_numpy("empty"), *const real = of_numpy("float64"),
                           *const complex = of_numpy("complex128"); // for good
    PyObject *const of = type == PERM_VALUE_C128 ? complex : real;
    if (!make || !of) return nullptr;
    return columns > 0 ? PyObject_CallFunction(make, "(nn)O", rows, columns, of)
                       : PyObject_CallFunction(make, "nO", rows, of);
}

bool is_small(const Array &a) {
    return a && a.dimensions() == 2 && a.type() != PERM_VALUE_I64 && a.extent(0) > 0 && a.extent(1) > 0 &&
           a.extent(0) <= largest_order && a.extent(1) <= largest_order && a.is_contiguous_from(0);
}

bool has_zero(const Array &a) {
    return with_type(a.type(), [&]<class Number>(Number) {
        for (Py_ssize_t k = 0; k < a.extent(0) * a.extent(1); ++k)
            if (read<Number>(a.data() + k * a.item_size()) == Number{}) return true;
        return false;
    });
}

// Calls compute(doubles) with a new array.
template <class Compute>
PyObject *computed(const Array &a, Py_ssize_t rows, Py_ssize_t columns, const Compute &compute) {
    PyObject *found = empty(rows, columns, a.type());
    if (!found) return nullptr;
    bool is_done = false;
    {
        Output numbers;
        if (numbers.open(found, rows * (columns > 0 ? columns : 1) * a.item_size())) {
            const WithoutGil while_running(a.extent(1) >= short_order);
            is_done = compute(numbers.as<double>()) == PERM_OK;
        }
    }
    if (is_done) return found;
    Py_DECREF(found);
    return PyErr_Occurred() ? nullptr : Py_NewRef(Py_None);
}

} // namespace

PyObject *sub_permanents(PyObject *, PyObject *const *args, Py_ssize_t count) {
    const perm_opts *opts;
    if (!read_options(args, count, 1, opts)) return nullptr;
    const Array a(args[0]);
    const Py_ssize_t longer = is_small(a) ? std::max(a.extent(0), a.extent(1)) : 0;
    if (longer == 0 || a.extent(0) + a.extent(1) != 2 * longer - 1) return Py_NewRef(Py_None);
    const perm_dense dense = dense_of(a);
    return computed(a, longer, 0,
                    [&](double *to) { return library.sub_permanents(&dense, opts, to, nullptr); });
}

PyObject *gradient(PyObject *, PyObject *const *args, Py_ssize_t count) {
    const perm_opts *opts;
    if (!read_options(args, count, 1, opts)) return nullptr;
    const Array a(args[0]);
    if (!is_small(a) || a.extent(0) != a.extent(1) || has_zero(a)) return Py_NewRef(Py_None);
    const perm_dense dense = dense_of(a);
    return computed(a, a.extent(0), a.extent(1), [&](double *to) {
        return library.gradients(&dense, opts, to, nullptr, nullptr, nullptr);
    });
}

} // namespace perm_python
