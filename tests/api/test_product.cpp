// perm_compute_product: factors in every kind of numbers against exact sums over the product formed, and all
// that is refused.
#include "bench/families.hpp"
#include "tests/support/calls.hpp"
#include "tests/support/check.hpp"
#include "tests/support/gaussian_calls.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace perm::families;
using oracle::Gaussian;
using oracle::GaussianMatrix;

namespace {

// Both factors, and what of the C API they are in one type.
class Product {
  public:
    Product(GaussianMatrix u, GaussianMatrix v, std::int64_t rank, perm_value_type type)
        : u_(std::move(u)), v_(std::move(v)), rank_(rank), type_(type) {
        for (const auto &[factor, of] : {std::pair(&u_, &given_u_), std::pair(&v_, &given_v_)})
            for (const auto &row : *factor)
                for (const Gaussian &x : row) of->add(x, type);
    }

    perm_factors factors() {
        perm_factors a = PERM_FACTORS_INIT;
        a.n = std::ssize(u_);
        a.rank = rank_;
        a.u = given_u_.data(type_);
        a.v = given_v_.data(type_);
        a.value_type = type_;
        return a;
    }

    GaussianMatrix formed() const {
        GaussianMatrix a(u_.size());
        for (std::size_t i = 0; i < u_.size(); ++i)
            for (const auto &row : v_) {
                Gaussian sum{0, 0};
                for (std::size_t t = 0; t < row.size(); ++t) sum = sum + u_[i][t] * row[t];
                a[i].push_back(sum);
            }
        return a;
    }

    std::string text() const {
        std::string text;
        for (const GaussianMatrix *factor : {&u_, &v_}) {
            for (const auto &row : *factor) {
                for (const Gaussian &x : row) text += x.re.get_str() + "," + x.im.get_str() + " ";
                text += "; ";
            }
            text += "\n";
        }
        return text;
    }

  private:
    struct Numbers {
        std::vector<double> doubles;
        std::vector<std::int64_t> integers;
        std::vector<std::string> texts;
        std::vector<const char *> pointers;

        void add(const Gaussian &x, perm_value_type type) {
            doubles.push_back(x.re.get_d());
            if (type == PERM_VALUE_C128) doubles.push_back(x.im.get_d());
            integers.push_back(x.re.get_num().get_si());
            texts.push_back(x.re.get_str() + (x.im == 0 ? "" : " " + x.im.get_str()));
        }
        const void *data(perm_value_type type) {
            if (type == PERM_VALUE_I64) return integers.data();
            if (type != PERM_VALUE_TEXT) return doubles.data();
            pointers.clear();
            for (const std::string &text : texts) pointers.push_back(text.c_str());
            return pointers.data();
        }
    };

