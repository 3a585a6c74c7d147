#include "lib/execute/checkpoint.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/kept_file.hpp"
#include "lib/base/log.hpp"
#include "lib/base/seal.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/execute.hpp"
#include "lib/execute/kept_pieces.hpp"
#include "lib/execute/shards.hpp"
#include "lib/saved/bytes.hpp"

#include <optional>

namespace libperm {

namespace {

// What stands in the file.
struct CheckpointContent {
    std::string plan;   // perm_plan_save's bytes
    std::string values; // their digest
    KeptProgress progress;

    template <class Archive> void serialize(Archive &ar) { ar(plan, values, progress); }
};

constexpr Seal seal{"PERMKEPT", 2, "the checkpoint", "a computation with a checkpoint",
                    "finish with that version, or remove the file and begin anew"};

CheckpointContent read_content(std::string_view bytes) {
    if (bytes.starts_with("PERMRANK"))
        throw Error(PERM_BAD_ARGUMENT, "this is a checkpoint of perm-mpi, which goes on with it");
    if (bytes.starts_with("PERMESTK"))
        throw Error(PERM_BAD_ARGUMENT,
                    "this is a checkpoint of an estimate, which perm_estimate goes on with");
    return content_of<CheckpointContent>(seal, bytes);
}

[[noreturn]] void fail_foreign(const std::string &file, const char *what) {
    throw Error(PERM_BAD_OPTION,
                formatted("the checkpoint {} is of {}: name another file, or remove {} to begin anew", file,
                          what, those_kept(file)));
}

using KeptCheckpoint = KeptFile<CheckpointContent>;
std::optional<KeptCheckpoint> read_checkpoint(const std::string &file) {
    return read_kept<CheckpointContent>(file, read_content, log_warning);
}

// If it is there.
std::optional<Plan> plan_of_checkpoint(const InputPattern &input, const Options &options) {
    const std::optional<KeptCheckpoint> kept = read_checkpoint(options.checkpoint);
    if (!kept) return {};
    Plan plan;
    try {
        plan = plan_of(kept->content.plan, options);
    } catch (const Error &error) { // options that it was not made with
        throw Error(error.status(), formatted("the checkpoint {}: {}; or name another file",
                                              options.checkpoint, error.what()));
    }
    if (difference(plan.input, input)) fail_foreign(options.checkpoint, "another matrix");
    return plan;
}

} // namespace

Plan make_kept_plan(InputPattern input, const Options &options, const Values &values, RunControl &control) {
    if (!options.checkpoint.empty())
        if (std::optional<Plan> kept = plan_of_checkpoint(input, options)) return std::move(*kept);
    return make_plan(std::move(input), options, values, control);
}

Outcome execute_kept(const Plan &plan, const Values &values, RunControl &control) {
    const std::string &file = plan.options.checkpoint;
    if (file.empty()) {
        Outcome outcome = execute(plan, values, control);
        control.finish();
        return outcome;
    }
    CheckpointContent content{bytes_of(plan), digest_of(values), {}};
    KeptPieces kept(plan.options, control, [&](const KeptProgress &progress) {
        return sealed(seal, written(CheckpointContent{content.plan, content.values, progress}));
    });
    if (std::optional<KeptCheckpoint> found = read_checkpoint(file)) {
        CheckpointContent &before = found->content;
        if (digest_of(plan_of(before.plan, Options())) != digest_of(plan)) fail_foreign(file, "another plan");
        if (before.values != content.values) fail_foreign(file, "other values");
        content.plan = std::move(before.plan);
        kept.go_on_from(std::move(before.progress), found->is_previous);
    } else {
        kept.begin();
    }
    return kept.run([&](PieceStore &store) { return execute(plan, values, control, &store); });
}

namespace {

struct Status {
    CheckpointContent content;
    Plan plan;
    double seconds_left;
};

Status status_of(const std::string &file) {
    std::optional<KeptCheckpoint> kept = read_checkpoint(file);
    if (!kept) throw Error(PERM_BAD_OPTION, formatted("there is no checkpoint {}", file));
    CheckpointContent &content = kept->content;
    Plan plan = plan_of(content.plan, Options());
    const double left = content.progress.seconds_left(plan.seconds);
    return {std::move(content), std::move(plan), left};
}

} // namespace

std::string checkpoint_text(const std::string &file) {
    const Status s = status_of(file);
    const BlockPlan *block = s.plan.main_block();
    std::string text =
        formatted("{}: of a matrix of order {}, {} entries\n", file, s.plan.n(), s.plan.input.pattern.nnz());
    text += formatted("engine     {}\n", block ? name_of(block->best()) : "none");
    text += formatted("done       {:.2f} %, {} parts, in {}\n", 100 * s.content.progress.fraction,
                      s.content.progress.pieces.size(), readable_seconds(s.content.progress.seconds));
    text += s.content.progress.is_answered ? "finished: the same command gives the answer again at once\n"
            : s.content.progress.fraction > 0.9999
                ? "left       a second run in more precise numbers, perhaps: the same command goes on\n"
                : formatted("left       {}, as fast as so far: the same command goes on\n",
                            readable_seconds(s.seconds_left));
    return text;
}

std::string checkpoint_json(const std::string &file) {
    const Status s = status_of(file);
    const BlockPlan *block = s.plan.main_block();
    return Json{
        {"checkpoint", file},
        {"n", s.plan.n()},
        {"nnz", s.plan.input.pattern.nnz()},
        {"engine", block ? name_of(block->best()) : "none"},
        {"fraction", s.content.progress.fraction},
        {"parts", s.content.progress.pieces.size()},
        {"seconds", s.content.progress.seconds},
        {"seconds_left", s.seconds_left},
        {"finished", s.content.progress.is_answered},
    }
        .written();
}

} // namespace libperm
