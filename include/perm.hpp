// perm.hpp - a thin C++20 convenience over perm.h: owning matrices, results that free themselves, exceptions.
// Header only; everything goes through the C ABI. With Eigen on the include path, Eigen's sparse and dense
// matrices can be passed as they are.
//
//   Eigen::SparseMatrix<double> a = ...;
//   perm::Result r = perm::compute(a);
//   std::cout << r.text() << " (relative error below " << r->rel_error_bound << ")\n";
#ifndef PERM_HPP
#define PERM_HPP

#include <perm.h>

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if __has_include(<Eigen/SparseCore>)
#include <Eigen/SparseCore>
#define PERM_HAS_EIGEN 1
#endif

namespace perm {

// A status other than PERM_OK, with the library's text.
class Error : public std::runtime_error {
  public:
    Error(perm_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
    perm_status status() const noexcept { return status_; }

  private:
    perm_status status_;
};

inline void check(perm_status status) {
    if (status != PERM_OK) throw Error(status, perm_last_error());
}

// An owning CSR matrix: row_ptr has n_rows + 1 entries, col_idx one for each entry; values likewise, or none
// at all for a pattern matrix (every entry 1). Complex values, if there are any, are the ones that count.
struct Csr {
    std::int64_t n_rows = 0, n_cols = 0;
    std::vector<std::int64_t> row_ptr{0};
    std::vector<std::int64_t> col_idx;
    std::vector<double> values;
    bool pattern = false;
    std::vector<std::complex<double>> complex_values;

    // A view for the C API; valid while *this is neither changed nor destroyed. Throws Error where the sizes
    // do not fit each other. Without values, of no pattern matrix, a plan can be made.
    perm_csr view() const {
        const std::size_t entries = col_idx.size();
        const auto require = [](bool fits, const char *what) {
            if (!fits) throw Error(PERM_BAD_MATRIX, std::string("perm::Csr: ") + what);
        };
        require(n_rows >= 0 && row_ptr.size() == static_cast<std::size_t>(n_rows) + 1,
                "row_ptr has not n_rows + 1 entries");
        require(pattern || !complex_values.empty() || values.empty() || values.size() == entries,
                "values are not as many as col_idx");
        require(pattern || complex_values.empty() || complex_values.size() == entries,
                "complex_values are not as many as col_idx");
        perm_csr a = PERM_CSR_INIT;
        a.n_rows = n_rows;
        a.n_cols = n_cols;
        a.nnz = static_cast<std::int64_t>(entries);
        a.row_ptr = row_ptr.data();
        a.col_idx = col_idx.data();
        a.values = values.empty() ? nullptr : values.data();
        if (pattern) {
            a.values = nullptr;
            a.value_type = PERM_VALUE_PATTERN;
        } else if (!complex_values.empty()) {
            a.values = complex_values.data();
            a.value_type = PERM_VALUE_C128;
        }
        return a;
    }
};

// A vector, a span, an array of values of one of the types that a matrix may have.
template <class Range>
concept ValueRange = std::ranges::contiguous_range<const Range> && std::ranges::sized_range<const Range> &&
    (std::same_as<std::ranges::range_value_t<const Range>, double> ||
     std::same_as<std::ranges::range_value_t<const Range>, std::complex<double>> ||
     std::same_as<std::ranges::range_value_t<const Range>, std::int64_t> ||
     std::same_as<std::ranges::range_value_t<const Range>, const char *>);

// Where derivatives go: each a double or, of complex values, a complex number or two doubles.
template <class Range>
concept DerivativeRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    (std::same_as<std::ranges::range_reference_t<Range>, double &> ||
     std::same_as<std::ranges::range_reference_t<Range>, std::complex<double> &>);

// How many values of which type a call reads that is given a bare pointer.
struct ValueCount {
    std::int64_t each = -1; // of each matrix; -1: not known
    std::int32_t type = PERM_VALUE_F64;

    // Of a matrix, its weights counted.
    static ValueCount of(const perm_csr &a) {
        return {a.nnz + (a.row_unmatched ? a.n_rows : 0) + (a.col_unmatched ? a.n_cols : 0), a.value_type};
    }