    GaussianMatrix u_, v_;
    std::int64_t rank_;
    perm_value_type type_;
    Numbers given_u_, given_v_;
};

mpq_class real_number(perm_value_type type, bool is_wild, Random &random) {
    if (type == PERM_VALUE_I64)
        return is_wild ? mpq_class(static_cast<long>(random.bits())) : mpq_class(random.integer(-5, 5));
    if (type == PERM_VALUE_TEXT && !is_wild) {
        mpq_class x(random.integer(-9, 9), random.integer(1, 9));
        x.canonicalize();
        return x;
    }
    const double x = random.uniform(-1, 1);
    return mpq_class(is_wild ? std::ldexp(x, static_cast<int>(random.integer(-1000, 1000)))
                             : std::ldexp(std::round(x * 64), -3));
}

GaussianMatrix random_factor(std::int64_t n, std::int64_t rank, perm_value_type type, bool is_complex,
                             Random &random) {
    const bool is_wild = random.chance(0.2);
    const double zeros = random.chance(0.5) ? 0.2 : 0;
    GaussianMatrix a(static_cast<std::size_t>(n));
    for (auto &row : a)
        for (std::int64_t t = 0; t < rank; ++t) {
            const bool is_zero = random.chance(zeros);
            row.push_back({is_zero ? 0 : real_number(type, is_wild, random),
                           is_zero || !is_complex ? 0 : real_number(type, is_wild, random)});
        }
    return a;
}

// A column that is 0, or a multiple of another; a line that is 0.
void spoil(GaussianMatrix &a, std::int64_t rank, Random &random) {
    if (a.empty() || rank == 0) return;
    const auto some = [&] { return static_cast<std::size_t>(random.integer(0, rank - 1)); };
    const std::size_t from = some(), to = some();
    const int times = static_cast<int>(random.integer(-1, 2));
    if (random.chance(0.4))
        for (auto &row : a) row[to] = Gaussian{times, 0} * row[from];
    if (random.chance(0.05))
        for (Gaussian &x : a[0]) x = {0, 0};
}

Product random_product(std::int64_t n, std::int64_t rank, Random &random) {
    static constexpr perm_value_type types[] = {PERM_VALUE_F64, PERM_VALUE_C128, PERM_VALUE_I64,
                                                PERM_VALUE_TEXT};
    const perm_value_type type = types[random.integer(0, 3)];
    const bool is_complex = type == PERM_VALUE_C128 || (type == PERM_VALUE_TEXT && random.chance(0.3));
    GaussianMatrix u = random_factor(n, rank, type, is_complex, random),
                   v = random_factor(n, rank, type, is_complex && random.chance(0.7), random);
    const bool stays_small = type != PERM_VALUE_I64 || u.empty() || rank == 0;
    if (stays_small) {
        spoil(u, rank, random);
        spoil(v, rank, random);
    }
    return {std::move(u), std::move(v), rank, type};
}

// (i + 1) * 1 + 1 * (j + 1).
Product sum_factors(std::int64_t n) {
    GaussianMatrix u, v;
    for (std::int64_t i = 1; i <= n; ++i) {
        u.push_back({{mpq_class(i), 0}, {1, 0}});
        v.push_back({{1, 0}, {mpq_class(i), 0}});
    }
    return {u, v, 2, PERM_VALUE_I64};
}

Product small_integers(std::int64_t n, std::int64_t rank, std::uint64_t salt) {
    Random random(run::seed(salt));
    const auto factor = [&] {
        GaussianMatrix a(static_cast<std::size_t>(n));
        for (auto &row : a)
            for (std::int64_t t = 0; t < rank; ++t)
                row.push_back({mpq_class(random_entry(Entries::integers, random)), 0});
        return a;
    };
    GaussianMatrix u = factor(), v = factor();
    return {std::move(u), std::move(v), rank, PERM_VALUE_I64};
}

perm_status status_of(const perm_factors &a, const perm_opts &opts = PERM_OPTS_INIT) {
    perm::Result r;
    const perm_status status = perm_compute_product(&a, &opts, r.raw());
    if (status != PERM_OK) CHECK(cleared(*r.operator->()));
    return status;
}

bool says(const std::string &part) { return std::string(perm_last_error()).find(part) != std::string::npos; }

} // namespace

TEST_CASE("random factors, in every kind of numbers") {
    Random random(run::seed(0x70726f64));
    int compared = 0, nonzero = 0, complex = 0;
    for (int k = 0; k < run::cases(1500); ++k) {
        const std::int64_t n = random.integer(0, k % 4 == 0 ? 9 : 6), rank = random.integer(0, 5);
        Product product = random_product(n, rank, random);
        CAPTURE(product.text());
        const Gaussian truth = oracle::by_subsets(product.formed());
        const perm_factors a = product.factors();
        const perm::Result exactly = perm::compute_product(a, in_precision(nullptr, "exact"));
        CHECK(exactly->exact == 1);
        CHECK(number_of(exactly.text()) == truth);
        const perm::Result r = perm::compute_product(a);
        check_gaussian(*r.operator->(), truth);
        CHECK(r->tolerance_met == 1);
        CHECK(r->n == n);
        if (a.value_type == PERM_VALUE_I64) CHECK(r.text() == exactly.text());
        ++compared;
        nonzero += !libperm::is_zero(truth);
        complex += truth.im != 0;
    }
    CHECK(compared == run::cases(1500));
    CHECK(nonzero > run::enough(800));
    CHECK(complex > run::enough(200));
}

TEST_CASE("as perm_compute has it of the matrix") {
    Random random(run::seed(0x70726f65));
    for (int k = 0; k < run::cases(60); ++k) {
        Product product = random_product(random.integer(1, 7), random.integer(1, 4), random);
        CAPTURE(product.text());
        const Given matrix = given(product.formed(), As::text);
        const perm_opts opts = in_precision(nullptr, "exact", nullptr);
        CHECK(perm::compute_product(product.factors(), opts).text() ==
              perm::compute(matrix.csr, opts).text());
    }
}

TEST_CASE("against engine low_rank on the matrix that is formed") {
    Product product = small_integers(200, 2, 0x70726f66);
    const perm::Result r = perm::compute_product(product.factors());
    const perm::Result of_matrix = perm::compute(given(product.formed(), As::text).csr);
    CHECK(std::string(of_matrix->engine) == "low_rank");
    CHECK(r.text() == of_matrix.text());
    CHECK(std::string(r->engine) == "low_rank");
    CHECK(std::string(r->device) == "cpu");
    CHECK(r->operations > 0);
    CHECK(r->nnz <= 800);
}

