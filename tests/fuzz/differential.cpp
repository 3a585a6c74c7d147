// Permanents of matrices made to break error bounds, held against exact ones over Q(i): value, bounds, text,
// and the bits by one call, by a plan, by a plan that was saved, and on two threads. An input is a seed and
// the choices of options.
#include "tests/fuzz/inputs.hpp"

#include "tests/support/adversarial.hpp"
#include "tests/support/gaussian_calls.hpp"

#include <cmath>
#include <cstring>

namespace {

using libperm::Gaussian;

mpq_class squared(const Gaussian &x) { return x.re * x.re + x.im * x.im; }

mpq_class scaled(double mantissa, std::int64_t exp2) {
    mpq_class x(mantissa);
    if (exp2 >= 0)
        mpq_mul_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(exp2));
    else
        mpq_div_2exp(x.get_mpq_t(), x.get_mpq_t(), static_cast<mp_bitcnt_t>(-exp2));
    return x;
}

// |value - truth| <= relative |truth| + a share of |truth|, and <= absolute.
void require_within(const Gaussian &value, const Gaussian &truth, const perm_result &result, double share,
                    const char *what) {
    const mpq_class error = squared({value.re - truth.re, value.im - truth.im});
    if (result.exact && share == 0) fuzz::require(error == 0, what);
    if (std::isfinite(result.rel_error_bound)) {
        const mpq_class most = mpq_class(result.rel_error_bound) + mpq_class(share);
        fuzz::require(error <= most * most * squared(truth), what);
    }
    if (std::isfinite(result.abs_error_bound) && share == 0) {
        const mpq_class most(result.abs_error_bound);
        fuzz::require(error <= most * most, what);
    }
}

void check_against(const perm_result &result, const Gaussian &truth) {
    require_within(number_of(result.text), truth, result, 0, "the text is outside of its bound");
    // Rounded to doubles once more.
    const Gaussian value{scaled(result.mantissa_re, result.exp2), scaled(result.mantissa_im, result.exp2)};
    require_within(value, truth, result, 0x1p-52, "mantissa and exponent are outside of the bound");
}

bool same(double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0; }

void require_same(const perm_result &x, const perm_result &y, const char *what) {
    fuzz::require(same(x.mantissa_re, y.mantissa_re) && same(x.mantissa_im, y.mantissa_im) &&
                      x.exp2 == y.exp2 && same(x.rel_error_bound, y.rel_error_bound) &&
                      same(x.abs_error_bound, y.abs_error_bound) && std::strcmp(x.text, y.text) == 0,
                  what);
}

class Result {
  public:
    Result() = default;
    ~Result() { perm_result_clear(&result); }
    Result(const Result &) = delete;
    Result &operator=(const Result &) = delete;
    perm_result result = PERM_RESULT_INIT;
};

// The same bits on two threads and by a plan that was saved; nothing where unscaled numbers overflow.
void check_calls(const perm_csr &a, const perm_opts &opts, const Gaussian &truth) {
    Result once, again, by_plan, by_loaded;
    if (perm_compute(&a, &opts, &once.result) != PERM_OK) {
        const bool may_fail = opts.without && std::strcmp(opts.without, "scaling") == 0;
        fuzz::require(may_fail, perm_last_error());
        return;
    }
    check_against(once.result, truth);
    perm_opts on_two = opts;
    on_two.threads = 2;
    fuzz::require(perm_compute(&a, &on_two, &again.result) == PERM_OK, perm_last_error());
    require_same(once.result, again.result, "other bits on two threads");

    perm_plan *plan = nullptr, *loaded = nullptr;
    fuzz::require(perm_plan_create(&a, &opts, &plan) == PERM_OK, perm_last_error());
    fuzz::require(perm_plan_execute(plan, a.values, &by_plan.result) == PERM_OK, perm_last_error());
    check_against(by_plan.result, truth);
    std::size_t size = 0;
    perm_plan_save(plan, nullptr, 0, &size);
    std::string bytes(size, '\0');
    fuzz::require(perm_plan_save(plan, bytes.data(), bytes.size(), nullptr) == PERM_OK, perm_last_error());
    fuzz::require(perm_plan_load(bytes.data(), bytes.size(), nullptr, &loaded) == PERM_OK, perm_last_error());
    fuzz::require(perm_plan_execute(loaded, a.values, &by_loaded.result) == PERM_OK, perm_last_error());
    require_same(by_plan.result, by_loaded.result, "other bits of a plan that was saved");
    perm_plan_destroy(plan);
    perm_plan_destroy(loaded);
}

} // namespace

void fuzz::run(std::string_view input) {
    constexpr const char *engines[] = {"auto", "auto", "ryser", "frontier", "tree"};
    constexpr const char *precisions[] = {"auto", "auto", "double", "kahan", "dd", "exact", "mpfr:200"};
    constexpr const char *without[] = {"", "", "all", "merge", "scaling"};
    constexpr double tolerances[] = {0, 1e-9, 1e-15, 1.2e-16, 1e-18, 1e-40};
    Bytes bytes(input);
    perm::families::Random random(bytes.bits(8));
    perm_opts opts = PERM_OPTS_INIT;
    opts.engine = bytes.one_of(engines);
    opts.precision = bytes.one_of(precisions);
    opts.without = bytes.one_of(without);
    opts.tolerance = bytes.one_of(tolerances);
    opts.threads = 1;
    opts.device = "cpu";
    oracle::GaussianMatrix a = adversarial(bytes.chance(240) ? 6 : 8, random);
    const bool is_text = bytes.chance(50);
    if (is_text)
        for (Gaussian &x : a.front()) x = {x.re / 3, x.im / 7};
    const Gaussian truth = oracle::by_subsets(a);
    const Given matrix = given(a, is_text ? As::text : As::complex);
    check_calls(matrix.csr, opts, truth);
}

std::vector<std::string> fuzz::seeds() {
    std::vector<std::string> all;
    for (char seed = 0; seed < 24; ++seed) {
        std::string input(13, '\0');
        for (std::size_t k = 0; k < input.size(); ++k)
            input[k] = static_cast<char>(static_cast<std::size_t>(seed) * (2 * k + 1) + k);
        all.push_back(std::move(input));
    }
    return all;
}
