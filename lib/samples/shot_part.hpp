// Shots as parts of a task: whole numbers of the same range, and how pieces are made of chunks of them.
#pragma once

#include "lib/base/fields.hpp"
#include "lib/run/call.hpp"
#include "lib/run/numbered_sum.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace libperm {

struct ShotPart {
    std::int32_t least = 0, end = 0; // each number is one of least .. end - 1
    std::vector<std::int32_t> numbers{};
};

inline void save_part(cereal::PortableBinaryOutputArchive &ar, const ShotPart &part) { ar(part.numbers); }

inline void load_part(cereal::PortableBinaryInputArchive &ar, ShotPart &part) {
    ar(part.numbers);
    for (const std::int32_t x : part.numbers) require(x >= part.least && x < part.end, "a shot's number");
}

constexpr std::uint64_t most_chunks_at_once = 4096; // of which each has its part

// compute() of parts_of_pieces (lib/run/pieces.hpp) where the pieces are made of chunks, which are numbered,
// too: of(k) tells those of piece k, draw(first, parts) what some come to that follow each other, and
// add(all, part) adds them up. Pieces that follow each other are kept together, of `at_once` chunks or so.
template <class Part, class Of, class Draw, class Add>
auto made_of_chunks(const Part &nothing, double at_once, const Of &of, const Draw &draw, const Add &add) {
    return [&, at_once](std::span<const std::uint64_t> todo, const auto &done) {
        for (std::size_t k = 0, end = 1; k < todo.size(); k = end++) {
            while (end < todo.size() && todo[end] == todo[end - 1] + 1 &&
                   NumberRange{of(todo[k]).first, of(todo[end]).last}.size() <= at_once)
                ++end;
            call().begin_piece();
            std::vector<Part> parts(end - k, nothing), chunks;
            const std::uint64_t last = of(todo[end - 1]).last;
            auto part = parts.begin();
            for (std::uint64_t chunk = of(todo[k]).first; chunk < last;) {
                chunks.assign(std::min(most_chunks_at_once, last - chunk), nothing);
                draw(chunk, std::span<Part>(chunks));
                for (const Part &one : chunks) {
                    if (chunk == of(todo[k] + static_cast<std::uint64_t>(part - parts.begin())).last) ++part;
                    add(*part, one);
                    ++chunk;
                }
            }
            for (std::size_t p = k; p < end; ++p) done(todo[p], std::move(parts[p - k]));
        }
    };
}

} // namespace libperm
