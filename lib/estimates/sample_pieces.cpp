#include "lib/estimates/sample_pieces.hpp"

#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/samples/sampled_parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <oneapi/tbb/task_arena.h>
#include <optional>
#include <string_view>
#include <utility>

namespace libperm {
namespace {

double probability(const char *name, double given, double otherwise) {
    if (given == 0) return otherwise;
    if (!(given > 0 && given < 1))
        throw Error(PERM_BAD_OPTION, formatted("{} is {}: it must be above 0 and below 1", name, given));
    return given;
}

EstimateMethod method_named(const char *name) {
    const std::string_view method = name ? name : "auto";
    if (method == "auto") return EstimateMethod::automatic;
    if (method == "nesting") return EstimateMethod::nesting;
    if (method == "rejection") return EstimateMethod::rejection;
    if (method == "glynn") return EstimateMethod::glynn;
    throw Error(PERM_BAD_OPTION,
                formatted("unknown method '{}': auto, nesting, rejection (of nonnegative matrices) or glynn",
                          method));
}

} // namespace

EstimateRequest read_request(const perm_estimate_opts *opts) {
    if (!opts) return {};
    if (opts->struct_size < sizeof(perm_estimate_opts))
        throw Error(PERM_BAD_ARGUMENT,
                    "perm_estimate_opts.struct_size is too small: start from PERM_ESTIMATE_OPTS_INIT");
    const EstimateRequest defaults;
    EstimateRequest request;
    request.epsilon = probability("epsilon", opts->epsilon, defaults.epsilon);
    request.delta = probability("delta", opts->delta, defaults.delta);
    request.seed = opts->seed;
    request.method = method_named(opts->method);
    if (opts->samples < 0)
        throw Error(PERM_BAD_OPTION,
                    formatted("samples is {}: 0 (as many as it takes) or more", opts->samples));
    request.samples = opts->samples;
    return request;
}

namespace {

constexpr double pieces_expected = 512;                    // at least, and fewer than twice as many
constexpr double to_spare = 1.05;                          // times the chunks that are expected to be enough
constexpr double kept_seconds = 0.5;                       // of each thread, after which pieces are kept
constexpr std::uint64_t open_end = std::uint64_t{1} << 62; // that a store holds pieces of

SampleSums sums_of(const std::string &part) {
    try {
        return all_from<SampleSums>(part, "the sums of a piece");
    } catch (const DamagedField &) {
        throw Error(PERM_BAD_ARGUMENT, "a piece of the samples that is known has no such sums");
    }
}

} // namespace

void add(SampleSums &all, const SampleSums &more) {
    if (all.empty()) all.resize(more.size());
    if (all.size() != more.size())
        throw Error(PERM_BAD_ARGUMENT, "pieces of the samples that are known are of different methods");
    for (std::size_t k = 0; k < more.size(); ++k) all[k] += more[k];
}

SamplePieces::SamplePieces(SumChunks sum, double expected, std::uint64_t limit, double seconds)
    : sum_(std::move(sum)), limit_chunks_(limit), seconds_(seconds) {
    const double most = limit == no_limit ? 0x1p50 : static_cast<double>(limit);
    wanted_ = std::clamp(expected, 1.0, most);
    chunks_ = std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, wanted_ / pieces_expected)));
    limit_ = limit == no_limit ? no_limit : limit / chunks_ + (limit % chunks_ != 0);
    expected_ = std::min(
        limit_, static_cast<std::uint64_t>(std::ceil(to_spare * wanted_ / static_cast<double>(chunks_))));
}

std::uint64_t SamplePieces::chunks_before(std::uint64_t piece) const {
    return piece >= limit_ ? limit_chunks_ : piece * chunks_;
}

double SamplePieces::share_unknown(const PieceScope &scope) const {
    std::uint64_t unknown = 0;
    for (std::uint64_t k = 0; k < expected_; ++k) unknown += !scope.store->find(scope.task, open_end, k);
    return static_cast<double>(unknown) / static_cast<double>(expected_);
}

// Nine tenths of what is expected; where that takes long, after looks at halves of it, and then little by
// little. It follows from the plan alone.
std::uint64_t SamplePieces::next_round(std::uint64_t done) const {
    const double pieces = wanted_ / static_cast<double>(chunks_);
    const double first = std::max(1.0, std::floor(0.9 * pieces)), so_far = static_cast<double>(done);
    double next = so_far < first ? first : so_far * 1.05;
    if (so_far < first && pieces >= pieces_expected)
        for (const double part : {2, 4, 8, 16, 32, 64})
            if (first / part > so_far) next = std::ceil(first / part);
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(next - so_far), 1, limit_ - done);
}

void SamplePieces::add_up(const Take &take, SampleDevices *devices) const {
    double promised = wanted_;
    for (std::uint64_t done = 0; done < limit_;) {
        const std::uint64_t count = next_round(done);
        if (const auto needed = static_cast<double>(chunks_before(done + count)); needed > promised) {
            call().expect_more(needed - promised);
            promised = needed;
        }
        if (take(sums(done, count, devices))) return;
        done += count;
    }
}

std::vector<SampleSums> SamplePieces::sums(std::uint64_t first, std::uint64_t count,
                                           SampleDevices *devices) const {
    const PieceScope &scope = call().pieces();
    std::vector<SampleSums> all(count);
    std::vector<std::uint64_t> todo;
    for (std::uint64_t k = first; k < first + count; ++k)
        if (const auto part = scope.store ? scope.store->find(scope.task, open_end, k) : std::nullopt) {
            all[k - first] = sums_of(*part);
            call().skip(static_cast<double>(chunks_before(k + 1) - chunks_before(k)));
        } else {
            todo.push_back(k);
        }
    double at_once = most_chunks_at_once;
    if (scope.store && !devices)
        at_once =
            std::min(at_once, kept_seconds / seconds_ * oneapi::tbb::this_task_arena::max_concurrency());
    const auto of = [this](std::uint64_t k) { return NumberRange{chunks_before(k), chunks_before(k + 1)}; };
    const auto draw = [&](std::uint64_t chunk, std::span<SampleSums> sums) { sum_(chunk, sums, devices); };
    const auto keep = [&](std::uint64_t k, SampleSums sums) {
        if (scope.store) scope.store->keep({scope.task, open_end, k, written(sums)});
        all[k - first] = std::move(sums);
    };
    made_of_chunks(SampleSums(), at_once, of, draw, add)(todo, keep);
    return all;
}

} // namespace libperm
