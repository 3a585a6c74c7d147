#include "lib/samples/walk_pieces.hpp"

#include "lib/run/numbered_sum.hpp"
#include "lib/run/pieces.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

namespace libperm {
namespace {

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

// The pieces that are made of the chunks first, first + 1, ...
class Round {
  public:
    Round(const WalkPlan &plan, std::uint64_t first, const NumberedPieces &pieces, RunControl &control)
        : plan_(plan),
          first_(first),
          pieces_(pieces),
          control_(control),
          of_chunk_(plan.walks().seconds_of_chunk()) {}

    // `rate`: how many walks come through; so many shots are missing.
    std::vector<WalkPart> parts(const WalkRate &rate, std::int64_t missing, const Options &options) const {
        const auto compute = [&](std::span<const std::uint64_t> todo, const auto &done) {
            double chunks = 0;
            for (const std::uint64_t k : todo) chunks += pieces_[k].size();
            const SamplesDrawn drawn = plan_.walks().drawn_where(chunks, options);
            rate.refuse_if_longer(missing, drawn.seconds, options);
            AtOnce at_once(drawn.devices ? AtOnce::most : static_cast<std::uint64_t>(options.threads));
            for (std::size_t k = 0; k < todo.size();) {
                std::size_t end = k + 1;
                while (end < todo.size() && todo[end] == todo[end - 1] + 1 &&
                       pieces_[todo[end]].last - pieces_[todo[k]].first <= at_once.chunks())
                    ++end;
                control_.begin_piece();
                walk(todo.subspan(k, end - k), at_once, drawn.devices.get(), done);
                k = end;
            }
        };
        return parts_of_pieces(control_, pieces_.count(), of_chunk_ * pieces_[0].size(),
                               WalkPart{plan_.walks().rows()}, compute);
    }

  private:
    // Pieces that follow each other.
    template <class Done>
    void walk(std::span<const std::uint64_t> pieces, AtOnce &at_once, SampleDevices *devices,
              const Done &done) const {
        RunControl seconds(control_, of_chunk_);
        std::vector<WalkPart> parts(pieces.size(), WalkPart{plan_.walks().rows()});
        const std::uint64_t end = pieces_[pieces.back()].last;
        std::vector<std::vector<std::int32_t>> columns;
        std::vector<double> sums;
        for (std::uint64_t chunk = pieces_[pieces.front()].first; chunk < end;) {
            columns.assign(std::min(at_once.chunks(), end - chunk), {});
            sums.assign(columns.size(), 0);
            at_once.timed([&] {
                plan_.walks().draw(first_ + chunk, static_cast<std::uint64_t>(plan_.shots()), devices,
                                   columns, sums, seconds);
            });
            for (std::size_t k = 0; k < columns.size(); ++k, ++chunk) {
                WalkPart &part = parts[chunk / pieces_[0].last - pieces.front()];
                part.values += sums[k];
                part.columns.insert(part.columns.end(), columns[k].begin(), columns[k].end());
            }
        }
        for (std::size_t k = 0; k < parts.size(); ++k) done(pieces[k], std::move(parts[k]));
    }

    const WalkPlan &plan_;
    const std::uint64_t first_; // chunk
    const NumberedPieces pieces_;
    RunControl &control_;
    const double of_chunk_; // seconds
};

} // namespace

std::uint64_t walk_pieces(const WalkPlan &plan) { return pieces_of(first_chunks(plan)).count(); }

double serial_seconds(const WalkPlan &plan) {
    return static_cast<double>(first_chunks(plan)) * plan.walks().seconds_of_chunk();
}

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
        const Round round(plan, first, pieces_of(chunks), own);
        for (const WalkPart &part : round.parts(rate, missing, options)) {
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

} // namespace libperm