    // The pointer to them. Throws Error for another type or number, of `count` matrices `stride` apart for
    // too few.
    template <ValueRange Range>
    const void *checked(const Range &values, std::int64_t stride = 0, std::int64_t count = 1) const {
        using Value = std::ranges::range_value_t<const Range>;
        const std::int32_t given = std::same_as<Value, double>                 ? PERM_VALUE_F64
                                   : std::same_as<Value, std::complex<double>> ? PERM_VALUE_C128
                                   : std::same_as<Value, std::int64_t>         ? PERM_VALUE_I64
                                                                               : PERM_VALUE_TEXT;
        const auto size = static_cast<std::int64_t>(std::ranges::size(values));
        if (each < 0)
            throw Error(PERM_BAD_ARGUMENT,
                        "a loaded plan has to be given its matrix by check_matrix before ranges "
                        "of values, whose number it tells");
        if (type == PERM_VALUE_PATTERN && size == 0) return nullptr;
        if (given != type)
            throw Error(PERM_BAD_ARGUMENT, "the values have another type than those of the matrix");
        const bool fits =
            count == 1 ? size == each
                       : count < 1 || (size >= each && (size - each) / std::max<std::int64_t>(stride, 1) >=
                                                           (stride > 0 ? count - 1 : 0));
        if (!fits)
            throw Error(PERM_BAD_ARGUMENT, std::to_string(size) + " values, where each matrix has " +
                                               std::to_string(each) + ", its weights counted");
        return std::ranges::data(values);
    }
};

// perm_result that frees itself; r->field reads any field of perm.h.
class Result {
  public:
    Result() = default;
    Result(Result &&other) noexcept : raw_(std::exchange(other.raw_, perm_result PERM_RESULT_INIT)) {}
    Result &operator=(Result &&other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~Result() { perm_result_clear(&raw_); }

    const perm_result *operator->() const noexcept { return &raw_; }
    perm_result *raw() noexcept { return &raw_; }
    double value() const noexcept { return raw_.re; }
    std::complex<double> complex_value() const noexcept { return {raw_.re, raw_.im}; }
    std::string text() const { return raw_.text ? raw_.text : ""; }

  private:
    perm_result raw_ = PERM_RESULT_INIT;
};

// The result that a call of these arguments fills.
template <class Call, class... Arguments> Result result_of(const Call &call, const Arguments &...arguments) {
    Result result;
    check(call(arguments..., result.raw()));
    return result;
}

// What call(results) fills; results that it fails with are cleared.
template <class Call> std::vector<Result> results_of(std::int64_t count, const Call &call) {
    std::vector<perm_result> raw(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)),
                                 perm_result PERM_RESULT_INIT);
    check(call(raw.data()));
    std::vector<Result> results(raw.size());
    for (std::size_t k = 0; k < raw.size(); ++k) *results[k].raw() = raw[k];
    return results;
}

// A text that a call of these arguments fills a caller's buffer with (perm_plan_explain, perm_info, ...).
template <class Fill, class... Arguments>
std::string read_text(const Fill &fill, const Arguments &...arguments) {
    std::string text;
    std::size_t needed = 0;
    check(fill(arguments..., nullptr, 0, &needed));
    perm_status status = PERM_OK;
    do { // it may have grown since it was measured
        text.resize(needed);
        status = fill(arguments..., text.data(), text.size(), &needed);
    } while (status != PERM_OK && needed > text.size());
    check(status);
    text.resize(needed - 1);
    return text;
}

// Bytes, so (perm_plan_save, perm_task_save).
template <class Fill, class... Arguments>
std::string read_bytes(const Fill &fill, const Arguments &...arguments) {
    std::size_t size = 0;
    check(fill(arguments..., nullptr, 0, &size));
    std::string bytes(size, '\0');
    check(fill(arguments..., bytes.data(), bytes.size(), &size));
    return bytes;
}

// Partial results: their bytes, and of many the view that the C API has.
inline std::string take_bytes(perm_partial &partial) {
    const std::unique_ptr<perm_partial, perm_status (*)(perm_partial *)> owner(&partial, perm_partial_clear);
    return std::string(static_cast<const char *>(partial.bytes), partial.size);
}
inline std::vector<perm_partial> view_of(const std::vector<std::string> &partials) {
    std::vector<perm_partial> all;
    for (const std::string &bytes : partials) {
        perm_partial partial = PERM_PARTIAL_INIT;
        partial.bytes = const_cast<char *>(bytes.data()); // it is only read
        partial.size = bytes.size();
        all.push_back(partial);
    }
    return all;
}

inline Result compute(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    return result_of(perm_compute, &a, &opts);
}

inline Result compute(const Csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    return compute(a.view(), opts);
}

// perm(U V^T) from the factors (perm_compute_product).
inline Result compute_product(const perm_factors &a, const perm_opts &opts = PERM_OPTS_INIT) {
    return result_of(perm_compute_product, &a, &opts);
}

// min(rows, columns) + 1 results, multiplicities counted, of a hafnian half of its lines + 1, that fill(raw)
// fills.
template <class Fill>
std::vector<Result> results_by_size(const perm_csr &a, const perm_opts &opts, const Fill &fill) {
    constexpr auto most = std::int64_t{1} << 32; // with more C's function says what is wrong
    const auto lines = [](const std::int64_t *times, std::int64_t count) {
        if (!times) return count;
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < count; ++k) sum += std::min(times[k], most - sum);
        return sum;
    };
    const std::string_view function = opts.function ? opts.function : "permanent";
    const std::int64_t rows = lines(a.row_multiplicity, a.n_rows);
    std::int64_t count = rows + 1;
    if (function == "hafnian" && !a.row_unmatched) count = rows / 2 + 1;
    if (function == "permanent") count = std::min(rows, lines(a.col_multiplicity, a.n_cols)) + 1;
    if (count < 1 || count > most) count = 1;
    return results_of(count, [&](perm_result *results) { return fill(count, results); });
}

