// What XLA calls: permanents of an array (..., m, n), and their derivatives, of float and double, real or
// complex. Floats are computed with as doubles.
#include "capi/python/loaded.hpp"

#include <perm.h>
#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace perm_xla {
namespace {

namespace ffi = xla::ffi;

constexpr std::int64_t most_lines = 40; // of perm_gradients

// The functions are those of the libperm.so.1 that the package has loaded.
struct Library {
    decltype(&perm_plan_create) create = nullptr;
    decltype(&perm_plan_execute_batch) execute_batch = nullptr;
    decltype(&perm_plan_gradient_batch) gradient_batch = nullptr;
    decltype(&perm_gradients) gradients = nullptr;
    decltype(&perm_result_clear) clear = nullptr;
    decltype(&perm_last_error) last_error = nullptr;
} library;

struct Shape {
    std::int64_t rows, columns;
    perm_value_type type; // PERM_VALUE_F64, PERM_VALUE_C128
    std::string precision;
    double tolerance;
    int threads;

    auto operator<=>(const Shape &) const = default;
};

perm_plan *made_for(const Shape &shape) {
    std::vector<std::int64_t> row_ptr, col_idx;
    for (std::int64_t i = 0; i <= shape.rows; ++i) row_ptr.push_back(i * shape.columns);
    for (std::int64_t i = 0; i < shape.rows; ++i)
        for (std::int64_t j = 0; j < shape.columns; ++j) col_idx.push_back(j);
    perm_csr full = PERM_CSR_INIT;
    full.n_rows = shape.rows, full.n_cols = shape.columns, full.nnz = row_ptr.back();
    full.row_ptr = row_ptr.data(), full.col_idx = col_idx.data();
    full.value_type = shape.type;
    perm_opts opts = PERM_OPTS_INIT;
    if (!shape.precision.empty()) opts.precision = shape.precision.c_str();
    opts.tolerance = shape.tolerance;
    opts.threads = shape.threads;
    perm_plan *plan = nullptr;
    library.create(&full, &opts, &plan);
    return plan;
}

// Returns the plan of full matrices of a shape: it is made when it is first asked for, and kept, as XLA keeps
// what it compiled. Null where it cannot be made: perm_last_error tells why. May be called by many threads.
const perm_plan *plan_of(const Shape &shape) {
    static std::mutex mutex;
    static std::map<Shape, const perm_plan *>
        plans; // never freed: a call may be under way when the process ends
    const std::lock_guard lock(mutex);
    const auto found = plans.find(shape);
    if (found != plans.end()) return found->second;
    const perm_plan *plan = made_for(shape);
    if (plan) plans.emplace(shape, plan);
    return plan;
}

ffi::Error failed() {
    return {ffi::ErrorCode::kInvalidArgument, std::string("libperm: ") + library.last_error()};
}

bool is_complex(const ffi::AnyBuffer &a) {
    return a.element_type() == ffi::DataType::C64 || a.element_type() == ffi::DataType::C128;
}

bool is_single(const ffi::AnyBuffer &a) {
    return a.element_type() == ffi::DataType::C64 || a.element_type() == ffi::DataType::F32;
}

// A buffer's numbers as doubles, in place or copied; what is written goes back by store().
class Doubles {
  public:
    Doubles(ffi::AnyBuffer buffer, bool is_read)
        : buffer_(buffer), count_(buffer.element_count() * (is_complex(buffer) ? 2 : 1)) {
        if (!is_single(buffer)) return;
        copies_.resize(count_);
        if (is_read) std::copy_n(static_cast<const float *>(buffer_.untyped_data()), count_, copies_.data());
    }

    double *data() {
        return is_single(buffer_) ? copies_.data() : static_cast<double *>(buffer_.untyped_data());
    }

    void store() {
        auto *to = static_cast<float *>(buffer_.untyped_data());
        if (is_single(buffer_))
            std::transform(copies_.begin(), copies_.end(), to,
                           [](double x) { return static_cast<float>(x); });
    }

