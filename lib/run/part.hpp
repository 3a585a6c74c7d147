// The format of parts: what shards of a task came to, one (run_shard) or several of them (perm shard).
#pragma once

#include "lib/base/archive.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace libperm {

constexpr Seal part_seal{"PERMPART",
                         4,
                         "the partial result",
                         "perm_task_run_shard or perm shard",
                         "finish with that version, or run its shards again with this one",
                         "PERMJOBS"};

struct Part {
    struct OfShard {
        std::uint64_t number = 0;
        std::string pieces; // as bytes

        template <class Archive> void serialize(Archive &ar) { ar(number, pieces); }
    };

    std::string kind;                 // of the task's identity
    std::vector<std::string> digests; // of its traits; none before a shard is done
    std::vector<OfShard> shards;

    // Of a job of an array, which is combined with nothing else at hand.
    std::string task;   // as bytes
    std::string matrix; // the name of its file
    std::int64_t n_rows = 0, n_cols = 0, nnz = 0;
    std::int64_t of = 1, index = 0; // its place in the array

    static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(); // in an array

    template <class Archive> void serialize(Archive &ar) {
        ar(kind, digests, shards, task, matrix, n_rows, n_cols, nnz, of, index);
        require_read<Archive>(1 <= of && of <= most && 0 <= index && index < of, "the part's index");
    }
};

} // namespace libperm