// The numbers of matchings with 0, 1, 2, ... entries (perm_matchings); of those of a graph with function
// "hafnian".
inline std::vector<Result> matchings(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    return results_by_size(a, opts, [&](std::int64_t count, perm_result *results) {
        return perm_matchings(&a, &opts, count, results);
    });
}

// The coefficients of perm(C + x L), C being `a` (perm_polynomial).
inline std::vector<Result> polynomial(const perm_csr &a, const void *linear,
                                      const perm_opts &opts = PERM_OPTS_INIT) {
    return results_by_size(a, opts, [&](std::int64_t count, perm_result *results) {
        return perm_polynomial(&a, linear, &opts, count, results);
    });
}
template <ValueRange Values>
std::vector<Result> polynomial(const perm_csr &a, const Values &linear,
                               const perm_opts &opts = PERM_OPTS_INIT) {
    return polynomial(a, ValueCount{a.nnz, a.value_type}.checked(linear), opts);
}

// Handles that free themselves.
struct Destroy {
    void operator()(perm_plan *plan) const noexcept { perm_plan_destroy(plan); }
    void operator()(perm_sampler *sampler) const noexcept { perm_sampler_destroy(sampler); }
    void operator()(perm_task *task) const noexcept { perm_task_destroy(task); }
    void operator()(perm_periodic_plan *plan) const noexcept { perm_periodic_destroy(plan); }
};
template <class Handle> using Owned = std::unique_ptr<Handle, Destroy>;

// That a call of these arguments makes.
template <class Handle, class Make, class... Arguments>
Owned<Handle> made(const Make &make, const Arguments &...arguments) {
    Handle *handle = nullptr;
    check(make(arguments..., &handle));
    return Owned<Handle>(handle);
}

class Plan {
  public:
    explicit Plan(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT)
        : plan_(made<perm_plan>(perm_plan_create, &a, &opts)), count_(ValueCount::of(a)) {}
    explicit Plan(const Csr &a, const perm_opts &opts = PERM_OPTS_INIT) : Plan(a.view(), opts) {}
    // perm::compute, and the plan that it went by (perm_compute_with_plan).
    static Plan compute(const perm_csr &a, const perm_opts &opts, Result &result) {
        return {made<perm_plan>(perm_compute_with_plan, &a, &opts, result.raw()), ValueCount::of(a)};
    }

