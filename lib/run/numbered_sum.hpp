// Work that falls into pieces by number alone, so that who runs a piece, and on how many threads, does not
// show in the result; and sums of such pieces, added up in their order. Pieces that are kept, and sent to
// others, go through lib/run/pieces.hpp.
#pragma once

#include "lib/base/threads.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace libperm {

// The numbers first .. last - 1.
struct NumberRange {
    std::uint64_t first, last;

    double size() const { return static_cast<double>(last - first); }
};

// How the numbers 0 .. all - 1 fall into pieces.
class NumberedPieces {
  public:
    // All pieces but the last are of this length.
    static NumberedPieces of_length(std::uint64_t all, std::uint64_t length) {
        return {all, (all + length - 1) / length, length};
    }
    // There are so many pieces, whose lengths differ by one at most.
    static NumberedPieces so_many(std::uint64_t all, std::uint64_t count) { return {all, count, 0}; }

    std::uint64_t count() const { return count_; }
    NumberRange operator[](std::uint64_t k) const {
        if (length_ == 0) return {all_ * k / count_, all_ * (k + 1) / count_};
        return {k * length_, std::min((k + 1) * length_, all_)};
    }

  private:
    NumberedPieces(std::uint64_t all, std::uint64_t count, std::uint64_t length)
        : all_(all), count_(count), length_(length) {}

    std::uint64_t all_, count_, length_; // 0: they are as equal as can be
};

// Calls run(k, the numbers of piece k) for each piece, on so many threads at most.
template <class Run> void run_pieces(const NumberedPieces &pieces, int threads, const Run &run) {
    const auto one = [&](std::uint64_t k) { run(k, pieces[k]); };
    if (threads > 1 && pieces.count() > 1)
        with_threads(threads, [&] { parallel_for(pieces.count(), one); });
    else
        for (std::uint64_t k = 0; k < pieces.count(); ++k) one(k);
}

// Adds part_of(the numbers of a piece) for each piece to zero() by add(part, all), in the pieces' order; a
// part that is the only one stays as it is.
template <class Zero, class PartOf, class Add>
auto sum_of_pieces(const NumberedPieces &pieces, int threads, const Zero &zero, const PartOf &part_of,
                   const Add &add) {
    using Part = decltype(zero());
    if (pieces.count() == 1) return part_of(pieces[0]);
    std::vector<std::optional<Part>> parts(pieces.count());
    run_pieces(pieces, threads,
               [&](std::uint64_t k, NumberRange range) { parts[k].emplace(part_of(range)); });
    Part all = zero();
    for (const std::optional<Part> &part : parts) add(*part, all);
    return all;
}

} // namespace libperm