TEST_CASE("i + j: A204249") {
    static constexpr const char *known[] = {"1", "2", "17", "336", "12052", "685080"};
    for (std::int64_t n = 0; n < 6; ++n)
        CHECK(perm::compute_product(sum_factors(n).factors()).text() == known[n]);
    // Of doubles the nearest.
    std::vector<double> u, v;
    for (int i = 1; i <= 100; ++i) {
        u.insert(u.end(), {static_cast<double>(i), 1.0});
        v.insert(v.end(), {1.0, static_cast<double>(i)});
    }
    perm_factors a = PERM_FACTORS_INIT;
    a.n = 100;
    a.rank = 2;
    a.u = u.data();
    a.v = v.data();
    const perm::Result rounded = perm::compute_product(a);
    check_gaussian(*rounded.operator->(),
                   number_of(perm::compute_product(sum_factors(100).factors()).text()));
    CHECK(rounded->exact == 0);
    CHECK(rounded->rel_error_bound < 1.7e-16);
    perm_opts opts = PERM_OPTS_INIT;
    opts.tolerance = 1e-30; // which a double misses
    CHECK(perm::compute_product(a, opts)->rel_error_bound <= 1e-30);
}

TEST_CASE("columns that are not needed cost nothing") {
    Product two = small_integers(30, 2, 0x70726f67);
    const perm::Result r = perm::compute_product(two.factors());
    const perm_factors a = two.factors();
    const auto *u = static_cast<const std::int64_t *>(a.u), *v = static_cast<const std::int64_t *>(a.v);
    std::vector<std::int64_t> wide_u, wide_v; // u1 v1 + u2 v2 = 2 u1 v1 + u2 v2 + 0 v1 - u1 v1
    for (std::size_t i = 0; i < 30; ++i) {
        wide_u.insert(wide_u.end(), {2 * u[2 * i], u[2 * i + 1], 0, u[2 * i]});
        wide_v.insert(wide_v.end(), {v[2 * i], v[2 * i + 1], v[2 * i], -v[2 * i]});
    }
    perm_factors wide = a;
    wide.rank = 4;
    wide.u = wide_u.data();
    wide.v = wide_v.data();
    const perm::Result same = perm::compute_product(wide);
    CHECK(same.text() == r.text());
    CHECK(same->operations < 1.2 * r->operations);
    std::swap(wide.u, wide.v);
    CHECK(perm::compute_product(wide).text() == r.text());
}

TEST_CASE("a rank beyond the order costs no more than the order") {
    Product product = small_integers(3, 500, 0x7072706d);
    const perm::Result r = perm::compute_product(product.factors());
    GaussianMatrix formed = product.formed();
    mpz_class permanent = 0;
    std::vector<std::size_t> columns{0, 1, 2};
    do {
        mpz_class term = 1;
        for (std::size_t i = 0; i < 3; ++i) term *= formed[i][columns[i]].re.get_num();
        permanent += term;
    } while (std::next_permutation(columns.begin(), columns.end()));
    CHECK(r.text() == permanent.get_str());

    perm_factors none = product.factors();
    none.n = 0;
    none.rank = 2000000000;
    perm_opts opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 20 << 20;
    CHECK(perm::compute_product(none, opts).text() == "1");
}

TEST_CASE("factors far from each other in size are as cheap as others") {
    constexpr std::size_t n = 60;
    std::vector<double> u, v;
    for (std::size_t i = 0; i < n; ++i) {
        u.insert(u.end(),
                 {std::ldexp(1.0 + static_cast<double>(i % 7), 900), 1.0 + static_cast<double>(i % 5)});
        v.insert(v.end(), {std::ldexp(1.0 + static_cast<double>(i % 3), -900), 2.0});
    }
    perm_factors a = PERM_FACTORS_INIT;
    a.n = n;
    a.rank = 2;
    a.u = u.data();
    a.v = v.data();
    const perm::Result far = perm::compute_product(a);
    for (std::size_t i = 0; i < n; ++i) {
        u[2 * i] = std::ldexp(u[2 * i], -900);
        v[2 * i] = std::ldexp(v[2 * i], 900);
    }
    const perm::Result near = perm::compute_product(a);
    CHECK(far.text() == near.text());
    CHECK(far->operations == near->operations);
}

