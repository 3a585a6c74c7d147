#include "lib/samples/sample_task.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/input/digest.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/pieces.hpp"
#include "lib/samples/walk_sampler.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// All shots of a plan of walks by pieces that anybody may walk: a piece is a run of chunks.

// The walks of a piece that came through, and how many would on average.
struct WalkPart {
    std::int64_t rows = 1;
    double values = 0;
    std::vector<std::int32_t> columns{};
};

void save_part(cereal::PortableBinaryOutputArchive &ar, const WalkPart &part) {
    ar(part.values, part.columns);
}

void load_part(cereal::PortableBinaryInputArchive &ar, WalkPart &part) {
    amounts(ar, part.values);
    ar(part.columns);
    require(std::ssize(part.columns) % part.rows == 0, "shots");
    for (const std::int32_t column : part.columns) require(column >= 0 && column < part.rows, "a column");
}

std::uint64_t first_chunks(const WalkPlan &plan) {
    return static_cast<std::uint64_t>(plan.rate().chunks_for(plan.shots()));
}

// 512 of them at least, and fewer than twice as many, where there are as many chunks.
NumberedPieces pieces_of(std::uint64_t chunks) {
    return NumberedPieces::of_length(chunks, std::bit_floor(std::max<std::uint64_t>(1, chunks / 512)));
}

// How many chunks are walked at once: so many as take half a second or so, after which pieces are kept. What
// comes through is walked again, which nobody predicts.
class AtOnce {
  public:
    static constexpr std::uint64_t most = 4096;

    explicit AtOnce(std::uint64_t chunks) : chunks_(std::min(chunks, most)) {}
    std::uint64_t chunks() const { return chunks_; }

    template <class Work> void timed(const Work &work) {
        constexpr double longest = 0.5;
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        if (taken.count() < longest / 2) chunks_ = std::min(2 * chunks_, most);
        if (taken.count() > longest) chunks_ = std::max<std::uint64_t>(chunks_ / 2, 1);
    }

  private:
    std::uint64_t chunks_;
};

// What the pieces come to that are made of the chunks first, first + 1, ... `rate`: how many walks come
// through; so many shots are missing.
std::vector<WalkPart> walked_pieces(const WalkPlan &plan, std::uint64_t first, const NumberedPieces &pieces,
                                    const WalkRate &rate, std::int64_t missing, const Options &options,
                                    RunControl &control) {
    const Walks &walks = plan.walks();
    const double of_chunk = walks.seconds_of_chunk();
    // Of pieces that follow each other.
    const auto walk = [&](std::span<const std::uint64_t> run, AtOnce &at_once, SampleDevices *devices,
                          const auto &done) {
        RunControl seconds(control, of_chunk);
        std::vector<WalkPart> parts(run.size(), WalkPart{walks.rows()});
        const std::uint64_t end = pieces[run.back()].last;
        std::vector<std::vector<std::int32_t>> columns;
        std::vector<double> sums;
        for (std::uint64_t chunk = pieces[run.front()].first; chunk < end;) {
            columns.assign(std::min(at_once.chunks(), end - chunk), {});
            sums.assign(columns.size(), 0);
            at_once.timed([&] {
                walks.draw(first + chunk, static_cast<std::uint64_t>(plan.shots()), devices, columns, sums,
                           seconds);
            });
            for (std::size_t k = 0; k < columns.size(); ++k, ++chunk) {
                WalkPart &part = parts[chunk / pieces[0].last - run.front()];
                part.values += sums[k];
                part.columns.insert(part.columns.end(), columns[k].begin(), columns[k].end());
            }
        }
        for (std::size_t k = 0; k < parts.size(); ++k) done(run[k], std::move(parts[k]));
    };
    const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
        double chunks = 0;
        for (const std::uint64_t k : todo) chunks += pieces[k].size();
        const SamplesDrawn drawn = walks.drawn_where(chunks, options);
        rate.refuse_if_longer(missing, drawn.seconds, options);
        AtOnce at_once(drawn.devices ? AtOnce::most : static_cast<std::uint64_t>(options.threads));
        for (std::size_t k = 0; k < todo.size();) {
            std::size_t end = k + 1;
            while (end < todo.size() && todo[end] == todo[end - 1] + 1 &&
                   pieces[todo[end]].last - pieces[todo[k]].first <= at_once.chunks())
                ++end;
            control.begin_piece();
            walk(todo.subspan(k, end - k), at_once, drawn.devices.get(), done);
            k = end;
        }
    };
    return parts_of_pieces(control, pieces.count(), of_chunk * pieces[0].size(), WalkPart{walks.rows()},
                           compute);
}

