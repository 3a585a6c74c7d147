#include "capi/python/compiled/matrix.hpp"

#include "capi/python/compiled/array.hpp"
#include "capi/python/compiled/dense.hpp"
#include "capi/python/compiled/library.hpp"
#include "capi/python/compiled/multiplicities.hpp"
#include "capi/python/compiled/number.hpp"

#include <array>
#include <cstring>

namespace perm_python {
namespace {

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
    void count(const Multiplicities &counts) { counts.write_to(csr_); }

  private:
    template <class Number> std::int64_t fill(const Array &a) {
        std::int64_t k = 0;
        for (std::int64_t i = 0; i < csr_.n_rows; ++i) {
            const char *row = a.data() + i * a.stride(0);
            row_ptr_[static_cast<std::size_t>(i)] = k;
            for (std::int64_t j = 0; j < csr_.n_cols; ++j) {
                const auto x = read<Number>(row + j * a.stride(1));
                std::memcpy(values_.data() + k * std::int64_t{sizeof x}, &x, sizeof x);
                col_idx_[static_cast<std::size_t>(k)] = j;
                k += x != Number{}; // what is written for a zero is written over
            }
        }
        row_ptr_[static_cast<std::size_t>(csr_.n_rows)] = k;
        return k;
    }

    static constexpr std::size_t most = largest_graph * largest_graph + 1;
    perm_csr csr_ = PERM_CSR_INIT;
    std::array<std::int64_t, largest_graph + 1> row_ptr_;
    std::array<std::int64_t, most> col_idx_;
    alignas(16) std::array<char, most * sizeof(std::complex<double>)> values_;
};

// The places of the entries of full matrices, by their order, are made once.
struct Places {
    std::array<std::int64_t, largest_order + 1> row_ptr{};
    std::array<std::int64_t, largest_order * largest_order> col_idx{};
};
constexpr auto full_places = [] {
    std::array<Places, largest_order + 1> all{};
    for (std::size_t n = 0; n < all.size(); ++n)
        for (std::size_t i = 0; i < n; ++i) {
            all[n].row_ptr[i + 1] = static_cast<std::int64_t>((i + 1) * n);
            for (std::size_t j = 0; j < n; ++j) all[n].col_idx[i * n + j] = static_cast<std::int64_t>(j);
        }
    return all;
}();

bool is_square_in_place(const Array &a) { return a.extent(0) == a.extent(1) && a.is_contiguous_from(0); }

// Describes the caller's array itself, zeros included.
perm_csr in_place(const Array &a) {
    const Places &places = full_places[static_cast<std::size_t>(a.extent(0))];
    perm_csr csr = PERM_CSR_INIT;
    csr.n_rows = csr.n_cols = a.extent(0);
    csr.nnz = csr.n_rows * csr.n_cols;
    csr.row_ptr = places.row_ptr.data();
    csr.col_idx = places.col_idx.data();
    csr.values = a.data();
    csr.value_type = a.type();
    return csr;
}

// Options come as the caller gave them, by address; a kind of numbers that has none is left to the general
// way.
struct Options {
    bool are_given = false;
    const perm_opts *of_reals = nullptr, *of_integers = library.of_integers;
    PyObject *rows = nullptr, *columns = nullptr; // multiplicities; null: none are given

    // Reads what stands behind as many other arguments; false, and an error, if there are more or fewer.
    bool read(PyObject *const *args, Py_ssize_t count, Py_ssize_t others) {
        if (count == others) return true;
        if (count != others + 2 && count != others + 4) {
            PyErr_SetString(PyExc_TypeError, "an array, the addresses of two perm_opts and multiplicities of "
                                             "rows and columns are expected");
            return false;
        }
        are_given = true;
        of_reals = static_cast<const perm_opts *>(PyLong_AsVoidPtr(args[others]));
        of_integers = static_cast<const perm_opts *>(PyLong_AsVoidPtr(args[others + 1]));
        if (count == others + 4) {
            rows = args[others + 2];
            columns = args[others + 3];
        }
        return !PyErr_Occurred();
    }
};

bool is_of_graph(const perm_opts *opts) {
    return opts && opts->function && std::strcmp(opts->function, "permanent") != 0;
}

// Returns false where the general way is to be taken: it tells what is wrong, too.
bool compute_small(const Array &a, const Options &options, perm_result &result) {
    if (!a || a.dimensions() != 2) return false;
    const perm_opts *of_these = a.type() == PERM_VALUE_I64 ? options.of_integers : options.of_reals;
    if (options.are_given && !of_these) return false;
    const Py_ssize_t most = is_of_graph(of_these) ? largest_graph : largest_order;
    if (a.extent(0) > most || a.extent(1) > most) return false;
    constexpr Py_ssize_t short_order = 9; // below it, with nothing special asked for, it is a microsecond
    const auto compute = [&](const perm_csr &csr) {
        const WithoutGil while_running(options.are_given || a.extent(1) >= short_order);
        return library.compute(&csr, of_these, &result) == PERM_OK;
    };
    if (!options.rows && a.extent(0) <= largest_order && is_square_in_place(a)) return compute(in_place(a));
    Rows rows(a);
    Multiplicities counts;
    if (options.rows) {
        if (!counts.read(options.rows, options.columns, rows.csr())) return false;
        rows.count(counts);
    }
    return compute(rows.csr());
}

} // namespace

PyObject *permanent(PyObject *, PyObject *const *args, Py_ssize_t count) {
    Options options;
    if (!options.read(args, count, 1)) return nullptr;
    const Array a(args[0]);
    if (count == 1 && a && a.dimensions() == 2 && a.extent(0) <= largest_order && is_square_in_place(a)) {
        PyObject *number = number_in_place(a);
        if (number || PyErr_Occurred()) return number;
    }
    Result result;
    PyObject *number =
        compute_small(a, options, result.of_c) ? number_of(result.of_c, a.type(), true) : nullptr;
    return number || PyErr_Occurred() ? number : Py_NewRef(Py_None);
}

PyObject *compute(PyObject *, PyObject *const *args, Py_ssize_t count) {
    Options options;
    if (!options.read(args, count, 2)) return nullptr;
    auto *result = static_cast<perm_result *>(PyLong_AsVoidPtr(args[1]));
    if (!result) return nullptr;
    const Array a(args[0]);
    return compute_small(a, options, *result) ? PyLong_FromLong(a.type()) : Py_NewRef(Py_None);
}

} // namespace perm_python
