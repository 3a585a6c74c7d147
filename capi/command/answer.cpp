#include "answer.hpp"

#include "output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <string_view>

namespace perm {
namespace {

// Two digits that are never below the bound.
std::string bound_text(double bound) {
    const std::string text = fmt::format("{:.1e}", bound);
    return std::strtod(text.c_str(), nullptr) >= bound ? text : fmt::format("{:.1e}", bound * 1.05);
}

bool is_complex(const perm_result &r) { return std::string_view(r.text).ends_with('i'); }

// Of a number that is not exact: it is written as D.DDDe+DD.
std::ptrdiff_t printed_digits(std::string_view text) {
    const std::string_view mantissa = text.substr(0, text.find('e'));
    return std::count_if(mantissa.begin(), mantissa.end(), [](char c) { return '0' <= c && c <= '9'; });
}

// How many digits of the printed value, or of the larger of its two parts, the relative error bound vouches
// for, to half a unit of the last of them.
int certain_digits(const perm_result &r) {
    const double bound = r.rel_error_bound * (is_complex(r) ? std::numbers::sqrt2 : 1);
    const double digits = std::floor(-std::log10(std::max(2 * bound, std::numeric_limits<double>::min())));
    return digits > 0 ? static_cast<int>(std::min(digits, static_cast<double>(printed_digits(r.text)))) : 0;
}

std::string count_text(double count) {
    return count < 1e15 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
}

std::string bytes_text(double bytes) {
    if (bytes < 1e6) return fmt::format("{:.1f} kB", bytes / 1e3);
    if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string error_text(const perm_result &r) {
    if (r.exact) return "exact";
    const int digits = certain_digits(r);
    if (digits > 0)
        return fmt::format("relative error below {} ({} digit{}{} certain)", bound_text(r.rel_error_bound),
                           digits, digits == 1 ? "" : "s", is_complex(r) ? " of the larger part" : "");
    std::string text = "no digit is certain";
    if (std::isfinite(r.abs_error_bound)) text += ": the error is below " + bound_text(r.abs_error_bound);
    return text;
}

std::string certainty_line(const perm_result &r) {
    std::string line = error_text(r);
    if (r.entry_rounding >= 1) line += "; the entries' own rounding may change all digits";
    if (std::string_view(r.engine) == "none") return line + ", by the reductions alone";
    line += fmt::format(", {} on {}", r.engine, r.device);
    if (std::string_view(r.device) == "cpu")
        line += fmt::format(", {} thread{}", r.threads, r.threads == 1 ? "" : "s");
    return line;
}

std::string work_line(const perm_result &r) {
    const auto counted = [](std::int64_t n) { return n < 0 ? "more than 2^63" : std::to_string(n); };
    std::string line = fmt::format("n = {}, {} entries", counted(r.n), counted(r.nnz));
    if (r.blocks > 1) line += fmt::format("; {} blocks, {} computed", r.blocks, r.blocks_computed);
    if (r.subsets > 0) line += fmt::format("; {} subsets", count_text(r.subsets));
    if (r.states > 0)
        line +=
            fmt::format("; {} states, {} at most at once", count_text(r.states), count_text(r.peak_states));
    if (r.slices > 0) line += fmt::format(", in {} slice{}", r.slices, r.slices == 1 ? "" : "s");
    if (r.peak_bytes > 0) line += fmt::format("; {}", bytes_text(static_cast<double>(r.peak_bytes)));
    return line;
}

// Nothing of kernels that were in memory or on disk.
std::string compile_text(const perm_result &r) {
    if (r.kernels_compiled == 0) return "";
    return fmt::format(", of it {:.3f} s for compiling {} kernel{}", r.seconds_compile, r.kernels_compiled,
                       r.kernels_compiled == 1 ? "" : "s");
}

// What would tell more than doubles do.
std::string precision_advice(const Options &options) {
    for (const char *doubles : {"", "auto", "double", "kahan", "dq"})
        if (options.precision == doubles) return "; --precision dd or exact may tell more, and takes longer";
    if (options.precision.starts_with("mpfr"))
        return "; more bits may tell more, and so does --precision exact";
    return "";
}

bool is_of_hafnian(const Options &options) { return options.function.ends_with("hafnian"); }

const char *short_name(const Options &options) {
    return !is_of_hafnian(options) ? "perm" : options.function == "hafnian" ? "haf" : "lhaf";
}

} // namespace

void warn_if_missed(const Options &options, const perm_result &r) {
    if (r.tolerance_met) return;
    const std::string what = is_of_hafnian(options) ? "hafnian" : "permanent";
    if (certain_digits(r) == 0) {
        std::string text = "warning: no digit of the " + what + " is certain (cancellation or underflow)";
        if (std::isfinite(r.abs_error_bound))
            text += "; its absolute error is below " + bound_text(r.abs_error_bound);
        write_message(text + precision_advice(options));
        return;
    }
    constexpr double default_tolerance = 1e-9;
    const double tolerance = options.tolerance > 0 ? options.tolerance : default_tolerance;
    write_message(fmt::format("warning: the {} is less accurate than requested: its relative error "
                              "bound {} is above the tolerance {:g}{}",
                              what, bound_text(r.rel_error_bound), tolerance, precision_advice(options)));
}

std::string text_of(const Options &options, const std::string &matrix, const perm_result &r,
                    const Seconds &s) {
    return fmt::format("{}({}) = {}\n{}\n{}\n{:.3f} s: read {:.3f} s, plan {:.3f} s, run {:.3f} s{}\n",
                       short_name(options), matrix, r.text, certainty_line(r), work_line(r), s.total, s.read,
                       s.plan, s.run, compile_text(r));
}

// Infinities and NaN become null.
libperm::Json json_of(const Options &options, const perm_result &r, const Seconds &s) {
    using libperm::Json;
    return Json{
        {is_of_hafnian(options) ? "hafnian" : "permanent", r.text},
        {"real", r.re},
        {"imag", r.im},
        {"mantissa", r.mantissa_re},
        {"mantissa_imag", r.mantissa_im},
        {"exp2", r.exp2},
        {"exact", r.exact != 0},
        {"rel_error_bound", r.rel_error_bound},
        {"abs_error_bound", r.abs_error_bound},
        {"certain_digits", r.exact ? Json() : Json(certain_digits(r))},
        {"entry_rounding", r.entry_rounding},
        {"tolerance_met", r.tolerance_met != 0},
        {"engine", r.engine},
        {"device", r.device},
        {"threads", r.threads},
        {"n", r.n < 0 ? Json(nullptr) : Json(r.n)},
        {"nnz", r.nnz < 0 ? Json(nullptr) : Json(r.nnz)},
        {"blocks", r.blocks},
        {"blocks_computed", r.blocks_computed},
        {"slices", r.slices},
        {"states", r.states},
        {"peak_states", r.peak_states},
        {"subsets", r.subsets},
        {"operations", r.operations},
        {"kernels_compiled", r.kernels_compiled},
        {"peak_bytes", r.peak_bytes},
        {"seconds",
         {{"total", s.total},
          {"read", s.read},
          {"check", s.check},
          {"plan", s.plan},
          {"run", s.run},
          {"compile", r.seconds_compile}}},
    };
}

void write_answer(const Options &options, const std::string &matrix, const perm_result &result,
                  const Seconds &seconds, const std::string &plan) {
    warn_if_missed(options, result);
    if (options.json) {
        libperm::Json answer = json_of(options, result, seconds);
        answer["plan"] = libperm::Json::read(plan);
        write_stdout(answer.written());
    } else {
        write_stdout(options.quiet ? result.text : text_of(options, matrix, result, seconds));
    }
}

} // namespace perm
