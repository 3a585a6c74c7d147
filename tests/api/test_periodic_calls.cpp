// perm_periodic_*: known sequences and closed forms, what is refused and how it is told, and the option
// mod:P.
#include "bench/families.hpp"
#include "tests/support/run.hpp"

#include <perm.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace {

std::vector<std::string> terms(const std::string &lattice, bool joined, std::int64_t first,
                               std::int64_t count) {
    const perm::Csr cell = perm::lattice_cell(lattice);
    std::vector<std::string> texts;
    for (const perm::Result &r : perm::Periodic(cell.view(), joined).terms(first, count)) {
        CHECK(r->exact == 1);
        texts.push_back(r.text());
    }
    return texts;
}

using Texts = std::vector<std::string>;

perm_status status_of(const perm_periodic &a, const perm_opts *opts = nullptr) {
    perm_periodic_plan *plan = nullptr;
    const perm_status status = perm_periodic_create(&a, opts, &plan);
    CHECK((plan != nullptr) == (status == PERM_OK));
    perm_periodic_destroy(plan);
    return status;
}

// Kasteleyn, Physica 27 (1961): the matchings of a grid of w x h vertices.
double grid_matchings(int w, int h) {
    double log_product = 0;
    const auto cosine = [](int k, int n) { return 2 * std::cos(std::numbers::pi * k / (n + 1)); };
    for (int j = 1; j <= w; ++j)
        for (int k = 1; k <= h; ++k)
            log_product += std::log(cosine(j, w) * cosine(j, w) + cosine(k, h) * cosine(k, h)) / 4;
    return log_product;
}

} // namespace

TEST_CASE("sequences of the OEIS") {
    CHECK(terms("grid:3x4", false, 0, 7) ==
          Texts{"1", "11", "1845", "117805", "10885344", "858626465", "72926048233"}); // A028453
    CHECK(terms("grid:2x3", false, 0, 7) ==
          Texts{"1", "3", "32", "229", "1845", "14320", "112485"});                                // A028447
    CHECK(terms("ring:4", false, 0, 7) == Texts{"1", "2", "9", "32", "121", "450", "1681"});       // A006253
    CHECK(terms("circulant:5", true, 5, 6) == Texts{"120", "265", "579", "1265", "2783", "6208"}); // A000804
    CHECK(terms("circulant:6", true, 6, 5) == Texts{"720", "1854", "4738", "12072", "30818"});     // A000805
    CHECK(terms("toeplitz:4,4", false, 4, 7) ==
          Texts{"24", "120", "504", "1902", "6902", "25231", "95401"}); // A072856
    const Texts tori{"8", "272", "90176", "311853312"};                 // A335586
    for (std::int64_t n = 1; n <= 4; ++n)
        CHECK(terms("ring:" + std::to_string(2 * n), true, 2 * n, 1).front() ==
              tori[static_cast<std::size_t>(n - 1)]);
}

