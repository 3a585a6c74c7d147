// Plain matrices of equal cells: found again where they are, entry by entry, and computed as those that are
// taken apart.
#include "lib/execute/execute.hpp"
#include "lib/periodic/cell/found_cells.hpp"
#include "lib/run/call.hpp"
#include "tests/support/exactly.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/unrolled.hpp"

#include "bench/families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>

using namespace libperm;
using perm::families::Random;

namespace {

std::uint64_t test_seed() { return run::seed(0x7265636f); }

struct Plain {
    Pattern pattern;
    Values values;
    bool is_complex = false;
};

enum class Kind { ones, integers, fractions, complex };

Gaussian any_value(Kind kind, Random &random) {
    if (kind == Kind::ones) return {1, 0};
    const auto part = [&] { return mpq_class(random.integer(1, 4) * (random.uniform() < 0.3 ? -1 : 1)); };
    if (kind == Kind::complex) return {part(), part()};
    return {kind == Kind::integers ? part() : mpq_class(part() / 3), 0};
}

// A cell whose diagonal is there, so that there is a permutation, and a way to the next cell.
PeriodicMatrix any_cell(Random &random, Kind kind, bool joined) {
    PeriodicMatrix a;
    a.rows = static_cast<std::int32_t>(random.integer(1, 4));
    a.reach = a.rows == 1 ? 2 : 1;
    a.joined = joined;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int32_t cell = -a.reach; cell <= a.reach; ++cell)
            for (std::int32_t j = 0; j < a.rows; ++j)
                if ((cell == 0 && i == j) || (cell == 1 && i + j == 0) ||
                    random.uniform() < (a.rows > 1 ? 0.25 : 0.7)) {
                    a.entries.push_back({i, j, cell});
                    a.values.push_back(any_value(kind, random));
                }
    return a;
}

std::int64_t length_of(const PeriodicMatrix &a) { // for so many entries that it is looked at
    return 4400 / static_cast<std::int64_t>(a.entries.size()) + 20;
}

Plain plain_of(const PeriodicMatrix &a, std::int64_t length) {
    Unrolled u = unrolled(a, length);
    Plain out{std::move(u.pattern), {}, false};
    const bool are_real =
        std::ranges::all_of(u.values, [](const Gaussian &x) { return is_real(x) && x.re.get_den() == 1; });
    for (Gaussian &x : u.values) {
        out.is_complex = out.is_complex || !is_real(x);
        if (are_real)
            out.values.real.push_back(x.re.get_d());
        else
            out.values.wide.push_back(std::move(x));
    }
    return out;
}

void set(Plain &a, std::int64_t entry, const Gaussian &value) {
    if (a.values.wide.empty())
        a.values.real[static_cast<std::size_t>(entry)] = value.re.get_d();
    else
        a.values.wide[static_cast<std::size_t>(entry)] = value;
}

// Those of the first and of the last rows, some of them.
void change_ends(Plain &a, Kind kind, Random &random) {
    const std::int32_t n = a.pattern.rows;
    for (int k = 0; k < 3; ++k)
        for (const std::int64_t row : {random.integer(0, 4), n - 1 - random.integer(0, 4)}) {
            const auto i = static_cast<std::int32_t>(row);
            set(a, random.integer(a.pattern.row_begin(i), a.pattern.row_begin(i + 1) - 1),
                any_value(kind, random));
        }
}

bool equal(const Plain &a, const Unrolled &b, std::int64_t shift) {
    if (a.pattern.row_ptr != b.pattern.row_ptr) return false;
    const std::int64_t n = a.pattern.rows;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int64_t k = a.pattern.row_begin(i); k < a.pattern.row_begin(i + 1); ++k) {
            const std::int64_t column = (a.pattern.col[static_cast<std::size_t>(k)] + n - shift) % n;
            const auto row = b.pattern.row(i);
            const auto place = std::ranges::find(row, static_cast<std::int32_t>(column));
            if (place == row.end()) return false;
            const Gaussian &value =
                b.values[static_cast<std::size_t>(b.pattern.row_begin(i) + (place - row.begin()))];
            const Gaussian own = a.values.wide.empty()
                                     ? Gaussian{mpq_class(a.values.real[static_cast<std::size_t>(k)]), 0}
                                     : a.values.wide[static_cast<std::size_t>(k)];
            if (!(own == value)) return false;
        }
    return true;
}

