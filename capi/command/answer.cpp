#include "answer.hpp"

#include "commands.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fmt/core.h>
#include <limits>
#include <memory>
#include <mpfr.h>
#include <new>
#include <numbers>
#include <string_view>
#include <utility>

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

std::string scientific(double mantissa, std::int64_t exp2, int digits, int direction) {
    mpfr_set_emin(mpfr_get_emin_min()); // 2^30 may not do
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_t number;
    mpfr_init2(number, 53); // as many bits as the mantissa has
    mpfr_set_d(number, mantissa, MPFR_RNDN);
    mpfr_mul_2si(number, number, static_cast<long>(exp2), MPFR_RNDN);
    char *text = nullptr;
    const mpfr_rnd_t rounding = direction < 0 ? MPFR_RNDD : direction > 0 ? MPFR_RNDU : MPFR_RNDN;
    const int length = mpfr_asprintf(&text, "%.*R*e", digits - 1, rounding, number);
    mpfr_clear(number);
    if (length < 0) throw std::bad_alloc();
    const std::unique_ptr<char, void (*)(char *)> owner(text, mpfr_free_str);
    return text;
}

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

void put_matrix(libperm::Json &out, const perm_csr &a, libperm::Json seconds) {
    out["n_rows"] = a.n_rows;
    out["n_cols"] = a.n_cols;
    out["nnz"] = a.nnz;
    out["seconds"] = std::move(seconds);
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

void write_numbers(const Options &options, const std::vector<Result> &numbers, const char *key,
                   const perm_csr &a, double seconds) {
    using libperm::Json;
    if (!options.json) {
        std::string out;
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const Result &one = numbers[k];
            if (!options.quiet) out += fmt::format("{} ", k);
            out += one.text();
            if (!options.quiet && one->exact == 0)
                out += fmt::format(" relative error at most {:.1e}", one->rel_error_bound);
            out += '\n';
        }
        return write_stdout(out);
    }
    Json texts = Json::Array(), bounds = Json::Array();
    bool exact = true;
    for (const Result &one : numbers) {
        texts.push_back(one.text());
        bounds.push_back(one->rel_error_bound);
        exact = exact && one->exact == 1;
    }
    Json out = Json(Json::Object());
    out[key] = std::move(texts);
    out["rel_error_bounds"] = std::move(bounds);
    out["exact"] = exact;
    out["engine"] = numbers.front()->engine;
    put_matrix(out, a, {{"total", seconds}, {"run", numbers.front()->seconds_run}});
    write_stdout(out.written());
}

// ---------------------------------------------------------------- estimates

