#include "capi/python/compiled/plan.hpp"

#include "capi/python/compiled/entries.hpp"
#include "capi/python/compiled/library.hpp"
#include "capi/python/compiled/number.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

namespace perm_python {
namespace {

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
    if (count == expected) return static_cast<const KeptPlan *>(PyCapsule_GetPointer(args[0], capsule_name));
    PyErr_SetString(PyExc_TypeError, "another number of arguments is expected");
    return nullptr;
}

PyObject *none() { return Py_NewRef(Py_None); }

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
        entries = entries_of_one(kept->pattern, array, scratch);
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
    const Entries entries = entries_of_many(kept->pattern, array, scratch);
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
