#include "lib/samples/sample_task.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/doubles.hpp"
#include "lib/run/numbered_sum.hpp"
#include "lib/run/pieces.hpp"
#include "lib/run/placement.hpp"
#include "lib/samples/planar/planar_shots.hpp"
#include "lib/saved/bytes.hpp"
#include "lib/tape/tape_steps.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double row_seconds = 1e-8; // of a shot

constexpr char short_tape = 's', long_one = 'l', any_tape = 'a', by_walks = 'r', line_by_line = 'p',
               by_hafnians = 'h';

TapeWish wish_of(char letter) {
    return letter == short_tape ? TapeWish{0x1p22, 0x1p28} : TapeWish{letter == long_one ? 0x1p26 : 0x1p32};
}

bool is_too_long(const Error &error) { return error.status() == PERM_REFUSED_TIME; }

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

} // namespace

// Of a part.
class SamplePlan::Choice {
  public:
    Choice(const SampledPart &part, std::int64_t shots, std::uint64_t seed, const Options &options)
        : part_(part), shots_(shots), seed_(seed), options_(options) {}

    // Along the frontier where it is short; by rejection where that takes a moment; of a planar part line by
    // line where that takes no longer than a longer frontier does; along that; the quicker one of line by
    // line and by rejection, within the limit; along any frontier that fits. How many threads there are has
    // no part in it, but for what is refused.
    Way quickest() const {
        constexpr double moment = 2, of_tape = 10, day = 86400; // seconds; of one thread, but for the day
        if (part_.pattern.one_sided) return of_graph(of_tape);
        Way way;
        if (try_tape(short_tape, way) || try_walks(std::min(moment, options_.refuse_seconds), 1, way))
            return way;
        std::optional<PlanarOutline> planar = planar_outline(part_);
        const double serial = planar ? planar->seconds(shots_) : infinity,
                     seconds = serial / options_.threads;
        const bool may_be_planar = planar && seconds <= options_.refuse_seconds;
        if (may_be_planar && serial <= of_tape && try_planar(*planar, way)) return way;
        if (try_tape(long_one, way)) return way;
        if (may_be_planar && (try_walks(serial, 1, way) || try_planar(*planar, way))) return way;
        if (try_walks(std::min(day, options_.refuse_seconds), options_.threads, way) ||
            try_tape(any_tape, way))
            return way;
        if (planar)
            throw refused_for_time(formatted("{} samples of a planar block are", shots_), seconds, options_);
        return walks(options_); // or says how long it takes
    }

    Way named(char letter) const {
        const bool is_graph = part_.pattern.one_sided;
        if (letter == by_walks && !is_graph) return walks(options_);
        if (letter == by_hafnians && is_graph && part_.pattern.rows <= GraphShots::most_lines)
            return hafnians();
        if (letter == line_by_line && !is_graph)
            if (const std::optional<PlanarOutline> outline = planar_outline(part_)) return planar(*outline);
        if (letter != short_tape && letter != long_one && letter != any_tape)
            throw Error(PERM_BAD_ARGUMENT, "the samples were begun in a way that there is not: begin anew");
        return tape(letter);
    }

  private:
    // Along a tree where that is not long; line by line where it takes no longer than a long one; along that.
    Way of_graph(double most_of_lines) const {
        Way way;
        if (try_tape(short_tape, way) || try_tape(long_one, way)) return way;
        const double seconds = GraphShots::seconds(part_, shots_);
        if (seconds <= most_of_lines) return hafnians();
        if (try_tape(any_tape, way)) return way;
        if (seconds / options_.threads > options_.refuse_seconds || seconds == infinity)
            return tape(any_tape); // or says what it takes
        return hafnians();
    }
    Way hafnians() const { return {by_hafnians, std::make_unique<GraphShots>(part_, shots_, seed_)}; }
    Way walks(const Options &within) const {
        return {by_walks, nullptr,
                std::make_unique<WalkPlan>(part_.pattern, part_.entries, shots_, seed_, within)};
    }
    Way planar(const PlanarOutline &outline) const {
        const Charge charge(&call().memory(), PlanarShots::bytes_for(outline));
        return {line_by_line, std::make_unique<PlanarShots>(outline, part_, seed_, options_)};
    }
    Way tape(char letter) const {
        Tape tape = long_tape({part_.pattern, part_.free_rows, part_.free_columns}, options_, "a sample",
                              wish_of(letter));
        const Charge charge(&call().memory(), TapeSampler::bytes_for(tape));
        return {letter, std::make_unique<TapeSampler>(std::move(tape), part_.entries, seed_)};
    }

