#include "capi/python/compiled/dense.hpp"

#include "capi/python/compiled/library.hpp"
#include "capi/python/compiled/number.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

namespace perm_python {
namespace {

constexpr Py_ssize_t short_order = 9; // below it, it is a microsecond: giving up the GIL is not worth it

// Of what stands in the last two dimensions.
perm_dense dense_of(const Array &a) {
    perm_dense dense = PERM_DENSE_INIT;
    dense.n_rows = a.extent(a.dimensions() - 2);
    dense.n_cols = a.extent(a.dimensions() - 1);
    dense.values = a.data();
    dense.value_type = a.type();
    return dense;
}

// As perm_result.tolerance_met is for the default tolerance.
bool is_told(const double *number, std::size_t parts, double bound) {
    constexpr double tolerance = 1e-9;
    const double size = parts == 1 ? std::fabs(number[0]) : std::hypot(number[0], number[1]);
    return bound <= tolerance * (size - bound);
}

std::size_t parts_of(const Array &a) { return a.type() == PERM_VALUE_C128 ? 2 : 1; }

} // namespace

PyObject *number_in_place(const Array &a) {
    if (!library.permanents) return nullptr;
    const perm_dense dense = dense_of(a);
    double number[2] = {0, 0}, bound = 0;
    {
        const WithoutGil while_running(dense.n_cols >= short_order);
        if (library.permanents(&dense, nullptr, number, &bound) != PERM_OK) return nullptr;
    }
    if (a.type() == PERM_VALUE_I64 && bound != 0) return nullptr;
    return is_told(number, parts_of(a), bound) ? number_of(number[0], number[1], a.type()) : nullptr;
}

PyObject *permanents(PyObject *, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "a batch and a place for its numbers are expected");
        return nullptr;
    }
    const Array a(args[0]);
    if (!library.permanents || !a || a.dimensions() != 3 || a.extent(1) != a.extent(2) ||
        a.type() == PERM_VALUE_I64 || !a.is_contiguous_from(0))
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
        is_done = library.permanents(&dense, nullptr, numbers.as<double>(), bounds.get()) == PERM_OK;
        for (std::size_t k = 0; is_done && k < matrices; ++k)
            is_done = is_told(numbers.as<double>() + k * parts, parts, bounds[k]);
    }
    return PyBool_FromLong(is_done);
}

} // namespace perm_python
