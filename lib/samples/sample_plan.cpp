#include "lib/samples/sample_plan.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/threads.hpp"
#include "lib/number/doubles.hpp"
#include "lib/run/placement.hpp"
#include "lib/samples/part_shots.hpp"
#include "lib/samples/planar/planar_shots.hpp"
#include "lib/tape/tape_steps.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace libperm {
namespace {

constexpr double row_seconds = 1e-8; // of a shot

constexpr char short_tape = 's', long_one = 'l', any_tape = 'a', by_walks = 'r', line_by_line = 'p',
               by_hafnians = 'h';

TapeWish wish_of(char letter) {
    return letter == short_tape ? TapeWish{0x1p22, 0x1p28} : TapeWish{letter == long_one ? 0x1p26 : 0x1p32};
}

bool is_too_long(const Error &error) { return error.status() == PERM_REFUSED_TIME; }

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
        if (letter == line_by_line && !is_graph) return planar(named_outline());
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
    PlanarOutline named_outline() const {
        std::optional<PlanarOutline> outline = planar_outline(part_);
        if (!outline)
            throw Error(PERM_BAD_ARGUMENT,
                        "the samples were begun in a way that is not this matrix's: begin anew");
        return *std::move(outline);
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
                       std::uint64_t seed, const Options &options, const std::string *way)
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

} // namespace libperm