    // Whether it can be made: else another way may be.
    template <class Make> static bool tried(Way &way, bool (*is_no_error)(const Error &), const Make &make) {
        try {
            way = make();
            return true;
        } catch (const Error &error) {
            if (!is_no_error(error)) throw;
            return false;
        }
    }
    bool try_tape(char letter, Way &way) const {
        return tried(way, is_refused, [&] { return tape(letter); });
    }
    bool try_planar(const PlanarOutline &outline, Way &way) const {
        return tried(way, is_refused, [&] {
            Way made = planar(outline);
            const double seconds =
                made.shots->shot_seconds() / options_.threads * static_cast<double>(shots_);
            if (seconds > options_.refuse_seconds) // it takes more digits
                throw refused_for_time(formatted("{} samples of a planar block are", shots_), seconds,
                                       options_);
            return made;
        });
    }
    bool try_walks(double seconds, int threads, Way &way) const {
        Options within = options_;
        within.refuse_seconds = seconds;
        within.threads = threads;
        return tried(way, is_too_long, [&] { return walks(within); });
    }

    const SampledPart &part_;
    const std::int64_t shots_;
    const std::uint64_t seed_;
    const Options &options_;
};

SamplePlan::SamplePlan(const InputPattern &input, const Values &values, std::int64_t shots,
                       std::uint64_t seed, const Options &options, const std::optional<std::string> &way)
    : shots_(shots), rows_(as_given(input).pattern.rows), columns_(as_given(input).pattern.cols) {
    std::vector<SampledPart> parts = sampled_parts(input, values);
    if (shots == 0 || rows_ == 0) return;
    shot_seconds_ = row_seconds * input.pattern.rows;
    serial_seconds_ = shot_seconds_ * static_cast<double>(shots);
    seconds_ = serial_seconds_ / options.threads;
    if (seconds_ > options.refuse_seconds)
        throw refused_for_time(formatted("{} samples are", shots), seconds_, options);
    Randomness seeds(seed, ~std::uint64_t{0});
    std::vector<std::uint64_t> seed_of;
    for (SampledPart &part : parts) { // of 10^5 lines without entries each is a part
        const std::uint64_t own = seeds.next();
        if (part.entries.size() != 1 || part.pattern.one_sided) {
            parts_.push_back(std::move(part));
            seed_of.push_back(own);
        } else if (part.row[0] != SampledPart::no_row) {
            certain_.emplace_back(part.row[0], part.column[0]);
        }
    }
    if (way && way->size() != parts_.size())
        throw Error(PERM_BAD_ARGUMENT,
                    "the samples were begun in a way that is of another matrix: begin anew");
    for (const SampledPart &part : parts_) bytes_ += std::ssize(part.entries) * SampledPart::entry_bytes;
    Charge charge(&call().memory(), bytes_);
    with_threads(options.threads, [&] {
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            const Choice choice(parts_[p], shots, seed_of[p], options);
            take(way ? choice.named((*way)[p]) : choice.quickest(), options.threads);
            charge.resize(bytes_);
        }
    });
}

// Of the next part.
void SamplePlan::take(Way way, int threads) {
    const Way &made = ways_.emplace_back(std::move(way));
    if (made.walks) {
        walked_.push_back(ways_.size() - 1);
        bytes_ += made.walks->bytes();
        serial_seconds_ += made.walks->serial_seconds();
        seconds_ += made.walks->seconds();
        return;
    }
    const double seconds = made.shots->shot_seconds();
    bytes_ += made.shots->bytes();
    shot_seconds_ += seconds;
    serial_seconds_ += seconds * static_cast<double>(shots_);
    seconds_ += seconds / threads * static_cast<double>(shots_);
    at_once_ = std::min(at_once_, made.shots->at_once());
}

