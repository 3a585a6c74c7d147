// perm_sample and perm_sampler (lib/samples): as a task, at once, and some at a time.
#include "capi/boundary.hpp"
#include "capi/drawn_task.hpp"
#include "capi/one_call.hpp"
#include "capi/task_kinds.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/samples/matching_samples.hpp"
#include "lib/samples/sample_task.hpp"

#include <perm.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using capi::guarded;
using libperm::Error;

namespace {

std::int64_t checked(std::int64_t shots) {
    if (shots < 0 || shots > (std::int64_t{1} << 40))
        throw Error(PERM_BAD_ARGUMENT, libperm::formatted("{} shots cannot be taken", shots));
    return shots;
}

void require_place(std::int64_t count, const std::int64_t *columns) {
    if (!columns && count > 0) throw Error(PERM_BAD_ARGUMENT, "the place for the samples is a null pointer");
}

class SampleTask final : public capi::DrawnTask<libperm::SampleTask> {
  public:
    SampleTask(const perm_csr *a, libperm::Options options, std::int64_t shots, std::uint64_t seed)
        : DrawnTask(std::move(options)) {
        make(a, shots, seed, nullptr);
    }
    // What is told in `source` is, with the way that it names, and the matrix is kept there.
    SampleTask(const perm_csr *a, const perm_opts *opts, capi::TaskSource source, bool names_way)
        : DrawnTask(libperm::read_options(opts, libperm::Call::sample), std::move(source)) {
        make(a, source_.samples, source_.estimate_seed, names_way ? &source_.plan : nullptr);
        source_.kind = libperm::TaskIdentity::samples;
        source_.plan = task_->plan();
        source_.take(*a, libperm::read_once(a));
    }

    std::string difference(const perm_csr &a) const override { return source_.difference(a); }

  protected:
    libperm::Call shard_call() const override {
        return libperm::Call::sampler_create; // where the same options count
    }

  private:
    void make(const perm_csr *a, std::int64_t shots, std::uint64_t seed, const std::string *way) {
        checked(shots);
        call_ = std::make_unique<libperm::RunControl>(options_);
        const libperm::InputPattern input = capi::pattern_for(*call_, a, options_.function);
        const libperm::Values values =
            capi::values_for(*call_, input, libperm::GivenValues(input, *a).data());
        task_ = std::make_unique<libperm::SampleTask>(input, values, shots, seed, options_, *call_, way);
    }
};

} // namespace

struct perm_sampler {
  public:
    perm_sampler(const perm_csr *a, libperm::Options options, std::int64_t shots, std::uint64_t seed)
        : options_(std::move(options)), control_(options_) {
        checked(shots);
        const libperm::InputPattern input = capi::pattern_for(control_, a, options_.function);
        const libperm::Values values =
            capi::values_for(control_, input, libperm::GivenValues(input, *a).data());
        samples_.emplace(input, values, shots, seed, options_, control_);
    }

    void draw(std::int64_t count, std::int64_t *columns) {
        require_place(count * samples_->rows(), columns);
        samples_->draw(count, columns);
        if (samples_->left() == 0) control_.finish();
    }

  private:
    const libperm::Options options_;
    libperm::RunControl control_;
    std::optional<libperm::MatchingSamples> samples_;
};

namespace capi {

std::unique_ptr<perm_task> sample_task(const perm_csr *a, const perm_opts *opts, std::int64_t shots,
                                       std::uint64_t seed) {
    TaskSource source;
    source.take(opts);
    source.samples = shots;
    source.estimate_seed = seed;
    return std::make_unique<SampleTask>(a, opts, std::move(source), false);
}

std::unique_ptr<perm_task> sample_task(TaskSource source, const perm_opts *opts) {
    const TaskSource known = source; // that the views are of
    const perm_opts all = known.options(opts);
    const perm_csr a = known.matrix.csr();
    return std::make_unique<SampleTask>(&a, &all, std::move(source), true);
}

} // namespace capi

extern "C" {

perm_status perm_sample(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                        int64_t *columns) {
    return guarded([&] {
        libperm::Options options = libperm::read_options(opts, libperm::Call::sample);
        if (options.checkpoint.empty())
            return perm_sampler(a, std::move(options), shots, seed).draw(shots, columns);
        const SampleTask task(a, std::move(options), shots, seed);
        perm_answer answer = PERM_ANSWER_INIT;
        answer.columns = columns;
        require_place(answer.columns_count = task.room().columns, columns);
        task.run(answer);
    });
}

perm_status perm_sampler_create(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                perm_sampler **sampler) {
    return guarded([&] {
        if (!sampler) throw Error(PERM_BAD_ARGUMENT, "the place for the sampler is a null pointer");
        *sampler = nullptr;
        *sampler = std::make_unique<perm_sampler>(
                       a, libperm::read_options(opts, libperm::Call::sampler_create), shots, seed)
                       .release();
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

} // extern "C"
