#include "capi/python/compiled/module.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>

namespace perm_python {
namespace {

struct Entries {
    const void *first = nullptr; // null: the general way is to be taken
    std::int64_t count = 0, stride = 0;
};

// Lends memory for copies, null if there is none left; for small matrices without an allocation.
class Scratch {
  public:
    char *of(std::size_t bytes) {
        if (bytes <= small_.size()) return small_.data();
        large_.reset(new (std::nothrow) char[bytes]);
        return large_.get();
    }

  private:
    alignas(16) std::array<char, 4096> small_; // 16 x 16 complex numbers
    std::unique_ptr<char[]> large_;
};

template <class Number> bool copy_row(const Array &values, const char *from, std::int64_t nnz, char *to) {
    const Py_ssize_t step = values.stride(values.dimensions() - 1);
    for (std::int64_t k = 0; k < nnz; ++k)
        std::memcpy(to + k * std::int64_t{sizeof(Number)}, from + k * step, sizeof(Number));
    return true;
}

// Copies the entries; false if there is one outside of the pattern.
template <class Number>
bool copy_matrix(const perm_csr &pattern, const Array &values, const char *from, char *to) {
    const auto *row_ptr = static_cast<const std::int64_t *>(pattern.row_ptr);
    const auto *col_idx = static_cast<const std::int64_t *>(pattern.col_idx);
    const Py_ssize_t down = values.stride(values.dimensions() - 2),
                     right = values.stride(values.dimensions() - 1);
    for (std::int64_t i = 0; i < pattern.n_rows; ++i) {
        std::int64_t k = row_ptr[i];
        for (std::int64_t j = 0; j < pattern.n_cols; ++j) {
            const auto x = read<Number>(from + i * down + j * right);
            if (k < row_ptr[i + 1] && col_idx[k] == j)
                std::memcpy(to + k++ * std::int64_t{sizeof x}, &x, sizeof x);
            else if (x != Number{})
                return false;
        }
    }
    return true;
}

// Takes the values of one matrix, nnz entries or the whole of it, or with an axis before these of many. They
// are copied where they do not lie as the library reads them, and there are none if the array is of another
// shape or type, or has an entry outside of the pattern.
Entries entries_of(const perm_csr &pattern, const Array &values, int first_axis, Scratch &scratch) {
    if (!values || values.type() != pattern.value_type) return {};
    const int axes = values.dimensions() - first_axis;
    const bool is_matrix = axes == 2;
    if (axes != 1 && !is_matrix) return {};
    if (is_matrix
            ? values.extent(first_axis) != pattern.n_rows || values.extent(first_axis + 1) != pattern.n_cols
            : values.extent(first_axis) != pattern.nnz)
        return {};
    const std::int64_t count = first_axis == 0 ? 1 : values.extent(0), item = values.item_size();
    const Py_ssize_t step = first_axis == 0 || count == 1 ? pattern.nnz * item : values.stride(0);
    const bool is_full = !is_matrix || pattern.nnz == pattern.n_rows * pattern.n_cols;
    if (is_full && values.is_contiguous_from(first_axis) && step % item == 0 &&
        (step == 0 || step >= pattern.nnz * item))
        return {values.data(), count, step / item};
    char *copies = scratch.of(static_cast<std::size_t>(count * pattern.nnz * item));
    if (!copies) return {};
    const bool is_copied = with_type(values.type(), [&]<class Number>(Number) {
        for (std::int64_t k = 0; k < count; ++k) {
            const char *from = values.data() + (first_axis == 0 ? 0 : k * values.stride(0));
            char *to = copies + k * pattern.nnz * item;
            if (!(is_matrix ? copy_matrix<Number>(pattern, values, from, to)
                            : copy_row<Number>(values, from, pattern.nnz, to)))
                return false;
        }
        return true;
    });
    return is_copied ? Entries{copies, count, pattern.nnz} : Entries{};
}

bool any_negative(const Entries &entries, std::int64_t nnz, perm_value_type type) {
    if (type == PERM_VALUE_C128) return false;
    const auto any = [&]<class Number>(Number) {
        for (std::int64_t k = 0; k < entries.count; ++k) {
            const char *row =
                static_cast<const char *>(entries.first) + k * entries.stride * std::int64_t{sizeof(Number)};
            for (std::int64_t e = 0; e < nnz; ++e)
                if (read<Number>(row + e * std::int64_t{sizeof(Number)}) < Number{}) return true;
        }
        return false;
    };
    return type == PERM_VALUE_I64 ? any(std::int64_t{}) : any(double{});
}

constexpr double short_seconds = 3e-6; // giving up the GIL is not worth it

struct KeptPlan {
    PyObject *owner = nullptr;
    const perm_plan *plan = nullptr, *for_signs = nullptr;
    perm_csr pattern = PERM_CSR_INIT;
    bool is_signless = false, is_long = false, as_numpy = false; // of the pattern's own values
    double seconds = 0;

