#include "capi/python/compiled/module.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>

namespace perm_python {
namespace {

constexpr Py_ssize_t short_order = 9; // below it, it is a microsecond: giving up the GIL is not worth it

const perm_opts *opts_at(PyObject *address) {
    return static_cast<const perm_opts *>(PyLong_AsVoidPtr(address));
}

// Reads the address of options behind as many other arguments, if it is there; false, and an error, if it is
// none or others are there.
bool read_options(PyObject *const *args, Py_ssize_t count, Py_ssize_t others, const perm_opts *&opts) {
    if (!has_arguments(count, {others, others + 1})) return false;
    opts = count > others ? opts_at(args[others]) : nullptr;
    return !PyErr_Occurred();
}

// ---------------------------------------------------------------- arrays in place

// Describes the matrices in the last two dimensions.
perm_dense dense_of(const Array &a) {
    perm_dense dense = PERM_DENSE_INIT;
    dense.n_rows = a.extent(a.dimensions() - 2);
    dense.n_cols = a.extent(a.dimensions() - 1);
    dense.values = a.data();
    dense.value_type = a.type();
    return dense;
}

// Whether perm_result.tolerance_met would be set.
bool is_told(const double *number, std::size_t parts, double bound, const perm_opts *opts = nullptr) {
    const double tolerance = opts && opts->tolerance != 0 ? opts->tolerance : 1e-9;
    const double size = parts == 1 ? std::fabs(number[0]) : std::hypot(number[0], number[1]);
    return bound <= tolerance * (size - bound);
}

std::size_t parts_of(const Array &a) { return a.type() == PERM_VALUE_C128 ? 2 : 1; }

// Returns a number, or null with no error set where it is to be computed otherwise.
PyObject *number_in_place(const Array &a, const perm_opts *opts) {
    const perm_dense dense = dense_of(a);
    double number[2] = {0, 0}, bound = 0;
    {
        const WithoutGil while_running(opts || dense.n_cols >= short_order);
        if (library.permanents(&dense, opts, number, &bound) != PERM_OK) return nullptr;
    }
    if (a.type() == PERM_VALUE_I64 && bound != 0) return nullptr;
    return is_told(number, parts_of(a), bound, opts) ? number_of(number[0], number[1], a.type(), true)
                                                     : nullptr;
}

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
    return PyErr_Occurred() ? nullptr : none();
}

// ---------------------------------------------------------------- one matrix, with options

// Returns an int's value, or -1 where it has none.
std::int64_t count_at(PyObject *sequence, Py_ssize_t k) {
    PyObject *item = PySequence_GetItem(sequence, k), *number = item ? PyNumber_Index(item) : nullptr;
    const std::int64_t count = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    Py_XDECREF(item);
    PyErr_Clear();
    return count;
}

// Reads how often each line counts: once where None is given.
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

// Compressed rows without the zeros lie on the stack.
class Rows {
  public:
    explicit Rows(const Array &a) {
        csr_.n_rows = a.extent(0);
        csr_.n_cols = a.extent(1);
        csr_.value_type = a.type();
        csr_.nnz = with_type(a.type(), [&]<class Number>(Number) { return fill<Number>(a); });
        csr_.row_ptr = row_ptr_.data();
        csr_.col_idx = col_idx_.data();
        csr_.values = values_.data();
    }
    Rows(const Rows &) = delete;
    Rows &operator=(const Rows &) = delete;

    const perm_csr &csr() const { return csr_; }

    // Returns false, with no error set, where the general way is to be taken: of what are no counts of these
    // lines, or of sums of more terms than a matrix of the largest order has.
    bool count(PyObject *rows, PyObject *columns) {
        if (!read_counts(rows, csr_.n_rows, row_counts_.data()) ||
            !read_counts(columns, csr_.n_cols, column_counts_.data()))
            return false;
        csr_.row_multiplicity = rows == Py_None ? nullptr : row_counts_.data();
        csr_.col_multiplicity = columns == Py_None ? nullptr : column_counts_.data();
        constexpr double most_terms = std::int64_t{1} << largest_order;
        std::int64_t lines = 0;
        for (std::int64_t j = 0; j < csr_.n_cols; ++j) lines += column_counts_[static_cast<std::size_t>(j)];
        return lines <= most_lines && std::min(terms(row_counts_.data(), csr_.n_rows),
                                               terms(column_counts_.data(), csr_.n_cols)) <= most_terms;
    }

  private:
    template <class Number> std::int64_t fill(const Array &a) {
        const Py_ssize_t rows = a.extent(0), columns = a.extent(1), right = a.stride(1);
        std::int64_t *column = col_idx_.data();
        char *value = values_.data();
        for (Py_ssize_t i = 0; i < rows; ++i) {
            const char *from = a.data() + i * a.stride(0);
            row_ptr_[static_cast<std::size_t>(i)] = column - col_idx_.data();
            for (Py_ssize_t j = 0; j < columns; ++j, from += right) {
                const auto x = read<Number>(from);
                std::memcpy(value, &x, sizeof x);
                *column = j;
                const bool is_entry = x != Number{}; // what is written for a zero is written over
                column += is_entry;
                value += is_entry ? sizeof x : 0;
            }
        }
        return row_ptr_[static_cast<std::size_t>(rows)] = column - col_idx_.data();
    }