namespace {

constexpr int estimate_digits = 8;

// mantissa * 2^exp2 in decimal.
std::string decimal(double mantissa, std::int64_t exp2, int digits = estimate_digits) {
    constexpr std::int64_t in_range = 1000;
    if (mantissa == 0 || !std::isfinite(mantissa)) return fmt::format("{}", mantissa == 0 ? 0.0 : mantissa);
    if (std::abs(exp2) < in_range)
        return fmt::format("{:.{}g}", std::ldexp(mantissa, static_cast<int>(exp2)), digits);
    return scientific(mantissa, exp2, digits);
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
    put_matrix(out, a, {{"total", seconds}, {"plan", e.seconds_plan}, {"run", e.seconds_total}});
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

// What is known so far: "; between 1.2e+30 and 1.3e+30", or nothing yet.
std::string interval_so_far(const perm_estimated &e) {
    constexpr int digits = 4;
    if (e.upper_mantissa == 0 || (e.lower_mantissa == 0 && e.additive == 0)) return "";
    return fmt::format("; between {} and {}", decimal(e.lower_mantissa, e.lower_exp2, digits),
                       decimal(e.upper_mantissa, e.upper_exp2, digits));
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

namespace {

FileMatrix read_cell(const Options &options) {
    if (options.lattice.empty() == options.file.empty())
        throw Error(PERM_BAD_OPTION, options.file.empty()
                                         ? "a cell is expected: the file CELL, or a name by --lattice"
                                         : "two cells are given: take the file CELL or --lattice, not both");
    if (options.lattice.empty()) return read_file(options, options.file);
    FileMatrix cell;
    static_cast<Csr &>(cell) = lattice_cell(options.lattice);
    cell.integers = true;
    return cell;
}

// A matrix in its views, as long as they live.
struct CellMatrix {
    explicit CellMatrix(FileMatrix m) : matrix(std::move(m)), view(matrix) {}
    FileMatrix matrix;
    FileView view;
};

std::string as_json(const Options &options, PeriodicAnswer &asked) {
    using libperm::Json;
    Json out = asked.result ? json_of(options, *asked.result->raw(), asked.seconds) : Json(Json::Object());
    if (!asked.terms.empty()) {
        Json terms = Json::Array();
        for (const Result &term : asked.terms) terms.push_back(term.text());
        out["terms"] = terms;
    }
    if (!asked.function.empty()) {
        const Json function = Json::read(asked.function);
        for (const char *key : {"numerator", "denominator", "order", "proven", "checked"})
            out[key] = function.at(key);
    }
    if (asked.growth) {
        out["growth"] = asked.growth->value;
        out["growth_lower"] = asked.growth->lower;
        out["growth_upper"] = asked.growth->upper;
    }
    out["plan"] = Json::read(asked.plan);
    return out.written();
}

std::string as_text(const Options &options, PeriodicAnswer &asked) {
    const std::string name = options.lattice.empty() ? file_name(options) : options.lattice;
    std::string out;
    if (asked.result)
        out += options.quiet ? asked.result->text() + "\n"
                             : text_of(options, fmt::format("{} of {}", *options.length, name),
                                       *asked.result->raw(), asked.seconds);
    for (std::size_t k = 0; k < asked.terms.size(); ++k)
        out += options.quiet ? asked.terms[k].text() + "\n"
                             : fmt::format("{} {}\n", k + 1, asked.terms[k].text());
    out += asked.function;
    if (asked.growth)
        out += options.quiet ? fmt::format("{:.15g}\n", asked.growth->value)
                             : fmt::format("growth {:.15g} a cell, from {:.17g} to {:.17g} for certain\n",
                                           asked.growth->value, asked.growth->lower, asked.growth->upper);
    return out.empty() ? asked.plan : out;
}

} // namespace

Periodic periodic_plan(const Options &options, const perm_opts &opts) {
    const CellMatrix cell(read_cell(options));
    perm_periodic a = PERM_PERIODIC_INIT;
    a.cell = &cell.view.csr();
    a.joined = options.wrap;
    std::optional<CellMatrix> head, tail;
    if (!options.head.empty()) a.head = &head.emplace(read_file(options, options.head)).view.csr();
    if (!options.tail.empty()) a.tail = &tail.emplace(read_file(options, options.tail)).view.csr();
    return Periodic(a, opts);
}

void require_room(const Options &options) {
    const double limit = memory_limit(options);
    constexpr double of_text = 32; // at least
    const double bytes = static_cast<double>(options.terms.value_or(0)) * (2 * sizeof(perm_result) + of_text);
    if (bytes > limit)
        throw Error(
            PERM_REFUSED_MEMORY,
            fmt::format("{} terms take {:.3g} GB and more; {:.3g} GB is the limit\n  raise the limit: "
                        "--memory, or ask for fewer",
                        options.terms.value_or(0), bytes / 1e9, limit / 1e9));
}

Lengths lengths_of(const Options &options) {
    if (options.generating_function || options.growth ||
        options.length.has_value() == options.terms.has_value())
        throw Error(PERM_BAD_OPTION,
                    "either --length or --terms is expected here, and nothing else to compute: the "
                    "terms of one call are what is kept, and shared out");
    return options.length ? Lengths{*options.length, 1} : Lengths{1, *options.terms};
}

void write_periodic(const Options &options, PeriodicAnswer answer) {
    if (answer.result) warn_if_missed(options, *answer.result->raw());
    for (Result &term : answer.terms)
        if (!term->tolerance_met) {
            warn_if_missed(options, *term.raw());
            break;
        }
    write_stdout(options.json ? as_json(options, answer) : as_text(options, answer));
}

namespace {

PeriodicAnswer ask(const Options &options) {
    const bool has_terms = options.length || options.terms;
    const bool has_others = options.growth || options.generating_function; // of which the library tells
    if (!options.checkpoint.empty() && (has_terms || !has_others)) lengths_of(options);
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    const Periodic plan = periodic_plan(options, library_options(options, progress));
    const perm_format format = options.json ? PERM_FORMAT_JSON : PERM_FORMAT_TEXT;
    PeriodicAnswer asked;
    asked.seconds.plan = watch.seconds(); // the file's reading included
    asked.plan = plan.explain(format);
    if (options.length) {
        asked.result = plan.execute(*options.length);
        asked.seconds.run = asked.result->operator->()->seconds_run;
        asked.seconds.total = asked.seconds.plan + asked.seconds.run;
    }
    require_room(options);
    if (options.terms) asked.terms = plan.terms(1, *options.terms);
    if (options.generating_function) asked.function = plan.generating_function(format);
    if (options.growth) asked.growth = plan.growth();
    return asked;
}

} // namespace

void run_periodic(const Options &options) {
    if (options.terms && *options.terms < 1) throw Error(PERM_BAD_OPTION, "--terms must be 1 or more");
    write_periodic(options, ask(options));
}

} // namespace perm
