// Pieces as they are written, in partial results and checkpoints.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/run/piece_store.hpp"

namespace libperm {

template <class Archive> void serialize(Archive &ar, Piece &piece) {
    ar(piece.task.plan, piece.task.block, piece.task.attempt, piece.pieces, piece.number, piece.part);
    if (piece.number >= piece.pieces)
        throw Error(PERM_BAD_ARGUMENT, "a part that is known has no such number");
}

} // namespace libperm
