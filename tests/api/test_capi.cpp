// What perm.h promises beyond the number itself: matrices, results, buffers, limits, errors, growth.
#include "bench/families.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

using namespace perm::families;
using oracle::Exact;

namespace {

bool has_digit(const std::string &text) {
    return std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace

// ---------------------------------------------------------------- matrices

TEST_CASE("every kind of index and value gives the same permanent") {
    const std::vector<std::int64_t> row_ptr{0, 2, 4}, columns{1, 0, 0, 1};
    const std::vector<std::int32_t> row_ptr_32{0, 2, 4}, columns_32{1, 0, 0, 1};
    const std::vector<double> real{2, 1, 3, 4};
    const std::vector<std::int64_t> integer{2, 1, 3, 4};

    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = 2;
    a.nnz = 4;
    for (const bool narrow : {false, true}) {
        a.index_type = narrow ? PERM_INDEX_I32 : PERM_INDEX_I64;
        a.row_ptr = narrow ? static_cast<const void *>(row_ptr_32.data()) : row_ptr.data();
        a.col_idx = narrow ? static_cast<const void *>(columns_32.data()) : columns.data();
        a.value_type = PERM_VALUE_F64;
        a.values = real.data();
        CHECK(perm::compute(a).text() == "10");
        a.value_type = PERM_VALUE_I64;
        a.values = integer.data();
        CHECK(perm::compute(a).text() == "10");
        a.value_type = PERM_VALUE_PATTERN;
        a.values = nullptr;
        CHECK(perm::compute(a).text() == "2");
    }
}

TEST_CASE("int64 values of any size") {
    const std::vector<std::int64_t> row_ptr{0, 1}, columns{0};
    std::int64_t value = 0;
    perm_csr a = PERM_CSR_INIT;
    a.n_rows = a.n_cols = a.nnz = 1;
    a.row_ptr = row_ptr.data();
    a.col_idx = columns.data();
    a.value_type = PERM_VALUE_I64;
    a.values = &value;
    perm_opts exact = PERM_OPTS_INIT;
    exact.precision = "exact";
    constexpr std::int64_t limit = std::int64_t{1} << 53;
    for (const std::int64_t x :
         {limit, -limit, limit + 1, -limit - 1, std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min()}) {
        value = x;
        CHECK(perm::compute(a, exact).text() == std::to_string(x));
    }
}

TEST_CASE("n = 0: the permanent is 1, and no pointer is needed") {
    perm_csr a = PERM_CSR_INIT;
    perm::Result r = perm::compute(a);
    check_result(*r.raw(), 1);
    CHECK(r->exact == 1);
    CHECK(r.text() == "1");
    check_result(*perm::Plan(a).execute(nullptr).raw(), 1);
}

// ---------------------------------------------------------------- results

TEST_CASE("a result says what was done") {
    perm::Csr a = banded(12, 2, 2, Entries::real, run::seed(60));
    a.values[3] = 0; // explicit: does not take part
    for (const char *engine : {"ryser", "frontier"}) {
        perm_opts opts = with_engine(engine);
        opts.threads = 2;
        perm::Result r = perm::compute(a, opts);
        CHECK(std::string(r->engine) == engine);
        CHECK(std::string(r->device) == "cpu");
        CHECK(r->n == 12);
        CHECK(r->nnz == std::ssize(a.values) - 1);
        CHECK(r->threads >= 1);
        CHECK(r->threads <= 2);
        CHECK(r->operations > 0);
        CHECK(r->seconds_total >= 0);
        CHECK(r->seconds_total >= r->seconds_run);
        CHECK(r->seconds_compile == 0);
        CHECK(r->kernels_compiled == 0);
        if (std::string(engine) == "ryser")
            CHECK(r->subsets == 2048); // Nijenhuis-Wilf: 2^(n-1)
        else
            CHECK(r->states >= r->peak_states);
    }
}

TEST_CASE("a result may be used again and again, also after a failure") {
    perm_result r = PERM_RESULT_INIT;
    for (std::int64_t n = 0; n < 30; ++n) {
        const perm::Csr good = tridiagonal(n, 1, 1, 1);
        const perm_csr good_view = good.view();
        REQUIRE(perm_compute(&good_view, nullptr, &r) == PERM_OK);
        check_result(r, oracle::by_frontier(good));
        if (n % 3 != 0) continue;
        perm::Csr bad = constant(2, 1);
        bad.col_idx[0] = 9;
        const perm_csr view = bad.view();
        CHECK(perm_compute(&view, nullptr, &r) == PERM_BAD_MATRIX);
        CHECK(cleared(r));
    }
    CHECK(perm_result_clear(&r) == PERM_OK);
    CHECK(cleared(r));
    CHECK(perm_result_clear(&r) == PERM_OK);
    CHECK(perm_result_clear(nullptr) == PERM_OK);
}

// ---------------------------------------------------------------- texts into buffers

TEST_CASE("explain and info fill a buffer of exactly the size they tell") {
    perm_plan *plan = nullptr;
    const perm::Csr a = circulant(16, {0, 1, 3});
    const perm_csr view = a.view();
    REQUIRE(perm_plan_create(&view, nullptr, &plan) == PERM_OK);
    const auto check_buffer = [](auto fill) {
        std::size_t needed = 0;
        REQUIRE(fill(nullptr, 0, &needed) == PERM_OK);
        REQUIRE(needed > 2);
        std::vector<char> buffer(needed + 8, '#');
        std::size_t again = 0;
        CHECK(fill(buffer.data(), needed - 1, &again) == PERM_BAD_ARGUMENT);
        CHECK(again == needed);
        CHECK(buffer[needed - 1] == '#'); // never past the capacity
        CHECK(fill(buffer.data(), needed, &again) == PERM_OK);
        CHECK(std::strlen(buffer.data()) + 1 == needed);
        CHECK(buffer[needed] == '#');
        CHECK(fill(buffer.data(), buffer.size(), nullptr) == PERM_OK);
        CHECK(fill(nullptr, 0, nullptr) == PERM_OK);
        CHECK(fill(nullptr, 10, &again) == PERM_BAD_ARGUMENT);
        return std::string(buffer.data());
    };
    for (const perm_format format : {PERM_FORMAT_TEXT, PERM_FORMAT_JSON}) {
        const std::string explained =
            check_buffer([&](char *buffer, std::size_t capacity, std::size_t *needed) {
                return perm_plan_explain(plan, format, buffer, capacity, needed);
            });
        CHECK(explained.find("ryser") != std::string::npos);
        CHECK(explained.find("frontier") != std::string::npos);
        const std::string told = check_buffer([&](char *buffer, std::size_t capacity, std::size_t *needed) {
            return perm_info(format, buffer, capacity, needed);
        });
        CHECK(told.find(perm_version()) != std::string::npos);
        if (format == PERM_FORMAT_JSON) {
            CHECK(nlohmann::json::parse(explained).is_object());
            CHECK(nlohmann::json::parse(told).is_object());
        }
    }
    CHECK(perm_plan_destroy(plan) == PERM_OK);
    CHECK(perm_plan_destroy(nullptr) == PERM_OK);
}

TEST_CASE("the loaded library is the header's version") {
    CHECK(std::string(perm_version()) == PERM_VERSION_STRING);
    const std::string parts = std::to_string(PERM_VERSION_MAJOR) + "." + std::to_string(PERM_VERSION_MINOR) +
                              "." + std::to_string(PERM_VERSION_PATCH);
    CHECK(parts == PERM_VERSION_STRING);
}

TEST_CASE("every status has words") {
    for (const int code : {0, 101, 102, 103, 201, 202, 203, 301, 401, 402, 403}) {
        const char *text = perm_status_text(static_cast<perm_status>(code));
        REQUIRE(text != nullptr);
        CHECK(std::strlen(text) > 1);
    }
    CHECK(std::string(perm_status_text(PERM_BAD_MATRIX)) == "bad matrix");
    CHECK(perm_status_text(static_cast<perm_status>(399)) != nullptr);
}

TEST_CASE("the log level is checked") {
    for (int level = 0; level <= 4; ++level) CHECK(perm_set_log_level(level) == PERM_OK);
    CHECK(perm_set_log_level(-1) / 100 == 1);
    CHECK(perm_set_log_level(5) / 100 == 1);
    CHECK(perm_set_log_level(2) == PERM_OK);
}

// ---------------------------------------------------------------- last error

TEST_CASE("the last error is each thread's own, and a success leaves it") {
    perm::Csr bad = constant(3, 1);
    bad.values[4] = std::nan("");
    const perm_csr view = bad.view();
    REQUIRE(status_of(view) == PERM_BAD_MATRIX);
    const std::string here = perm_last_error();
    CHECK_FALSE(here.empty());
    std::string at_first = "?", after = "?";
    std::thread other([&] {
        at_first = perm_last_error();
        perm_opts opts = with_engine("nonsense");
        status_of(constant(3, 1).view(), opts);
        after = perm_last_error();
    });
    other.join();
    CHECK(at_first.empty());
    CHECK(after.find("nonsense") != std::string::npos);
    CHECK(perm_last_error() == here);
    CHECK(perm::compute(constant(3, 1)).text() == "6");
    CHECK(perm_last_error() == here);
}

// ---------------------------------------------------------------- limits

TEST_CASE("memory: refused with a number when it cannot do, else kept to") {
    const perm::Csr a = grid(4, 4, 4);
    perm_opts opts = with_engine("frontier");
    opts.memory_limit_bytes = 1 << 8;
    CHECK(status_of(a.view(), opts) == PERM_REFUSED_MEMORY);
    CHECK(has_digit(perm_last_error()));
    bool fitted = false;
    for (int power = 4; power <= 32; power += run::sanitized ? 4 : 1) {
        CAPTURE(power);
        opts.memory_limit_bytes = std::int64_t{1} << power;
        perm::Result r;
        const perm_csr view = a.view();
        const perm_status status = perm_compute(&view, &opts, r.raw());
        if (fitted) CHECK(status == PERM_OK);
        if (status == PERM_OK) {
            fitted = true;
            CHECK(r->peak_bytes <= opts.memory_limit_bytes);
            CHECK(r->peak_bytes > 0);
            check_nonnegative_result(*r.raw(), Exact("5051532105"));
        } else {
            CHECK(status == PERM_REFUSED_MEMORY);
        }
    }
    CHECK(fitted);
}

TEST_CASE("time: a 45 x 45 dense matrix is refused at once") {
    const perm::Csr a = constant(45, 1);
    perm_opts opts = with_engine("ryser");
    opts.time_limit_seconds = 5;
    CHECK(status_of(a.view(), opts) == PERM_REFUSED_TIME);
    CHECK(has_digit(perm_last_error()));
    opts.engine = nullptr;
    opts.without = "merge,structure";
    const perm_status automatic = status_of(a.view(), opts);
    CHECK((automatic == PERM_REFUSED_TIME || automatic == PERM_REFUSED_MEMORY));
    opts = with_engine("ryser");
    CHECK(status_of(constant(62, 1).view(), opts) == PERM_REFUSED_TIME); // the default: a day
}

TEST_CASE("however large the matrix: refused, not computed" * doctest::skip(run::sanitized)) {
    for (const std::int64_t n : {63, 64, 65, 300, 1500}) {
        CAPTURE(n);
        const perm::Csr a = constant(n, 1);
        for (const char *engine : {"auto", "ryser", "frontier"}) {
            CAPTURE(engine);
            perm_opts opts = with_engine(engine);
            opts.without = "merge,structure";
            const perm_status status = status_of(a.view(), opts);
            CHECK(status / 100 == 2);
            CHECK(has_digit(perm_last_error()));
        }
    }
}

// ---------------------------------------------------------------- growth

namespace {

// A struct of a later version of the library: the same fields, and then some.
template <class Base> struct Grown {
    Base base;
    std::int64_t tail[4] = {0, 0, 0, 0};
};

} // namespace

TEST_CASE("structs of a later header are taken while what they add is zero") {
    const perm::Csr ones = constant(3, 1);
    Grown<perm_csr> a{ones.view()};
    Grown<perm_opts> opts{PERM_OPTS_INIT};
    Grown<perm_result> r{PERM_RESULT_INIT};
    a.base.struct_size = sizeof a;
    opts.base.struct_size = sizeof opts;
    r.base.struct_size = sizeof r;
    CHECK(perm_compute(&a.base, &opts.base, &r.base) == PERM_OK);
    REQUIRE(r.base.text != nullptr);
    CHECK(std::string(r.base.text) == "6");
    CHECK(r.base.struct_size == sizeof r);

    a.tail[3] = 1;
    CHECK(perm_compute(&a.base, &opts.base, &r.base) / 100 == 1);
    CHECK(r.base.text == nullptr);
    a.tail[3] = 0;
    opts.tail[0] = 1;
    CHECK(perm_compute(&a.base, &opts.base, &r.base) / 100 == 1);
    opts.tail[0] = 0;
    CHECK(perm_compute(&a.base, &opts.base, &r.base) == PERM_OK);
    CHECK(perm_result_clear(&r.base) == PERM_OK);
    CHECK(r.base.struct_size == sizeof r);
}

TEST_CASE("callers built with an older version's structs are served") {
    const perm::Csr ones = constant(3, 1);
    const perm_csr a = ones.view();
    struct Version {
        std::size_t opts, result;
    };
    for (const Version version :
         {Version{offsetof(perm_opts, without), offsetof(perm_result, blocks)},            // the first
          Version{offsetof(perm_opts, chunks), offsetof(perm_result, seconds_compile)}}) { // the second
        CAPTURE(version.opts);
        perm_opts opts = PERM_OPTS_INIT;
        opts.struct_size = version.opts;
        // Memory beyond the caller's struct.
        if (version.opts <= offsetof(perm_opts, without)) opts.without = "nonsense";
        opts.chunks = "nonsense";
        opts.cache_dir = "/dev/null/nonsense";
        opts.cache_limit_bytes = -7;
        perm_result r = PERM_RESULT_INIT;
        r.struct_size = version.result;
        r.blocks = r.blocks_computed = -7;
        r.seconds_compile = r.kernels_compiled = r.slices = -7;
        CHECK(perm_compute(&a, &opts, &r) == PERM_OK);
        CHECK(std::string(r.text) == "6");
        const bool has_blocks = version.result > offsetof(perm_result, blocks);
        CHECK((r.blocks != -7) == has_blocks);
        CHECK(perm_result_clear(&r) == PERM_OK);
        CHECK(r.struct_size == version.result);
        CHECK(r.text == nullptr);
        CHECK(r.blocks == (has_blocks ? 0 : -7));
        CHECK(r.blocks_computed == (has_blocks ? 0 : -7));
        CHECK(r.seconds_compile == -7);
        CHECK(r.kernels_compiled == -7);
        CHECK(r.slices == -7);
        opts.struct_size = sizeof opts;
        CHECK(perm_compute(&a, &opts, &r) == PERM_BAD_OPTION); // they were not looked at before
        CHECK(r.seconds_compile == -7);
    }
}

TEST_CASE("structs that are too small are refused") {
    const perm::Csr ones = constant(3, 1);
    for (const std::size_t less : {std::size_t{1}, std::size_t{8}, std::size_t{1000000}}) {
        perm_csr a = ones.view();
        perm_opts opts = PERM_OPTS_INIT;
        perm_result r = PERM_RESULT_INIT;
        const auto shrink = [less](std::size_t size) { return less > size ? 0 : size - less; };
        a.struct_size = shrink(offsetof(perm_csr, row_multiplicity)); // the first version's
        CHECK(perm_compute(&a, &opts, &r) == PERM_BAD_ARGUMENT);
        a.struct_size = sizeof a;
        opts.struct_size = shrink(offsetof(perm_opts, without)); // the first version's
        CHECK(perm_compute(&a, &opts, &r) == PERM_BAD_ARGUMENT);
        opts.struct_size = sizeof opts;
        r.struct_size = shrink(offsetof(perm_result, blocks));
        CHECK(perm_compute(&a, &opts, &r) == PERM_BAD_ARGUMENT);
        CHECK(std::string(perm_last_error()).find("struct_size") != std::string::npos);
    }
}