TEST_CASE("the same bits on any number of threads") {
    Product product = small_integers(60, 3, 0x70726f68);
    std::optional<perm::Result> first;
    for (const std::int32_t threads : {1, 2, 4}) {
        perm_opts opts = PERM_OPTS_INIT;
        opts.threads = threads;
        perm::Result r = perm::compute_product(product.factors(), opts);
        if (first) CHECK(r.text() == first->text());
        first = std::move(r);
    }
}

TEST_CASE("what is wrong with the factors is named") {
    Product product = sum_factors(3);
    perm_factors a = product.factors();
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    std::vector<double> u{1, 2, 3, 4, 5, 6}, v = u;
    a.u = u.data();
    a.v = v.data();
    a.value_type = PERM_VALUE_F64;
    CHECK(status_of(a) == PERM_OK);
    v[5] = nan;
    CHECK(status_of(a) == PERM_BAD_MATRIX);
    CHECK(says("v: the value at row 2, column 1 is NaN"));
    u[2] = -inf;
    CHECK(status_of(a) == PERM_BAD_MATRIX);
    CHECK(says("u: the value at row 1, column 0 is infinite"));
    const char *texts[] = {"1", "2", "3", "4", "five", "6"};
    a.value_type = PERM_VALUE_TEXT;
    a.u = a.v = texts;
    CHECK(status_of(a) == PERM_BAD_MATRIX);
    CHECK(says("u: the value at row 2, column 0 is \"five\""));
    a.u = nullptr;
    CHECK(status_of(a) == PERM_BAD_ARGUMENT);
    CHECK(says("u is a null pointer"));
    a.v = nullptr;
    a.rank = 0; // nothing is read
    CHECK(perm::compute_product(a).text() == "0");
    a.n = 0;
    a.rank = 5;
    CHECK(perm::compute_product(a).text() == "1");
}

TEST_CASE("limits") {
    Product product = small_integers(100, 3, 0x70726f69);
    perm_opts opts = PERM_OPTS_INIT;
    opts.time_limit_seconds = 1e-4;
    CHECK(status_of(product.factors(), opts) == PERM_REFUSED_TIME);
    CHECK(says("time_limit_seconds"));
    Product wide = small_integers(100, 5, 0x70726f6a);
    opts = PERM_OPTS_INIT;
    opts.memory_limit_bytes = 1 << 20;
    CHECK(status_of(wide.factors(), opts) == PERM_REFUSED_MEMORY);
    CHECK(says("memory_limit_bytes"));
    Product wider = small_integers(60, 12, 0x70726f6b);
    CHECK(status_of(wider.factors()) == PERM_REFUSED_MEMORY);
    CHECK(says("perm_compute"));
}

TEST_CASE("cancelled, watched, and gone on with from a checkpoint") {
    Product product = small_integers(150, 3, 0x70726f6c);
    const std::string whole = perm::compute_product(product.factors()).text();
    const TemporaryFolder folder;
    const std::string checkpoint = folder / "kept";
    struct Watch {
        std::atomic<int> polls = 0;
        int until = 0;
        double last = 0;
        bool fell = false;
    } watch;
    perm_opts opts = PERM_OPTS_INIT;
    opts.checkpoint = checkpoint.c_str();
    opts.cancel = [](void *user) {
        auto &seen = *static_cast<Watch *>(user);
        return ++seen.polls > seen.until ? 1 : 0;
    };
    opts.cancel_user = opts.progress_user = &watch;
    opts.progress = [](double fraction, double, void *user) {
        auto &seen = *static_cast<Watch *>(user);
        seen.fell = seen.fell || fraction < seen.last;
        seen.last = fraction;
    };
    const perm_factors a = product.factors();
    int cancelled = 0;
    for (perm_status status = PERM_CANCELLED; status != PERM_OK && cancelled < 200;
         cancelled += status != PERM_OK) {
        watch.polls = 0;
        watch.until = cancelled / 4;
        watch.last = 0;
        opts.threads = 1 + cancelled % 2;
        perm::Result r;
        status = perm_compute_product(&a, &opts, r.raw());
        REQUIRE((status == PERM_OK || status == PERM_CANCELLED));
        if (status == PERM_OK) CHECK(r.text() == whole);
    }
    CHECK(cancelled > 0);
    CHECK(!watch.fell);
    CHECK(watch.last == 1);
    Product other = small_integers(150, 3, 0x70726f6d);
    opts.cancel = nullptr;
    CHECK(status_of(other.factors(), opts) == PERM_BAD_OPTION);
    CHECK(says("other factors"));
    perm_opts never = PERM_OPTS_INIT;
    never.cancel = [](void *) { return 1; };
    CHECK(status_of(product.factors(), never) == PERM_CANCELLED);
}
