#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace perm {
namespace {

// Columns count from 1, as in the file; 0: the row stays unmatched.
std::string as_lines(const std::vector<std::int64_t> &columns, std::int64_t rows) {
    std::string out;
    for (std::size_t k = 0; k < columns.size(); ++k)
        fmt::format_to(std::back_inserter(out), "{}{}", columns[k] + 1,
                       (static_cast<std::int64_t>(k) + 1) % rows == 0 ? '\n' : ' ');
    return out;
}

std::string as_json(const std::vector<std::int64_t> &columns, const Options &options, const perm_csr &a,
                    double seconds) {
    using libperm::Json;
    Json samples = Json::Array();
    for (std::size_t k = 0; k < columns.size();) {
        Json one = Json::Array();
        for (std::int64_t i = 0; i < a.n_rows; ++i) one.push_back(columns[k++] + 1);
        samples.push_back(std::move(one));
    }
    Json out = Json(Json::Object());
    out["samples"] = std::move(samples);
    out["shots"] = options.shots;
    out["seed"] = options.seed;
    out["n_rows"] = a.n_rows;
    out["n_cols"] = a.n_cols;
    out["nnz"] = a.nnz;
    out["seconds"] = Json{{"total", seconds}};
    return out.written();
}

} // namespace

void run_sample(const Options &options) {
    constexpr std::int64_t most = 1000000000;
    if (options.shots < 0 || options.shots > most)
        throw Error(PERM_BAD_OPTION,
                    fmt::format("--shots {}: 0 to {} can be drawn at once", options.shots, most));
    const Cancellable cancellable;
    Progress progress(!options.quiet);
    const Stopwatch watch;
    const Input input(options);
    const perm_csr &a = input.csr();
    const perm_opts opts = library_options(options, progress);
    std::vector<std::int64_t> columns(static_cast<std::size_t>(options.shots * a.n_rows));
    check(perm_sample(&a, &opts, options.shots, options.seed, columns.data()));
    if (columns.empty() && !options.json) return;
    write_stdout(options.json ? as_json(columns, options, a, watch.seconds()) : as_lines(columns, a.n_rows));
}

} // namespace perm
