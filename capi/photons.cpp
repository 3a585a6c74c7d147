// perm_sample_photons (lib/samples/boson): at once, and as a task.
#include "capi/boundary.hpp"
#include "capi/drawn_task.hpp"
#include "capi/task_kinds.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/samples/boson/boson_task.hpp"

#include <perm.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

using capi::guarded;
using libperm::BosonTask;

namespace {

class PhotonTask final : public capi::DrawnTask<BosonTask> {
  public:
    PhotonTask(capi::TaskSource source, const perm_opts *opts)
        : DrawnTask(libperm::read_options(opts, libperm::Call::sample_photons), std::move(source)) {
        call_ = std::make_unique<libperm::RunControl>(options_);
        const perm_dense amplitudes = source_.dense.dense();
        if (amplitudes.count != 1 || amplitudes.value_type != PERM_VALUE_C128)
            throw libperm::Error(PERM_BAD_ARGUMENT, "the saved task is damaged: its amplitudes are none");
        perm_boson a = PERM_BOSON_INIT;
        a.modes = amplitudes.n_rows;
        a.inputs = amplitudes.n_cols;
        a.amplitudes = amplitudes.values;
        a.photons = std::ssize(source_.photons);
        a.photon_modes = source_.photons.data();
        task_ = std::make_unique<BosonTask>(&a, source_.samples, source_.estimate_seed, options_, *call_);
    }

    std::string difference(const perm_csr &) const override { return "photons, and of no sparse matrix"; }

  protected:
    libperm::Call shard_call() const override {
        return libperm::Call::estimate_shards; // where the same options count
    }
};

} // namespace

namespace capi {

std::unique_ptr<perm_task> photon_task(const perm_boson *given, const perm_opts *opts, std::int64_t shots,
                                       std::uint64_t seed) {
    const perm_boson &a = libperm::checked_photons(given, shots);
    perm_dense amplitudes = PERM_DENSE_INIT;
    amplitudes.n_rows = a.modes;
    amplitudes.n_cols = a.inputs;
    amplitudes.count = 1;
    amplitudes.value_type = PERM_VALUE_C128;
    amplitudes.values = a.amplitudes;
    TaskSource source;
    source.kind = libperm::TaskIdentity::photons;
    source.dense = GivenDense(amplitudes);
    source.photons.assign(a.photon_modes, a.photon_modes + a.photons);
    source.samples = shots;
    source.estimate_seed = seed;
    source.take(opts);
    return photon_task(std::move(source), opts);
}

std::unique_ptr<perm_task> photon_task(TaskSource source, const perm_opts *opts) {
    const TaskSource known = source; // that the texts are of
    const perm_opts all = known.options(opts);
    return std::make_unique<PhotonTask>(std::move(source), &all);
}

} // namespace capi

extern "C" {

perm_status perm_sample_photons(const perm_boson *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                int64_t *occupations) {
    return guarded([&] {
        const libperm::Options options = libperm::read_options(opts, libperm::Call::sample_photons);
        libperm::checked_photons(a, shots);
        if (shots > 0 && !occupations)
            throw libperm::Error(PERM_BAD_ARGUMENT, "the place for the samples is a null pointer");
        libperm::RunControl control(options);
        const BosonTask task(a, shots, seed, options, control);
        if (options.checkpoint.empty()) {
            task.draw(control, occupations);
            return control.finish();
        }
        libperm::with_threads(options.threads, [&] {
            const std::vector<std::int64_t> found = libperm::run_kept(task, options, control);
            std::copy(found.begin(), found.end(), occupations);
        });
    });
}

} // extern "C"