    Result execute(const void *values) const { return result_of(perm_plan_execute, plan_.get(), values); }
    // What takes a bare pointer to values, of which it cannot tell how many there are, takes a range of them
    // too.
    template <ValueRange Values> Result execute(const Values &values) const {
        return execute(checked(values));
    }

    // Second derivatives times a direction, to each number's place (perm_plan_hessian_product).
    void hessian_product(const void *values, const void *direction, void *product,
                         double *error_bounds = nullptr) const {
        check(perm_plan_hessian_product(plan_.get(), values, direction, product, error_bounds));
    }
    // Of ranges; no bounds: none are wanted.
    template <ValueRange Values, ValueRange Direction, DerivativeRange Derivatives>
    void hessian_product(const Values &values, const Direction &direction, Derivatives &&product,
                         std::span<double> error_bounds = {}) const {
        double *const bounds = checked_places(product, error_bounds);
        hessian_product(checked(values), checked(direction), std::ranges::data(product), bounds);
    }

    // To each entry's place in `derivatives` (perm_plan_gradient); returns the permanent.
    Result gradient(const void *values, void *derivatives, double *error_bounds = nullptr) const {
        return result_of(perm_plan_gradient, plan_.get(), values, derivatives, error_bounds);
    }
    template <ValueRange Values, DerivativeRange Derivatives>
    Result gradient(const Values &values, Derivatives &&derivatives,
                    std::span<double> error_bounds = {}) const {
        double *const bounds = checked_places(derivatives, error_bounds);
        return gradient(checked(values), std::ranges::data(derivatives), bounds);
    }

    std::string explain(perm_format format = PERM_FORMAT_TEXT) const {
        return read_text(perm_plan_explain, plan_.get(), format);
    }

    // Of the kernel, for "sm_90", "compute_90", ...
    std::string source(const char *arch = nullptr) const {
        return read_text(perm_plan_source, plan_.get(), arch);
    }

    // The same plan in another process: Plan::load(bytes).
    std::string save() const { return read_bytes(perm_plan_save, plan_.get()); }
    static Plan load(std::string_view bytes, const perm_opts &opts = PERM_OPTS_INIT) {
        return {made<perm_plan>(perm_plan_load, bytes.data(), bytes.size(), &opts), {}};
    }

    // Throws Error unless the plan is of this matrix: before values meet a plan that was loaded.
    void check_matrix(const perm_csr &a) const { check(perm_plan_check_matrix(plan_.get(), &a)); }
    void check_matrix(const perm_csr &a) { // and from now on knows how many values it reads
        std::as_const(*this).check_matrix(a);
        count_ = ValueCount::of(a);
    }

    // The pointer to a range of values of the plan's matrix, or of several; throws Error where it is of
    // another length.
    template <ValueRange Values>
    const void *checked(const Values &values, std::int64_t stride = 0, std::int64_t count = 1) const {
        return count_.checked(values, stride, count);
    }

    const perm_plan *raw() const noexcept { return plan_.get(); }

  private:
    Plan(Owned<perm_plan> plan, const ValueCount &count) : plan_(std::move(plan)), count_(count) {}

    // Where the bounds go; throws Error where derivatives or bounds are not as many as there are values.
    template <DerivativeRange Derivatives>
    double *checked_places(const Derivatives &derivatives, std::span<double> error_bounds) const {
        constexpr bool are_pairs =
            std::same_as<std::ranges::range_value_t<Derivatives>, std::complex<double>>;
        const bool are_complex = count_.type == PERM_VALUE_C128;
        const auto require = [&](auto size, std::int64_t each, const char *what) {
            if (count_.each >= 0 && static_cast<std::int64_t>(size) != count_.each * each)
                throw Error(PERM_BAD_ARGUMENT, std::to_string(size) + " " + what + ", where there are " +
                                                   std::to_string(count_.each * each));
        };
        if (are_pairs && !are_complex)
            throw Error(PERM_BAD_ARGUMENT, "the derivatives of real values are no complex numbers");
        require(std::ranges::size(derivatives), are_complex && !are_pairs ? 2 : 1, "places of derivatives");
        if (!error_bounds.empty()) require(error_bounds.size(), 1, "places of bounds");
        return error_bounds.empty() ? nullptr : error_bounds.data();
    }

