#include "lib/samples/sample_task.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/pieces.hpp"
#include "lib/samples/sampled_parts.hpp"
#include "lib/samples/walk_sampler.hpp"
#include "lib/saved/bytes.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace libperm {

MatchingSamples::MatchingSamples(const InputPattern &input, const Values &values, std::int64_t shots,
                                 std::uint64_t seed, const Options &options)
    : plan_(input, values, shots, seed, options),
      threads_(options.threads),
      charge_(&call().memory(), plan_.bytes()) {
    for (std::size_t k = 0; k < plan_.walked(); ++k)
        walks_.push_back(std::make_unique<WalkSampler>(plan_.walks(k), options));
    call().begin(plan_.serial_seconds(), plan_.seconds());
}

void MatchingSamples::draw(std::int64_t count, std::int64_t *columns) {
    if (count < 0 || count > left())
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("{} samples cannot be drawn: of {} for which the sampler was made, {} are left",
                              count, plan_.shots(), left()));
    if (count > 0 && rows() > 0)
        with_threads(threads_, [&] {
            std::int64_t bytes = plan_.bytes();
            for (const auto &walks : walks_) bytes += walks->bytes_for(count);
            charge_.resize(bytes);
            for (const auto &walks : walks_) walks->reach(drawn_, count);
            const auto piece = std::clamp<std::int64_t>(count / threads_, 1, plan_.at_once());
            parallel_for(static_cast<std::uint64_t>((count + piece - 1) / piece), [&](std::uint64_t number) {
                const std::int64_t first = static_cast<std::int64_t>(number) * piece;
                const auto size = static_cast<std::uint32_t>(std::min(piece, count - first));
                draw_piece(drawn_ + first, size, columns + first * rows());
                call().advance(plan_.shot_seconds() * size);
            });
        });
    drawn_ += count;
}

void MatchingSamples::draw_piece(std::int64_t first, std::uint32_t count, std::int64_t *columns) const {
    plan_.draw_numbered(first, count, columns);
    for (std::size_t w = 0; w < walks_.size(); ++w)
        for (std::int64_t k = 0; k < count; ++k)
            plan_.place(w, walks_[w]->columns_of(first + k), columns + k * rows());
}

namespace {

// So long that one is worth sending and writing, and not too many.
NumberedPieces pieces_of(const SamplePlan &plan) {
    constexpr std::int64_t columns = 1 << 20, most_pieces = 1 << 16;
    if (!plan.has_numbered()) return NumberedPieces::of_length(0, 1);
    const std::int64_t worth = std::max<std::int64_t>(columns / plan.rows(), 1),
                       length = std::max(
                           plan.goes_line_by_line() ? std::min<std::int64_t>(worth, plan.at_once()) : worth,
                           plan.shots() / most_pieces);
    return NumberedPieces::of_length(static_cast<std::uint64_t>(plan.shots()),
                                     static_cast<std::uint64_t>(length));
}

// The shots, but for what is drawn by rejection.
std::vector<ShotPart> shot_parts(const SamplePlan &plan) {
    const NumberedPieces pieces = pieces_of(plan);
    const auto draw = [&](std::uint64_t k) {
        const std::int64_t rows = plan.rows(), count = static_cast<std::int64_t>(pieces[k].size());
        ShotPart part{-1, plan.columns(), std::vector<std::int32_t>(static_cast<std::size_t>(count * rows))};
        for (std::int64_t at = 0; at < count; at += plan.at_once()) {
            const auto size = static_cast<std::uint32_t>(std::min<std::int64_t>(plan.at_once(), count - at));
            plan.draw_numbered(static_cast<std::int64_t>(pieces[k].first) + at, size,
                               part.numbers.data() + at * rows);
            call().advance(plan.shot_seconds() * size);
        }
        return part;
    };
    const double work = plan.shot_seconds() * (pieces.count() == 0 ? 0 : pieces[0].size());
    return parts_of_pieces(pieces.count(), work, ShotPart{-1, plan.columns()}, each_on_its_thread(draw));
}

// Throws Error where a part is not so long.
std::vector<std::int32_t> joined(const SamplePlan &plan, std::vector<ShotPart> parts) {
    const NumberedPieces pieces = pieces_of(plan);
    const auto columns = static_cast<std::size_t>(plan.shots() * plan.rows());
    std::vector<std::int32_t> all;
    all.reserve(columns);
    for (std::uint64_t k = 0; k < pieces.count(); ++k) {
        const std::vector<std::int32_t> part = std::move(parts[k].numbers);
        if (part.size() != static_cast<std::size_t>(pieces[k].size()) * static_cast<std::size_t>(plan.rows()))
            throw Error(PERM_BAD_ARGUMENT, "a piece of the samples that is known has not as many columns");
        all.insert(all.end(), part.begin(), part.end());
    }
    all.resize(columns, -1); // where all is drawn by rejection
    return all;
}

std::string digest_of_wish(std::int64_t shots, std::uint64_t seed, const Options &options) {
    return digest_of_bytes(
        written(std::vector<std::uint64_t>{static_cast<std::uint64_t>(shots), seed, options.seed}));
}

std::optional<std::string> kept_way(const std::string *way, const Options &options) {
    return way ? std::optional(*way) : plan_in_checkpoint(options, TaskIdentity::samples);
}

SamplePlan planned(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
                   const Options &options, const std::optional<std::string> &way) {
    return SamplePlan(input, values, shots, seed, options, way ? &*way : nullptr);
}

} // namespace

