// Of dense matrices, without a plan: perm_permanents, by Glynn's sum where they are small, else one after
// the other; perm_sub_permanents, perm_gradients.

#include "capi/caller.hpp"
#include "capi/compute.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/glynn/calls/request.hpp"
#include "lib/glynn/calls/small_calls.hpp"
#include "lib/glynn/minors/dense_minors.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/scaled.hpp"
#include "lib/run/errors.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <perm.h>
#include <string_view>
#include <vector>

using capi::guarded;
using libperm::at;
using libperm::Error;

namespace {

constexpr std::int64_t at_once = 64;           // microseconds
constexpr double short_call = double{1 << 15}; // terms: less than threads are woken for, or anybody told of

// Of so few digits that a double has them all.
bool is_short_integer(std::string_view text) {
    constexpr std::size_t longest = 15;
    if (text.starts_with('-')) text.remove_prefix(1);
    return text.size() <= longest &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Where each matrix's number goes.
class Places {
  public:
    Places(const perm_dense &a, void *permanents, double *bounds)
        : parts_(libperm::bytes_of_value(a) / sizeof(double)),
          numbers_(static_cast<double *>(permanents)),
          bounds_(bounds) {
        if (!permanents && a.count > 0)
            throw Error(PERM_BAD_ARGUMENT, "the place for the permanents is a null pointer");
    }

    bool put(const libperm::DenseNumbers &glynn, std::int64_t k, const libperm::CallWatch &watch = {}) const {
        double unwanted;
        return glynn.put(k, numbers_ + at(k) * parts_, bounds_ ? bounds_[k] : unwanted, watch);
    }

    void put(const perm_result &r, std::int64_t k) const {
        double *const number = numbers_ + at(k) * parts_;
        number[0] = r.re;
        if (parts_ > 1) number[1] = r.im;
        const double size = std::fabs(r.re) + std::fabs(r.im);
        double bound = r.abs_error_bound; // of the text, which doubles may round
        if (!std::isfinite(size))
            bound = HUGE_VAL;
        else if (!r.exact || !is_short_integer(r.text))
            bound = std::nextafter(bound + size * 0x1p-52 + 0x1p-1073, HUGE_VAL);
        if (bounds_) bounds_[k] = bound;
    }

  private:
    const std::size_t parts_;
    double *const numbers_, *const bounds_;
};

// Those that are left by the ways of perm_compute, which tells what is wrong, too. `missed`: sums over signs
// were tried for them.
void compute_left(const perm_dense &a, const perm_opts *opts, bool missed, const libperm::Options &options,
                  const std::vector<std::int64_t> &left, const Places &places) {
    std::vector<std::int64_t> row_ptr(at(a.n_rows + 1)), col(at(a.n_rows * a.n_cols));
    for (std::int64_t i = 0; i <= a.n_rows; ++i) row_ptr[at(i)] = i * a.n_cols;
    for (std::size_t k = 0; k < col.size(); ++k) col[k] = static_cast<std::int64_t>(k) % a.n_cols;
    perm_csr csr = PERM_CSR_INIT;
    csr.n_rows = a.n_rows;
    csr.n_cols = a.n_cols;
    csr.nnz = std::ssize(col);
    csr.row_ptr = row_ptr.data();
    csr.col_idx = col.data();
    csr.value_type = a.value_type;
    csr.row_multiplicity = a.row_multiplicity;
    csr.col_multiplicity = a.col_multiplicity;
    perm_result r = PERM_RESULT_INIT;
    const capi::ClearedOnFailure cleared(&r, 1); // whatever becomes of it
    for (const std::int64_t k : left) {
        csr.values = static_cast<const char *>(a.values) + at(k * csr.nnz) * libperm::bytes_of_value(a);
        libperm::naming_matrix(k, a.count > 1, [&] {
            if (missed || !libperm::compute_small(&csr, opts, r)) {
                libperm::CurrentCall part(0, libperm::Call::OwnMemory());
                capi::compute_otherwise(&csr, options, r);
            }
            places.put(r, k);
        });
        capi::clear(r);
        libperm::call().advance(1);
    }
}

// Those that are not for it.
std::vector<std::int64_t> put_by_glynn(const libperm::DenseNumbers &glynn, const Places &places,
                                       std::int64_t count) {
    std::vector<char> done(at(count), 0);
    libperm::CallWatch watch; // the call tells and asks between matrices; one of seconds asks itself
    if (glynn.shares_threads()) {
        watch.cancel = glynn.request().watch.cancel;
        watch.cancel_user = glynn.request().watch.cancel_user;
        watch.stop_seconds = glynn.request().watch.stop_seconds;
    }
    const auto put = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k) done[at(k)] = places.put(glynn, k, watch);
        libperm::call().advance(
            static_cast<double>(std::count(&done[at(first)], &done[at(first)] + (last - first), 1)));
    };
    if (glynn.shares_threads())
        for (std::int64_t k = 0; k < count; ++k) put(k, k + 1);
    else
        libperm::with_threads(glynn.threads(), [&] {
            libperm::parallel_for(at((count + at_once - 1) / at_once), [&](std::uint64_t group) {
                const std::int64_t first = static_cast<std::int64_t>(group) * at_once;
                put(first, std::min(first + at_once, count));
            });
        });
    std::vector<std::int64_t> left;
    for (std::int64_t k = 0; k < count; ++k)
        if (!done[at(k)]) left.push_back(k);
    return left;
}

