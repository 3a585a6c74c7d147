#include "answer.hpp"
#include "commands.hpp"
#include "file_text.hpp"
#include "job.hpp"
#include "lib/base/durable_file.hpp"
#include "lib/base/json.hpp"
#include "matrix_file.hpp"
#include "options.hpp"
#include "output.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/core.h>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace perm {
namespace {

struct Computed {
    Result result;
    std::string plan; // its explanation, for an answer in JSON
    Seconds seconds{};
};

Computed by_plan_file(const Options &options, const Input &input, double read) {
    const Stopwatch watch;
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Plan plan = make_plan(options, input, library_options(options, progress));
    const double planned = watch.seconds();
    Computed computed{plan.execute(input.csr().values), {}, {}};
    const Result &r = computed.result;
    computed.seconds = {read + watch.seconds(), read, r->seconds_check, planned, r->seconds_run};
    if (options.json) computed.plan = plan.explain(PERM_FORMAT_JSON);
    return computed;
}

// A plan of its own would be one for many executions.
Computed at_once(const Options &options, const Input &input, double read) {
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const perm_opts opts = library_options(options, progress);
    Computed computed;
    Result &r = computed.result;
    if (options.json)
        computed.plan = Plan::compute(input.csr(), opts, r).explain(PERM_FORMAT_JSON);
    else
        r = compute(input.csr(), opts);
    computed.seconds = {read + r->seconds_total, read, r->seconds_check, r->seconds_plan, r->seconds_run};
    return computed;
}

// work(); a stop that leaves a checkpoint says how to go on.
template <class Work> auto to_go_on(const Options &options, const Work &work) {
    try {
        return work();
    } catch (const Error &error) {
        const bool stopped = error.status() == PERM_CANCELLED || error.status() == PERM_REFUSED_TIME;
        if (!stopped || !libperm::exists(options.checkpoint)) throw;
        throw Error(error.status(), error.what() + options.how_to_go_on());
    }
}

void compute_and_write(const Options &options, const Input &input, double read) {
    Computed computed = to_go_on(options, [&] {
        return options.plan.empty() ? at_once(options, input, read) : by_plan_file(options, input, read);
    });
    write_answer(options, file_name(options), *computed.result.raw(), computed.seconds, computed.plan);
}

// Refused before the computation is: what it may come to is of another kind.
void require_estimable(const std::string &precision, const std::string &function) {
    if (!function.empty() && function != "permanent")
        throw Error(PERM_BAD_OPTION, "--or-estimate with --function " + function + ": " +
                                         OptionTable().why("perm compute --or-estimate", "--function"));
    const bool is_modular = precision.starts_with("mod:");
    if (precision != "exact" && !is_modular) return;
    throw Error(PERM_BAD_OPTION, "--or-estimate with --precision " + precision + ": " +
                                     OptionTable().why("perm compute --or-estimate", "--precision"));
}

bool is_refusal(perm_status status) { return status == PERM_REFUSED_TIME || status == PERM_REFUSED_MEMORY; }

// What the exact way may take before an estimate takes its place.
double exact_seconds(const Options &options) {
    constexpr double minute = 60;
    const double whole =
        options.time_limit_seconds > 0 ? options.time_limit_seconds : std::numeric_limits<double>::infinity();
    if (!options.exact_limit_seconds) return std::min(minute, whole / 2);
    const double share = *options.exact_limit_seconds;
    if (share < whole || std::isinf(share)) return share;
    throw Error(PERM_BAD_OPTION, "--exact-limit is not below --time-limit, whose rest is the estimate's: "
                                 "lower the one or raise the other");
}

// The first line of a refusal; its limit was that of the exact way.
std::string reason_of(const Error &refusal) {
    std::string text = refusal.what();
    text.resize(std::min(text.find('\n'), text.size()));
    constexpr std::string_view limit = "time_limit_seconds";
    if (const auto at = text.find(limit); at != text.npos) text.replace(at, limit.size(), "--exact-limit");
    return in_command_terms(text);
}

void estimate_instead(const Options &options, const Input &input, const Stopwatch &watch,
                      const std::string &reason) {
    Options of_estimate = options; // the others are of the computation
    of_estimate.engine = of_estimate.precision = of_estimate.device = of_estimate.checkpoint = "";
    of_estimate.decompose = of_estimate.chunks = "";
    of_estimate.tolerance = 0;
    if (options.time_limit_seconds > 0) of_estimate.time_limit_seconds -= watch.seconds();
    if (of_estimate.time_limit_seconds < 0)
        throw Error(PERM_REFUSED_TIME, "nothing of --time-limit is left for an estimate: " + reason);
    if (!options.quiet) write_message("an estimate takes the place of the computation: " + reason);
    const perm_opts opts = library_options(of_estimate);
    const perm_estimated found = make_estimate(options, input.csr(), opts);
    write_estimate(options, found, input.csr(), watch.seconds(), reason);
}

} // namespace