std::string SamplePlan::way() const {
    std::string way;
    for (const Way &one : ways_) way += one.letter;
    return way;
}

std::string SamplePlan::way_in_words() const {
    std::string words;
    const auto add = [&words](bool is_one, const char *name) {
        if (is_one) words += (words.empty() ? "" : " and ") + std::string(name);
    };
    const bool goes_along_tape = std::any_of(ways_.begin(), ways_.end(), [](const Way &one) {
        return one.letter == short_tape || one.letter == long_one || one.letter == any_tape;
    });
    add(goes_along_tape, "along the frontier");
    add(goes_line_by_line(), "line by line");
    add(!walked_.empty(), "by rejection");
    return words;
}

bool SamplePlan::goes_line_by_line() const {
    return std::any_of(ways_.begin(), ways_.end(), [](const Way &one) {
        return one.letter == line_by_line || one.letter == by_hafnians;
    });
}

std::string SamplePlan::digest() const {
    std::string digests = way();
    for (const Way &one : ways_)
        if (one.shots) digests += one.shots->digest();
    return digest_of_bytes(digests);
}

template <class Column>
void SamplePlan::draw_numbered(std::int64_t first, std::uint32_t count, Column *columns) const {
    std::vector<std::uint32_t> taken;
    std::fill_n(columns, std::int64_t{count} * rows_, Column{-1});
    for (std::uint32_t k = 0; k < count; ++k)
        for (const auto &[row, column] : certain_) columns[std::int64_t{k} * rows_ + row] = column;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        if (!ways_[p].shots) continue;
        ways_[p].shots->draw(static_cast<std::uint64_t>(first), count, taken);
        const SampledPart &part = parts_[p];
        auto next = taken.begin();
        for (std::int32_t line = 0; line < part.pattern.rows; ++line)
            for (std::uint32_t k = 0; k < count; ++k) {
                const std::uint32_t entry = *next++;
                if (entry == part.row.size() || part.row[entry] == SampledPart::no_row) continue;
                Column *const shot = columns + std::int64_t{k} * rows_;
                shot[part.row[entry]] = part.column[entry];
                if (part.pattern.one_sided) shot[part.column[entry]] = part.row[entry];
            }
    }
}

template <class Column>
void SamplePlan::place(std::size_t k, const std::int32_t *walked, Column *columns) const {
    const SampledPart &part = parts_[walked_[k]];
    for (std::int32_t i = 0; i < part.pattern.rows; ++i) {
        const auto row = part.pattern.row(i);
        const auto found = std::lower_bound(row.begin(), row.end(), walked[i]);
        if (found == row.end() || *found != walked[i])
            throw Error(PERM_BAD_ARGUMENT, "a sample that is known takes an entry that there is not");
        const std::size_t entry = at(part.pattern.row_begin(i) + (found - row.begin()));
        if (part.row[entry] != SampledPart::no_row) columns[part.row[entry]] = part.column[entry];
    }
}

template void SamplePlan::draw_numbered(std::int64_t, std::uint32_t, std::int32_t *) const;
template void SamplePlan::draw_numbered(std::int64_t, std::uint32_t, std::int64_t *) const;
template void SamplePlan::place(std::size_t, const std::int32_t *, std::int32_t *) const;
template void SamplePlan::place(std::size_t, const std::int32_t *, std::int64_t *) const;

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

SampleTask::SampleTask(const InputPattern &input, const Values &values, std::int64_t shots,
                       std::uint64_t seed, const Options &options, const std::string *way)
    : options_(options),
      plan_(input, values, shots, seed, options, kept_way(way, options)),
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
    std::uint64_t most = pieces_of(plan_).count();
    for (std::size_t k = 0; k < plan_.walked(); ++k) most = std::max(most, plan_.walks(k).pieces());
    return shards_of(plan_.serial_seconds(), static_cast<double>(most));
}

KeptAbout SampleTask::about() const { return {n_, entries_, plan_.way_in_words(), plan_.seconds()}; }

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
