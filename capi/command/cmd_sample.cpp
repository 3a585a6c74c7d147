#include "answer.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"

#include "lib/base/json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace perm {
namespace {

using Columns = std::vector<std::int64_t>;

// Columns count from 1, as in the file; 0: the row stays unmatched.
std::string as_lines(const Columns &columns, std::int64_t rows) {
    std::string out;
    for (std::size_t k = 0; k < columns.size(); ++k)
        fmt::format_to(std::back_inserter(out), "{}{}", columns[k] + 1,
                       (static_cast<std::int64_t>(k) + 1) % rows == 0 ? '\n' : ' ');
    return out;
}

// Elements of an array, a line each.
std::string as_arrays(const Columns &columns, std::int64_t shots, std::int64_t rows, bool is_first) {
    std::string out;
    for (std::int64_t shot = 0; shot < shots; ++shot) {
        out += is_first && shot == 0 ? "\n    [" : ",\n    [";
        for (std::int64_t i = 0; i < rows; ++i)
            fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ", ",
                           columns[static_cast<std::size_t>(shot * rows + i)] + 1);
        out += ']';
    }
    return out;
}

libperm::Json account(const Options &options, const perm_csr &a, double seconds) {
    libperm::Json out = libperm::Json::Object();
    out["shots"] = options.shots;
    out["seed"] = options.seed;
    put_matrix(out, a, libperm::Json{{"total", seconds}});
    return out;
}

// So many shots at a time that memory does not grow with them, nor the time until a signal is heard.
std::int64_t at_once(const perm_csr &a) {
    constexpr std::int64_t numbers = 1 << 20;
    return std::max<std::int64_t>(1, numbers / std::max<std::int64_t>(a.n_rows, 1));
}

// Writes samples as they come: lines, or an object's array "samples".
class SamplesOutput {
  public:
    SamplesOutput(bool json, std::int64_t rows) : json_(json), rows_(rows) {}

    void write(const Columns &columns, std::int64_t shots) {
        if (!json_) return write_stdout_part(as_lines(columns, rows_));
        const std::string beginning = this->beginning();
        const bool is_first = !std::exchange(has_begun_, true);
        write_stdout_part(beginning + as_arrays(columns, shots, rows_, is_first));
    }
    bool has_begun() const { return has_begun_; } // the object

    // The object goes on after the array.
    void end(const libperm::Json &more) {
        if (json_)
            write_stdout(std::string(beginning()) + "\n  ],\n" +
                         more.written().substr(2)); // without its brace
    }

  private:
    const char *beginning() const { return has_begun_ ? "" : "{\n  \"samples\": ["; }

    const bool json_;
    const std::int64_t rows_;
    bool has_begun_ = false;
};

} // namespace

void require_shots(const Options &options) {
    constexpr std::int64_t most = 1000000000;
    if (options.shots < 0 || options.shots > most)
        throw Error(PERM_BAD_OPTION,
                    fmt::format("--shots {}: 0 to {} can be drawn at once", options.shots, most));
}

void write_samples(const Options &options, const Columns &columns, const perm_csr &a, double seconds) {
    SamplesOutput out(options.json, a.n_rows);
    for (std::int64_t shot = 0; shot < options.shots;) {
        const std::int64_t count = std::min(at_once(a), options.shots - shot);
        const auto first = columns.begin() + shot * a.n_rows;
        out.write(Columns(first, first + count * a.n_rows), count);
        shot += count;
    }
    out.end(account(options, a, seconds));
}

void run_sample(const Options &given) {
    const Options options = of_matchings(given);
    require_shots(options);
    // Of lines, alive only while they are drawn: a signal that comes while a slow reader is waited for ends
    // the command at once. An object is brought to its end.
    std::optional<Cancellable> cancellable(std::in_place, notice_of(options));
    Progress progress(!options.quiet);
    const Stopwatch watch;
    const Input input(options);
    const perm_csr &a = input.csr();
    const perm_opts opts = library_options(options, progress);
    if (!options.checkpoint.empty()) { // they are kept as a whole
        const Columns all = sample(a, options.shots, options.seed, opts);
        if (!options.json) cancellable.reset();
        return write_samples(options, all, a, watch.seconds());
    }
    Sampler sampler(a, options.shots, options.seed, opts);
    SamplesOutput out(options.json, a.n_rows);
    try {
        for (std::int64_t drawn = 0; drawn < options.shots;) {
            const std::int64_t count = std::min(at_once(a), options.shots - drawn);
            cancellable.emplace();
            const Columns columns = sampler.draw(count);
            if (!options.json) cancellable.reset();
            out.write(columns, count);
            drawn += count;
        }
    } catch (const Error &error) {
        if (!out.has_begun()) throw;
        const std::string text = in_command_terms(error.what());
        write_message(text);
        out.end(libperm::Json{{"error", failure(error.status(), text)}});
        throw Reported(exit_code(error.status()));
    }
    out.end(account(options, a, watch.seconds()));
}

} // namespace perm
