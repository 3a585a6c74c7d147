#include "part_file.hpp"

#include "output.hpp"

#include "lib/base/archive.hpp"

#include <filesystem>

namespace perm {
namespace {

void write(const std::string &file, const std::string &bytes, bool is_torn = false) {
    try {
        libperm::write_durably(file, bytes, is_torn);
    } catch (const std::system_error &error) {
        const std::string text = fmt::format("cannot write '{}': {}", file, error.code().message());
        if (error.code() == std::errc::no_space_on_device || error.code() == std::errc::io_error)
            throw OutputError(text);
        throw Error(PERM_BAD_OPTION, text);
    }
}

} // namespace

// shards * index / of, without overflow: `of` has 32 bits, and shards are at most 2^16.
std::int64_t first_shard(std::int64_t shards, std::int64_t of, std::int64_t index) {
    return shards / of * index + shards % of * index / of;
}

std::int64_t index_of(std::int64_t shard, std::int64_t shards, std::int64_t of) {
    return ((shard + 1) * of - 1) / shards; // the largest k with shards * k / of <= shard
}

void write_plan_file(const std::string &file, const Plan &plan) {
    write(file, plan.save());
    forget_previous(file);
}

Plan load_plan_file(const std::string &file, const perm_opts &opts) {
    return of_file(file, [&] { return Plan::load(libperm::read_file(file), opts); });
}

void write_part_file(const std::string &file, const Part &part, bool is_torn) {
    write(file, libperm::sealed(libperm::part_seal, libperm::written(part)), is_torn);
}

Part read_part(const std::string &file, std::string_view bytes) {
    return of_file(file, [&] { return libperm::content_of<Part>(libperm::part_seal, bytes); });
}

std::optional<libperm::KeptFile<Part>> read_begun_part(const std::string &file) {
    try {
        return libperm::read_kept<Part>(
            file, [](std::string_view bytes) { return libperm::content_of<Part>(libperm::part_seal, bytes); },
            [](const std::string &text) { write_message("warning: " + text); });
    } catch (const libperm::Error &error) {
        throw Error(error.status(), error.what());
    }
}

void forget_previous(const std::string &file) {
    std::error_code none;
    std::filesystem::remove(libperm::previous_of(file), none);
}

} // namespace perm