void run_compute(const Options &options) {
    if (!options.checkpoint.empty()) require_folder_of(options.checkpoint);
    if (options.or_estimate) require_estimable(options.precision, options.function);
    Options exact = options;
    if (options.or_estimate) exact.time_limit_seconds = exact_seconds(options);
    const Stopwatch watch;
    const Input input(options);
    try {
        compute_and_write(exact, input, watch.seconds());
    } catch (const Error &refusal) {
        if (!options.or_estimate || !is_refusal(refusal.status())) throw;
        estimate_instead(options, input, watch, reason_of(refusal));
    }
}

void run_estimate(const Options &options) {
    if (!options.checkpoint.empty()) require_folder_of(options.checkpoint);
    const Stopwatch watch;
    const Input input(options);
    const perm_estimated found =
        to_go_on(options, [&] { return make_estimate(options, input.csr(), library_options(options)); });
    write_estimate(options, found, input.csr(), watch.seconds());
}

void run_hafnian(const Options &given) {
    Options options = given;
    options.function = options.loops || !options.row_unmatched.empty() ? "loop_hafnian" : "hafnian";
    run_compute(options);
}

namespace {

// Six digits of mantissa * 2^exp2, rounded up or down.
std::string outwards(double mantissa, std::int64_t exp2, bool up) {
    if (mantissa == 0) return "0";
    return std::isinf(mantissa) ? "inf" : scientific(mantissa, exp2, 6, up ? 1 : -1);
}

libperm::Json bound_json(double mantissa, std::int64_t exp2, const char *method) {
    using libperm::Json;
    return Json{{"mantissa", mantissa}, {"exp2", exp2}, {"method", method}};
}

std::string as_json(const perm_interval &b, const perm_csr &a, double seconds) {
    using libperm::Json;
    Json out = Json(Json::Object());
    out["lower"] = bound_json(b.lower_mantissa, b.lower_exp2, b.lower_method);
    out["upper"] = bound_json(b.upper_mantissa, b.upper_exp2, b.upper_method);
    out["exact"] = b.exact == 1;
    out["of_magnitude"] = b.of_magnitude == 1;
    out["blocks"] = b.blocks;
    out["blocks_exact"] = b.blocks_exact;
    put_matrix(out, a, {{"total", seconds}, {"run", b.seconds_total}});
    return out.written();
}

} // namespace

void run_bounds(const Options &options) {
    const Cancellable cancellable;
    const Stopwatch watch;
    const Input input(options);
    const perm_opts opts = library_options(options);
    perm_interval b = PERM_INTERVAL_INIT;
    check(perm_bounds(&input.csr(), &opts, &b));
    if (options.json) return write_stdout(as_json(b, input.csr(), watch.seconds()));
    const std::string lower = outwards(b.lower_mantissa, b.lower_exp2, false),
                      upper = outwards(b.upper_mantissa, b.upper_exp2, true);
    if (options.quiet) return write_stdout(lower + " " + upper + "\n");
    const char *what = b.of_magnitude == 1 ? "|perm|" : "perm";
    std::string out;
    if (b.exact == 1 && std::abs(b.upper_exp2) < 1000)
        out = fmt::format("{} = {}\nexact\n", what,
                          std::ldexp(b.upper_mantissa, static_cast<int>(b.upper_exp2)));
    else
        out = fmt::format("{} <= {} <= {}\nlower: {}, upper: {}\n", lower, what, upper, b.lower_method,
                          b.upper_method);
    out += fmt::format("n = {}, {} entries; {} block{}, {} exact\n", input.csr().n_rows, input.csr().nnz,
                       b.blocks, b.blocks == 1 ? "" : "s", b.blocks_exact);
    write_stdout(out);
}

