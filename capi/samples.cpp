// perm_sample (lib/samples).
#include "capi/boundary.hpp"
#include "capi/one_call.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/samples/matching_samples.hpp"

#include <perm.h>

using capi::guarded;
using libperm::Error;

extern "C" {

perm_status perm_sample(const perm_csr *a, const perm_opts *opts, int64_t shots, uint64_t seed,
                        int64_t *columns) {
    return guarded([&] {
        const libperm::Options options = capi::options_for_here(opts);
        if (shots < 0 || shots > (int64_t{1} << 40))
            throw Error(PERM_BAD_ARGUMENT, libperm::formatted("{} shots cannot be taken", shots));
        libperm::RunControl control(options);
        const libperm::InputPattern input = capi::pattern_for(control, a);
        if (!columns && shots > 0 && a->n_rows > 0)
            throw Error(PERM_BAD_ARGUMENT, "the place for the samples is a null pointer");
        const libperm::Values values =
            capi::values_for(control, input, libperm::GivenValues(input, *a).data());
        libperm::sample_matchings(input, values, shots, seed, options, control, columns);
        control.finish();
    });
}

} // extern "C"