    Owned<perm_plan> plan_;
    ValueCount count_; // of a loaded plan unknown
};

// Numbers that the permanent lies between for certain (perm_bounds).
inline perm_interval bounds(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
    perm_interval found = PERM_INTERVAL_INIT;
    check(perm_bounds(&a, &opts, &found));
    return found;
}

// `shots` matchings, one behind the other: of each, for each row, its column or -1 (perm_sample).
inline std::vector<std::int64_t> sample(const perm_csr &a, std::int64_t shots, std::uint64_t seed = 0,
                                        const perm_opts &opts = PERM_OPTS_INIT) {
    std::vector<std::int64_t> columns(static_cast<std::size_t>(std::max<std::int64_t>(shots, 0) * a.n_rows));
    check(perm_sample(&a, &opts, shots, seed, columns.data()));
    return columns;
}

// `shots` outcomes, one behind the other: of each how many photons leave by each mode (perm_sample_photons).
inline std::vector<std::int64_t> sample_photons(const perm_boson &a, std::int64_t shots,
                                                std::uint64_t seed = 0,
                                                const perm_opts &opts = PERM_OPTS_INIT) {
    std::vector<std::int64_t> occupations(
        static_cast<std::size_t>(std::max<std::int64_t>(shots, 0) * a.modes));
    check(perm_sample_photons(&a, &opts, shots, seed, occupations.data()));
    return occupations;
}

// The same samples, some at a time (perm_sampler_create). What progress and cancel of the options point to
// must outlive it.
class Sampler {
  public:
    Sampler(const perm_csr &a, std::int64_t shots, std::uint64_t seed = 0,
            const perm_opts &opts = PERM_OPTS_INIT)
        : sampler_(made<perm_sampler>(perm_sampler_create, &a, &opts, shots, seed)), rows_(a.n_rows) {}

    std::vector<std::int64_t> draw(std::int64_t count) { // the next ones
        std::vector<std::int64_t> columns(static_cast<std::size_t>(std::max<std::int64_t>(count, 0) * rows_));
        check(perm_sampler_draw(sampler_.get(), count, columns.data()));
        return columns;
    }

  private:
    Owned<perm_sampler> sampler_;
    std::int64_t rows_;
};

class Periodic;

// Whatever is computed in numbered pieces, run at once or in shards.
class Task {
  public:
    // Of a plan, which must outlive it with its values, or of a periodic matrix's; of others nothing but what
    // progress and cancel point to.
    static Task plan(const Plan &plan, const void *values) {
        return Task(made<perm_task>(perm_task_plan, plan.raw(), values));
    }
    template <ValueRange Values> static Task plan(const Plan &of, const Values &values) {
        return plan(of, of.checked(values));
    }
    static Task estimate(const perm_csr &a, const perm_estimate_opts &wanted = PERM_ESTIMATE_OPTS_INIT,
                         const perm_opts &opts = PERM_OPTS_INIT) {
        return Task(made<perm_task>(perm_task_estimate, &a, &opts, &wanted));
    }
    static Task matchings(const perm_csr &a, const perm_opts &opts = PERM_OPTS_INIT) {
        return Task(made<perm_task>(perm_task_matchings, &a, &opts));
    }
    static Task polynomial(const perm_csr &a, const void *linear, const perm_opts &opts = PERM_OPTS_INIT) {
        return Task(made<perm_task>(perm_task_polynomial, &a, linear, &opts));
    }
    template <ValueRange Values>
    static Task polynomial(const perm_csr &a, const Values &linear, const perm_opts &opts = PERM_OPTS_INIT) {
        return polynomial(a, ValueCount{a.nnz, a.value_type}.checked(linear), opts);
    }
    // Derivatives; as of a plan.
    static Task gradient(const Plan &plan, const void *values) {
        return Task(made<perm_task>(perm_task_gradient, plan.raw(), values));
    }
    template <ValueRange Values> static Task gradient(const Plan &plan, const Values &values) {
        return gradient(plan, plan.checked(values));
    }
    // Sub-permanents.
    static Task minors(const perm_dense &a, const perm_opts &opts = PERM_OPTS_INIT) {
        return Task(made<perm_task>(perm_task_minors, &a, &opts));
    }
    static Task samples(const perm_csr &a, std::int64_t shots, std::uint64_t seed,
                        const perm_opts &opts = PERM_OPTS_INIT) {
        return Task(made<perm_task>(perm_task_samples, &a, &opts, shots, seed));
    }
    // Photons: its answer is how many leave by each mode, shot by shot.
    static Task photons(const perm_boson &a, std::int64_t shots, std::uint64_t seed,
                        const perm_opts &opts = PERM_OPTS_INIT) {
        return Task(made<perm_task>(perm_task_photons, &a, &opts, shots, seed));
    }
    // As of a plan.
    static Task batch(const Plan &plan, const void *values, std::int64_t stride, std::int64_t count) {
        return Task(made<perm_task>(perm_task_batch, plan.raw(), values, stride, count));
    }
    template <ValueRange Values>
    static Task batch(const Plan &plan, const Values &values, std::int64_t stride, std::int64_t count) {
        return batch(plan, plan.checked(values, stride, count), stride, count);
    }
    // Of the lengths first, first + 1, ...
    static Task periodic(const Periodic &plan, std::int64_t first, std::int64_t count);
    // The same task in another process: Task::load(bytes).
    static Task load(std::string_view bytes, const perm_opts &opts = PERM_OPTS_INIT) {
        return Task(made<perm_task>(perm_task_load, bytes.data(), bytes.size(), &opts));
    }
    const perm_task *raw() const noexcept { return task_.get(); }
    std::string save() const { return read_bytes(perm_task_save, task_.get()); }
    std::string explain(perm_format format = PERM_FORMAT_TEXT) const {
        return read_text(perm_task_explain, task_.get(), format);
    }

