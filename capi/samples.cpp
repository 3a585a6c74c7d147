// perm_sample and perm_sampler (lib/samples).
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/samples/matching_samples.hpp"

#include <perm.h>

#include <memory>
#include <optional>

using capi::guarded;
using libperm::Error;

struct perm_sampler {
  public:
    perm_sampler(const perm_csr *a, const perm_opts *opts, std::int64_t shots, std::uint64_t seed)
        : options_(libperm::read_options(opts, libperm::Call::sample)), control_(options_) {
        if (shots < 0 || shots > (std::int64_t{1} << 40))
            throw Error(PERM_BAD_ARGUMENT, libperm::formatted("{} shots cannot be taken", shots));
        const libperm::InputPattern input = capi::pattern_for(control_, a);
        const libperm::Values values =
            capi::values_for(control_, input, libperm::GivenValues(input, *a).data());
        samples_.emplace(input, values, shots, seed, options_, control_);
    }

    void draw(std::int64_t count, std::int64_t *columns) {
        if (!columns && count > 0 && samples_->rows() > 0)
            throw Error(PERM_BAD_ARGUMENT, "the place for the samples is a null pointer");
        samples_->draw(count, columns);
        if (samples_->left() == 0) control_.finish();
    }

  private:
    const libperm::Options options_;
    libperm::RunControl control_;
    std::optional<libperm::MatchingSamples> samples_;
};

extern "C" {

perm_status perm_sample(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                        int64_t *columns) {
    return guarded([&] { perm_sampler(a, opts, shots, seed).draw(shots, columns); });
}

perm_status perm_sampler_create(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                                perm_sampler **sampler) {
    return guarded([&] {
        if (!sampler) throw Error(PERM_BAD_ARGUMENT, "the place for the sampler is a null pointer");
        *sampler = nullptr;
        *sampler = std::make_unique<perm_sampler>(a, opts, shots, seed).release();
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
