#include "lib/execute/checkpoint.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/system.hpp"
#include "lib/number/scaled.hpp"
#include "lib/run/kept_pieces.hpp"
#include "lib/saved/bytes.hpp"

#include <optional>

namespace libperm {
namespace {

// If it is there.
std::optional<Plan> plan_of_checkpoint(const InputPattern &input, const Options &options) {
    const std::optional<std::string> kept = plan_in_checkpoint(options, TaskIdentity::plan);
    if (!kept) return {};
    Plan plan;
    try {
        plan = plan_of(*kept, options);
        if ((plan.options.modulus != 0 || options.modulus != 0) && !is_same_precision(plan.options, options))
            throw Error(PERM_BAD_OPTION, "it is of residues, or of other ones: ask for the same precision");
    } catch (const Error &error) { // options that it was not made with
        if (error.status() == PERM_CANCELLED || error.status() == PERM_REFUSED_TIME) throw;
        throw Error(error.status(), formatted("the checkpoint {}: {}; or name another file",
                                              options.checkpoint, error.what()));
    }
    if (difference(plan.input, input)) fail_foreign(options.checkpoint, "another matrix");
    return plan;
}

} // namespace

Plan make_kept_plan(InputPattern input, const Options &options, const Values &values, GpuStart start) {
    if (std::optional<Plan> kept = plan_of_checkpoint(input, options)) return std::move(*kept);
    return make_plan(std::move(input), options, values, start);
}

namespace {

constexpr std::size_t digits = 6;

Json number(const Scaled &x) { return Json{{"mantissa", x.mantissa}, {"exp2", x.exp2}}; }

KeptTask task_of(const std::string &file) {
    std::optional<KeptFile<KeptTask>> kept = read_kept_task(file);
    if (!kept) throw Error(PERM_BAD_OPTION, formatted("there is no checkpoint {}", file));
    return std::move(kept->content);
}

} // namespace

std::string checkpoint_text(const std::string &file) {
    const KeptTask task = task_of(file);
    const KeptAbout &about = task.about;
    const KeptProgress &done = task.progress;
    const bool is_estimate = task.kind == TaskIdentity::estimate;
    std::string text =
        formatted("{}: {} a matrix of order {}, {} entries\n", file,
                  task.kind == TaskIdentity::plan ? "of" : task.kind + " of", about.n, about.entries);
    text += formatted("{} {}\n", is_estimate ? "method    " : "engine    ", about.way);
    text += formatted("done       {:.2f} %, {} parts, in {}\n", 100 * done.fraction, done.pieces.size(),
                      readable_seconds(done.seconds));
    if (about.samples > 0)
        text += formatted("so far     {} samples: between {} and {}\n", about.samples,
                          to_text(about.lower, digits), to_text(about.upper, digits));
    text += done.is_answered ? "finished: the same command gives the answer again at once\n"
            : !is_estimate && done.fraction > 0.9999
                ? "left       a second run in more precise numbers, perhaps: the same command goes on\n"
                : formatted("left       {}, as fast as so far: the same command goes on\n",
                            readable_seconds(done.seconds_left(about.seconds)));
    return text;
}

std::string checkpoint_json(const std::string &file) {
    const KeptTask task = task_of(file);
    const KeptAbout &about = task.about;
    const KeptProgress &done = task.progress;
    Json json{
        {"checkpoint", file},        {"n", about.n},
        {"nnz", about.entries},      {task.kind == TaskIdentity::estimate ? "method" : "engine", about.way},
        {"fraction", done.fraction}, {"parts", done.pieces.size()}};
    if (task.kind == TaskIdentity::estimate) {
        json["samples"] = about.samples;
        json["lower"] = number(about.lower);
        json["upper"] = number(about.upper);
    }
    json["seconds"] = done.seconds;
    json["seconds_left"] = done.seconds_left(about.seconds);
    json["finished"] = done.is_answered;
    return json.written();
}

} // namespace libperm
