// How an engine runs its pieces, and their sums as bytes.
#pragma once

#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/call.hpp"
#include "lib/run/piece_store.hpp"
#include "lib/run/results.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <oneapi/tbb/task_arena.h>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace libperm {

// Numbers of doubles and 64-bit words; others have a function fields(archive, part), which writes and reads.
template <class Part> struct PartBytes {
    Part part;
    template <class Archive> void serialize(Archive &ar) {
        if constexpr (std::is_trivially_copyable_v<Part>) {
            static_assert(sizeof part % 8 == 0 && alignof(Part) == 8);
            ar(cereal::binary_data(reinterpret_cast<std::uint64_t *>(&part), sizeof part));
        } else {
            fields(ar, part);
        }
    }
};

template <class Part> std::string bytes_of_part(const Part &part) { return written(PartBytes<Part>{part}); }

// `like`: one of its kind.
template <class Part> Part part_of_bytes(std::string_view bytes, const Part &like) {
    PartBytes<Part> read{like};
    bool is_whole = false;
    try {
        read_into(bytes, read);
        is_whole = bytes.empty();
    } catch (const cereal::Exception &) { // no more bytes
    } catch (const DamagedField &) {
    }
    if (!is_whole) throw Error(PERM_BAD_ARGUMENT, "a part that is known is no sum of this plan's");
    return std::move(read.part);
}

// The parts of the pieces 0 .. count - 1, in their order. compute(todo, done) runs those that are missing, in
// ascending order of their numbers, and says done(number, part), from any thread; those of other shards stay
// `nothing`. `work` is what the call counts for a piece.
template <class Part, class Compute>
std::vector<Part> parts_of_pieces(std::uint64_t count, double work, const Part &nothing,
                                  const Compute &compute) {
    std::vector<Part> parts(count, nothing);
    std::vector<std::uint64_t> todo;
    const PieceScope &scope = call().pieces();
    for (std::uint64_t k = 0; k < count; ++k) {
        const auto known = scope.store ? scope.store->find(scope.task, count, k) : std::nullopt;
        if (known)
            parts[k] = part_of_bytes(*known, nothing);
        else if (!scope.store || scope.store->is_wanted(scope.task, count, k))
            todo.push_back(k);
        if (known) call().skip(work);
    }
    if (todo.empty()) return parts;
    compute(std::span<const std::uint64_t>(todo), [&](std::uint64_t k, Part part) {
        if (scope.store) scope.store->keep({scope.task, count, k, bytes_of_part(part)});
        parts[k] = std::move(part);
    });
    return parts;
}

// compute() of above where each piece runs on one thread, and takes so many bytes: with less memory than all
// threads would take fewer are at work.
template <class Run> auto each_on_its_thread(const Run &run, double bytes = 0) {
    return [&run, bytes](std::span<const std::uint64_t> todo, const auto &done) {
        const auto one = [&](std::uint64_t k) {
            call().begin_piece();
            done(todo[k], run(todo[k]));
        };
        const double threads = oneapi::tbb::this_task_arena::max_concurrency(),
                     room = static_cast<double>(call().memory().room());
        const auto at_once = static_cast<std::uint64_t>(
            bytes * threads > room ? std::max(1.0, room / bytes) : static_cast<double>(todo.size()));
        if (std::min<std::uint64_t>(at_once, todo.size()) == 1)
            for (std::uint64_t k = 0; k < todo.size(); ++k) one(k);
        else if (at_once < todo.size())
            parallel_for(at_once, [&](std::uint64_t first) {
                for (std::uint64_t k = first; k < todo.size(); k += at_once) one(k);
            });
        else
            parallel_for(todo.size(), one);
    };
}

// Residues whose matrices are computed one by one: a piece each.

// of(matrix) is its permanent modulo its prime, in about so many products and bytes.
template <class Of>
EngineResult matrix_by_matrix(const Residues &residues, double products, double bytes, const Of &of) {
    EngineResult result;
    result.value =
        parts_of_pieces(residues.primes.size(), products, std::uint64_t{0}, each_on_its_thread(of, bytes));
    result.counts.operations = products * static_cast<double>(residues.primes.size());
    return result;
}

} // namespace libperm