namespace {

FileNumber number_at(const FileMatrix &a, std::size_t k) {
    if (!a.texts.empty()) return {0, a.texts[k]};
    if (a.pattern) return {1, ""};
    return {a.complex_values.empty() ? a.values[k] : a.complex_values[k], ""};
}

Field field_of(const FileMatrix &a) {
    if (a.pattern || a.integers) return Field::integer;
    return a.complex_values.empty() ? Field::real : Field::complex;
}

FileMatrix identity(std::int64_t n) {
    FileRoom room("", unlimited);
    FileEntries entries(room);
    for (std::int64_t i = 0; i < n; ++i) entries.add(i, i, {1, ""}, i);
    return entries.matrix(n, n, Field::pattern);
}

// With zeros where it has no entry and the other has one, of this kind of numbers.
FileMatrix spread(const FileMatrix &from, const FileMatrix &other, Field field, bool has_text) {
    FileRoom room("", unlimited);
    FileEntries entries(room);
    const auto columns = [](const FileMatrix &m, std::size_t row) {
        return std::span(m.col_idx).subspan(static_cast<std::size_t>(m.row_ptr[row]),
                                            static_cast<std::size_t>(m.row_ptr[row + 1] - m.row_ptr[row]));
    };
    const auto add = [&](std::size_t row, std::int64_t col, FileNumber number) {
        if (has_text) number.text = text_of(number);
        entries.add(static_cast<std::int64_t>(row), col, std::move(number), 0);
    };
    std::size_t k = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(from.n_rows); ++row) {
        const auto own = columns(from, row);
        for (const std::int64_t col : own) add(row, col, number_at(from, k++));
        std::vector<std::int64_t> missing;
        std::ranges::set_difference(columns(other, row), own, std::back_inserter(missing));
        for (const std::int64_t col : missing) add(row, col, {});
    }
    entries.sort(Duplicates::refuse, field);
    return entries.matrix(from.n_rows, from.n_cols, field);
}

// Both with the entries of both, of one kind of numbers.
std::pair<FileMatrix, FileMatrix> side_by_side(const FileMatrix &a, const FileMatrix &b) {
    const bool has_text = !a.texts.empty() || !b.texts.empty();
    const Field x = field_of(a), y = field_of(b);
    const Field field = x == Field::complex || y == Field::complex ? Field::complex
                        : x == Field::real || y == Field::real     ? Field::real
                                                                   : Field::integer;
    return {spread(a, b, field, has_text), spread(b, a, field, has_text)};
}

std::pair<FileMatrix, FileMatrix> read_both(const Options &options) {
    const FileMatrix a = read_file(options, options.file);
    if (options.linear.empty() && a.n_rows != a.n_cols)
        throw Error(PERM_BAD_MATRIX,
                    fmt::format("{}: a {} x {} matrix; of square ones there are principal submatrices, for "
                                "others tell by --linear what x stands with",
                                options.file, a.n_rows, a.n_cols));
    const FileMatrix b = options.linear.empty() ? identity(a.n_rows) : read_file(options, options.linear);
    if (a.n_rows != b.n_rows || a.n_cols != b.n_cols)
        throw Error(PERM_BAD_MATRIX,
                    fmt::format("{} is {} x {}, and {} is {} x {}: both have one shape", options.file,
                                a.n_rows, a.n_cols, options.linear, b.n_rows, b.n_cols));
    return side_by_side(a, b);
}

} // namespace

void run_matchings(const Options &given) {
    const Options options = of_matchings(given);
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    const Input input(options);
    const std::vector<Result> numbers = matchings(input.csr(), library_options(options, progress));
    write_numbers(options, numbers, "matchings", input.csr(), watch.seconds());
}

void run_polynomial(const Options &options) {
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    auto [constant, linear] = read_both(options);
    const FileView of_x(linear);
    const Input input(options, std::move(constant));
    const std::vector<Result> found =
        polynomial(input.csr(), of_x.csr().values, library_options(options, progress));
    write_numbers(options, found, "coefficients", input.csr(), watch.seconds());
    if (options.json) return;
    const auto missed = [](const Result &one) { return one->tolerance_met == 0; };
    const auto worst = std::ranges::find_if(found, missed);
    if (worst != found.end())
        write_message(fmt::format(
            "{} coefficients miss the tolerance, that of x^{} with a relative error bound of "
            "{:.2g}",
            std::ranges::count_if(found, missed), worst - found.begin(), (*worst)->rel_error_bound));
}

} // namespace perm
