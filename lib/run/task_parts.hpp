// What a task is of, and what its shards came to, as bytes that are the same on every machine.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/run/piece_store.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace libperm {

struct TaskIdentity {
    struct Trait {
        std::string digest;
        std::string_view another; // what has another digest is of: "another matrix"
    };
    std::string_view kind;     // one of those below
    std::vector<Trait> traits; // the same of all tasks of a kind

    std::vector<std::string> digests() const {
        std::vector<std::string> all;
        for (const Trait &trait : traits) all.push_back(trait.digest);
        return all;
    }

    // What something is of that is not of this task; empty: it is.
    std::string_view difference(std::string_view its_kind,
                                const std::vector<std::string> &its_digests) const {
        if (its_kind != kind)
            return its_kind == plan          ? "a computation (perm_compute)"
                   : its_kind == estimate    ? "an estimate (perm_estimate)"
                   : its_kind == product     ? "the permanent of a product (perm_compute_product)"
                   : its_kind == matchings   ? "numbers of matchings (perm_matchings)"
                   : its_kind == polynomial  ? "a polynomial (perm_polynomial)"
                   : its_kind == samples     ? "samples of matchings (perm_sample)"
                   : its_kind == photons     ? "samples of photons (perm_sample_photons)"
                   : its_kind == batch       ? "a batch (perm_plan_execute_batch)"
                   : its_kind == periodic    ? "terms of a periodic matrix (perm_periodic_terms)"
                   : its_kind == derivatives ? "derivatives (perm_plan_gradient)"
                   : its_kind == minors      ? "minors (perm_sub_permanents, perm_gradients)"
                   : its_kind == by_ranks    ? "a task of several ranks (perm-mpi)"
                                             : "another task";
        if (its_digests.size() != traits.size()) return "another task";
        for (std::size_t k = 0; k < traits.size(); ++k)
            if (its_digests[k] != traits[k].digest) return traits[k].another;
        return {};
    }

    static constexpr std::string_view plan = "a plan", product = "a product", estimate = "an estimate",
                                      matchings = "numbers of matchings", polynomial = "a polynomial",
                                      periodic = "periodic terms", derivatives = "derivatives",
                                      minors = "minors", samples = "samples", photons = "photons",
                                      batch = "a batch", by_ranks = "a task by ranks";
};

// Pieces as they are written, in partial results and checkpoints.

template <class Archive> void serialize(Archive &ar, Piece &piece) {
    ar(piece.task.plan, piece.task.block, piece.task.attempt, piece.pieces, piece.number, piece.part);
    if (piece.number >= piece.pieces)
        throw Error(PERM_BAD_ARGUMENT, "a part that is known has no such number");
}

// What the shards of a task came to, as bytes that are the same on every machine, and all of them put
// together again.

struct ShardCount {
    std::int64_t count = 1;
    double seconds = 0;           // that one takes, on one thread or GPU, as predicted
    bool more_may_follow = false; // where these prove too few
};
// So many that each is worth sending, of so many pieces.
ShardCount shards_of(double serial_seconds, double pieces, double least_seconds = 0.01);

std::string bytes_of_part(const TaskIdentity &task, std::uint64_t shard, const PieceStore &store);

// Puts the pieces of all parts, those of each of the shards there once or more often, into the store. Throws
// Error: PERM_BAD_ARGUMENT, with the text naming the first that is missing, damaged or of another task.
void take_parts(const TaskIdentity &task, const ShardCount &shards, std::span<const std::string_view> parts,
                PieceStore &store);

} // namespace libperm
