#include "lib/estimates/kept_estimate.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/base/kept_file.hpp"
#include "lib/base/log.hpp"
#include "lib/base/seal.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/kept_pieces.hpp"
#include "lib/number/scaled.hpp"

#include <optional>
#include <system_error>
#include <utility>

namespace libperm {
namespace {

constexpr Seal seal{"PERMESTK", 1, "the checkpoint", "an estimate with a checkpoint",
                    "finish with that version, or remove the file and begin anew"};

// What stands in the file.
struct Content {
    EstimateIdentity of;
    std::string plan; // its digest
    std::string method;
    std::int64_t n = 0, entries = 0, samples = 0;
    double seconds = 0;  // predicted
    Scaled lower, upper; // so far; both 0: nothing is known
    KeptProgress progress;

    template <class Archive> void serialize(Archive &ar) {
        ar(of, plan, method, n, entries, samples);
        amounts(ar, seconds);
        ar(lower.mantissa, lower.exp2, upper.mantissa, upper.exp2, progress);
    }
};

Content read_content(std::string_view bytes) {
    for (const std::string_view magic : {"PERMKEPT", "PERMRANK"})
        if (bytes.starts_with(magic))
            throw Error(PERM_BAD_ARGUMENT,
                        formatted("this is a checkpoint of a computation, which {} goes on with",
                                  magic == "PERMRANK" ? "perm-mpi" : "perm_compute"));
    return content_of<Content>(seal, bytes);
}

using Kept = KeptFile<Content>;
std::optional<Kept> read_checkpoint(const std::string &file) {
    return read_kept<Content>(file, read_content, log_warning);
}

void require_same(const Content &found, const Content &wanted, const std::string &file) {
    const auto require = [&](bool holds, const char *what) {
        if (!holds)
            throw Error(PERM_BAD_OPTION,
                        formatted("the checkpoint {} is of {}: name another file, or remove {} to begin anew",
                                  file, what, those_kept(file)));
    };
    require(found.of.matrix == wanted.of.matrix, "another matrix");
    require(found.of.options == wanted.of.options, "an estimate with other options");
    require(found.plan == wanted.plan,
            "an estimate that was planned otherwise, as versions or machines differ");
}

} // namespace

MatrixEstimate run_kept(const EstimatePlan &plan, const EstimateIdentity &identity, const InputPattern &input,
                        const Options &options, SampleDevices *devices, RunControl &control,
                        const EstimatePlan::Told &told) {
    if (options.checkpoint.empty()) {
        MatrixEstimate out = plan.run(nullptr, devices, control, told);
        control.finish();
        return out;
    }
    Content content;
    content.of = identity;
    content.plan = plan.digest();
    content.method = plan.method();
    content.n = input.pattern.rows;
    content.entries = input.pattern.nnz();
    content.seconds = plan.seconds();
    KeptPieces kept(options, control, [&](const KeptProgress &progress) {
        Content now = content;
        now.progress = progress;
        return sealed(seal, written(now));
    });
    if (std::optional<Kept> found = read_checkpoint(options.checkpoint)) {
        require_same(found->content, content, options.checkpoint);
        kept.go_on_from(std::move(found->content.progress), found->is_previous);
    } else {
        kept.begin();
    }
    const auto tell = [&](const MatrixEstimate &found) {
        content.samples = found.samples;
        content.lower = found.lower;
        content.upper = found.upper;
        if (told) told(found);
    };
    return kept.run([&](PieceStore &store) {
        MatrixEstimate out = plan.run(&store, devices, control, tell);
        tell(out);
        return out;
    });
}

bool is_kept_estimate(const std::string &file) {
    for (const std::string &name : {file, previous_of(file)}) try {
            if (exists(name) && read_file(name).starts_with(seal.magic)) return true;
        } catch (const std::system_error &) { // which reading it tells of
        }
    return false;
}

namespace {

constexpr std::size_t digits = 6;

Json number(const Scaled &x) { return Json{{"mantissa", x.mantissa}, {"exp2", x.exp2}}; }

Content status_of(const std::string &file) {
    std::optional<Kept> kept = read_checkpoint(file);
    if (!kept) throw Error(PERM_BAD_OPTION, formatted("there is no checkpoint {}", file));
    return std::move(kept->content);
}

} // namespace

std::string kept_estimate_text(const std::string &file) {
    const Content c = status_of(file);
    const KeptProgress &done = c.progress;
    std::string text =
        formatted("{}: an estimate of a matrix of order {}, {} entries\n", file, c.n, c.entries);
    text += formatted("method     {}\n", c.method);
    text += formatted("done       {:.2f} %, {} parts, in {}\n", 100 * done.fraction, done.pieces.size(),
                      readable_seconds(done.seconds));
    if (c.samples > 0)
        text += formatted("so far     {} samples: between {} and {}\n", c.samples, to_text(c.lower, digits),
                          to_text(c.upper, digits));
    text += done.is_answered ? "finished: the same command gives the answer again at once\n"
                             : formatted("left       {}, as fast as so far: the same command goes on\n",
                                         readable_seconds(done.seconds_left(c.seconds)));
    return text;
}

std::string kept_estimate_json(const std::string &file) {
    const Content c = status_of(file);
    const KeptProgress &done = c.progress;
    return Json{
        {"checkpoint", file},
        {"n", c.n},
        {"nnz", c.entries},
        {"method", c.method},
        {"fraction", done.fraction},
        {"parts", done.pieces.size()},
        {"samples", c.samples},
        {"lower", number(c.lower)},
        {"upper", number(c.upper)},
        {"seconds", done.seconds},
        {"seconds_left", done.seconds_left(c.seconds)},
        {"finished", done.is_answered},
    }
        .written();
}

} // namespace libperm
