#include "answer.hpp"
#include "commands.hpp"
#include "job.hpp"
#include "output.hpp"
#include "part_file.hpp"

#include "lib/base/json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace perm {
namespace {

class Parts {
  public:
    explicit Parts(const std::vector<std::string> &files) {
        for (const std::string &file : files) add(file);
        if (files_.empty()) throw Error(PERM_BAD_ARGUMENT, "there is no part to combine");
    }

    const Part &first() const { return first_; }
    // Of one of them, which needs no other.
    Task task(const perm_opts &opts) const {
        return of_file(files_.front().name, [&] { return Task::load(first_.task, opts); });
    }

    // combined(the parts); what is wrong with them is told of the files.
    template <class Combined> auto combine(const Task &task, const Combined &combined) const {
        try {
            return combined(bytes_);
        } catch (const Error &error) {
            if (const std::size_t bad = refused(error.what()); bad < files_.size()) fail_foreign(bad, error);
            if (error.status() == PERM_BAD_ARGUMENT) require_complete(task.shards());
            throw;
        }
    }

  private:
    struct File {
        std::string name, matrix;
    };

    void add(const std::string &file) {
        if (file.ends_with(".writing")) return; // what a crash left of a write
        bytes_.push_back(of_file(file, [&] { return libperm::read_file(file); }));
        Part part = read_part(file, bytes_.back());
        for (const Part::OfShard &shard : part.shards) done_.insert(shard.number);
        begun_.insert(part.index);
        files_.push_back({file, part.matrix});
        part.shards.clear();
        if (files_.size() == 1)
            first_ = std::move(part);
        else if (part.of != first_.of)
            throw Error(PERM_BAD_ARGUMENT,
                        fmt::format("{} is of another division, --of {} rather than {}, than {}", file,
                                    part.of, first_.of, files_.front().name));
    }

    // Which partial result the library's text is about; else more than there are.
    static std::size_t refused(std::string_view text) {
        constexpr std::string_view beginning = "partial result ";
        std::size_t number = std::numeric_limits<std::size_t>::max();
        if (text.starts_with(beginning))
            std::from_chars(text.data() + beginning.size(), text.data() + text.size(), number);
        return number;
    }

    [[noreturn]] void fail_foreign(std::size_t bad, const Error &error) const {
        throw Error(
            error.status(),
            fmt::format("{}, begun with {}: {}. All parts are to be made as {} was: of one matrix, "
                        "--decimal or not, with the same options and the same plan, which machines may "
                        "make otherwise: save one with perm plan, and run all indexes with --plan",
                        files_[bad].name, files_[bad].matrix, error.what(), files_.front().name));
    }

    void require_complete(std::int64_t shards) const {
        std::vector<std::int64_t> missing, unfinished;
        for (std::int64_t shard = 0; shard < shards; ++shard) {
            const std::int64_t k = index_of(shard, shards, first_.of);
            if (done_.contains(static_cast<std::uint64_t>(shard))) continue;
            if (!missing.empty() && missing.back() == k) continue;
            missing.push_back(k);
            if (begun_.contains(k)) unfinished.push_back(k);
        }
        if (missing.empty()) return;
        std::string text = fmt::format("missing: {} of {}", in_ranges(missing), first_.of);
        if (!unfinished.empty()) text += fmt::format(" (begun and not finished: {})", in_ranges(unfinished));
        throw Error(PERM_BAD_ARGUMENT, text + ": run perm shard with these, and combine all");
    }

    // "3, 7-9".
    static std::string in_ranges(const std::vector<std::int64_t> &numbers) {
        std::string text;
        for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
            for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
            text += (text.empty() ? "" : ", ") + fmt::to_string(numbers[first]);
            if (last > first) text += (last > first + 1 ? "-" : ", ") + fmt::to_string(numbers[last]);
        }
        return text;
    }

    Part first_; // but for its shards
    std::vector<File> files_;
    std::vector<std::string> bytes_;
    std::set<std::uint64_t> done_; // shards
    std::set<std::int64_t> begun_; // indexes
};

// What the parts come to.
struct Combined {
    std::vector<Result> results;
    perm_estimated estimate = PERM_ESTIMATED_INIT;
    std::string explanation; // of the task, in JSON
    double seconds_plan = 0;
};

Combined combined(const Options &options, const Parts &parts) {
    const Cancellable cancellable;
    Progress progress(!options.quiet);
    Combined all;
    const Stopwatch watch;
    const Task task = parts.task(library_options(options, progress));
    all.seconds_plan = watch.seconds();
    all.explanation = task.explain(PERM_FORMAT_JSON);
    if (task.results() == 0)
        all.estimate = parts.combine(task, [&](const auto &some) { return task.combine_estimate(some); });
    else
        all.results = parts.combine(task, [&](const auto &some) { return task.combine(some); });
    return all;
}

} // namespace

void run_combine(const Options &given) {
    Options options = given;
    // The work was worth its time already.
    if (options.time_limit_seconds == 0) options.time_limit_seconds = std::numeric_limits<double>::infinity();
    const Stopwatch watch;
    const Parts parts(options.parts);
    const double seconds_read = watch.seconds();
    Combined all = combined(options, parts);
    perm_csr shape = PERM_CSR_INIT;
    shape.n_rows = parts.first().n_rows;
    shape.n_cols = parts.first().n_cols;
    shape.nnz = parts.first().nnz;
    if (all.results.empty()) return write_estimate(options, all.estimate, shape, watch.seconds());
    const libperm::Json told = libperm::Json::read(all.explanation);
    if (told.find("task")) return write_numbers(options, all.results, "matchings", shape, watch.seconds());
    if (const libperm::Json *function = told.find("function")) options.function = function->text();
    const perm_result &r = *all.results.front().raw();
    const Seconds seconds{watch.seconds(), seconds_read, r.seconds_check, all.seconds_plan, r.seconds_run};
    write_answer(options, parts.first().matrix, r, seconds, all.explanation);
}

} // namespace perm