  private:
    ffi::AnyBuffer buffer_;
    std::size_t count_;
    std::vector<double> copies_;
};

std::vector<perm_result> empty_results(std::int64_t count) {
    const perm_result empty = PERM_RESULT_INIT;
    return {static_cast<std::size_t>(count), empty};
}

// Writes the numbers and frees the texts; the results of a batch that failed are cleared already.
void write(std::vector<perm_result> &results, double *to, bool with_imaginary_parts) {
    for (perm_result &result : results) {
        *to++ = result.re;
        if (with_imaginary_parts) *to++ = result.im;
        library.clear(&result);
    }
}

struct Call {
    Call(const ffi::AnyBuffer &a, std::string_view precision, double tolerance, std::int64_t threads)
        : shape{a.dimensions()[a.dimensions().size() - 2],
                a.dimensions().back(),
                is_complex(a) ? PERM_VALUE_C128 : PERM_VALUE_F64,
                std::string(precision),
                tolerance,
                static_cast<int>(threads)} {
        for (const std::int64_t extent : a.dimensions().first(a.dimensions().size() - 2)) count *= extent;
    }

    Shape shape;
    std::int64_t count = 1;
};

ffi::Error permanents(ffi::AnyBuffer a, ffi::Result<ffi::AnyBuffer> values, std::string_view precision,
                      double tolerance, std::int64_t threads) {
    const Call call(a, precision, tolerance, threads);
    const perm_plan *plan = plan_of(call.shape);
    if (!plan) return failed();
    Doubles matrices(a, true), to(*values, false);
    std::vector<perm_result> results = empty_results(call.count);
    const std::int64_t entries = call.shape.rows * call.shape.columns;
    if (library.execute_batch(plan, matrices.data(), entries, call.count, results.data()) != PERM_OK)
        return failed();
    write(results, to.data(), is_complex(a));
    to.store();
    return ffi::Error::Success();
}

ffi::Error gradients(ffi::AnyBuffer a, ffi::Result<ffi::AnyBuffer> values,
                     ffi::Result<ffi::AnyBuffer> derivatives, std::int64_t threads) {
    const Call call(a, "", 0, threads);
    Doubles matrices(a, true), to(*values, false), slopes(*derivatives, false);
    perm_status status;
    if (call.shape.rows == call.shape.columns && call.shape.rows <= most_lines) {
        perm_dense dense = PERM_DENSE_INIT;
        dense.n_rows = dense.n_cols = call.shape.rows;
        dense.count = call.count;
        dense.values = matrices.data();
        dense.value_type = call.shape.type;
        perm_opts opts = PERM_OPTS_INIT;
        opts.threads = call.shape.threads;
        status = library.gradients(&dense, &opts, slopes.data(), nullptr, to.data(), nullptr);
    } else {
        const perm_plan *plan = plan_of(call.shape);
        if (!plan) return failed();
        std::vector<perm_result> results = empty_results(call.count);
        status = library.gradient_batch(plan, matrices.data(), call.shape.rows * call.shape.columns,
                                        call.count, slopes.data(), nullptr, results.data());
        write(results, to.data(), is_complex(a));
    }
    if (status != PERM_OK) return failed();
    to.store();
    slopes.store();
    return ffi::Error::Success();
}

} // namespace
} // namespace perm_xla

#pragma GCC visibility push(default)

XLA_FFI_DEFINE_HANDLER_SYMBOL(libperm_permanents, perm_xla::permanents,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<std::string_view>("precision")
                                  .Attr<double>("tolerance")
                                  .Attr<std::int64_t>("threads"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(libperm_gradients, perm_xla::gradients,
                              xla::ffi::Ffi::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<std::int64_t>("threads"));

// Takes the handle of the library.
extern "C" void libperm_bind(void *handle) {
    using perm_xla::library;
    perm_loaded::find(handle, "perm_plan_create", library.create);
    perm_loaded::find(handle, "perm_plan_execute_batch", library.execute_batch);
    perm_loaded::find(handle, "perm_plan_gradient_batch", library.gradient_batch);
    perm_loaded::find(handle, "perm_gradients", library.gradients);
    perm_loaded::find(handle, "perm_result_clear", library.clear);
    perm_loaded::find(handle, "perm_last_error", library.last_error);
}

#pragma GCC visibility pop
