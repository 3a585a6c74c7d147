#include "lib/samples/boson/boson_task.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "lib/samples/part_shots.hpp"
#include "lib/saved/bytes.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

std::vector<std::int64_t> modes_in_of(const perm_boson &a) {
    std::vector<std::int64_t> modes(a.photon_modes, a.photon_modes + a.photons);
    std::sort(modes.begin(), modes.end());
    modes.erase(std::unique(modes.begin(), modes.end()), modes.end());
    return modes;
}

std::vector<std::size_t> columns_of(const perm_boson &a, const std::vector<std::int64_t> &modes_in) {
    std::vector<std::size_t> columns;
    for (std::int64_t k = 0; k < a.photons; ++k)
        columns.push_back(
            at(std::lower_bound(modes_in.begin(), modes_in.end(), a.photon_modes[k]) - modes_in.begin()));
    return columns;
}

// What a sample takes on one thread, on average over some patterns that photons without interference leave.
double seconds_of_shot(const Amplitudes &amplitudes, const std::vector<std::size_t> &photons,
                       std::int64_t tries) {
    BosonShot shot(amplitudes, call().memory());
    double sum = 0;
    for (std::int64_t k = 0; k < tries; ++k)
        sum += shot.seconds(Randomness(static_cast<std::uint64_t>(k), 0), photons);
    if (!std::isfinite(sum)) throw_too_wide(photons.size());
    return sum / static_cast<double>(tries) + 1e-9;
}

// The parts: of each shot the modes that its photons leave by, in ascending order. Throws Error where one has
// another number of photons.
std::vector<std::int64_t> occupations_of(const std::vector<ShotPart> &parts, const NumberedPieces &pieces,
                                         std::size_t modes, std::size_t photons) {
    std::vector<std::int64_t> occupations;
    if (pieces.count() > 0) occupations.reserve(pieces[pieces.count() - 1].last * modes);
    for (std::uint64_t number = 0; number < pieces.count(); ++number) {
        const std::vector<std::int32_t> &out = parts[number].numbers;
        const std::size_t first = pieces[number].first, last = pieces[number].last;
        if (out.size() != (last - first) * photons)
            throw Error(PERM_BAD_ARGUMENT, "a piece of the samples that is known has not as many photons");
        occupations.resize(last * modes);
        for (std::size_t k = 0; k < out.size(); ++k)
            ++occupations[(first + k / photons) * modes + at(out[k])];
    }
    return occupations;
}

} // namespace

const perm_boson &checked_photons(const perm_boson *a, std::int64_t shots) {
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
    return *a;
}

BosonTask::BosonTask(const perm_boson *a, std::int64_t shots, std::uint64_t seed, const Options &options)
    : options_(options),
      modes_in_(modes_in_of(checked_photons(a, shots))),
      amplitudes_(*a, modes_in_),
      photons_(columns_of(*a, modes_in_)),
      shots_(shots),
      seed_(seed),
      seconds_of_shot_(seconds_of_shot(amplitudes_, photons_, std::clamp<std::int64_t>(shots, 1, 4))) {
    poll();
}

NumberedPieces BosonTask::pieces() const {
    constexpr std::int64_t most_pieces = 1 << 16;
    const auto worth = static_cast<std::int64_t>(std::clamp(1e-3 / seconds_of_shot_, 1.0, 1000.0));
    return NumberedPieces::of_length(at(shots_), at(std::max(worth, shots_ / most_pieces)));
}

void BosonTask::begin(double share) const {
    const double wall = share * seconds() / options_.threads;
    if (wall > options_.refuse_seconds)
        throw refused_for_time(formatted("{} samples of {} photons are", shots_, photons_.size()), wall,
                               options_);
    call().begin(share * static_cast<double>(shots_), wall);
}

void BosonTask::draw(std::int64_t *occupations) const {
    begin(1);
    run_pieces(pieces(), options_.threads, [&](std::uint64_t, NumberRange some) {
        BosonShot shot(amplitudes_, call().memory());
        for (std::uint64_t k = some.first; k < some.last; ++k)
            shot.run(Randomness(seed_, k), photons_, occupations + k * amplitudes_.modes());
        call().advance(some.size());
    });
}

TaskIdentity BosonTask::identity() const {
    std::vector<double> columns;
    for (std::size_t j = 0; j < amplitudes_.columns(); ++j) {
        columns.insert(columns.end(), amplitudes_.re(j), amplitudes_.re(j) + amplitudes_.modes());
        columns.insert(columns.end(), amplitudes_.im(j), amplitudes_.im(j) + amplitudes_.modes());
    }
    std::vector<std::int64_t> photons;
    for (const std::size_t column : photons_) photons.push_back(modes_in_[column]);
    const std::vector<std::uint64_t> wish{at(shots_), seed_};
    return {TaskIdentity::photons,
            {{digest_of_bytes(written(columns)), "another interferometer"},
             {digest_of_bytes(written(photons)), "other photons"},
             {digest_of_bytes(written(wish)), "samples with another seed, or of another number"}}};
}

ShardCount BosonTask::shards() const { return shards_of(seconds(), static_cast<double>(pieces().count())); }

KeptAbout BosonTask::about() const {
    const auto n = static_cast<std::int64_t>(amplitudes_.modes());
    return {n, n * static_cast<std::int64_t>(amplitudes_.columns()),
            formatted("{} samples of {} photons, by sub-permanents", shots_, photons_.size()), seconds()};
}

// Of what is returned, and of the parts with what is kept of them.
std::int64_t BosonTask::most_bytes() const {
    constexpr double each = 3 * sizeof(std::int32_t);
    const double photons = static_cast<double>(photons_.size()) * static_cast<double>(shots_),
                 numbers = sizeof(std::int64_t) * static_cast<double>(amplitudes_.modes()) *
                           static_cast<double>(shots_);
    return static_cast<std::int64_t>(std::min(each * photons + numbers, 0x1p62));
}

std::vector<std::int64_t> BosonTask::run(PieceStore *store, const Told &) const {
    const std::size_t modes = amplitudes_.modes();
    const bool is_shard = store && store->is_of_one_shard();
    begin(store ? store->share() : 1);
    const Charge held(&call().memory(), is_shard ? 0 : most_bytes());
    CurrentCall along(1, PieceScope{store, {}});
    const NumberedPieces all = pieces();
    const ShotPart nothing{0, static_cast<std::int32_t>(modes)};
    const auto draw = [&](std::uint64_t number) {
        BosonShot shot(amplitudes_, call().memory());
        ShotPart part = nothing;
        std::vector<std::int64_t> occupation(modes);
        for (std::uint64_t k = all[number].first; k < all[number].last; ++k) {
            shot.run(Randomness(seed_, k), photons_, occupation.data());
            for (std::size_t z = 0; z < modes; ++z)
                part.numbers.insert(part.numbers.end(), at(occupation[z]), static_cast<std::int32_t>(z));
        }
        call().advance(all[number].size());
        return part;
    };
    const std::vector<ShotPart> parts =
        parts_of_pieces(all.count(), all.count() == 0 ? 0 : all[0].size(), nothing, each_on_its_thread(draw));
    return is_shard ? std::vector<std::int64_t>() : occupations_of(parts, all, modes, photons_.size());
}

} // namespace libperm
