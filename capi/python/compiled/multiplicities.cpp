#include "capi/python/compiled/multiplicities.hpp"

#include "capi/python/compiled/array.hpp"

#include <algorithm>

namespace perm_python {
namespace {

// Returns an int's value, or -1 where it has none.
std::int64_t count_at(PyObject *sequence, Py_ssize_t k) {
    PyObject *item = PySequence_GetItem(sequence, k), *number = item ? PyNumber_Index(item) : nullptr;
    const std::int64_t count = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    Py_XDECREF(item);
    PyErr_Clear();
    return count;
}

bool read_counts(PyObject *given, std::int64_t lines, std::int64_t *counts) {
    if (given == Py_None) {
        std::fill_n(counts, lines, 1);
        return true;
    }
    // An iterator can be read once, and others go by labels (pandas' series), not by places: they are left to
    // the general way.
    const bool is_in_order =
        PyList_Check(given) || PyTuple_Check(given) || PyRange_Check(given) || is_array(given);
    if (!is_in_order || PySequence_Size(given) != lines) {
        PyErr_Clear();
        return false;
    }
    for (std::int64_t k = 0; k < lines; ++k) {
        counts[k] = count_at(given, k);
        if (counts[k] < 0 || counts[k] > most_lines) return false;
    }
    return true;
}

double terms(const std::int64_t *counts, std::int64_t lines) {
    double product = 1;
    for (std::int64_t k = 0; k < lines; ++k) product *= static_cast<double>(counts[k] + 1);
    return product;
}

} // namespace

bool Multiplicities::read(PyObject *rows, PyObject *columns, const perm_csr &a) {
    if (!read_counts(rows, a.n_rows, rows_.data()) || !read_counts(columns, a.n_cols, columns_.data()))
        return false;
    has_rows_ = rows != Py_None;
    has_columns_ = columns != Py_None;
    std::int64_t lines = 0;
    for (std::int64_t k = 0; k < a.n_cols; ++k) lines += columns_[static_cast<std::size_t>(k)];
    constexpr double most_terms = std::int64_t{1} << largest_order;
    return lines <= most_lines &&
           std::min(terms(rows_.data(), a.n_rows), terms(columns_.data(), a.n_cols)) <= most_terms;
}

} // namespace perm_python