    std::int64_t shards() const {
        std::int64_t count = 0;
        check(perm_task_shards(task_.get(), &count, nullptr, nullptr));
        return count;
    }
    double shard_seconds() const { // that one is predicted to take
        double seconds = 0;
        check(perm_task_shards(task_.get(), nullptr, &seconds, nullptr));
        return seconds;
    }
    std::int64_t results() const { // that it comes to; 0: an estimate, minors, samples
        std::int64_t results = 0;
        check(perm_task_shards(task_.get(), nullptr, nullptr, &results));
        return results;
    }

    // What a gradient or minors come to: doubles, of complex ones re and im, with the bounds of their errors.
    struct Numbers {
        std::vector<double> numbers, error_bounds;
        Result result; // of a gradient: the permanent
    };

    // The answers: results, or the estimate, or numbers, or samples, of each the column of each row.
    std::vector<Result> run() const { return ran().results; }
    perm_estimated run_estimate() const { return ran().estimate; }
    Numbers run_numbers() const { return ran().numbers; }
    std::vector<std::int64_t> run_samples() const { return ran().columns; }
    std::string run_shard(std::int64_t number) const {
        perm_partial partial = PERM_PARTIAL_INIT;
        check(perm_task_run_shard(task_.get(), number, &partial));
        return take_bytes(partial);
    }
    std::vector<Result> combine(const std::vector<std::string> &partials) const {
        return combined(partials).results;
    }
    perm_estimated combine_estimate(const std::vector<std::string> &partials) const {
        return combined(partials).estimate;
    }
    Numbers combine_numbers(const std::vector<std::string> &partials) const {
        return combined(partials).numbers;
    }
    std::vector<std::int64_t> combine_samples(const std::vector<std::string> &partials) const {
        return combined(partials).columns;
    }

  private:
    explicit Task(Owned<perm_task> task) : task_(std::move(task)) {}

    // What a task of any kind comes to.
    struct Answer {
        std::vector<Result> results;
        perm_estimated estimate = PERM_ESTIMATED_INIT;
        Numbers numbers;
        std::vector<std::int64_t> columns;
    };

    Answer ran() const {
        return answer([&](const perm_answer &raw) { return perm_task_run(task_.get(), &raw); });
    }
    Answer combined(const std::vector<std::string> &partials) const {
        const std::vector<perm_partial> all = view_of(partials);
        return answer([&](const perm_answer &raw) {
            return perm_task_combine(task_.get(), all.data(), static_cast<std::int64_t>(all.size()), &raw);
        });
    }

