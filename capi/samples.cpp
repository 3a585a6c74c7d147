// perm_sample, perm_sampler and perm_sample_photons (lib/samples): at once, and some at a time.
#include "capi/caller.hpp"
#include "capi/compute.hpp"
#include "capi/tasks.hpp"
#include "lib/base/error.hpp"
#include "lib/samples/boson/boson_task.hpp"
#include "lib/samples/sample_task.hpp"

#include <perm.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

using capi::guarded;
using libperm::Error;
using libperm::TaskIdentity;

namespace {

void require_place(std::int64_t count, const std::int64_t *columns) {
    if (!columns && count > 0) throw Error(PERM_BAD_ARGUMENT, "the place for the samples is a null pointer");
}

// As a task, which goes on from its checkpoint.
void draw_kept(const capi::Given &given, std::int64_t *columns) {
    const perm_task task(given);
    require_place(task.room().columns, columns);
    perm_answer answer = PERM_ANSWER_INIT;
    answer.columns = columns;
    task.run(answer);
}

} // namespace

struct perm_sampler {
  public:
    perm_sampler(const perm_csr *a, libperm::Options options, std::int64_t shots, std::uint64_t seed)
        : options_(std::move(options)), call_(options_) {
        const libperm::PolledScope scope(&call_);
        capi::require_shots(shots);
        const libperm::InputPattern input = capi::pattern_for(a, options_.function);
        const libperm::Values values = capi::values_for(input, *a);
        samples_.emplace(input, values, shots, seed, options_);
    }

    void draw(std::int64_t count, std::int64_t *columns) {
        require_place(count * samples_->rows(), columns);
        const libperm::PolledScope scope(&call_);
        samples_->draw(count, columns);
        if (samples_->left() == 0) call_.finish();
    }

  private:
    const libperm::Options options_;
    libperm::Call call_;
    std::optional<libperm::MatchingSamples> samples_;
};

extern "C" {

perm_status perm_sample(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                        int64_t *columns) {
    return guarded([&] {
        libperm::Options options = libperm::read_options(opts, libperm::ApiCall::sample);
        if (!options.checkpoint.empty())
            return draw_kept(
                {.kind = TaskIdentity::samples, .opts = opts, .matrix = a, .shots = shots, .seed = seed},
                columns);
        perm_sampler(a, std::move(options), shots, seed).draw(shots, columns);
    });
}

perm_status perm_sampler_create(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                perm_sampler **sampler) {
    return capi::made(sampler, "sampler", [&] {
        return std::make_unique<perm_sampler>(
            a, libperm::read_options(opts, libperm::ApiCall::sampler_create), shots, seed);
    });
}

perm_status perm_sampler_draw(perm_sampler *sampler, int64_t count, int64_t *columns) {
    return guarded([&] {
        if (!sampler) throw Error(PERM_BAD_ARGUMENT, "the sampler is a null pointer");
        sampler->draw(count, columns);
    });
}

perm_status perm_sampler_destroy(perm_sampler *sampler) {
    return guarded([&] { delete sampler; });
}

perm_status perm_sample_photons(const perm_boson *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                int64_t *occupations) {
    return guarded([&] {
        const libperm::Options options = libperm::read_options(opts, libperm::ApiCall::sample_photons);
        libperm::checked_photons(a, shots);
        require_place(shots, occupations);
        if (!options.checkpoint.empty())
            return draw_kept(
                {.kind = TaskIdentity::photons, .opts = opts, .photons = a, .shots = shots, .seed = seed},
                occupations);
        const libperm::CurrentCall current(options);
        libperm::BosonTask(a, shots, seed, options).draw(occupations);
        libperm::call().finish();
    });
}

} // extern "C"