    perm_value_type type() const { return static_cast<perm_value_type>(pattern.value_type); }

    // Returns null where there is none yet.
    const perm_plan *plan_for(const Entries &entries) const {
        return is_signless && any_negative(entries, pattern.nnz, type()) ? for_signs : plan;
    }
};

constexpr char capsule_name[] = "libperm.Plan";

void forget(PyObject *capsule) {
    const std::unique_ptr<KeptPlan> kept(
        static_cast<KeptPlan *>(PyCapsule_GetPointer(capsule, capsule_name)));
    Py_DECREF(kept->owner);
}

const KeptPlan *kept_in(PyObject *const *args, Py_ssize_t count, Py_ssize_t expected) {
    if (!has_arguments(count, {expected})) return nullptr;
    return static_cast<const KeptPlan *>(PyCapsule_GetPointer(args[0], capsule_name));
}

// A result's bounds where doubles have its number: beyond their range no digit is certain. The same bits as
// batch.of_doubles().
struct OfDoubles {
    double relative, absolute;
    bool exact;

    explicit OfDoubles(const perm_result &r)
        : relative(r.rel_error_bound), absolute(r.abs_error_bound), exact(r.exact != 0) {
        const int shift = static_cast<int>(std::clamp<std::int64_t>(-r.exp2, -4096, 4096));
        if (std::ldexp(r.re, shift) == r.mantissa_re && std::ldexp(r.im, shift) == r.mantissa_im) return;
        const bool is_too_large = std::isinf(r.re) || std::isinf(r.im);
        relative = HUGE_VAL;
        absolute = is_too_large ? HUGE_VAL : std::nextafter(absolute + 0x1p-1074, HUGE_VAL);
        exact = false;
    }
};

struct Outputs {
    Output numbers, relative, absolute, exact, mantissas, exp2;

    bool open(PyObject *const *args, std::int64_t count, perm_value_type type) {
        const Py_ssize_t doubles = count * Py_ssize_t{sizeof(double)},
                         parts = type == PERM_VALUE_C128 ? 2 * doubles : doubles;
        return numbers.open(args[0], parts) && relative.open(args[1], doubles) &&
               absolute.open(args[2], doubles) && exact.open(args[3], count) &&
               mantissas.open(args[4], parts) && exp2.open(args[5], doubles);
    }