    // call(one that has the room).
    template <class Call> Answer answer(const Call &call) const {
        perm_answer raw = PERM_ANSWER_INIT;
        check(perm_task_room(task_.get(), &raw));
        Answer found;
        found.numbers.numbers.resize(static_cast<std::size_t>(raw.numbers_count));
        found.numbers.error_bounds.resize(static_cast<std::size_t>(raw.bounds_count));
        found.columns.resize(static_cast<std::size_t>(raw.columns_count));
        raw.estimate = &found.estimate;
        raw.numbers = found.numbers.numbers.data();
        raw.error_bounds = found.numbers.error_bounds.data();
        raw.columns = found.columns.data();
        found.results = results_of(raw.count, [&](perm_result *results) {
            raw.results = results;
            return call(raw);
        });
        if (raw.numbers_count > 0 && raw.count > 0) found.numbers.result = std::move(found.results.front());
        return found;
    }

    Owned<perm_task> task_;
};

inline perm_estimated estimate(const perm_csr &a, const perm_estimate_opts &wanted = PERM_ESTIMATE_OPTS_INIT,
                               const perm_opts &opts = PERM_OPTS_INIT) {
    perm_estimated found = PERM_ESTIMATED_INIT;
    check(perm_estimate(&a, &opts, &wanted, &found));
    return found;
}

// The cell of a lattice or a band by its name, "grid:4" (perm_periodic_lattice).
inline Csr lattice_cell(const std::string &name) {
    perm_csr counts = PERM_CSR_INIT;
    check(perm_periodic_lattice(name.c_str(), &counts, nullptr, nullptr, nullptr));
    Csr cell;
    cell.n_rows = counts.n_rows;
    cell.n_cols = counts.n_cols;
    cell.row_ptr.resize(static_cast<std::size_t>(counts.n_rows) + 1);
    cell.col_idx.resize(static_cast<std::size_t>(counts.nnz));
    std::vector<std::int64_t> values(cell.col_idx.size());
    check(perm_periodic_lattice(name.c_str(), &counts, cell.row_ptr.data(), cell.col_idx.data(),
                                values.data()));
    cell.values.assign(values.begin(), values.end());
    return cell;
}

// A matrix of equal cells (docs/periodic.md).
class Periodic {
  public:
    explicit Periodic(const perm_periodic &a, const perm_opts &opts = PERM_OPTS_INIT)
        : plan_(made<perm_periodic_plan>(perm_periodic_create, &a, &opts)) {}
    // Of a cell alone; joined: the ends are.
    explicit Periodic(const perm_csr &cell, bool joined = false, const perm_opts &opts = PERM_OPTS_INIT)
        : Periodic(matrix_of(cell, joined), opts) {}
    // Of a cell by its name (lattice_cell), in whole numbers.
    static Periodic lattice(const std::string &name, bool joined = false,
                            const perm_opts &opts = PERM_OPTS_INIT) {
        const Csr cell = lattice_cell(name);
        const std::vector<std::int64_t> values(cell.values.begin(), cell.values.end());
        perm_csr view = cell.view();
        view.values = values.data();
        view.value_type = PERM_VALUE_I64;
        return Periodic(view, joined, opts);
    }
    Result execute(std::int64_t length) const {
        return result_of(perm_periodic_execute, plan_.get(), length);
    }
    // Of the lengths first, first + 1, ...
    std::vector<Result> terms(std::int64_t first, std::int64_t count) const {
        return results_of(count, [&](perm_result *results) {
            return perm_periodic_terms(plan_.get(), first, count, results);
        });
    }
    const perm_periodic_plan *raw() const noexcept { return plan_.get(); }
    std::string generating_function(perm_format format = PERM_FORMAT_TEXT) const {
        return read_text(perm_periodic_generating_function, plan_.get(), format);
    }
    struct Growth {
        double value, lower, upper;
    };
    Growth growth() const {
        Growth growth{};
        check(perm_periodic_growth(plan_.get(), &growth.value, &growth.lower, &growth.upper));
        return growth;
    }
    std::string explain(perm_format format = PERM_FORMAT_TEXT) const {
        return read_text(perm_periodic_explain, plan_.get(), format);
    }

