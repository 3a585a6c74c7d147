// perm_sub_permanents, perm_gradients: of dense matrices, without a plan; perm_sample_photons, which draws by
// the former.
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "lib/glynn/minors/dense_minors.hpp"
#include "lib/samples/boson/boson_sample.hpp"

using capi::guarded;

namespace {

// Sums that one thread has made before the machine's limits are looked up in files.
bool is_short(const perm_dense *a, const perm_opts *opts) {
    constexpr std::int64_t order = 13;
    return !opts && a && a->struct_size >= sizeof(perm_dense) && a->count == 1 && !a->row_multiplicity &&
           !a->col_multiplicity && a->n_rows <= order && a->n_cols <= order;
}

template <class Work>
perm_status computed(libperm::Call call, const perm_opts *opts, bool is_short, const Work &work) {
    return guarded([&] {
        const libperm::Options options = is_short ? libperm::Options() : libperm::read_options(opts, call);
        libperm::RunControl control(options);
        work(options, control);
        control.finish();
    });
}

} // namespace

extern "C" {

perm_status perm_sub_permanents(const perm_dense *a, const perm_opts *opts, void *sub_permanents,
                                double *error_bounds) {
    return computed(libperm::Call::sub_permanents, opts, is_short(a, opts),
                    [&](const libperm::Options &options, libperm::RunControl &control) {
                        libperm::compute_sub_permanents(a, options, control, sub_permanents, error_bounds);
                    });
}

perm_status perm_gradients(const perm_dense *a, const perm_opts *opts, void *gradients, double *error_bounds,
                           void *permanents, double *permanent_bounds) {
    return computed(libperm::Call::gradients, opts, is_short(a, opts),
                    [&](const libperm::Options &options, libperm::RunControl &control) {
                        libperm::compute_gradients(a, options, control, gradients, error_bounds, permanents,
                                                   permanent_bounds);
                    });
}

perm_status perm_sample_photons(const perm_boson *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                int64_t *occupations) {
    return computed(libperm::Call::sample_photons, opts, false,
                    [&](const libperm::Options &options, libperm::RunControl &control) {
                        libperm::sample_bosons(a, shots, seed, options, control, occupations);
                    });
}

perm_status perm_boson_sample(const perm_boson *a, int64_t shots, uint64_t seed, const perm_opts *opts,
                              int64_t *occupations) {
    return perm_sample_photons(a, opts, shots, seed, occupations);
}

} // extern "C"
