#include "part_file.hpp"

#include "output.hpp"

#include "lib/base/durable_file.hpp"
#include "lib/base/error.hpp"
#include "lib/base/kept_file.hpp"
#include "lib/base/seal.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace perm {

template <class Archive> void PartFile::save(Archive &ar) const {
    ar(plan, values, of, index, static_cast<std::uint64_t>(partials.size()));
    for (const auto &[number, bytes] : partials) ar(number, bytes);
}

template <class Archive> void PartFile::load(Archive &ar) {
    std::uint64_t left = 0;
    ar(plan, values, of, index, left);
    libperm::require(values.are_of(plan.pattern), "values that are not the matrix's");
    libperm::require(1 <= of && of <= most_parts && 0 <= index && index < of, "the part's index");
    for (; left > 0; --left) {
        std::int64_t number = 0;
        ar(number);
        ar(partials[number]);
    }
}

namespace {

using libperm::Seal;

constexpr Seal plan_seal{"PERMPLNF", 2, "the plan", "perm plan", "make the plan anew with perm plan"};
constexpr Seal part_seal{"PERMJOBS", 2, "the part", "perm shard",
                         "finish with that version, or remove it and run perm shard again"};

template <class Content> Content read(const Seal &seal, const std::string &file) {
    try {
        return libperm::content_of<Content>(seal, libperm::read_file(file));
    } catch (const libperm::Error &error) {
        throw Error(error.status(), fmt::format("{}: {}", file, error.what()));
    } catch (const std::system_error &error) {
        throw Error(PERM_BAD_ARGUMENT, fmt::format("cannot read '{}': {}", file, error.code().message()));
    }
}

template <class Content>
void write(const Seal &seal, const std::string &file, const Content &content, bool is_torn = false) {
    try {
        libperm::write_durably(file, libperm::sealed(seal, libperm::written(content)), is_torn);
    } catch (const std::system_error &error) {
        const std::string text = fmt::format("cannot write '{}': {}", file, error.code().message());
        if (error.code() == std::errc::no_space_on_device || error.code() == std::errc::io_error)
            throw OutputError(text);
        throw Error(PERM_BAD_OPTION, text);
    }
}

} // namespace

Plan load_plan(const std::string &file, const PlanFile &from, const perm_opts &opts) {
    try {
        Plan plan = Plan::load(from.plan, opts);
        plan.check_matrix(from.pattern.csr());
        return plan;
    } catch (const Error &error) {
        throw Error(error.status(), fmt::format("{}: {}", file, error.what()));
    }
}

// shards * index / of, without overflow: `of` has 32 bits, and shards are at most 2^16.
std::int64_t first_shard(std::int64_t shards, std::int64_t of, std::int64_t index) {
    return shards / of * index + shards % of * index / of;
}

void require_own_shards(const std::string &file, const PartFile &part, std::int64_t shards) {
    if (part.partials.empty()) return;
    if (part.partials.begin()->first < first_shard(shards, part.of, part.index) ||
        part.partials.rbegin()->first >= first_shard(shards, part.of, part.index + 1))
        throw Error(PERM_BAD_ARGUMENT,
                    fmt::format("{} holds shards that are not those of its index {} of {}: "
                                "remove it and run perm shard again",
                                file, part.index, part.of));
}

bool is_whole(const PartFile &part, std::int64_t shards) {
    const std::int64_t first = first_shard(shards, part.of, part.index);
    const std::int64_t last = first_shard(shards, part.of, part.index + 1);
    return static_cast<std::int64_t>(part.partials.size()) == last - first;
}

std::int64_t index_of(std::int64_t shard, std::int64_t shards, std::int64_t of) {
    return ((shard + 1) * of - 1) / shards; // the largest k with shards * k / of <= shard
}

void forget_previous(const std::string &file) {
    std::error_code none;
    std::filesystem::remove(libperm::previous_of(file), none);
}

void discard_part(const std::string &file) {
    std::error_code none;
    std::filesystem::remove(file, none);
    forget_previous(file);
}

void write_plan_file(const std::string &file, const PlanFile &plan) {
    write(plan_seal, file, plan);
    forget_previous(file);
}

PlanFile read_plan_file(const std::string &file) { return read<PlanFile>(plan_seal, file); }

void write_part_file(const std::string &file, PartFile &part) {
    write(part_seal, file, part, part.is_torn);
    part.is_torn = false;
}

PartFile read_part_file(const std::string &file) { return read<PartFile>(part_seal, file); }

std::optional<PartFile> read_begun_part(const std::string &file) {
    try {
        auto kept = libperm::read_kept<PartFile>(
            file, [](std::string_view bytes) { return libperm::content_of<PartFile>(part_seal, bytes); },
            [](const std::string &text) { write_message("warning: " + text); });
        if (!kept) return {};
        kept->content.is_torn = kept->is_previous;
        return std::move(kept->content);
    } catch (const libperm::Error &error) {
        throw Error(error.status(), error.what());
    }
}

void require_same_matrix(const std::string &file, const PlanFile &found, const PlanFile &wanted) {
    KeptPattern same_type = found.pattern;
    same_type.value_type = wanted.pattern.value_type;
    if (same_type != wanted.pattern)
        throw Error(PERM_BAD_ARGUMENT,
                    fmt::format("{} is of another matrix, {}, than {}", file, found.matrix, wanted.matrix));
    if (found.pattern.value_type != wanted.pattern.value_type)
        throw Error(PERM_BAD_ARGUMENT,
                    fmt::format("{} is of another kind of numbers: --decimal is to be given to all "
                                "subcommands or to none",
                                file));
}

} // namespace perm
