#include "periodic_answer.hpp"

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

} // namespace perm