bool equal_but_for_shift(const Plain &a, const RecognizedCells &found) {
    const Unrolled b = unrolled(found.matrix, found.length);
    for (std::int64_t shift = found.matrix.joined ? -8 : 0; shift <= (found.matrix.joined ? 8 : 0); ++shift)
        if (equal(a, b, (shift + a.pattern.rows) % a.pattern.rows)) return true;
    return false;
}

Outcome computed(const Plain &a, const char *precision, const char *without, bool *is_periodic = nullptr) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = precision;
    opts.without = without;
    const Options options = read_options(&opts);
    CurrentCall control(options);
    InputPattern input;
    input.pattern = a.pattern;
    input.value_type = a.is_complex ? PERM_VALUE_C128 : PERM_VALUE_TEXT;
    const Plan plan = make_plan(input, options, a.values);
    if (is_periodic) *is_periodic = plan.repeated != nullptr;
    return execute(plan, a.values);
}

Gaussian value_of(const Outcome &outcome) {
    return outcome.wide ? *outcome.wide : Gaussian{exactly(outcome.value), 0};
}

void check_bound(const Outcome &outcome, const Gaussian &truth) {
    const Gaussian value = value_of(outcome);
    const mpq_class re = value.re - truth.re, im = value.im - truth.im, error = exactly(outcome.error);
    CHECK(re * re + im * im <= error * error);
}

} // namespace

TEST_CASE("cells that were written out are found again") {
    Random random(test_seed());
    int found_as = 0, of_ends = 0, joined_ones = 0;
    for (int trial = 0; trial < run::cases(120); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Kind>(trial % 4);
        const bool joined = trial % 3 == 0, with_ends = trial % 3 == 1 && kind != Kind::ones;
        const PeriodicMatrix a = any_cell(random, kind, joined);
        Plain plain = plain_of(a, length_of(a));
        if (with_ends) change_ends(plain, kind, random);
        const auto found = recognized_cells(plain.pattern, plain.values);
        REQUIRE(found);
        CHECK(equal_but_for_shift(plain, *found));
        CHECK(a.rows % found->matrix.rows == 0); // it may be several equal ones
        ++found_as;
        of_ends += found->matrix.head.rows + found->matrix.tail.rows > 0;
        joined_ones += found->matrix.joined;
        // An entry in the middle that is another.
        if (kind != Kind::ones) {
            const std::int32_t i = plain.pattern.rows / 3;
            set(plain, plain.pattern.row_begin(i), {7, 0});
            CHECK(!recognized_cells(plain.pattern, plain.values));
        }
    }
    CHECK(found_as > run::enough(20));
    CHECK(of_ends > run::enough(5));
    CHECK(joined_ones > run::enough(5));
}

TEST_CASE("permanents of long matrices of equal cells are those of the blocks' engines") {
    Random random(test_seed() + 1);
    int compared = 0;
    for (int trial = 0; trial < run::cases(24); ++trial) {
        CAPTURE(trial);
        const auto kind = static_cast<Kind>(trial % 4);
        const PeriodicMatrix a = any_cell(random, kind, trial % 3 == 0);
        Plain plain = plain_of(a, length_of(a));
        if (trial % 3 == 1 && kind != Kind::ones) change_ends(plain, kind, random);
        bool is_periodic = false;
        const Outcome exact = computed(plain, "exact", nullptr, &is_periodic);
        if (!is_periodic) continue; // the reductions leave nothing
        CHECK(exact.engine == Engine::periodic);
        CHECK(exact.exact);
        const Outcome in_blocks = computed(plain, "exact", "periodic");
        CHECK(in_blocks.engine != Engine::periodic);
        CHECK(value_of(exact) == value_of(in_blocks));
        compared += !is_zero(value_of(exact));
        check_bound(computed(plain, "double", nullptr), value_of(exact));
        check_bound(computed(plain, "dd", nullptr), value_of(exact));
        const Outcome automatic = computed(plain, nullptr, nullptr);
        check_bound(automatic, value_of(exact));
        CHECK((automatic.exact || automatic.rel_error_bound <= 1e-9 || is_zero(value_of(exact))));
    }
    CHECK(compared > run::enough(8));
}