  private:
    static perm_periodic matrix_of(const perm_csr &cell, bool joined) {
        perm_periodic a = PERM_PERIODIC_INIT;
        a.cell = &cell;
        a.joined = joined;
        return a;
    }

    Owned<perm_periodic_plan> plan_;
};

inline Task Task::periodic(const Periodic &plan, std::int64_t first, std::int64_t count) {
    return Task(made<perm_task>(perm_task_periodic, plan.raw(), first, count));
}

// What stands in a checkpoint.
inline std::string checkpoint_describe(const std::string &file, perm_format format = PERM_FORMAT_TEXT) {
    return read_text(perm_checkpoint_describe, file.c_str(), format);
}

inline std::string info(perm_format format = PERM_FORMAT_TEXT) { return read_text(perm_info, format); }

// Of the compiled kernels in a folder, or in the default one.
inline std::string cache_describe(const char *cache_dir = nullptr, perm_format format = PERM_FORMAT_TEXT) {
    return read_text(perm_cache_describe, cache_dir, format);
}

// Removes them, and returns how many files went.
inline std::int64_t cache_clear(const char *cache_dir = nullptr) {
    std::int64_t removed = 0;
    check(perm_cache_clear(cache_dir, &removed));
    return removed;
}

#ifdef PERM_HAS_EIGEN
// Any Eigen sparse or dense expression of real or complex scalars; zeros of a dense one are left out.
template <class Derived> Csr to_csr(const Eigen::EigenBase<Derived> &matrix) {
    constexpr bool is_complex = Eigen::NumTraits<typename Derived::Scalar>::IsComplex;
    using Scalar = std::conditional_t<is_complex, std::complex<double>, double>;
    using Sparse = Eigen::SparseMatrix<Scalar, Eigen::RowMajor, std::int64_t>;
    Sparse s;
    if constexpr (std::is_base_of_v<Eigen::SparseMatrixBase<Derived>, Derived>)
        s = matrix.derived().template cast<Scalar>();
    else
        s = matrix.derived().template cast<Scalar>().eval().sparseView(Scalar(0), 0.0);
    s.makeCompressed();
    Csr a;
    a.n_rows = s.rows();
    a.n_cols = s.cols();
    a.row_ptr.assign(s.outerIndexPtr(), s.outerIndexPtr() + s.rows() + 1);
    a.col_idx.assign(s.innerIndexPtr(), s.innerIndexPtr() + s.nonZeros());
    if constexpr (is_complex)
        a.complex_values.assign(s.valuePtr(), s.valuePtr() + s.nonZeros());
    else
        a.values.assign(s.valuePtr(), s.valuePtr() + s.nonZeros());
    return a;
}

template <class Derived>
Result compute(const Eigen::EigenBase<Derived> &matrix, const perm_opts &opts = PERM_OPTS_INIT) {
    return compute(to_csr(matrix), opts);
}

// perm(U V^T), of dense matrices of one shape and one type of scalars.
template <class U, class V>
Result compute_product(const Eigen::MatrixBase<U> &u, const Eigen::MatrixBase<V> &v,
                       const perm_opts &opts = PERM_OPTS_INIT) {
    using Given = typename U::Scalar;
    static_assert(std::is_same_v<Given, typename V::Scalar>, "the factors have one type of scalars");
    constexpr bool is_complex = Eigen::NumTraits<Given>::IsComplex, is_integer = std::is_integral_v<Given>;
    using Scalar = std::conditional_t<is_complex, std::complex<double>,
                                      std::conditional_t<is_integer, std::int64_t, double>>;
    using Rows = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    if (u.rows() != v.rows() || u.cols() != v.cols())
        throw Error(PERM_BAD_MATRIX, "the factors of a product have one shape");
    const Rows by_row_u = u.template cast<Scalar>(), by_row_v = v.template cast<Scalar>();
    perm_factors a = PERM_FACTORS_INIT;
    a.n = u.rows();
    a.rank = u.cols();
    a.u = by_row_u.data();
    a.v = by_row_v.data();
    a.value_type = is_complex ? PERM_VALUE_C128 : is_integer ? PERM_VALUE_I64 : PERM_VALUE_F64;
    return compute_product(a, opts);
}
#endif

} // namespace perm

#endif
