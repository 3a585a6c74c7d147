#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>

#include <utility>

namespace perm {
namespace {

std::string as_json(const std::vector<Result> &numbers, const perm_csr &a, double seconds) {
    using libperm::Json;
    Json texts = Json::Array();
    bool exact = true;
    for (const Result &number : numbers) {
        texts.push_back(number.text());
        exact = exact && number->exact == 1;
    }
    Json out = Json(Json::Object());
    out["matchings"] = std::move(texts);
    out["exact"] = exact;
    out["n_rows"] = a.n_rows;
    out["n_cols"] = a.n_cols;
    out["nnz"] = a.nnz;
    out["seconds"] = Json{{"total", seconds}, {"run", numbers.front()->seconds_run}};
    return out.written();
}

} // namespace

void write_matchings(const Options &options, const std::vector<Result> &numbers, const perm_csr &a,
                     double seconds) {
    if (options.json) return write_stdout(as_json(numbers, a, seconds));
    std::string out;
    for (std::size_t k = 0; k < numbers.size(); ++k)
        out += options.quiet ? numbers[k].text() + "\n" : fmt::format("{} {}\n", k, numbers[k].text());
    write_stdout(out);
}

void run_matchings(const Options &options) {
    const Cancellable cancellable(notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    const Input input(options);
    const std::vector<Result> numbers = matchings(input.csr(), library_options(options, progress));
    write_matchings(options, numbers, input.csr(), watch.seconds());
}

} // namespace perm