SampleTask::SampleTask(const InputPattern &input, const Values &values, std::int64_t shots,
                       std::uint64_t seed, const Options &options, const std::string *way)
    : options_(options),
      plan_(planned(input, values, shots, seed, options, kept_way(way, options))),
      matrix_(digest_of_bytes(digest_of(input) + digest_of(as_given(input)) + digest_of(values))),
      wish_(digest_of_wish(shots, seed, options)),
      way_(plan_.digest()),
      n_(as_given(input).pattern.rows),
      entries_(as_given(input).pattern.nnz()) {
    if (!options.checkpoint.empty()) require_memory(call().memory()); // it is run as a whole
}

// Of the parts, of these joined, and of the caller's; with what is kept of them, and written to a file.
double SampleTask::bytes_of_columns(bool are_kept) const {
    constexpr double here = 2 * sizeof(std::int32_t) + sizeof(std::int64_t), kept = 5 * sizeof(std::int32_t);
    return (here + (are_kept ? kept : 0)) * static_cast<double>(count());
}

void SampleTask::require_memory(MemoryBudget &memory) const {
    constexpr double most = 0x1p62;
    const double bytes = bytes_of_columns(true);
    memory.require(static_cast<std::int64_t>(std::min(bytes, most)),
                   formatted("drawing {} samples of {} rows as a whole", plan_.shots(), plan_.rows()));
}

TaskIdentity SampleTask::identity() const {
    return {TaskIdentity::samples,
            {{matrix_, "another matrix"},
             {wish_, "samples with another seed, or of another number"},
             {way_, "samples that are drawn otherwise, as options, versions or machines differ"}}};
}

ShardCount SampleTask::shards() const {
    constexpr double least_seconds = 0.01;
    std::uint64_t most = std::max<std::uint64_t>(pieces_of(plan_).count(), 1);
    for (std::size_t k = 0; k < plan_.walked(); ++k) most = std::max(most, plan_.walks(k).pieces());
    ShardCount shards;
    shards.count = static_cast<std::int64_t>(
        std::clamp(std::floor(plan_.serial_seconds() / least_seconds), 1.0, static_cast<double>(most)));
    shards.seconds = plan_.serial_seconds() / static_cast<double>(shards.count);
    return shards;
}

KeptAbout SampleTask::about() const {
    KeptAbout it;
    it.n = n_;
    it.entries = entries_;
    it.way = plan_.way_in_words();
    it.seconds = plan_.seconds();
    return it;
}

std::vector<std::int32_t> SampleTask::run(PieceStore *store, const Told &) const {
    const double share = store ? store->share() : 1;
    const bool is_shard = store && store->is_of_one_shard();
    const double columns = is_shard ? share * sizeof(std::int32_t) * static_cast<double>(count())
                                    : bytes_of_columns(store != nullptr);
    const Charge held(&call().memory(), plan_.bytes() + static_cast<std::int64_t>(columns));
    call().begin(share * plan_.serial_seconds(), share * plan_.seconds());
    CurrentCall along(1, PieceScope{store, {}});
    std::vector<ShotPart> parts = shot_parts(plan_);
    std::vector<std::unique_ptr<WalkSampler>> walks;
    for (std::size_t k = 0; k < plan_.walked(); ++k) {
        walks.push_back(
            std::make_unique<WalkSampler>(plan_.walks(k), options_, PieceScope{store, {0, k + 1, 0}}));
        walks.back()->reach(0, plan_.shots());
    }
    if (is_shard) return {};
    std::vector<std::int32_t> all = joined(plan_, std::move(parts));
    for (std::size_t k = 0; k < walks.size(); ++k)
        for (std::int64_t shot = 0; shot < plan_.shots(); ++shot)
            plan_.place(k, walks[k]->columns_of(shot), all.data() + shot * plan_.rows());
    return all;
}

} // namespace libperm
