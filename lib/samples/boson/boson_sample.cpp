#include "lib/samples/boson/boson_sample.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/placement.hpp"
#include "lib/samples/boson/boson_shot.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace libperm {
namespace {

const perm_boson &checked(const perm_boson *a, std::int64_t shots, const std::int64_t *occupations) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    if (!a) throw Error(PERM_BAD_ARGUMENT, "the experiment is a null pointer");
    if (a->struct_size < sizeof(perm_boson))
        throw Error(PERM_BAD_ARGUMENT, "perm_boson.struct_size is too small: start from PERM_BOSON_INIT");
    if (a->modes < 1 || a->inputs < 1 || a->modes > most || a->inputs > most)
        throw Error(PERM_BAD_MATRIX, formatted("{} x {} amplitudes: there are 1 to {} modes either way",
                                               a->modes, a->inputs, most));
    if (a->photons < 0) throw Error(PERM_UNSUPPORTED, formatted("{} photons cannot be sampled", a->photons));
    if (a->photons > static_cast<std::int64_t>(most_photons)) throw_too_wide(at(a->photons));
    if (!a->amplitudes || (a->photons > 0 && !a->photon_modes))
        throw Error(PERM_BAD_ARGUMENT, "the amplitudes or the photons' modes are a null pointer");
    for (std::int64_t k = 0; k < a->photons; ++k)
        if (a->photon_modes[k] < 0 || a->photon_modes[k] >= a->inputs)
            throw Error(PERM_BAD_ARGUMENT, formatted("photon {} comes in by mode {}: they are 0..{}", k,
                                                     a->photon_modes[k], a->inputs - 1));
    if (shots < 0 || shots > (std::int64_t{1} << 40))
        throw Error(PERM_BAD_ARGUMENT, formatted("{} shots cannot be taken", shots));
    if (shots > 0 && !occupations)
        throw Error(PERM_BAD_ARGUMENT, "the place for the samples is a null pointer");
    return *a;
}

// What a sample takes on one thread, on average over some patterns that photons without interference leave.
double seconds_of_shot(BosonShot &shot, const std::vector<std::size_t> &photons, std::int64_t tries) {
    double sum = 0;
    for (std::int64_t k = 0; k < tries; ++k)
        sum += shot.seconds(Randomness(static_cast<std::uint64_t>(k), 0), photons);
    if (!std::isfinite(sum)) throw_too_wide(photons.size());
    return sum / static_cast<double>(tries) + 1e-9;
}

} // namespace

void sample_bosons(const perm_boson *given, std::int64_t shots, std::uint64_t seed, const Options &options,
                   RunControl &control, std::int64_t *occupations) {
    const perm_boson &a = checked(given, shots, occupations);
    std::vector<std::int64_t> modes_in(a.photon_modes, a.photon_modes + a.photons);
    std::sort(modes_in.begin(), modes_in.end());
    modes_in.erase(std::unique(modes_in.begin(), modes_in.end()), modes_in.end());
    const Amplitudes amplitudes(a, modes_in);
    std::vector<std::size_t> photons;
    for (std::int64_t k = 0; k < a.photons; ++k)
        photons.push_back(
            at(std::lower_bound(modes_in.begin(), modes_in.end(), a.photon_modes[k]) - modes_in.begin()));

    const Poll poll = [&control] { control.poll(); };
    BosonShot trial(amplitudes, control.memory(), poll);
    const double seconds = seconds_of_shot(trial, photons, std::clamp<std::int64_t>(shots, 1, 4)),
                 all = seconds * static_cast<double>(shots);
    if (all / options.threads > options.refuse_seconds)
        throw refused_for_time(formatted("{} samples of {} photons are", shots, a.photons),
                               all / options.threads, options);
    control.poll();
    control.begin(static_cast<double>(shots), all / options.threads);
    const auto at_once = static_cast<std::uint64_t>(std::clamp(1e-3 / seconds, 1.0, 1000.0));
    run_pieces(
        NumberedPieces::of_length(at(shots), at_once), options.threads, [&](std::uint64_t, NumberRange some) {
            BosonShot shot(amplitudes, control.memory(), poll);
            for (std::uint64_t k = some.first; k < some.last; ++k)
                shot.run(Randomness(seed, k), photons, occupations + static_cast<std::int64_t>(k) * a.modes);
            control.advance(some.size());
        });
}

} // namespace libperm
