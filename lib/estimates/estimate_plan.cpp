#include "lib/estimates/estimate_plan.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/run/placement.hpp"
#include "lib/samples/sample_devices.hpp"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double least_seconds = 0.02; // of a shard

} // namespace

std::string EstimatePlan::digest() const {
    std::string all;
    for (std::size_t k = 0; k < pieces_.size(); ++k) all += digest_of_block(k);
    return digest_of_bytes(all);
}

double EstimatePlan::seconds() const {
    double seconds = 0;
    for (const SamplePieces &one : pieces_) seconds += one.seconds();
    return seconds;
}

// One has pieces of each block, in proportion to those that are expected of it.
ShardCount EstimatePlan::shards() const {
    double most = 1;
    for (const SamplePieces &one : pieces_) most = std::max(most, static_cast<double>(one.expected()));
    ShardCount out;
    out.count = static_cast<std::int64_t>(std::clamp(std::floor(seconds() / least_seconds), 1.0, most));
    out.seconds = seconds() / static_cast<double>(out.count);
    out.more_may_follow = true;
    return out;
}

std::uint64_t EstimatePlan::first_of(std::int64_t shard, const SamplePieces &pieces) const {
    const auto count = static_cast<std::uint64_t>(shards().count), number = static_cast<std::uint64_t>(shard);
    const std::uint64_t whole = number / count * pieces.expected(), // each below 2^43
        part = number % count * pieces.expected() / count;
    return std::min(pieces.limit(), whole + part);
}

void EstimatePlan::refuse_if_longer(double seconds, const Options &options) const {
    if (seconds <= options.refuse_seconds) return;
    throw refused_for_time(promise() + ": it is", seconds, options,
                           "allow more with time_limit_seconds, or ask for a larger epsilon");
}

MatrixEstimate EstimatePlan::run(PieceStore *store, SampleDevices *devices, RunControl &control,
                                 const Told &told) const {
    double chunks = 0;
    for (const SamplePieces &one : pieces_) chunks += one.wanted_chunks();
    if (!pieces_.empty()) {
        const double taking =
            devices ? devices->seconds() : seconds() / oneapi::tbb::this_task_arena::max_concurrency();
        log_decision(formatted("{} block{} estimated ({}): {}", pieces_.size(),
                               pieces_.size() == 1 ? " is" : "s are", method(), readable_seconds(taking)));
        control.begin(chunks, taking);
    }
    return estimate(store, devices, control, told);
}

double EstimatePlan::share_unknown(PieceStore &store) const {
    double unknown = 0;
    for (std::size_t k = 0; k < pieces_.size(); ++k)
        unknown += pieces_[k].seconds() * pieces_[k].share_unknown(scope_of(k, &store));
    return pieces_.empty() ? 0 : unknown / seconds();
}

void EstimatePlan::run_shard(std::int64_t number, PieceStore &store, SampleDevices *devices,
                             RunControl &control) const {
    const auto chunks = [&](const SamplePieces &one) {
        return one.chunks_before(first_of(number + 1, one)) - one.chunks_before(first_of(number, one));
    };
    double all = 0;
    for (const SamplePieces &one : pieces_) all += static_cast<double>(chunks(one));
    if (all > 0)
        control.begin(all, devices ? devices->seconds()
                                   : shards().seconds / oneapi::tbb::this_task_arena::max_concurrency());
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
        const std::uint64_t first = first_of(number, pieces_[k]), end = first_of(number + 1, pieces_[k]);
        if (first == end) continue;
        RunControl part = for_block(k, &store, control);
        pieces_[k].sums(first, end - first, devices, part);
    }
}

} // namespace libperm