    void write(const perm_result &result, std::int64_t k, perm_value_type type) const {
        const auto put = [&](double *to, double re, double im) {
            if (type == PERM_VALUE_C128) {
                to[2 * k] = re;
                to[2 * k + 1] = im;
            } else {
                to[k] = re;
            }
        };
        put(numbers.as<double>(), result.re, result.im);
        if (!exact.as<bool>()) return;
        const OfDoubles told(result);
        relative.as<double>()[k] = told.relative;
        absolute.as<double>()[k] = told.absolute;
        exact.as<bool>()[k] = told.exact;
        put(mantissas.as<double>(), result.mantissa_re, result.mantissa_im);
        exp2.as<std::int64_t>()[k] = result.exp2;
    }
};

// Writes the numbers and frees the texts; the results of a batch that failed are cleared already.
void write(perm_result *results, std::int64_t count, perm_value_type type, const Outputs &outputs) {
    for (std::int64_t k = 0; k < count; ++k) {
        outputs.write(results[k], k, type);
        if (results[k].text) library.clear(results + k);
    }
}

} // namespace

PyObject *plan(PyObject *, PyObject *args) {
    PyObject *owner;
    void *of_one_sign, *of_both, *csr;
    int is_signless, is_long, as_numpy;
    double seconds;
    if (!PyArg_ParseTuple(args, "OO&O&O&pdpp", &owner, read_address, &of_one_sign, read_address, &of_both,
                          read_address, &csr, &is_signless, &seconds, &is_long, &as_numpy))
        return nullptr;
    std::unique_ptr<KeptPlan> kept(new (std::nothrow) KeptPlan);
    if (!kept) return PyErr_NoMemory();
    kept->plan = static_cast<const perm_plan *>(of_one_sign);
    kept->for_signs = static_cast<const perm_plan *>(of_both);
    kept->pattern = *static_cast<const perm_csr *>(csr);
    kept->is_signless = is_signless != 0;
    kept->seconds = seconds;
    kept->is_long = is_long != 0;
    kept->as_numpy = as_numpy != 0;
    PyObject *capsule = PyCapsule_New(kept.get(), capsule_name, forget);
    if (capsule) kept.release()->owner = Py_NewRef(owner);
    return capsule;
}

PyObject *execute(PyObject *, PyObject *const *args, Py_ssize_t count) {
    const KeptPlan *kept = kept_in(args, count, 2);
    if (!kept) return nullptr;
    if (kept->is_long) return none();
    const perm_plan *plan = kept->plan;
    Entries entries{kept->pattern.values, 1, 0};
    const Array array(args[1]);
    Scratch scratch;
    if (args[1] != Py_None) {
        entries = entries_of(kept->pattern, array, 0, scratch);
        plan = entries.first ? kept->plan_for(entries) : nullptr;
        if (!plan) return none();
    }
    Result result;
    perm_status status;
    {
        const WithoutGil while_running(kept->seconds > short_seconds);
        status = library.execute(plan, entries.first, &result.of_c);
    }
    PyObject *number = status == PERM_OK
                           ? number_of(result.of_c, kept->type(), args[1] != Py_None || kept->as_numpy)
                           : nullptr;
    return number || PyErr_Occurred() ? number : none();
}

PyObject *execute_batch(PyObject *, PyObject *const *args, Py_ssize_t count) {
    const KeptPlan *kept = kept_in(args, count, 8);
    if (!kept) return nullptr;
    const Array array(args[1]);
    if (!array || array.dimensions() < 2) return none();
    Scratch scratch;
    const Entries entries = entries_of(kept->pattern, array, 1, scratch);
    const perm_plan *plan = entries.first ? kept->plan_for(entries) : nullptr;
    if (!plan) return none();
    Outputs outputs;
    if (!outputs.open(args + 2, entries.count, kept->type())) return nullptr;
    const std::unique_ptr<perm_result[]> results(new (std::nothrow)
                                                     perm_result[static_cast<std::size_t>(entries.count)]);
    if (!results) return PyErr_NoMemory();
    perm_status status;
    {
        const WithoutGil while_running(kept->seconds * static_cast<double>(entries.count) > short_seconds);
        std::fill_n(results.get(), entries.count, perm_result PERM_RESULT_INIT);
        status = library.execute_batch(plan, entries.first, entries.stride, entries.count, results.get());
        if (status == PERM_OK) write(results.get(), entries.count, kept->type(), outputs);
    }
    return PyLong_FromLong(status);
}

} // namespace perm_python
