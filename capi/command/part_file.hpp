// The files of perm plan, which are saved plans, and of perm shard, which are parts (lib/run/part.hpp): each
// with its task, so that they need nothing else to be combined.
#pragma once

#include "lib/base/durable_file.hpp"
#include "lib/base/error.hpp"
#include "lib/run/part.hpp"

#include <perm.hpp>

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace perm {

using libperm::Part;

// Index `index` of `of` has the shards from first_shard(index) to first_shard(index + 1).
std::int64_t first_shard(std::int64_t shards, std::int64_t of, std::int64_t index);

// The one that a shard is in.
std::int64_t index_of(std::int64_t shard, std::int64_t shards, std::int64_t of);

// work() on what the file holds; Error names the file.
template <class Work> auto of_file(const std::string &file, const Work &work) {
    try {
        return work();
    } catch (const Error &error) {
        throw Error(error.status(), fmt::format("{}: {}", file, error.what()));
    } catch (const libperm::Error &error) {
        throw Error(error.status(), fmt::format("{}: {}", file, error.what()));
    } catch (const std::system_error &error) {
        throw Error(PERM_BAD_ARGUMENT, fmt::format("cannot read '{}': {}", file, error.code().message()));
    }
}

// All but the last throw Error, with the file's name; writing OutputError, too.
void write_plan_file(const std::string &file, const Plan &plan);
Plan load_plan_file(const std::string &file, const perm_opts &opts);
void write_part_file(const std::string &file, const Part &part, bool is_torn = false);
Part read_part(const std::string &file, std::string_view bytes);

// If it was begun; where a crash or a disk has damaged it, that of the write before.
std::optional<libperm::KeptFile<Part>> read_begun_part(const std::string &file);
void forget_previous(const std::string &file);

} // namespace perm
