#include "periodic_answer.hpp"

#include "commands.hpp"

#include <fmt/core.h>

#include <utility>

namespace perm {
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
