// What is known of a tape's lists before any numbers: the ways back, roundings, where slopes stand.
#include "lib/tape/gradient.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace libperm {
// Turns the lists round: the same states, with the moves from each.
void Gradient::turn_round() {
    const Tape &tape = *tape_;
    way_back_.n = tape.n;
    way_back_.nnz = tape.nnz;
    way_back_.first_state = tape.first_state;
    std::vector<std::uint32_t> &first = way_back_.first_move;
    first.assign(std::size_t{tape.states()} + 1, 0);
    way_back_.moves.resize(tape.moves.size());
    const auto for_each_move = [&tape](const auto &work) {
        for (std::size_t l = 1; l < tape.lists.size(); ++l) {
            if (tape.lists[l].begins()) continue;
            const std::uint32_t begin = tape.first_state[l],
                                sources = tape.first_state[at(tape.lists[l].before)];
            for (std::uint32_t t = begin; t < tape.first_state[l + 1]; ++t)
                for (std::uint32_t k = tape.first_move[t]; k < tape.first_move[t + 1]; ++k)
                    work(sources + tape.moves[k].source, TapeMove{t - begin, tape.moves[k].entry});
        }
    };
    for_each_move([&](std::uint32_t source, TapeMove) { ++first[source + 1]; });
    for (std::size_t s = 1; s < first.size(); ++s) first[s] += first[s - 1];
    std::vector<std::uint32_t> next = first;
    for_each_move([&](std::uint32_t source, TapeMove back) { way_back_.moves[next[source]++] = back; });
}

void Gradient::describe_lists() {
    const Tape &tape = *tape_;
    list_of_.assign(at(tape.nnz) + 1, 0);
    if (tape.moves.empty()) return;
    turn_round();
    lists_.resize(tape.lists.size());
    for (std::size_t l = 0; l < lists_.size(); ++l) {
        if (tape.lists[l].begins() || tape.lists[l].is_join()) continue;
        for (std::uint32_t k = tape.first_move[tape.first_state[l]];
             k < tape.first_move[tape.first_state[l + 1]]; ++k) {
            std::int32_t &of = list_of_[tape.moves[k].entry];
            if (std::exchange(of, static_cast<std::int32_t>(l)) != static_cast<std::int32_t>(l))
                lists_[l].entries.push_back(tape.moves[k].entry);
        }
    }
    count_roundings();
    place_slopes();
}

// As often as a number has links, a term of it is rounded, and before that as its factors are.
void Gradient::count_roundings() {
    const Tape &tape = *tape_;
    const auto longest = [](const Tape &way, std::size_t l) {
        std::uint32_t most = 0;
        for (std::uint32_t s = way.first_state[l]; s < way.first_state[l + 1]; ++s)
            most = std::max(most, way.first_move[s + 1] - way.first_move[s]);
        return most;
    };
    const auto most_from_other = [&tape](std::size_t l) {
        std::vector<std::uint32_t> links(tape.states_of(tape.lists[l].other), 0);
        for (std::uint32_t k = tape.first_move[tape.first_state[l]];
             k < tape.first_move[tape.first_state[l + 1]]; ++k)
            ++links[tape.moves[k].entry];
        return *std::max_element(links.begin(), links.end());
    };
    for (std::size_t l = 0; l < lists_.size(); ++l) {
        const TapeList &from = tape.lists[l];
        if (from.begins()) continue;
        lists_[l].roundings = lists_[at(from.before)].roundings + longest(tape, l);
        if (from.is_join()) lists_[l].roundings += lists_[at(from.other)].roundings;
    }
    for (std::size_t l = lists_.size(); l-- > 0;) {
        const TapeList &from = tape.lists[l];
        if (from.begins()) continue;
        List &before = lists_[at(from.before)];
        before.roundings_of_slopes = lists_[l].roundings_of_slopes + longest(way_back_, at(from.before));
        if (!from.is_join()) continue;
        List &other = lists_[at(from.other)];
        before.roundings_of_slopes += other.roundings;
        other.roundings_of_slopes = lists_[l].roundings_of_slopes + before.roundings + most_from_other(l);
    }
}

// Slopes are needed until those of the lists below are there, and lists wait as they do forwards: in a stack.
void Gradient::place_slopes() {
    const Tape &tape = *tape_;
    struct Place {
        std::size_t begin, end;
    };
    std::vector<Place> waiting{{0, tape.states_of(static_cast<std::int32_t>(lists_.size()) - 1)}};
    for (std::size_t l = lists_.size(); l-- > 0;) {
        const TapeList &from = tape.lists[l];
        const Place mine = waiting.back();
        lists_[l].slopes = mine.begin;
        most_slopes_ = std::max(most_slopes_, mine.end);
        waiting.pop_back();
        if (from.begins()) continue;
        const std::size_t below = waiting.empty() ? 0 : waiting.back().end;
        std::size_t states = tape.states_of(from.before);
        if (from.is_join()) states += tape.states_of(from.other);
        std::size_t begin = below + states <= mine.begin ? below : mine.end;
        for (const std::int32_t source :
             {std::min(from.before, from.other), std::max(from.before, from.other)})
            if (source >= 0) {
                const std::size_t end = begin + tape.states_of(source);
                waiting.push_back({begin, end});
                begin = end;
            }
    }
}

} // namespace libperm
