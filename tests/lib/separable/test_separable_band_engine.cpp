// Engine `separable` where a band is arbitrary, as callers meet it: every kind of number, explained and saved
// plans, and plans that are forged.
#include "bench/families.hpp"
#include "lib/base/archive.hpp"
#include "lib/saved/plan.hpp"
#include "tests/support/check.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using namespace perm::families;
using oracle::Exact;

namespace {

Exact exact_number(const std::string &text) { return Exact(mpq_class(text)); }

perm_opts by(const char *engine, const char *precision) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = engine;
    opts.precision = precision;
    opts.device = "cpu";
    return opts;
}

// |i - j| + 1 but for entries of the band, which are not 0.
Dense distances(std::int64_t n, libperm::Band band, Random &random) {
    Dense dense;
    for (std::int64_t i = 0; i < n; ++i) {
        dense.emplace_back();
        for (std::int64_t j = 0; j < n; ++j) {
            const bool is_near = std::max(j - i, std::int64_t{0}) <= static_cast<std::int64_t>(band.above) &&
                                 std::max(i - j, std::int64_t{0}) <= static_cast<std::int64_t>(band.below);
            dense.back().push_back(is_near ? random_entry(Entries::integers, random)
                                           : static_cast<double>(std::abs(i - j) + 1));
        }
    }
    return dense;
}

Dense minor_of(const Dense &a, std::size_t row, std::size_t col) {
    Dense minor;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (i == row) continue;
        minor.push_back(a[i]);
        minor.back().erase(minor.back().begin() + static_cast<std::ptrdiff_t>(col));
    }
    return minor;
}

Exact by_separable(const Dense &dense) {
    perm::Result r = perm::compute(from_dense(dense), by("auto", "exact"));
    CHECK(std::string(r->engine) == "separable");
    return exact_number(r.text());
}

perm_csr with_values(const perm::Csr &a, perm_value_type type, const void *values) {
    perm_csr view = a.view();
    view.value_type = type;
    view.values = values;
    return view;
}

// Of a full block.
libperm::BlockLines lines_of(std::int64_t n, const libperm::Separable &separable) {
    libperm::BlockLines lines;
    lines.pattern = pattern_of(constant(n, 1));
    lines.structure.separable = separable;
    return lines;
}

} // namespace

TEST_CASE("distances but for a band, in every kind of number, against the tree") {
    Random random(run::seed(0x62656e31));
    for (const libperm::Band &band : {libperm::Band{2, 1}, libperm::Band{1, 3}}) {
        const Dense dense = distances(24, band, random);
        const perm::Csr a = from_dense(dense);
        CAPTURE(describe(a));
        const Exact truth = exact_number(perm::compute(a, by("tree", "exact")).text());
        CHECK(by_separable(dense) == truth);
        Dense reversed = dense;
        for (std::vector<double> &row : reversed) std::reverse(row.begin(), row.end());
        CHECK(by_separable(reversed) == truth);

        perm::Csr eighths = a;
        for (double &x : eighths.values) x /= 8;
        mpz_class power;
        mpz_ui_pow_ui(power.get_mpz_t(), 8, 24);
        check_result(*perm::compute(eighths, by("separable", "double")).raw(), truth / Exact(power));

        std::vector<std::string> thirds;
        std::vector<const char *> texts;
        std::vector<double> pairs; // times 1 + i, whose 24th power is 4096
        for (const double x : a.values) {
            thirds.push_back(std::to_string(static_cast<int>(x)) + "/3");
            pairs.insert(pairs.end(), {x, x});
        }
        for (const std::string &x : thirds) texts.push_back(x.c_str());
        mpz_ui_pow_ui(power.get_mpz_t(), 3, 24);
        perm::Result fraction =
            perm::compute(with_values(a, PERM_VALUE_TEXT, texts.data()), by("separable", "exact"));
        CHECK(exact_number(fraction.text()) == truth / Exact(power));
        perm::Result complex =
            perm::compute(with_values(a, PERM_VALUE_C128, pairs.data()), by("separable", "exact"));
        CHECK(exact_number(complex.text()) == truth * 4096);
        perm::Result residue = perm::compute(a, by("separable", "mod:1000003"));
        mpz_class rest;
        mpz_fdiv_r_ui(rest.get_mpz_t(), truth.get_num_mpz_t(), 1000003);
        CHECK(exact_number(residue.text()) == Exact(rest));
    }
}

TEST_CASE("exact permanents are affine in an entry of the band") {
    Random random(run::seed(0x62656e32));
    for (int k = 0; k < run::cases(3); ++k) {
        const std::int64_t n = random.integer(30, 44);
        Dense dense = distances(n, {1, 1}, random);
        const auto row = static_cast<std::size_t>(random.integer(1, n - 2)), col = row + 1;
        const Exact whole = by_separable(dense);
        const double entry = dense[row][col];
        dense[row][col] = 0;
        CHECK(whole == by_separable(dense) + entry * by_separable(minor_of(dense, row, col)));
    }
}

TEST_CASE("plans with a band: explained, saved, shared out, and executed with other numbers") {
    Random random(run::seed(0x62656e33));
    const Dense dense = distances(28, {2, 1}, random);
    const perm::Csr a = from_dense(dense);
    const perm_opts opts = by("auto", "exact");
    const perm::Plan plan(a, opts);
    CHECK(plan.explain().find("values: of rank 2 above and 2 below a band, the diagonals -1 to 2") !=
          std::string::npos);
    perm::Result whole = plan.execute(a.values.data());
    CHECK(std::string(whole->engine) == "separable");
    const std::string bytes = plan.save();
    const perm::Plan loaded = perm::Plan::load(bytes, opts);
    CHECK(loaded.save() == bytes);
    CHECK(loaded.explain() == plan.explain());
    CHECK(std::string(loaded.execute(a.values.data()).text()) == whole.text());
    const perm::Task task = perm::Task::plan(loaded, a.values.data());
    std::vector<std::string> parts;
    for (std::int64_t k = 0; k < task.shards(); ++k) parts.push_back(task.run_shard(k));
    CHECK(std::string(task.combine(parts).front().text()) == whole.text());
    // Another band of the same width, and entries beyond it that are of no low rank.
    for (const bool is_near : {true, false}) {
        perm::Csr other = from_dense(distances(28, {2, 1}, random));
        if (!is_near)
            for (double &x : other.values)
                x = random_entry(Entries::ones, random) + (random.chance(0.02) ? 1 : 0);
        perm::Result r = loaded.execute(other.values.data());
        CHECK(std::string(r.text()) == perm::compute(other, opts).text());
        CHECK((std::string(r->engine) == "separable") == is_near);
    }
}

TEST_CASE("forged bands are refused") {
    constexpr std::int64_t n = 24;
    libperm::Separable genuine{libperm::order_as_given(n), 2, 2, {1, 3}};
    check_lines(lines_of(n, genuine));
    for (const libperm::Band &band : {libperm::Band{libperm::most_band + 1, 0}, libperm::Band{0, SIZE_MAX}}) {
        libperm::Separable forged = genuine;
        forged.band = band;
        CHECK_THROWS_AS(check_lines(lines_of(n, forged)), libperm::DamagedField);
    }
    // Rows and columns that come by turns have no band.
    libperm::Separable by_turns = genuine;
    by_turns.order.rows.insert(by_turns.order.rows.begin(), libperm::no_line);
    by_turns.order.cols.push_back(libperm::no_line);
    CHECK_THROWS_AS(check_lines(lines_of(n, by_turns)), libperm::DamagedField);
    by_turns.band = {};
    check_lines(lines_of(n, by_turns));
}
