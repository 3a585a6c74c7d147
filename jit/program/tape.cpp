#include "jit/program/tape.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace libperm {
namespace {

constexpr std::uint32_t warp = 32, most_numbered = 1 << 16;

std::uint32_t whole_slices(std::uint32_t states) { return (states + warp - 1) / warp * warp; }

// Row r's states, and where each stands.
class Row {
  public:
    Row(const Tape &tape, std::int32_t r)
        : tape_(tape), begin_(tape.first_state[static_cast<std::size_t>(r)]) {
        order.resize(tape.first_state[static_cast<std::size_t>(r) + 1] - begin_);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
            return tape_.first_move[begin_ + x + 1] - tape_.first_move[begin_ + x] >
                   tape_.first_move[begin_ + y + 1] - tape_.first_move[begin_ + y];
        });
    }
    std::size_t size() const { return order.size(); }
    std::size_t moves_at(std::size_t place) const {
        const std::uint32_t state = begin_ + order[place];
        return tape_.first_move[state + 1] - tape_.first_move[state];
    }
    TapeMove move_at(std::size_t place, std::size_t j) const {
        return tape_.moves[tape_.first_move[begin_ + order[place]] + j];
    }

    std::vector<std::uint32_t> order; // the state at each place, those with the most moves first

  private:
    const Tape &tape_;
    std::uint32_t begin_;
};

// Half a warp reads 16 doubles at once from as many pairs of banks; what stands in one pair is read one after
// the other. So within each slice of `row` its states change places: each takes the one whose pair is used
// least by the reads of `next` that it takes part in.
void spread(Row &row, const Row &next) {
    constexpr std::size_t banks = warp / 2;
    std::vector<std::vector<std::uint32_t>> reads(row.size()); // that each state takes part in
    std::uint32_t count = 0;
    for (std::size_t first = 0; first < next.size(); first += banks) {
        std::size_t deepest = 0;
        for (std::size_t k = first; k < std::min(first + banks, next.size()); ++k) {
            deepest = std::max(deepest, next.moves_at(k));
            for (std::size_t j = 0; j < next.moves_at(k); ++j) {
                auto &of_source = reads[next.move_at(k, j).source];
                const std::uint32_t read = count + static_cast<std::uint32_t>(j);
                if (std::find(of_source.begin(), of_source.end(), read) == of_source.end())
                    of_source.push_back(read);
            }
        }
        count += static_cast<std::uint32_t>(deepest);
    }
    std::vector<std::array<std::uint32_t, banks>> used(count); // of each read: how many of its states
    for (std::size_t first = 0; first < row.size(); first += warp) {
        const std::size_t places = std::min<std::size_t>(warp, row.size() - first);
        const auto begin = row.order.begin() + static_cast<std::ptrdiff_t>(first);
        const std::vector<std::uint32_t> states(begin, begin + static_cast<std::ptrdiff_t>(places));
        std::vector<bool> taken(places, false);
        for (const std::uint32_t state : states) {
            std::array<std::uint32_t, banks> cost{};
            for (const std::uint32_t read : reads[state])
                for (std::size_t b = 0; b < banks; ++b) cost[b] += used[read][b] * used[read][b];
            std::size_t best = places;
            for (std::size_t k = 0; k < places; ++k)
                if (!taken[k] && (best == places || cost[k % banks] < cost[best % banks])) best = k;
            taken[best] = true;
            row.order[first + best] = state;
            for (const std::uint32_t read : reads[state]) ++used[read][best % banks];
        }
    }
}

} // namespace

bool can_be_sliced(const Tape &tape) {
    return whole_slices(tape.most_states) < most_numbered && tape.nnz + 1 < most_numbered;
}

std::uint32_t states_kept(const Tape &tape) {
    std::uint32_t most = 0, before = 0;
    for (std::size_t r = 0; r + 1 < tape.first_state.size(); ++r) {
        const std::uint32_t states = whole_slices(tape.first_state[r + 1] - tape.first_state[r]);
        most = std::max(most, before + states);
        before = states;
    }
    return most;
}

SlicedTape sliced(const Tape &tape) {
    std::vector<Row> rows;
    for (std::int32_t r = 1; r <= tape.n; ++r) rows.emplace_back(tape, r);
    for (std::size_t r = rows.size(); r-- > 1;) spread(rows[r - 1], rows[r]);
    SlicedTape made;
    made.states = states_kept(tape);
    std::vector<std::uint32_t> place{0}; // of the row before: where each state stands
    for (const Row &row : rows) {
        made.row.push_back(static_cast<std::uint32_t>(made.slice.size()));
        for (std::size_t first = 0; first < row.size(); first += warp) {
            made.slice.push_back(static_cast<std::uint32_t>(made.moves.size() / warp));
            std::size_t depth = 0;
            for (std::size_t k = first; k < std::min(first + warp, row.size()); ++k)
                depth = std::max(depth, row.moves_at(k));
            for (std::size_t j = 0; j < depth; ++j)
                for (std::size_t k = first; k < first + warp; ++k) {
                    auto move = static_cast<std::uint32_t>(tape.nnz); // of the entry that is 0
                    if (k < row.size() && j < row.moves_at(k)) {
                        const TapeMove is = row.move_at(k, j);
                        move = place[is.source] << 16 | is.entry;
                    }
                    made.moves.push_back(move);
                }
        }
        place.resize(row.size());
        for (std::size_t k = 0; k < row.size(); ++k) place[row.order[k]] = static_cast<std::uint32_t>(k);
    }
    made.row.push_back(static_cast<std::uint32_t>(made.slice.size()));
    made.slice.push_back(static_cast<std::uint32_t>(made.moves.size() / warp));
    return made;
}

} // namespace libperm