TEST_CASE("cells by name: counts, then arrays") {
    perm_csr cell = PERM_CSR_INIT;
    REQUIRE(perm_periodic_lattice("ring:2", &cell, nullptr, nullptr, nullptr) == PERM_OK);
    CHECK(cell.n_rows == 1);
    CHECK(cell.n_cols == 3);
    CHECK(cell.nnz == 3);
    CHECK(cell.row_ptr == nullptr);
    CHECK(cell.col_idx == nullptr);
    CHECK(cell.values == nullptr);
    std::int64_t row_ptr[2], col_idx[3], values[3];
    REQUIRE(perm_periodic_lattice("ring:2", &cell, row_ptr, col_idx, values) == PERM_OK);
    CHECK(std::vector(row_ptr, row_ptr + 2) == std::vector<std::int64_t>{0, 3});
    CHECK(std::vector(col_idx, col_idx + 3) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(std::vector(values, values + 3) == std::vector<std::int64_t>{1, 2, 1}); // two edges around
    CHECK(cell.row_ptr == row_ptr);
    CHECK(cell.col_idx == col_idx);
    CHECK(cell.values == values);
    CHECK(cell.index_type == PERM_INDEX_I64);
    CHECK(cell.value_type == PERM_VALUE_I64);
    CHECK(perm::Periodic(cell, true).execute(2).text() == "8");
    CHECK(perm::Periodic::lattice("ring:4", true).execute(4).text() == "272");
    const perm::Csr toeplitz = perm::lattice_cell("toeplitz:1,3");
    CHECK(toeplitz.n_rows == 1);
    CHECK(toeplitz.n_cols == 7);
    CHECK(toeplitz.col_idx == std::vector<std::int64_t>{2, 3, 4, 5, 6});
}

TEST_CASE("cells by name: what is refused, and nothing is written then") {
    perm_csr cell = PERM_CSR_INIT;
    std::int64_t numbers[8] = {};
    CHECK(perm_periodic_lattice(nullptr, &cell, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_periodic_lattice("grid:4", nullptr, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_periodic_lattice("ring:2", &cell, numbers, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_periodic_lattice("ring:2", &cell, numbers, numbers + 2, numbers + 5) == PERM_BAD_ARGUMENT);
    CHECK(std::string(perm_last_error()).find("without them first") != std::string::npos);
    for (const char *name : {"", "grid", "grid:", "grid:0", "grid:1025", "grid:3x", "grid:3x4x5", "cube:3",
                             "toeplitz:3", "circulant:-1", "hexagonal:2x2", "grid:4 "}) {
        CAPTURE(name);
        CHECK(perm_periodic_lattice(name, &cell, nullptr, nullptr, nullptr) == PERM_BAD_OPTION);
        CHECK(std::string(perm_last_error()).find("use grid:W, grid:AxB, ring:W") != std::string::npos);
    }
    CHECK(perm_periodic_lattice("ring:3", &cell, nullptr, nullptr, nullptr) == PERM_BAD_OPTION);
    CHECK(std::string(perm_last_error()).find("no two colours") != std::string::npos);
    CHECK(perm_periodic_lattice("grid:64x65", &cell, nullptr, nullptr, nullptr) == PERM_BAD_OPTION);
    CHECK(std::string(perm_last_error()).find("4160 sites, of which 4096 are the most") != std::string::npos);
    CHECK(cell.n_rows == 0);
    CHECK(cell.nnz == 0);
    CHECK(std::ranges::count(numbers, 0) == 8);
    cell.struct_size = 8;
    CHECK(perm_periodic_lattice("ring:2", &cell, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
}

TEST_CASE("cells by name: any text is a cell, or refused") {
    perm::families::Random random(20261);
    int cells = 0;
    for (int k = 0; k < run::cases(4000); ++k) {
        static const std::string kinds[] = {
            "grid:", "ring:", "hexagonal:", "circulant:", "toeplitz:", "grid", ""};
        static const std::string others = "0123456789x,:-+ .grid";
        std::string name = kinds[random.integer(0, 6)];
        for (std::int64_t length = random.integer(0, 5); length > 0; --length)
            name += others[static_cast<std::size_t>(
                random.integer(0, 1) ? random.integer(0, 10) : random.integer(0, std::ssize(others) - 1))];
        CAPTURE(name);
        perm_csr cell = PERM_CSR_INIT;
        const perm_status status = perm_periodic_lattice(name.c_str(), &cell, nullptr, nullptr, nullptr);
        if (status != PERM_OK) {
            REQUIRE(status == PERM_BAD_OPTION);
            continue;
        }
        ++cells;
        const perm::Csr found = perm::lattice_cell(name);
        REQUIRE(found.n_cols % found.n_rows == 0);
        REQUIRE(found.n_cols / found.n_rows % 2 == 1);
        REQUIRE(found.row_ptr.back() == std::ssize(found.col_idx));
        for (std::size_t i = 0; i + 1 < found.row_ptr.size(); ++i) {
            const auto begin = found.col_idx.begin() + found.row_ptr[i],
                       end = found.col_idx.begin() + found.row_ptr[i + 1];
            REQUIRE(begin < end);
            REQUIRE(std::adjacent_find(begin, end, std::greater_equal<>()) == end);
            REQUIRE((*begin >= 0 && *(end - 1) < found.n_cols));
        }
        REQUIRE(std::ranges::all_of(found.values, [](double x) { return x == 1 || x == 2; }));
    }
    CHECK(cells > run::enough(200));
}

TEST_CASE("strips of the square lattice: Kasteleyn's product, and Lieb's limit") {
    for (const int width : {2, 3, 4, 5, 8}) {
        const perm::Csr cell = perm::lattice_cell("grid:" + std::to_string(width));
        const perm::Periodic plan(cell.view());
        const int layers = width % 2 == 0 ? 1 : 2;
        for (const int length : {1, 7, 40}) {
            const perm::Result r = plan.execute(length);
            const double log_value = std::log(r->mantissa_re) + static_cast<double>(r->exp2) * std::log(2.0);
            CHECK(log_value == doctest::Approx(grid_matchings(width, layers * length)).epsilon(1e-11));
        }
        // Per layer: the product of the larger roots, Lieb, J. Math. Phys. 8 (1967).
        double log_growth = 0;
        for (int k = 1; k <= width / 2; ++k) {
            const double c = std::cos(std::numbers::pi * k / (width + 1));
            log_growth += std::log(c + std::sqrt(1 + c * c));
        }
        const auto growth = plan.growth();
        const double truth = std::exp(layers * log_growth);
        CHECK(growth.lower <= truth * (1 + 1e-14));
        CHECK(growth.upper >= truth * (1 - 1e-14));
        CHECK(growth.upper - growth.lower <= 1e-12 * truth);
    }
}

TEST_CASE("the recurrence of 3 x 4 x n has order 265, and is proven") {
    const perm::Csr cell = perm::lattice_cell("grid:3x4");
    const std::string text = perm::Periodic(cell.view()).generating_function(PERM_FORMAT_JSON);
    CHECK(text.find("\"order\": 265") != text.npos);
    CHECK(text.find("\"proven\": true") != text.npos);
}

TEST_CASE("far out: modulo a prime, and in numbers with exponents") {
    const perm::Csr cell = perm::lattice_cell("grid:8");
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = "mod:1000000007";
    const perm::Periodic modular(cell.view(), false, opts);
    // Fibonacci's numbers, the strips of width 2, by doubling.
    const perm::Csr ladder = perm::lattice_cell("grid:2");
    const std::uint64_t p = 1000000007, n = 1000000000000000;
    std::uint64_t a = 0, b = 1; // F(0), F(1)
    for (int bit = 62; bit >= 0; --bit) {
        const std::uint64_t twice = a * ((2 * b + p - a) % p) % p, next = (a * a + b * b) % p;
        a = twice;
        b = next;
        if (((n + 1) >> bit & 1) == 0) continue;
        const std::uint64_t sum = (a + b) % p;
        a = b;
        b = sum;
    }
    CHECK(perm::Periodic(ladder.view(), false, opts).execute(static_cast<std::int64_t>(n)).text() ==
          std::to_string(a));
    CHECK(modular.execute(40).text() == [&] {
        perm_opts exact = PERM_OPTS_INIT;
        exact.precision = "exact";
        const std::string all = perm::Periodic(cell.view(), false, exact).execute(40).text();
        std::uint64_t residue = 0;
        for (const char digit : all) residue = (residue * 10 + static_cast<std::uint64_t>(digit - '0')) % p;
        return std::to_string(residue);
    }());
    opts.precision = nullptr;
    const perm::Result far = perm::Periodic(ladder.view(), false, opts).execute(static_cast<std::int64_t>(n));
    CHECK(far->tolerance_met == 1);
    CHECK(static_cast<double>(far->exp2) ==
          doctest::Approx(1e15 * std::log2(std::numbers::phi)).epsilon(1e-12));
}

TEST_CASE("mod:P of plain matrices: the residue of the exact permanent") {
    perm::Csr a;
    a.n_rows = a.n_cols = 9;
    for (std::int64_t i = 0; i < 9; ++i) {
        for (std::int64_t j = 0; j < 9; ++j) {
            a.col_idx.push_back(j);
            a.values.push_back(static_cast<double>((3 * i + 5 * j) % 7) - 2);
        }
        a.row_ptr.push_back(static_cast<std::int64_t>(a.col_idx.size()));
    }
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = "exact";
    const std::int64_t exact = std::stoll(perm::compute(a, opts).text());
    for (const char *engine : {"auto", "frontier", "ryser", "tree"})
        for (const std::int64_t p : {3, 101, 1000003}) {
            const std::string precision = "mod:" + std::to_string(p);
            opts.engine = engine;
            opts.precision = precision.c_str();
            const perm::Result r = perm::compute(a, opts);
            CHECK(r.text() == std::to_string((exact % p + p) % p));
            CHECK(r->exact == 1);
            CHECK(perm::Plan(a, opts).execute(a.values.data()).text() == r.text());
        }
    // 1/2 is 51 modulo 101, and has no value modulo 2^k's own prime 2; of a denominator's prime there is
    // none.
    perm_csr one = PERM_CSR_INIT;
    const std::int64_t row_ptr[] = {0, 1}, col[] = {0};
    const char *half[] = {"1/6"};
    one.n_rows = one.n_cols = one.nnz = 1;
    one.row_ptr = row_ptr;
    one.col_idx = col;
    one.values = half;
    one.value_type = PERM_VALUE_TEXT;
    opts.engine = nullptr;
    opts.precision = "mod:101";
    CHECK(perm::compute(one, opts).text() == "17"); // 6 * 17 = 102
    perm_result r = PERM_RESULT_INIT;
    opts.precision = "mod:3";
    CHECK(perm_compute(&one, &opts, &r) == PERM_BAD_OPTION);
    for (const char *bad :
         {"mod:", "mod:1", "mod:2", "mod:9", "mod:4611686018427387905", "mod:7x", "mod:-7"}) {
        opts.precision = bad;
        CHECK(perm_compute(&one, &opts, &r) == PERM_BAD_OPTION);
    }
}

TEST_CASE("exact: the bits that a number has, and the time that many of them take") {
    // Ones on and above the diagonal: 1, of however many cells.
    const perm::Csr triangle = perm::lattice_cell("toeplitz:0,1");
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = "exact";
    CHECK(perm::Periodic(triangle.view(), false, opts).execute(1000000000000).text() == "1");
    // Putting together a number of 7 * 10^8 bits takes hours.
    const perm::Csr ladder = perm::lattice_cell("grid:2");
    CHECK(perm::Periodic(ladder.view()).execute(1000000000)->exact == 0);
    // The denominators count: some 2000 bits a cell.
    const std::int64_t row_ptr[] = {0, 3}, columns[] = {0, 1, 2};
    const double wide[] = {1e-300, 1, 1e300};
    perm_csr cell = PERM_CSR_INIT;
    cell.n_rows = 1;
    cell.n_cols = cell.nnz = 3;
    cell.row_ptr = row_ptr;
    cell.col_idx = columns;
    cell.values = wide;
    opts.time_limit_seconds = 50;
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &cell;
    perm_periodic_plan *plan = nullptr;
    REQUIRE(perm_periodic_create(&a, &opts, &plan) == PERM_OK);
    perm_result r = PERM_RESULT_INIT;
    CHECK(perm_periodic_execute(plan, 300000, &r) == PERM_REFUSED_TIME);
    CHECK(std::string(perm_last_error()).find("predicted") != std::string::npos);
    perm_periodic_destroy(plan);
}

TEST_CASE("what is no periodic matrix is refused with a text that says why") {
    const perm::Csr cell = perm::lattice_cell("grid:4");
    const perm_csr view = cell.view();
    perm_periodic a = PERM_PERIODIC_INIT;
    CHECK(perm_periodic_create(nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(status_of(a) == PERM_BAD_ARGUMENT); // no cell
    a.cell = &view;
    CHECK(status_of(a) == PERM_OK);
    a.reserved = 1;
    CHECK(status_of(a) == PERM_BAD_ARGUMENT);
    a.reserved = 0;
    a.joined = 2;
    CHECK(status_of(a) == PERM_BAD_ARGUMENT);
    a.joined = 1;
    a.head = &view;
    CHECK(status_of(a) == PERM_BAD_MATRIX);
    a.joined = 0;
    CHECK(status_of(a) == PERM_BAD_MATRIX); // 2 rows, 6 columns: 4 more than there are cells near
    a.head = nullptr;

    perm_csr wide = view; // 2 x 4: not 2 (2 d + 1)
    wide.n_cols = 4;
    wide.nnz = 0;
    const std::int64_t nothing[] = {0, 0, 0};
    wide.row_ptr = nothing;
    a.cell = &wide;
    CHECK(status_of(a) == PERM_BAD_MATRIX);
    CHECK(std::string(perm_last_error()).find("the cell has 2 rows and 4 columns") != std::string::npos);
    wide.n_rows = 0;
    wide.n_cols = 0;
    CHECK(status_of(a) == PERM_BAD_MATRIX);

    const perm::Csr many = perm::lattice_cell("grid:300");
    const perm_csr many_view = many.view();
    a.cell = &many_view;
    CHECK(status_of(a) == PERM_REFUSED_MEMORY);
    CHECK(std::string(perm_last_error()).find("take smaller cells") != std::string::npos);

    a.cell = &view;
    perm_opts opts = PERM_OPTS_INIT;
    opts.device = "gpu"; // open ends that are written out are the processor's
    {
        const perm::Periodic plan(view, false, opts);
        CHECK_THROWS_AS(plan.execute(3), perm::Error);
    }
    opts = PERM_OPTS_INIT;
    opts.engine = "ryser";
    CHECK(status_of(a, &opts) == PERM_UNSUPPORTED);
    opts = PERM_OPTS_INIT;
    opts.precision = "kahan";
    {
        const perm::Periodic plan(view, false, opts);
        CHECK_THROWS_AS(plan.execute(3), perm::Error);
    }
    const perm::Periodic open(view), joined(view, true);
    perm_result r = PERM_RESULT_INIT;
    for (const std::int64_t length : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()})
        CHECK_THROWS_AS(open.execute(length), perm::Error);
    CHECK(open.execute(0).text() == "1");
    CHECK_THROWS_AS(joined.execute(0), perm::Error);
    CHECK(joined.execute(1)->exact == 1);
    CHECK_THROWS_AS(open.terms(1, std::numeric_limits<std::int64_t>::max()), std::exception);
    CHECK(perm_periodic_terms(nullptr, 1, 1, &r) == PERM_BAD_ARGUMENT);
    CHECK(perm_periodic_terms(nullptr, 1, 1, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_periodic_execute(nullptr, 1, &r) == PERM_BAD_ARGUMENT);
    CHECK(perm_periodic_growth(nullptr, nullptr, nullptr, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_periodic_explain(nullptr, PERM_FORMAT_TEXT, nullptr, 0, nullptr) == PERM_BAD_ARGUMENT);
    CHECK(perm_periodic_destroy(nullptr) == PERM_OK);
}

TEST_CASE("limits: states beyond memory, time, and a caller who has changed his mind") {
    const perm::Csr bar = perm::lattice_cell("grid:6x6");
    const perm_csr view = bar.view();
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &view;
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 50 << 20;
    opts.device = "cpu";
    CHECK(status_of(a, &opts) == PERM_REFUSED_MEMORY);
    CHECK(std::string(perm_last_error()).find("is predicted to have") != std::string::npos);
    a.joined = 1; // 2^36 states to begin with
    CHECK(status_of(a, &opts) == PERM_REFUSED_MEMORY);
    CHECK(std::string(perm_last_error()).find("36") != std::string::npos);

    // The states themselves count before they are made, 2^25 of them.
    const perm::Csr circulant = perm::lattice_cell("circulant:26");
    const perm_csr circulant_view = circulant.view();
    a.cell = &circulant_view;
    CHECK(status_of(a, &opts) == PERM_REFUSED_MEMORY);
    CHECK(std::string(perm_last_error()).find("1.06 GB") != std::string::npos);
    // A step for each of the 10^7 cells that the first entry lies before.
    const std::int64_t row_ptr[] = {0, 1}, column = 0;
    const double one = 1;
    perm_csr far = PERM_CSR_INIT;
    far.n_rows = far.nnz = 1;
    far.n_cols = 20000001;
    far.row_ptr = row_ptr;
    far.col_idx = &column;
    far.values = &one;
    a.cell = &far;
    a.joined = 0;
    CHECK(status_of(a, &opts) == PERM_REFUSED_MEMORY);

    const perm::Csr strip = perm::lattice_cell("grid:10");
    opts = PERM_OPTS_INIT;
    opts.time_limit_seconds = 50;
    opts.precision = "exact";
    const perm::Periodic limited(strip.view(), false, opts);
    perm_periodic_plan *plan = nullptr;
    const perm_csr strip_view = strip.view();
    a = PERM_PERIODIC_INIT;
    a.cell = &strip_view;
    REQUIRE(perm_periodic_create(&a, &opts, &plan) == PERM_OK);
    perm_result r = PERM_RESULT_INIT;
    CHECK(perm_periodic_execute(plan, 100000000, &r) == PERM_REFUSED_TIME);
    CHECK(std::string(perm_last_error()).find("predicted") != std::string::npos);
    perm_periodic_destroy(plan);

    opts = PERM_OPTS_INIT;
    int calls = 0;
    opts.cancel_user = &calls;
    opts.cancel = [](void *user) { return ++*static_cast<int *>(user) > 3 ? 1 : 0; };
    opts.precision = "double";
    const perm::Csr wide = perm::lattice_cell("grid:14");
    const perm_csr wide_view = wide.view();
    a.cell = &wide_view;
    const perm_status made = perm_periodic_create(&a, &opts, &plan);
    if (made == PERM_OK) {
        CHECK(perm_periodic_execute(plan, 3000000, &r) == PERM_CANCELLED);
        perm_periodic_destroy(plan);
    } else {
        CHECK(made == PERM_CANCELLED);
    }
}

TEST_CASE("a call stops soon once its caller has changed his mind") {
    using Clock = std::chrono::steady_clock;
    struct Patience {
        Clock::time_point end;
    } patience{Clock::time_point::max()};
    perm_opts opts = PERM_OPTS_INIT;
    opts.cancel_user = &patience;
    opts.cancel = [](void *user) { return Clock::now() > static_cast<Patience *>(user)->end ? 1 : 0; };
    opts.precision = "double";
    opts.time_limit_seconds = 1e9;
    const auto after = [&](const auto &call) {
        patience.end = Clock::now() + std::chrono::milliseconds(300);
        CHECK(call() == PERM_CANCELLED);
        const double late = std::chrono::duration<double>(Clock::now() - patience.end).count();
        patience.end = Clock::time_point::max();
        return late;
    };
    perm_periodic a = PERM_PERIODIC_INIT;
    perm_periodic_plan *plan = nullptr;
    {
        const perm::Csr bar = perm::lattice_cell("grid:16"); // to be squared: row by row it is written out
        const perm_csr view = bar.view();
        a.cell = &view;
        REQUIRE(perm_periodic_create(&a, &opts, &plan) == PERM_OK);
        perm_result r = PERM_RESULT_INIT;
        CHECK(after([&] { return perm_periodic_execute(plan, std::int64_t{1} << 50, &r); }) < 30); // of hours
        perm_periodic_destroy(plan);
    }
    {
        const perm::Csr ladder = perm::lattice_cell("grid:2"); // terms whose texts take longer than they do
        const perm_csr view = ladder.view();
        a.cell = &view;
        const perm_result empty = PERM_RESULT_INIT;
        std::vector<perm_result> results(1000000, empty);
        opts.cancel_user = results.data();
        opts.cancel = [](void *user) { return static_cast<perm_result *>(user)->text ? 1 : 0; };
        REQUIRE(perm_periodic_create(&a, &opts, &plan) == PERM_OK);
        const auto count = static_cast<std::int64_t>(results.size());
        CHECK(perm_periodic_terms(plan, 1, count, results.data()) == PERM_CANCELLED);
        CHECK(results.front().text == nullptr);
        perm_periodic_destroy(plan);
    }
}
