#include "lib/samples/matching_samples.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/randomness.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/samples/tape_sampler.hpp"
#include "lib/samples/walk_sampler.hpp"
#include "lib/tape/gradient_entries.hpp"
#include "lib/tape/long_tape.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace libperm {
namespace {

constexpr std::uint32_t at_once = 1024; // shots that go back together
constexpr double row_seconds = 1e-8;    // of a shot
constexpr std::int32_t no_row = -1;     // of what is no entry of the caller's

// What is left of the matrix without its zeros, and where each entry stood in the caller's.
struct Weighted {
    Pattern pattern;
    std::vector<Tracked> entries;
    std::vector<std::int32_t> row,
        column; // no_row: a weight of a line that stays unmatched, or a 1 that was added
};
constexpr std::int64_t entry_bytes = sizeof(Tracked) + 3 * sizeof(std::int32_t);

struct Place {
    std::int32_t row, column;
};

// Where each of the caller's entries stands, by its number.
std::vector<Place> places_of(const InputPattern &given, PolledSteps &steps) {
    std::vector<Place> places(at(given.pattern.nnz()));
    for (std::int32_t i = 0; i < given.pattern.rows; ++i) {
        steps.take(given.pattern.row_begin(i + 1) - given.pattern.row_begin(i));
        for (std::int64_t k = given.pattern.row_begin(i); k < given.pattern.row_begin(i + 1); ++k)
            places[at(given.source.empty() ? k : given.source[at(k)])] = {i, given.pattern.col[at(k)]};
    }
    return places;
}

Weighted weighted(const InputPattern &input, const Values &values, RunControl &control, Charge &charge) {
    const auto entries = at(input.pattern.nnz());
    const Charge finding(&control.memory(), as_given(input).pattern.nnz() * std::int64_t{sizeof(Place)} +
                                                input.pattern.nnz() * std::int64_t{sizeof(std::int64_t)});
    charge = Charge(&control.memory(), input.pattern.nnz() * entry_bytes);
    const Poll poll = [&control] { control.poll(); };
    PolledSteps steps(poll);
    const std::vector<Place> places = places_of(as_given(input), steps);
    const std::vector<std::int64_t> numbers = caller_places(input);
    Weighted out;
    out.pattern.rows = input.pattern.rows;
    out.pattern.cols = input.pattern.cols;
    out.pattern.col.reserve(entries);
    out.entries.reserve(entries);
    out.row.reserve(entries);
    out.column.reserve(entries);
    for (std::int32_t i = 0; i < input.pattern.rows; ++i) {
        steps.take(8 * (input.pattern.row_begin(i + 1) - input.pattern.row_begin(i)));
        for (std::int64_t k = input.pattern.row_begin(i); k < input.pattern.row_begin(i + 1); ++k) {
            const Tracked x =
                values.wide.empty() ? tracked(values.real[at(k)]) : tracked_of(values.wide[at(k)].re);
            if (is_zero(x)) continue;
            const std::int64_t number = numbers.empty() ? k : numbers[at(k)];
            const bool is_entry = number >= 0 && number < std::ssize(places);
            out.pattern.col.push_back(input.pattern.col[at(k)]);
            out.entries.push_back(x);
            out.row.push_back(is_entry ? places[at(number)].row : no_row);
            out.column.push_back(is_entry ? places[at(number)].column : no_row);
        }
        out.pattern.row_ptr.push_back(std::ssize(out.pattern.col));
    }
    return out;
}

void check(const InputPattern &input, const Values &values) {
    if (input.multiplied)
        throw Error(PERM_UNSUPPORTED,
                    "matchings of lines with multiplicities are not sampled: write repeated lines out");
    if (some_negative(values))
        throw Error(
            PERM_BAD_MATRIX,
            "some entry or weight is negative or not real: probabilities are of weights of 0 or more");
}

std::uint32_t entry_of(const SampledPart &part, std::int32_t row, std::int32_t column) {
    const auto columns = part.pattern.row(row);
    return static_cast<std::uint32_t>(
        part.pattern.row_begin(row) +
        (std::lower_bound(columns.begin(), columns.end(), column) - columns.begin()));
}

// Lines keep their order, so that free ones are the last of their block; being equal they are all in one.
std::vector<SampledPart> parts_of(const Weighted &a, const Matching &perfect, const InputPattern &input,
                                  RunControl &control) {
    const Pattern &p = a.pattern;
    const std::vector<std::int32_t> block = triangular_blocks(p, perfect);
    std::vector<SampledPart> parts(at(*std::max_element(block.begin(), block.end()) + 1));
    std::vector<std::int32_t> place(at(p.cols)); // of a column in its block
    const Poll poll = [&control] { control.poll(); };
    PolledSteps steps(poll);
    const auto of_column = [&](std::int32_t j) { return block[at(perfect.row_of_col[at(j)])]; };
    for (std::int32_t j = 0; j < p.cols; ++j) {
        SampledPart &part = parts[at(of_column(j))];
        place[at(j)] = part.pattern.cols++;
        part.free_columns += j >= p.cols - input.free_columns;
    }
    for (std::int32_t i = 0; i < p.rows; ++i) {
        SampledPart &part = parts[at(block[at(i)])];
        part.free_rows += i >= p.rows - input.free_rows;
        auto k = at(p.row_begin(i));
        steps.take(4 * std::ssize(p.row(i)));
        for (const std::int32_t j : p.row(i)) {
            if (of_column(j) == block[at(i)]) {
                part.pattern.col.push_back(place[at(j)]);
                part.entries.push_back(a.entries[k]);
                part.row.push_back(a.row[k]);
                part.column.push_back(a.column[k]);
            }
            ++k;
        }
        part.pattern.row_ptr.push_back(std::ssize(part.pattern.col));
        ++part.pattern.rows;
    }
    return parts;
}

} // namespace