// Expected to be enough; both follow from the plan alone.
std::uint64_t walk_pieces(const WalkPlan &plan) { return pieces_of(first_chunks(plan)).count(); }

double serial_seconds(const WalkPlan &plan) {
    return static_cast<double>(first_chunks(plan)) * plan.walks().seconds_of_chunk();
}

// Of each shot, one after the other, the column of each row. Pieces that the control's store has are taken
// from it, others left there; where it wants those of one shard alone nothing is told. The arena of `options`
// must be entered. Progress is a second of one thread. Throws Error.
std::vector<std::int32_t> walked_in_pieces(const WalkPlan &plan, const Options &options,
                                           RunControl &control) {
    const std::int64_t rows = plan.walks().rows();
    PieceScope scope = control.pieces();
    std::vector<std::int32_t> found;
    WalkRate rate = plan.rate(), so_far;
    std::uint64_t first = 0, chunks = first_chunks(plan);
    for (;;) {
        const std::int64_t missing = plan.shots() - std::ssize(found) / rows;
        if (missing <= 0) break;
        if (scope.task.attempt > 0) { // those that were expected to be enough were not
            rate = so_far;
            chunks = static_cast<std::uint64_t>(rate.chunks_for(missing));
            control.expect_more(static_cast<double>(chunks) * plan.walks().seconds_of_chunk());
        }
        RunControl own(control, 1, scope);
        for (const WalkPart &part :
             walked_pieces(plan, first, pieces_of(chunks), rate, missing, options, own)) {
            so_far.values += part.values;
            found.insert(found.end(), part.columns.begin(), part.columns.end());
        }
        if (scope.store && scope.store->is_of_one_shard()) return {};
        so_far.chunks += static_cast<double>(chunks);
        first += chunks;
        ++scope.task.attempt;
    }
    found.resize(static_cast<std::size_t>(plan.shots() * rows));
    return found;
}

// A piece's columns.
struct ShotPart {
    std::int32_t end = 0; // of columns
    std::vector<std::int32_t> columns{};
};

void save_part(cereal::PortableBinaryOutputArchive &ar, const ShotPart &part) { ar(part.columns); }

void load_part(cereal::PortableBinaryInputArchive &ar, ShotPart &part) {
    ar(part.columns);
    for (const std::int32_t column : part.columns) require(column >= -1 && column < part.end, "a column");
}

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
std::vector<ShotPart> shot_parts(const SamplePlan &plan, RunControl &control) {
    const NumberedPieces pieces = pieces_of(plan);
    const auto draw = [&](std::uint64_t k) {
        const std::int64_t rows = plan.rows(), count = static_cast<std::int64_t>(pieces[k].size());
        ShotPart part{plan.columns(), std::vector<std::int32_t>(static_cast<std::size_t>(count * rows))};
        for (std::int64_t at = 0; at < count; at += plan.at_once()) {
            const auto size = static_cast<std::uint32_t>(std::min<std::int64_t>(plan.at_once(), count - at));
            plan.draw_numbered(static_cast<std::int64_t>(pieces[k].first) + at, size,
                               part.columns.data() + at * rows, control);
            control.advance(plan.shot_seconds() * size);
        }
        return part;
    };
    const double work = plan.shot_seconds() * (pieces.count() == 0 ? 0 : pieces[0].size());
    return parts_of_pieces(control, pieces.count(), work, ShotPart{plan.columns()},
                           each_on_its_thread(control, draw));
}

