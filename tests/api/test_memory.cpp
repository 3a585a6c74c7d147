// memory_limit_bytes where exact numbers would need far more than doubles do, and calls that are stopped
// anywhere.
#include "bench/families.hpp"
#include "lib/run/results.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

perm_csr pattern_of(const perm::Csr &a) {
    perm_csr view = a.view();
    view.value_type = PERM_VALUE_PATTERN;
    view.values = nullptr;
    return view;
}

perm_opts limited(std::int64_t bytes, const char *precision = nullptr) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = bytes;
    opts.device = "cpu";
    opts.threads = 2;
    opts.precision = precision;
    return opts;
}

constexpr std::int64_t megabyte = 1 << 20;

} // namespace

TEST_CASE("a second run that would not fit is not begun") {
    const perm::Csr ones = perm::families::constant(400, 1);
    const perm_csr a = pattern_of(ones);
    perm::Result r;
    const perm_opts small = limited(10 * megabyte);
    REQUIRE(perm_compute(&a, &small, r.raw()) == PERM_OK);
    CHECK(r->exact == 0);
    CHECK(r->rel_error_bound > 0);
    CHECK(r->rel_error_bound < 1e-10);
    CHECK(r->peak_bytes <= small.memory_limit_bytes);
    perm::Result certain;
    const perm_opts ample = limited(2000 * megabyte);
    REQUIRE(perm_compute(&a, &ample, certain.raw()) == PERM_OK);
    CHECK(certain->exact == 1);
    CHECK(certain->peak_bytes > 3 * small.memory_limit_bytes);
    const std::string digits = certain->text;
    CHECK(digits.size() == 869); // 400!
    // The first answer's digits are those of the second.
    CHECK(digits.substr(0, 9) == std::string(r->text).substr(0, 1) + std::string(r->text).substr(2, 8));
}

TEST_CASE("exact numbers that are asked for are refused beforehand, with what they need" *
          doctest::skip(run::sanitized)) {
    const perm::Csr ones = perm::families::constant(400, 1);
    const perm_csr a = pattern_of(ones);
    for (const std::int64_t limit : {1, 5, 15}) {
        CHECK(status_of(a, limited(limit * megabyte, "exact")) == PERM_REFUSED_MEMORY);
        const std::string text = perm_last_error();
        CAPTURE(text);
        CHECK(text.find("memory_limit_bytes") != std::string::npos);
        CHECK(text.find("exact numbers") != std::string::npos);
    }
    CHECK(status_of(a, limited(2000 * megabyte, "exact")) == PERM_OK);
}

TEST_CASE("integers without a certain digit are refused where more digits would not fit") {
    perm::families::Random random(run::seed(0x6e6f6e65));
    perm::Csr band = perm::families::build(4000, 4000, [&](std::int64_t i, std::int64_t j) {
        return std::abs(i - j) > 2
                   ? 0
                   : (random.chance(0.5) ? 1.0 : -1.0) * static_cast<double>(random.integer(1, 3));
    });
    const std::vector<std::int64_t> values(band.values.begin(), band.values.end());
    perm_csr a = band.view();
    a.values = values.data();
    a.value_type = PERM_VALUE_I64;
    CHECK(status_of(a, limited(20 * megabyte)) == PERM_REFUSED_MEMORY);
    CHECK(std::string(perm_last_error()).find("memory_limit_bytes") != std::string::npos);
    // Doubles are answered by what their roundings leave; enough memory has all digits.
    a.values = band.values.data();
    a.value_type = PERM_VALUE_F64;
    CHECK(status_of(a, limited(20 * megabyte)) == PERM_OK);
    a.values = values.data();
    a.value_type = PERM_VALUE_I64;
    perm::Result r = perm::compute(a, limited(1000 * megabyte));
    CHECK(r->exact == 1);
}

TEST_CASE("a coefficient keeps no more memory than it takes") {
    libperm::Outcome one;
    libperm::set_value(one, libperm::WideBall{{mpq_class(mpz_class(1) << 1000000), 0}, {}});
    libperm::set_value(one, libperm::WideBall{{mpq_class(3), 0}, {}});
    CHECK(libperm::number_bytes(*one.wide) < 1000);
}

TEST_CASE("a matrix that does not fit is refused before it is copied") {
    perm::Csr a = perm::families::constant(1500, 0.5);
    for (double &x : a.values) x += 1e-9 * static_cast<double>(&x - a.values.data());
    CHECK(status_of(a.view(), limited(megabyte)) == PERM_REFUSED_MEMORY);
    CHECK(std::string(perm_last_error()).find("memory_limit_bytes") != std::string::npos);
}

namespace {

// Stopped by another thread, at some moment.
struct Stopper {
    std::atomic<bool> stop{false};
    static int asked(void *user) { return static_cast<Stopper *>(user)->stop ? 1 : 0; }
};

struct Case {
    const char *name;
    perm::Csr matrix;
    perm_opts opts;
};

} // namespace

TEST_CASE("a call that is stopped anywhere says so, and the next one has the same bits") {
    using namespace perm::families;
    Random random(22);
    const auto entry = [&random](std::int64_t, std::int64_t) {
        return 1 + static_cast<double>(random.integer(0, 1000)) / 1024;
    };
    std::vector<Case> cases;
    cases.push_back({"exact, repeated", constant(250, 1), limited(0, "exact")});
    cases.push_back(
        {"exact, reduced",
         build(1500, 1500,
               [&](std::int64_t i, std::int64_t j) { return std::abs(i - j) < 2 ? entry(i, j) : 0; }),
         limited(0, "exact")});
    cases.push_back(
        {"frontier",
         build(400, 400,
               [&](std::int64_t i, std::int64_t j) { return std::abs(i - j) < 5 ? entry(i, j) : 0; }),
         limited(0, "double")});
    cases.push_back({"subsets", build(21, 21, entry), limited(0, "double")});
    std::int64_t stopped = 0, answered = 0;
    for (Case &one : cases) {
        CAPTURE(one.name);
        const auto began = std::chrono::steady_clock::now();
        perm::Result whole = perm::compute(one.matrix, one.opts);
        const auto takes = std::chrono::steady_clock::now() - began;
        for (int k = 0; k < run::cases(8); ++k) {
            Stopper stopper;
            perm_opts opts = one.opts;
            opts.cancel = Stopper::asked;
            opts.cancel_user = &stopper;
            const auto after = takes * random.integer(0, 1000) / 1000;
            std::thread other([&stopper, after] {
                std::this_thread::sleep_for(after);
                stopper.stop = true;
            });
            perm::Result r;
            const perm_csr view = one.matrix.view();
            const perm_status status = perm_compute(&view, &opts, r.raw());
            other.join();
            stopped += status == PERM_CANCELLED;
            answered += status == PERM_OK;
            if (status == PERM_OK)
                check_same_bits(*whole.raw(), *r.raw());
            else
                CHECK(cleared(*r.raw()));
        }
        perm::Result again = perm::compute(one.matrix, one.opts);
        check_same_bits(*whole.raw(), *again.raw());
    }
    MESSAGE("stopped ", stopped, ", answered ", answered);
    CHECK(stopped + answered == std::ssize(cases) * run::cases(8));
    CHECK(stopped > 0);
}
