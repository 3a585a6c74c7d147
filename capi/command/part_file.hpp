// The files of perm plan and perm shard: a plan with what it is of, and a share of its work that needs
// nothing else to be combined.
#pragma once

#include "kept_matrix.hpp"

#include <perm.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace perm {

struct PlanFile {
    std::string matrix; // its name
    KeptPattern pattern;
    std::string plan; // Plan::save
    template <class Archive> void serialize(Archive &ar) { ar(matrix, pattern, plan); }
};

// Throws Error, with the file's name, for a plan of another matrix than the file says, too.
Plan load_plan(const std::string &file, const PlanFile &from, const perm_opts &opts);

// Index `index` of `of`: the shards from first_shard(index) to first_shard(index + 1).
struct PartFile {
    PlanFile plan;
    KeptValues values;
    std::int64_t of = 1, index = 0;
    std::map<std::int64_t, std::string> partials; // of the shards that are done
    bool is_torn = false;                         // its file, and this is from the one before

    template <class Archive> void save(Archive &ar) const;
    template <class Archive> void load(Archive &ar);
};

constexpr std::int64_t most_parts = std::numeric_limits<std::int32_t>::max();

std::int64_t first_shard(std::int64_t shards, std::int64_t of, std::int64_t index);

// The one that a shard is in.
std::int64_t index_of(std::int64_t shard, std::int64_t shards, std::int64_t of);

// Throws Error where it holds others'.
void require_own_shards(const std::string &file, const PartFile &part, std::int64_t shards);

// Whether all of its shards are done, of so many of the plan.
bool is_whole(const PartFile &part, std::int64_t shards);

// These throw Error or OutputError, with the file's name.
void write_plan_file(const std::string &file, const PlanFile &plan);
PlanFile read_plan_file(const std::string &file);
void write_part_file(const std::string &file, PartFile &part);
PartFile read_part_file(const std::string &file);

// If it was begun; where a crash or a disk has damaged it, that of the write before.
std::optional<PartFile> read_begun_part(const std::string &file);
void forget_previous(const std::string &file);
void discard_part(const std::string &file); // both

// Throws Error unless `found`, in `file`, is of the same matrix, whatever the values.
void require_same_matrix(const std::string &file, const PlanFile &found, const PlanFile &wanted);

} // namespace perm
