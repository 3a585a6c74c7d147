#include "capi/mpi/kept_partials.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/kept_file.hpp"
#include "lib/base/log.hpp"
#include "lib/base/seal.hpp"

#include <system_error>
#include <utility>
#include <vector>

namespace libperm::mpi {
namespace {

constexpr Seal seal{"PERMRANK", 1, "the checkpoint", "perm_mpi_compute",
                    "finish with that version, or remove the file and begin anew"};

struct Content {
    std::string digest, plan;
    std::vector<std::int64_t> shards;
    std::vector<std::string> partials;

    template <class Archive> void serialize(Archive &ar) { ar(digest, plan, shards, partials); }
};

} // namespace

KeptPartials::KeptPartials(std::string file, double seconds_between, const std::string &digest)
    : file_(std::move(file)), seconds_between_(seconds_between > 0 ? seconds_between : 60), digest_(digest) {
    if (file_.empty()) return;
    std::optional<KeptFile<Content>> kept = read_kept<Content>(
        file_, [](std::string_view bytes) { return content_of<Content>(seal, bytes); }, log_warning);
    if (!kept) { // before days are spent on what could not be kept
        const auto failure = failure_of([&] {
            write_durably(file_, sealed(seal, written(Content{digest_, {}, {}, {}})));
        });
        if (failure)
            throw Error(PERM_BAD_OPTION, formatted("the checkpoint cannot be written: {}", failure->text));
        return;
    }
    Content &found = kept->content;
    is_torn_ = kept->is_previous;
    if (found.digest != digest_ || found.shards.size() != found.partials.size())
        throw Error(PERM_BAD_OPTION,
                    formatted("the checkpoint {} is of another matrix, or of an estimate with "
                              "other options: name another file, or remove {} to begin anew",
                              file_, those_kept(file_)));
    plan_ = std::move(found.plan);
    for (std::size_t k = 0; k < found.shards.size(); ++k)
        partials_.emplace(found.shards[k], std::move(found.partials[k]));
    written_count_ = partials_.size();
}

void KeptPartials::require_of(std::int64_t shards) const {
    if (partials_.empty() || (partials_.begin()->first >= 0 && partials_.rbegin()->first < shards)) return;
    throw Error(PERM_BAD_OPTION,
                formatted("the checkpoint {} holds shards that its plan does not have: name another "
                          "file, or remove {} to begin anew",
                          file_, those_kept(file_)));
}

void KeptPartials::write_if_due(const Partials &partials) {
    const std::chrono::duration<double> since = Clock::now() - written_;
    if (is_wanted() && since.count() >= seconds_between_ && partials.size() > written_count_) write(partials);
}

bool KeptPartials::write(const Partials &partials) {
    if (!is_wanted()) return false;
    Content content{digest_, plan_, {}, {}};
    for (const auto &[shard, bytes] : partials) {
        content.shards.push_back(shard);
        content.partials.push_back(bytes);
    }
    const auto failure = failure_of([&] { write_durably(file_, sealed(seal, written(content)), is_torn_); });
    if (failure) {
        log_warning(formatted("the checkpoint could not be written: {}; what was written before stays",
                              failure->text));
    } else {
        written_count_ = partials.size();
        is_torn_ = false;
    }
    written_ = Clock::now();
    return !failure;
}

} // namespace libperm::mpi