class PartSampler {
  public:
    PartSampler() = default;
    PartSampler(const PartSampler &) = delete;
    PartSampler &operator=(const PartSampler &) = delete;
    virtual ~PartSampler() = default;

    virtual double seconds() const { return 0; } // to reach all shots, as predicted

    // Before shots `first` to first + count - 1 are drawn; those before are not drawn again.
    virtual void reach(std::int64_t, std::int64_t) {}

    // Draws shots `first` to first + count - 1, one after the other for each line: an entry of the part.
    virtual void draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const = 0;
};

namespace {

class AlongTape final : public PartSampler {
  public:
    AlongTape(Tape tape, const SampledPart &part, std::uint64_t seed, RunControl &control)
        : tape_(std::move(tape)),
          charge_(&control.memory(), bytes_of(tape_) + TapeSampler::bytes(tape_)),
          seed_(seed),
          sampler_(tape_, part.entries, [&control] { control.poll(); }) {}
    void draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const override {
        sampler_.draw(seed_, first, count, taken);
    }

  private:
    const Tape tape_;
    const Charge charge_;
    const std::uint64_t seed_;
    const TapeSampler sampler_;
};

class ByWalks final : public PartSampler {
  public:
    ByWalks(const SampledPart &part, std::int64_t shots, std::uint64_t seed, const Options &options,
            const Options &within, RunControl &control)
        : part_(part), walks_(part.pattern, part.entries, shots, seed, options, within, control) {}
    double seconds() const override { return walks_.seconds(); }
    void reach(std::int64_t first, std::int64_t count) override { walks_.reach(first, count); }
    void draw(std::uint64_t first, std::uint32_t count, std::vector<std::uint32_t> &taken) const override {
        const std::int32_t rows = part_.pattern.rows;
        taken.resize(at(rows) * count);
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::int32_t *const columns = walks_.columns_of(static_cast<std::int64_t>(first) + k);
            for (std::int32_t i = 0; i < rows; ++i) taken[at(i) * count + k] = entry_of(part_, i, columns[i]);
        }
    }

  private:
    const SampledPart &part_;
    WalkSampler walks_;
};

// Along the frontier where it is short; by rejection where that takes a moment; along a longer frontier; by
// rejection within the limit; along any frontier that fits. How many threads there are has no part in it.
std::unique_ptr<PartSampler> sampler_of(const SampledPart &part, std::int64_t shots, std::uint64_t seed,
                                        const Options &options, RunControl &control) {
    constexpr TapeWish short_tape{0x1p22, 0x1p28}, long_one{0x1p26}, any_tape{0x1p32};
    constexpr double moment = 2; // seconds of one thread
    const auto along_tape = [&](const TapeWish &wish) -> std::unique_ptr<PartSampler> {
        try {
            Tape tape = long_tape({part.pattern, part.free_rows, part.free_columns}, options, control,
                                  "a sample", wish);
            return std::make_unique<AlongTape>(std::move(tape), part, seed, control);
        } catch (const Error &error) {
            if (error.status() != PERM_REFUSED_MEMORY && error.status() != PERM_UNSUPPORTED) throw;
            return nullptr;
        }
    };
    const auto by_walks = [&](const Options &within) -> std::unique_ptr<PartSampler> {
        try {
            return std::make_unique<ByWalks>(part, shots, seed, options, within, control);
        } catch (const Error &error) {
            if (error.status() != PERM_REFUSED_TIME) throw;
            return nullptr;
        }
    };
    if (auto sampler = along_tape(short_tape)) return sampler;
    Options in_a_moment = options;
    in_a_moment.threads = 1;
    in_a_moment.refuse_seconds = std::min(moment, options.refuse_seconds);
    if (auto sampler = by_walks(in_a_moment)) return sampler;
    if (auto sampler = along_tape(long_one)) return sampler;
    if (auto sampler = by_walks(options)) return sampler;
    if (auto sampler = along_tape(any_tape)) return sampler;
    // says how long it takes
    return std::make_unique<ByWalks>(part, shots, seed, options, options, control);
}

} // namespace

