#include "lib/samples/sampled_parts.hpp"

#include "lib/base/error.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/tape/gradient_entries.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace libperm {
namespace {

// What is left of the matrix without its zeros, and where each entry stood in the caller's.
struct Weighted {
    Pattern pattern;
    std::vector<Tracked> entries;
    std::vector<std::int32_t> row,
        column; // SampledPart::no_row: a weight of a line that stays unmatched, or a 1 that was added
};

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

Weighted weighted(const InputPattern &input, const Values &values, Charge &charge) {
    const auto entries = at(input.pattern.nnz());
    const Charge finding(&call().memory(), as_given(input).pattern.nnz() * std::int64_t{sizeof(Place)} +
                                               input.pattern.nnz() * std::int64_t{sizeof(std::int64_t)});
    charge = Charge(&call().memory(), input.pattern.nnz() * SampledPart::entry_bytes);
    PolledSteps steps;
    const std::vector<Place> places = places_of(as_given(input), steps);
    const std::vector<std::int64_t> numbers = caller_places(input);
    Weighted out;
    out.pattern.rows = input.pattern.rows;
    out.pattern.cols = input.pattern.cols;
    out.pattern.one_sided = input.pattern.one_sided;
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
            out.row.push_back(is_entry ? places[at(number)].row : SampledPart::no_row);
            out.column.push_back(is_entry ? places[at(number)].column : SampledPart::no_row);
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

Error nothing_to_sample() {
    return {PERM_BAD_MATRIX,
            "there is no matching with a weight above 0, so nothing to be sampled: let rows or "
            "columns stay unmatched (row_unmatched, col_unmatched), or add entries"};
}

// Lines keep their order, so that free ones are the last of their block; being equal they are all in one.
std::vector<SampledPart> parts_of(const Weighted &a, const Matching &perfect, const InputPattern &input) {
    const Pattern &p = a.pattern;
    const std::vector<std::int32_t> block = triangular_blocks(p, perfect);
    if (block.empty()) return {};
    std::vector<SampledPart> parts(at(*std::max_element(block.begin(), block.end()) + 1));
    std::vector<std::int32_t> place(at(p.cols)); // of a column in its block
    PolledSteps steps;
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

std::vector<SampledPart> sampled_parts(const InputPattern &input, const Values &values) {
    check(input, values);
    Charge charge;
    Weighted a = weighted(input, values, charge);
    if (a.pattern.one_sided) {
        if (!has_perfect_matching(a.pattern)) throw nothing_to_sample();
        if (a.pattern.rows == 0) return {};
        std::vector<SampledPart> whole(1); // whose parts hang together in the tape's tree alone
        whole[0] = {std::move(a.pattern), std::move(a.entries), std::move(a.row), std::move(a.column)};
        return whole;
    }
    const Matching perfect = maximum_matching(a.pattern);
    if (perfect.size < a.pattern.rows) throw nothing_to_sample();
    const Charge of_parts(&call().memory(), a.pattern.nnz() * SampledPart::entry_bytes);
    return parts_of(a, perfect, input);
}

} // namespace libperm
