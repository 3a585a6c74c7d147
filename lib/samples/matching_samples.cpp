#include "lib/samples/matching_samples.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/system.hpp"
#include "lib/base/threads.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/samples/tape_sampler.hpp"
#include "lib/tape/gradient_entries.hpp"
#include "lib/tape/long_tape.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cstddef>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

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

struct Place {
    std::int32_t row, column;
};

// Of each of the caller's entries, by its number there.
std::vector<Place> places_of(const InputPattern &given) {
    std::vector<Place> places(at(given.pattern.nnz()));
    for (std::int32_t i = 0; i < given.pattern.rows; ++i)
        for (std::int64_t k = given.pattern.row_begin(i); k < given.pattern.row_begin(i + 1); ++k)
            places[at(given.source.empty() ? k : given.source[at(k)])] = {i, given.pattern.col[at(k)]};
    return places;
}

Weighted weighted(const InputPattern &input, const Values &values) {
    const std::vector<Place> places = places_of(input.written ? *input.written : input);
    const std::vector<std::int64_t> numbers = caller_places(input);
    Weighted out;
    out.pattern.rows = input.pattern.rows;
    out.pattern.cols = input.pattern.cols;
    for (std::int32_t i = 0; i < input.pattern.rows; ++i) {
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

} // namespace

void sample_matchings(const InputPattern &input, const Values &values, std::int64_t shots, std::uint64_t seed,
                      const Options &options, RunControl &control, std::int64_t *columns) {
    check(input, values);
    const std::int32_t rows = (input.written ? *input.written : input).pattern.rows;
    const Weighted a = weighted(input, values);
    const Poll poll = [&control] { control.poll(); };
    if (maximum_matching(a.pattern, poll).size < a.pattern.rows)
        throw Error(PERM_BAD_MATRIX,
                    "there is no matching with a weight above 0, so nothing to be sampled: let rows or "
                    "columns stay unmatched (row_unmatched, col_unmatched), or add entries");
    if (shots == 0 || rows == 0) return;
    const double seconds = row_seconds * a.pattern.rows * static_cast<double>(shots) / options.threads;
    if (seconds > options.refuse_seconds)
        throw Error(PERM_REFUSED_TIME,
                    formatted("{} samples are predicted to take {}, {} is the limit\n  raise the limit: "
                              "time_limit_seconds",
                              shots, readable_seconds(seconds), readable_seconds(options.refuse_seconds)));

    const Tape tape =
        long_tape({a.pattern, input.free_rows, input.free_columns}, options, control, "a sample");
    const Charge charge(&control.memory(), bytes_of(tape) + TapeSampler::bytes(tape));
    const TapeSampler sampler(tape, a.entries, poll);
    control.begin(static_cast<double>(shots), seconds);
    const auto draw = [&](std::uint64_t piece) {
        const std::uint64_t first = piece * at_once;
        const auto count = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(at_once, static_cast<std::uint64_t>(shots) - first));
        std::vector<std::uint32_t> taken;
        sampler.draw(seed, first, count, taken);
        std::int64_t *const to = columns + static_cast<std::int64_t>(first) * rows;
        std::fill_n(to, std::int64_t{count} * rows, std::int64_t{-1});
        for (std::size_t r = 0; r < at(tape.n); ++r)
            for (std::uint32_t k = 0; k < count; ++k) {
                const std::uint32_t entry = taken[r * count + k];
                if (a.row[entry] != no_row) to[std::int64_t{k} * rows + a.row[entry]] = a.column[entry];
            }
        control.advance(count);
    };
    const std::uint64_t pieces = (static_cast<std::uint64_t>(shots) + at_once - 1) / at_once;
    with_threads(options.threads, [&] { parallel_for(pieces, draw); });
}

} // namespace libperm
