#include "lib/execute/checkpoint.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/kept_file.hpp"
#include "lib/base/log.hpp"
#include "lib/base/seal.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/execute.hpp"
#include "lib/execute/shards.hpp"
#include "lib/run/piece_fields.hpp"
#include "lib/saved/bytes.hpp"

#include <chrono>
#include <cmath>
#include <optional>
#include <system_error>
#include <vector>

namespace libperm {

namespace {

// What stands in the file.
struct CheckpointContent {
    std::string plan;          // perm_plan_save's bytes
    std::string values;        // their digest
    double fraction = 0;       // of the run under way that is done
    double seconds = 0;        // that the calls took so far
    double run_began = 0;      // of these, when that run did
    bool is_answered = false;  // there is nothing left to do
    std::vector<Piece> pieces; // that are known

    template <class Archive> void serialize(Archive &ar) {
        ar(plan, values);
        amounts(ar, fraction, seconds, run_began);
        flags(ar, is_answered);
        ar(pieces);
        require_read<Archive>(fraction <= 1 && run_began <= seconds && std::isfinite(seconds),
                              "what is done");
    }
};

constexpr Seal seal{"PERMKEPT", 2, "the checkpoint", "a computation with a checkpoint",
                    "finish with that version, or remove the file and begin anew"};

CheckpointContent read_content(std::string_view bytes) {
    if (bytes.starts_with("PERMRANK"))
        throw Error(PERM_BAD_ARGUMENT, "this is a checkpoint of perm-mpi, which goes on with it");
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

class Checkpoint {
  public:
    // Goes on from the plan's options' file, if it is there. Throws Error (PERM_BAD_OPTION) where that is of
    // another plan or other values.
    Checkpoint(const Plan &plan, const Values &values, RunControl &control);
    Checkpoint(const Checkpoint &) = delete;
    Checkpoint &operator=(const Checkpoint &) = delete;

    PieceStore &store() { return store_; }

    // At the end of a call: with everything that it came to. What keeps it from being written is logged.
    bool write(bool is_answered);

  private:
    using Clock = std::chrono::steady_clock;
    void write_if_due();

    const Options &options_;
    RunControl &control_;
    CheckpointContent content_; // but for the pieces
    bool is_torn_ = false;      // the file, and what was read is the one before
    double seconds_before_ = 0;
    Clock::time_point start_ = Clock::now(), written_ = start_;
    PieceStore store_;
};

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

Checkpoint::Checkpoint(const Plan &plan, const Values &values, RunControl &control)
    : options_(plan.options), control_(control), store_(&control.memory(), [this] { write_if_due(); }) {
    if (std::optional<KeptCheckpoint> found = read_checkpoint(options_.checkpoint)) {
        content_ = std::move(found->content);
        is_torn_ = found->is_previous;
        if (digest_of(plan_of(content_.plan, Options())) != digest_of(plan))
            fail_foreign(options_.checkpoint, "another plan");
        if (content_.values != digest_of(values)) fail_foreign(options_.checkpoint, "other values");
        seconds_before_ = content_.seconds;
        for (Piece &piece : content_.pieces) store_.put(std::move(piece));
        content_.pieces.clear();
        return;
    }
    content_.plan = bytes_of(plan);
    content_.values = digest_of(values);
    try { // before days are spent on what could not be kept
        write_durably(options_.checkpoint, sealed(seal, written(content_)));
    } catch (const std::system_error &error) {
        throw Error(PERM_BAD_OPTION, formatted("the checkpoint cannot be written: {}", error.what()));
    }
}

void Checkpoint::write_if_due() {
    const std::chrono::duration<double> since = Clock::now() - written_;
    if (since.count() >= options_.checkpoint_seconds) write(false);
}

bool Checkpoint::write(bool is_answered) {
    CheckpointContent content = content_;
    content.pieces = store_.pieces();
    content.is_answered = is_answered;
    content.fraction = is_answered ? 1 : control_.fraction();
    content.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
    if (content.fraction < content_.fraction) content.run_began = content_.seconds; // another run's
    content_.fraction = content.fraction;
    content_.seconds = content.seconds;
    content_.run_began = content.run_began;
    bool is_written = true;
    try {
        write_durably(options_.checkpoint, sealed(seal, written(content)), is_torn_);
        is_torn_ = false;
    } catch (const std::system_error &error) {
        is_written = false;
        log_warning(formatted("the checkpoint could not be written: {}; what was written before stays",
                              error.what()));
    }
    written_ = Clock::now();
    return is_written;
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
    Checkpoint checkpoint(plan, values, control);
    try {
        Outcome outcome = execute(plan, values, control, &checkpoint.store());
        checkpoint.write(true);
        control.finish();
        return outcome;
    } catch (const Error &error) {
        const bool kept = checkpoint.write(false);
        if (error.status() != PERM_CANCELLED && error.status() != PERM_REFUSED_TIME) throw;
        throw Error(
            error.status(),
            kept
                ? formatted("{}; what is done is in {}: the same call goes on from there", error.what(), file)
                : formatted("{}; what was done since the last write to {} is lost: it cannot be written",
                            error.what(), file));
    }
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
    // As fast as so far; before there is much of that, as predicted.
    const double of_run = content.seconds - content.run_began;
    const double left = content.fraction > 0.001 ? of_run * (1 / content.fraction - 1) : plan.seconds;
    return {std::move(content), std::move(plan), left};
}

} // namespace

std::string checkpoint_text(const std::string &file) {
    const Status s = status_of(file);
    const BlockPlan *block = s.plan.main_block();
    std::string text =
        formatted("{}: of a matrix of order {}, {} entries\n", file, s.plan.n(), s.plan.input.pattern.nnz());
    text += formatted("engine     {}\n", block ? name_of(block->best()) : "none");
    text += formatted("done       {:.2f} %, {} parts, in {}\n", 100 * s.content.fraction,
                      s.content.pieces.size(), readable_seconds(s.content.seconds));
    text += s.content.is_answered ? "finished: the same command gives the answer again at once\n"
            : s.content.fraction > 0.9999
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
        {"fraction", s.content.fraction},
        {"parts", s.content.pieces.size()},
        {"seconds", s.content.seconds},
        {"seconds_left", s.content.is_answered ? 0 : s.seconds_left},
        {"finished", s.content.is_answered},
    }
        .written();
}

} // namespace libperm
