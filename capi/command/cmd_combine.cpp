#include "answer.hpp"
#include "commands.hpp"
#include "estimate_answer.hpp"
#include "job.hpp"
#include "output.hpp"
#include "part_file.hpp"
#include "shard_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

namespace perm {
namespace {

class Parts {
  public:
    explicit Parts(const std::vector<std::string> &files) {
        for (const std::string &file : files) add(file);
        if (parts_.empty()) throw Error(PERM_BAD_ARGUMENT, "there is no part to combine");
    }

    const PartFile &first() const { return parts_.front(); }
    // Of one of them, which needs no other.
    ShardWork work(const perm_opts &opts) const { return ShardWork(files_.front(), first(), opts); }

    bool are_of_estimate() const { return is_estimate(first()); }

    Result combine(const Task &task) const {
        return of_all(task.shards(),
                      [&](const auto &partials) { return std::move(task.combine(partials).front()); });
    }
    perm_estimated combine_estimate(const Task &task) const {
        return of_all(task.shards(), [&](const auto &partials) { return task.combine_estimate(partials); });
    }

  private:
    // combined(partial results); what is wrong with them is told of the files.
    template <class Combined>
    std::invoke_result_t<Combined, const std::vector<std::string> &> of_all(std::int64_t shards,
                                                                            const Combined &combined) const {
        for (std::size_t k = 0; k < parts_.size(); ++k) // another plan's are told of below
            if (parts_[k].plan.plan == first().plan.plan) require_own_shards(files_[k], parts_[k], shards);
        std::vector<std::string> partials;
        std::vector<std::size_t> owners; // of the partials
        for (std::size_t k = 0; k < parts_.size(); ++k)
            for (const auto &[number, bytes] : parts_[k].partials) {
                partials.push_back(bytes);
                owners.push_back(k);
            }
        try {
            return combined(partials);
        } catch (const Error &error) {
            if (const std::size_t bad = refused(error.what()); bad < owners.size()) fail_foreign(owners[bad]);
            if (error.status() == PERM_BAD_ARGUMENT) require_complete(shards);
            throw;
        }
    }

    void add(const std::string &file) {
        if (file.ends_with(".writing")) return; // what a crash left of a write
        PartFile part = read_part_file(file);
        if (!parts_.empty()) {
            require_same_matrix(file, part.plan, first().plan);
            const auto require = [&](bool holds, const std::string &what) {
                if (!holds)
                    throw Error(PERM_BAD_ARGUMENT,
                                fmt::format("{} is of {} than {}", file, what, files_.front()));
            };
            require(part.values == first().values, "other values");
            require(part.of == first().of,
                    fmt::format("another division, --of {} rather than {},", part.of, first().of));
            const bool of_estimate = is_estimate(part);
            require(of_estimate == are_of_estimate(),
                    of_estimate ? "an estimate, rather" : "a computation, rather");
            require(!of_estimate || part.plan.plan == first().plan.plan, "an estimate with other options");
        }
        files_.push_back(file);
        parts_.push_back(std::move(part));
    }

    // Which partial result the library's text is about; else more than there are.
    static std::size_t refused(std::string_view text) {
        constexpr std::string_view beginning = "partial result ";
        std::size_t number = std::numeric_limits<std::size_t>::max();
        if (text.starts_with(beginning))
            std::from_chars(text.data() + beginning.size(), text.data() + text.size(), number);
        return number;
    }

    [[noreturn]] void fail_foreign(std::size_t bad) const {
        throw Error(
            PERM_BAD_ARGUMENT,
            fmt::format("{} was made with another plan than {}, as machines, versions or options differ: "
                        "save one plan with perm plan, and run all indexes with --plan",
                        files_[bad], files_.front()));
    }

    void require_complete(std::int64_t shards) const {
        std::set<std::int64_t> whole, begun;
        for (const PartFile &part : parts_) (is_whole(part, shards) ? whole : begun).insert(part.index);
        std::vector<std::int64_t> missing, unfinished; // of those that have shards, however many there are
        for (std::int64_t shard = 0, k = 0; shard < shards; shard = first_shard(shards, first().of, k + 1)) {
            k = index_of(shard, shards, first().of);
            if (whole.contains(k)) continue;
            missing.push_back(k);
            if (begun.contains(k)) unfinished.push_back(k);
        }
        if (missing.empty()) return;
        std::string text = fmt::format("missing: {} of {}", in_ranges(missing), first().of);
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

    std::vector<std::string> files_;
    std::vector<PartFile> parts_;
};

} // namespace

namespace {

void combine_computation(const Options &options, const Parts &parts, const Stopwatch &watch) {
    const double seconds_read = watch.seconds();
    const std::string matrix = parts.first().plan.matrix;
    Result result;
    std::string explanation;
    Seconds seconds{};
    {
        const Cancellable cancellable;
        Progress progress(!options.quiet);
        const ShardWork work = parts.work(library_options(options, progress));
        const double seconds_plan = watch.seconds() - seconds_read;
        result = parts.combine(work.task());
        if (options.json) explanation = work.plan().explain(PERM_FORMAT_JSON);
        seconds = {watch.seconds(), seconds_read, result->seconds_check, seconds_plan, result->seconds_run};
    }
    write_answer(options, matrix, *result.raw(), seconds, explanation);
}

void combine_estimate(const Options &options, const Parts &parts, const Stopwatch &watch) {
    perm_estimated found = PERM_ESTIMATED_INIT;
    {
        const Cancellable cancellable;
        Progress progress(!options.quiet);
        found = parts.combine_estimate(parts.work(library_options(options, progress)).task());
    }
    write_estimate(options, found, parts.first().plan.pattern.csr(), watch.seconds());
}

} // namespace

void run_combine(Options options) {
    // The work was worth its time already.
    if (options.time_limit_seconds == 0) options.time_limit_seconds = std::numeric_limits<double>::infinity();
    const Stopwatch watch;
    const Parts parts(options.parts);
    if (parts.are_of_estimate())
        combine_estimate(options, parts, watch);
    else
        combine_computation(options, parts, watch);
}

} // namespace perm