MatchingSamples::MatchingSamples(const InputPattern &input, const Values &values, std::int64_t shots,
                                 std::uint64_t seed, const Options &options, RunControl &control)
    : shots_(shots), rows_(as_given(input).pattern.rows), threads_(options.threads), control_(control) {
    check(input, values);
    {
        Charge charge;
        const Weighted a = weighted(input, values, control, charge);
        const Matching perfect = maximum_matching(a.pattern, [&control] { control.poll(); });
        if (perfect.size < a.pattern.rows)
            throw Error(PERM_BAD_MATRIX,
                        "there is no matching with a weight above 0, so nothing to be sampled: let rows or "
                        "columns stay unmatched (row_unmatched, col_unmatched), or add entries");
        if (shots == 0 || rows_ == 0) return;
        shot_seconds_ = row_seconds * a.pattern.rows / threads_;
        const double seconds = shot_seconds_ * static_cast<double>(shots);
        if (seconds > options.refuse_seconds)
            throw Error(PERM_REFUSED_TIME,
                        formatted("{} samples are predicted to take {}, {} is the limit\n  raise the limit: "
                                  "time_limit_seconds",
                                  shots, readable_seconds(seconds),
                                  readable_seconds(options.refuse_seconds)));
        charge_ = Charge(&control.memory(), a.pattern.nnz() * entry_bytes);
        parts_ = parts_of(a, perfect, input, control);
    }
    Randomness seeds(seed, ~std::uint64_t{0});
    double seconds = shot_seconds_ * static_cast<double>(shots);
    with_threads(threads_, [&] {
        for (const SampledPart &part : parts_) {
            samplers_.push_back(sampler_of(part, shots, seeds.next(), options, control));
            seconds += samplers_.back()->seconds();
        }
    });
    control.begin(seconds, seconds);
}

MatchingSamples::~MatchingSamples() = default;

void MatchingSamples::draw(std::int64_t count, std::int64_t *columns) {
    if (count < 0 || count > left())
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("{} samples cannot be drawn: of {} for which the sampler was made, {} are left",
                              count, shots_, left()));
    if (count > 0 && rows_ > 0)
        with_threads(threads_, [&] {
            for (const auto &sampler : samplers_) sampler->reach(drawn_, count);
            const std::int64_t piece = std::clamp<std::int64_t>(count / threads_, 1, at_once);
            parallel_for(static_cast<std::uint64_t>((count + piece - 1) / piece), [&](std::uint64_t number) {
                const std::int64_t first = static_cast<std::int64_t>(number) * piece;
                const auto size = static_cast<std::uint32_t>(std::min(piece, count - first));
                draw_piece(drawn_ + first, size, columns + first * rows_);
                control_.advance(shot_seconds_ * size);
            });
        });
    drawn_ += count;
}

void MatchingSamples::draw_piece(std::int64_t first, std::uint32_t count, std::int64_t *columns) const {
    std::vector<std::uint32_t> taken;
    std::fill_n(columns, std::int64_t{count} * rows_, std::int64_t{-1});
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        const SampledPart &part = parts_[p];
        samplers_[p]->draw(static_cast<std::uint64_t>(first), count, taken);
        auto next = taken.begin();
        for (std::int32_t line = 0; line < part.pattern.rows; ++line)
            for (std::uint32_t k = 0; k < count; ++k) {
                const std::uint32_t entry = *next++;
                if (part.row[entry] != no_row)
                    columns[std::int64_t{k} * rows_ + part.row[entry]] = part.column[entry];
            }
    }
}

} // namespace libperm