// Throws Error where a part is not so long.
std::vector<std::int32_t> joined(const SamplePlan &plan, std::vector<ShotPart> parts) {
    const NumberedPieces pieces = pieces_of(plan);
    const auto columns = static_cast<std::size_t>(plan.shots() * plan.rows());
    std::vector<std::int32_t> all;
    all.reserve(columns);
    for (std::uint64_t k = 0; k < pieces.count(); ++k) {
        const std::vector<std::int32_t> part = std::move(parts[k].columns);
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
                   const Options &options, RunControl &control, const std::optional<std::string> &way) {
    return SamplePlan(input, values, shots, seed, options, control, way ? &*way : nullptr);
}

} // namespace

SampleTask::SampleTask(const InputPattern &input, const Values &values, std::int64_t shots,
                       std::uint64_t seed, const Options &options, RunControl &control,
                       const std::string *way)
    : options_(options),
      plan_(planned(input, values, shots, seed, options, control, kept_way(way, options))),
      matrix_(digest_of_bytes(digest_of(input) + digest_of(as_given(input)) + digest_of(values))),
      wish_(digest_of_wish(shots, seed, options)),
      way_(plan_.digest()),
      n_(as_given(input).pattern.rows),
      entries_(as_given(input).pattern.nnz()) {
    if (!options.checkpoint.empty()) require_memory(control.memory()); // it is run as a whole
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

double SampleTask::serial_seconds() const {
    double seconds = plan_.shot_seconds() * static_cast<double>(plan_.shots());
    for (std::size_t k = 0; k < plan_.walked(); ++k) seconds += libperm::serial_seconds(plan_.walks(k));
    return seconds;
}

ShardCount SampleTask::shards() const {
    constexpr double least_seconds = 0.01;
    std::uint64_t most = std::max<std::uint64_t>(pieces_of(plan_).count(), 1);
    for (std::size_t k = 0; k < plan_.walked(); ++k) most = std::max(most, walk_pieces(plan_.walks(k)));
    ShardCount shards;
    shards.count = static_cast<std::int64_t>(
        std::clamp(std::floor(serial_seconds() / least_seconds), 1.0, static_cast<double>(most)));
    shards.seconds = serial_seconds() / static_cast<double>(shards.count);
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

std::vector<std::int32_t> SampleTask::run(PieceStore *store, RunControl &control, const Told &) const {
    const double share = store ? store->share() : 1;
    const bool is_shard = store && store->is_of_one_shard();
    const double columns = is_shard ? share * sizeof(std::int32_t) * static_cast<double>(count())
                                    : bytes_of_columns(store != nullptr);
    const Charge held(&control.memory(), plan_.bytes() + static_cast<std::int64_t>(columns));
    control.begin(share * serial_seconds(), share * plan_.seconds());
    RunControl along(control, 1, PieceScope{store, {}});
    std::vector<ShotPart> parts = shot_parts(plan_, along);
    std::vector<std::vector<std::int32_t>> walked;
    for (std::size_t k = 0; k < plan_.walked(); ++k) {
        RunControl by_rejection(control, 1, PieceScope{store, {0, k + 1, 0}});
        walked.push_back(walked_in_pieces(plan_.walks(k), options_, by_rejection));
    }
    if (is_shard) return {};
    std::vector<std::int32_t> all = joined(plan_, std::move(parts));
    for (std::size_t k = 0; k < walked.size(); ++k)
        for (std::int64_t shot = 0; shot < plan_.shots(); ++shot)
            plan_.place(k, walked[k].data() + shot * plan_.walks(k).walks().rows(),
                        all.data() + shot * plan_.rows());
    return all;
}

} // namespace libperm