// Of microseconds. False: some are left.
bool put_at_once(const libperm::DenseNumbers &glynn, const Places &places, std::int64_t count) {
    if (glynn.terms() * static_cast<double>(count) > short_call) return false;
    for (std::int64_t k = 0; k < count; ++k)
        if (!places.put(glynn, k)) return false;
    glynn.request().watch.tell(1, 0);
    return true;
}

} // namespace

perm_status perm_permanents(const perm_dense *a, const perm_opts *opts, void *permanents,
                            double *error_bounds) {
    return guarded([&] {
        const Places places(libperm::require_dense(a), permanents, error_bounds);
        if (a->count == 0) return;
        if (!a->values && a->n_rows * a->n_cols > 0)
            throw Error(PERM_BAD_ARGUMENT, "the values are a null pointer");
        const auto glynn = libperm::DenseNumbers::of(*a, opts);
        if (glynn && put_at_once(*glynn, places, a->count)) return;
        const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::permanents);
        if (a->count > 1 && !options.checkpoint.empty())
            throw Error(PERM_BAD_OPTION,
                        "a checkpoint is of one matrix, and these are several: leave it out, or "
                        "compute one after the other");
        const libperm::CurrentCall current(options);
        libperm::call().begin(static_cast<double>(a->count), 0);
        std::vector<std::int64_t> left;
        if (glynn) {
            left = put_by_glynn(*glynn, places, a->count);
        } else {
            left.resize(at(a->count));
            std::iota(left.begin(), left.end(), 0);
        }
        if (!left.empty()) compute_left(*a, opts, glynn.has_value(), options, left, places);
        libperm::call().finish();
    });
}

// perm_sub_permanents, perm_gradients: of dense matrices, without a plan.

namespace {

// Whether nothing is asked for but threads, and limits that are ample.
bool are_usual(const perm_opts *opts) {
    if (!opts) return true;
    if (opts->struct_size != sizeof(perm_opts) || opts->cancel || opts->progress) return false;
    const auto request = libperm::small_request(opts);
    return request && request->function == libperm::MatrixFunction::permanent &&
           request->precision == libperm::Precision::automatic && opts->tolerance == 0 && opts->seed == 0 &&
           !opts->cache_dir && opts->cache_limit_bytes == 0;
}

// Sums that one thread has made before the machine's limits are looked up in files.
bool is_short(const perm_dense *a, const perm_opts *opts) {
    constexpr std::int64_t order = 13;
    return are_usual(opts) && a && a->struct_size >= sizeof(perm_dense) && a->count == 1 &&
           !a->row_multiplicity && !a->col_multiplicity && a->n_rows <= order && a->n_cols <= order;
}

template <class Work>
perm_status computed(libperm::ApiCall call, const perm_opts *opts, bool is_short, const Work &work) {
    return guarded([&] {
        const libperm::Options options = is_short ? libperm::Options() : libperm::read_options(opts, call);
        const libperm::CurrentCall current(options);
        work(options);
        libperm::call().finish();
    });
}

void copy(const std::vector<double> &from, double *to) {
    if (to) std::copy(from.begin(), from.end(), to);
}

// At once, or, with a checkpoint, from there on.
void run(const libperm::DenseMinors &minors, const libperm::Options &options,
         const libperm::MinorPlaces &to) {
    if (options.checkpoint.empty()) return minors.run(options, to);
    if (!to.numbers && minors.numbers() > 0)
        throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the minors is a null pointer");
    const libperm::Minors found = libperm::run_kept(libperm::MinorsTask(minors, options), options);
    copy(found.numbers, to.numbers);
    copy(found.bounds, to.bounds);
    copy(found.permanents, to.permanents);
    copy(found.permanent_bounds, to.permanent_bounds);
}

} // namespace

perm_status perm_sub_permanents(const perm_dense *a, const perm_opts *opts, void *sub_permanents,
                                double *error_bounds) {
    return computed(libperm::ApiCall::sub_permanents, opts, is_short(a, opts),
                    [&](const libperm::Options &options) {
                        run({libperm::LeftOut::minors, a}, options,
                            {static_cast<double *>(sub_permanents), error_bounds});
                    });
}

perm_status perm_gradients(const perm_dense *a, const perm_opts *opts, void *gradients, double *error_bounds,
                           void *permanents, double *permanent_bounds) {
    return computed(libperm::ApiCall::gradients, opts, is_short(a, opts),
                    [&](const libperm::Options &options) {
                        run({libperm::LeftOut::gradients, a}, options,
                            {static_cast<double *>(gradients), error_bounds,
                             static_cast<double *>(permanents), permanent_bounds});
                    });
}