    static constexpr std::size_t most = largest_graph * largest_graph + 1;
    perm_csr csr_ = PERM_CSR_INIT;
    std::array<std::int64_t, largest_graph + 1> row_ptr_;
    std::array<std::int64_t, largest_graph> row_counts_, column_counts_;
    std::array<std::int64_t, most> col_idx_;
    alignas(16) std::array<char, most * sizeof(std::complex<double>)> values_;
};

bool is_of_graph(const perm_opts *opts) {
    return opts && opts->function && std::strcmp(opts->function, "permanent") != 0;
}

// Finds what stands behind as many other arguments: by address the options as the caller gave them, of reals
// and of integers; if nothing does, those of integers. False for a kind of numbers that has none.
bool find_options(const Array &a, PyObject *const *args, Py_ssize_t count, Py_ssize_t others,
                  const perm_opts *&opts) {
    const bool is_integer = a.type() == PERM_VALUE_I64;
    opts = is_integer ? library.of_integers : nullptr;
    if (count > others) opts = opts_at(args[others + (is_integer ? 1 : 0)]);
    return count == others || opts;
}

// Behind the options multiplicities may stand. False where the general way is to be taken: it tells what is
// wrong, too.
bool compute_small(const Array &a, PyObject *const *args, Py_ssize_t count, Py_ssize_t others,
                   perm_result &result) {
    const perm_opts *opts;
    if (!a || a.dimensions() != 2 || !find_options(a, args, count, others, opts)) return false;
    const Py_ssize_t most = is_of_graph(opts) ? largest_graph : largest_order;
    if (a.extent(0) > most || a.extent(1) > most) return false;
    Rows rows(a);
    if (count == others + 4 && !rows.count(args[others + 2], args[others + 3])) return false;
    const WithoutGil while_running(count > others || a.extent(1) >= short_order);
    return library.compute(&rows.csr(), opts, &result) == PERM_OK;
}

// Whether perm_permanents is asked first.
bool is_for_place(const Array &a, const perm_opts *opts) {
    return a.extent(0) <= largest_order && a.extent(0) == a.extent(1) && a.is_contiguous_from(0) &&
           !is_of_graph(opts);
}

} // namespace

PyObject *permanent(PyObject *, PyObject *const *args, Py_ssize_t count) {
    if (!has_arguments(count, {1, 3, 5})) return nullptr;
    const Array a(args[0]);
    const perm_opts *opts;
    if (!a || a.dimensions() != 2 || !find_options(a, args, count, 1, opts))
        return PyErr_Occurred() ? nullptr : none();
    if (count < 5 && is_for_place(a, opts)) {
        PyObject *number = number_in_place(a, count == 1 ? nullptr : opts);
        if (number || PyErr_Occurred()) return number;
    }
    Result result;
    PyObject *number =
        compute_small(a, args, count, 1, result.of_c) ? number_of(result.of_c, a.type(), true) : nullptr;
    return number || PyErr_Occurred() ? number : none();
}

PyObject *compute(PyObject *, PyObject *const *args, Py_ssize_t count) {
    if (!has_arguments(count, {2, 4, 6})) return nullptr;
    auto *result = static_cast<perm_result *>(PyLong_AsVoidPtr(args[1]));
    if (!result) return nullptr;
    const Array a(args[0]);
    if (compute_small(a, args, count, 2, *result)) return PyLong_FromLong(a.type());
    return PyErr_Occurred() ? nullptr : none();
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

PyObject *sub_permanents(PyObject *, PyObject *const *args, Py_ssize_t count) {
    const perm_opts *opts;
    if (!read_options(args, count, 1, opts)) return nullptr;
    const Array a(args[0]);
    const Py_ssize_t longer = is_small(a) ? std::max(a.extent(0), a.extent(1)) : 0;
    if (longer == 0 || a.extent(0) + a.extent(1) != 2 * longer - 1) return none();
    const perm_dense dense = dense_of(a);
    return computed(a, longer, 0,
                    [&](double *to) { return library.sub_permanents(&dense, opts, to, nullptr); });
}

PyObject *gradient(PyObject *, PyObject *const *args, Py_ssize_t count) {
    const perm_opts *opts;
    if (!read_options(args, count, 1, opts)) return nullptr;
    const Array a(args[0]);
    if (!is_small(a) || a.extent(0) != a.extent(1) || has_zero(a)) return none();
    const perm_dense dense = dense_of(a);
    return computed(a, a.extent(0), a.extent(1), [&](double *to) {
        return library.gradients(&dense, opts, to, nullptr, nullptr, nullptr);
    });
}

} // namespace perm_python
