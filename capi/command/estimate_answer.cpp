#include "estimate_answer.hpp"

#include "interrupt.hpp"
#include "output.hpp"
#include "progress.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace perm {
namespace {

constexpr int estimate_digits = 8;

// mantissa * 2^exp2 in decimal.
std::string decimal(double mantissa, std::int64_t exp2, int digits = estimate_digits) {
    constexpr std::int64_t in_range = 1000;
    if (mantissa == 0 || !std::isfinite(mantissa)) return fmt::format("{}", mantissa == 0 ? 0.0 : mantissa);
    if (std::abs(exp2) < in_range)
        return fmt::format("{:.{}g}", std::ldexp(mantissa, static_cast<int>(exp2)), digits);
    constexpr long double log10_2 = std::numbers::ln2_v<long double> / std::numbers::ln10_v<long double>;
    const long double log10 =
        std::log10(static_cast<long double>(std::fabs(mantissa))) + static_cast<long double>(exp2) * log10_2;
    const long double whole = std::floor(log10);
    const auto part = static_cast<double>(std::pow(10.0L, log10 - whole));
    const std::string text = fmt::format("{:.{}f}", part, digits - 1);
    const bool is_ten = text.starts_with("10");
    return fmt::format("{}{}e{:+03}", mantissa < 0 ? "-" : "",
                       is_ten ? fmt::format("{:.{}f}", 1.0, digits - 1) : text,
                       static_cast<std::int64_t>(whole) + (is_ten ? 1 : 0));
}

std::string value_text(const perm_estimated &e) {
    const int digits = e.exact ? 17 : estimate_digits;
    std::string re = decimal(e.mantissa_re, e.exp2, digits);
    if (e.mantissa_im == 0) return re;
    return fmt::format("{}{}{}i", re, e.mantissa_im < 0 ? "-" : "+",
                       decimal(std::fabs(e.mantissa_im), e.exp2, digits));
}

libperm::Json number(double mantissa, std::int64_t exp2) {
    return libperm::Json{{"mantissa", mantissa}, {"exp2", exp2}};
}

std::string as_json(const perm_estimated &e, const perm_csr &a, double seconds, const std::string &refusal) {
    using libperm::Json;
    Json out = Json(Json::Object());
    out["estimate"] = value_text(e);
    out["mantissa"] = e.mantissa_re;
    if (e.mantissa_im != 0) out["mantissa_imag"] = e.mantissa_im;
    out["exp2"] = e.exp2;
    out["exact"] = e.exact == 1;
    out["lower"] = number(e.lower_mantissa, e.lower_exp2);
    out["upper"] = number(e.upper_mantissa, e.upper_exp2);
    out["additive"] = e.additive == 1;
    if (e.additive == 1) out["error"] = number(e.error_mantissa, e.error_exp2);
    out["epsilon"] = e.epsilon; // null where there is none
    out["delta"] = e.delta;
    out["samples"] = e.samples;
    out["accepted"] = e.accepted;
    out["method"] = e.method;
    out["blocks"] = e.blocks;
    out["blocks_exact"] = e.blocks_exact;
    out["n_rows"] = a.n_rows;
    out["n_cols"] = a.n_cols;
    out["nnz"] = a.nnz;
    out["seconds"] = Json{{"total", seconds}, {"plan", e.seconds_plan}, {"run", e.seconds_total}};
    if (!refusal.empty()) out["refusal"] = refusal;
    return out.written();
}

std::string as_text(const perm_estimated &e, const perm_csr &a, double seconds, const std::string &refusal) {
    std::string out;
    if (!refusal.empty()) out += fmt::format("an estimate, as the computation was refused: {}\n", refusal);
    out += fmt::format("{} {}\n", e.exact == 1 ? "perm =" : "perm is about", value_text(e));
    if (e.exact == 1) {
        out += "exact within roundings: all of it could be computed\n";
    } else if (e.additive == 1) {
        out +=
            fmt::format("within {} of it with probability {} (entries are negative or complex: the error is "
                        "additive)\n",
                        decimal(e.error_mantissa, e.error_exp2, 3), 1 - e.delta);
    } else {
        out += fmt::format("within a factor 1 +- {:.4g} with probability {}: between {} and {}\n", e.epsilon,
                           1 - e.delta, decimal(e.lower_mantissa, e.lower_exp2),
                           decimal(e.upper_mantissa, e.upper_exp2));
    }
    if (e.samples > 0) out += fmt::format("{} samples, {}; ", e.samples, e.method);
    out += fmt::format("n = {}, {} entries; {} block{}, {} exact; {}\n", a.n_rows, a.nnz, e.blocks,
                       e.blocks == 1 ? "" : "s", e.blocks_exact, in_words(seconds));
    return out;
}

} // namespace

perm_estimate_opts wanted_estimate(const Options &options) {
    perm_estimate_opts wanted = PERM_ESTIMATE_OPTS_INIT;
    wanted.epsilon = options.epsilon;
    wanted.delta = options.delta;
    wanted.seed = options.seed;
    wanted.method = options.method.empty() ? nullptr : options.method.c_str();
    wanted.samples = options.samples;
    return wanted;
}

perm_estimated make_estimate(const Options &options, const perm_csr &a, perm_opts opts) {
    const Cancellable cancellable(opts.checkpoint ? finishing : nullptr);
    Progress progress(!options.quiet);
    perm_estimated found = PERM_ESTIMATED_INIT;
    progress.show_beside([&found] { return interval_so_far(found); });
    opts.progress = Progress::report;
    opts.progress_user = &progress;
    const perm_estimate_opts wanted = wanted_estimate(options);
    check(perm_estimate(&a, &opts, &wanted, &found));
    return found;
}

void write_estimate(const Options &options, const perm_estimated &e, const perm_csr &a, double seconds,
                    const std::string &refusal) {
    if (options.json) return write_stdout(as_json(e, a, seconds, refusal));
    if (options.quiet) return write_stdout(value_text(e) + "\n");
    write_stdout(as_text(e, a, seconds, refusal));
}

std::string interval_so_far(const perm_estimated &e) {
    constexpr int digits = 4;
    if (e.upper_mantissa == 0 || (e.lower_mantissa == 0 && e.additive == 0)) return "";
    return fmt::format("; between {} and {}", decimal(e.lower_mantissa, e.lower_exp2, digits),
                       decimal(e.upper_mantissa, e.upper_exp2, digits));
}

} // namespace perm
