// For each set S of known lines that wait, P_S(x, y) holds the states: the coefficient of x^r y^c is the sum
// of what leaves r_t rows of each kind t and c_s columns of each kind s waiting beside S. A column that comes
// takes a row that is counted or one that is known, or joins S,
//     P_S <- sum_t v_t dP_S/dx_t + sum_i a_i P_(S + row i),   P_(S + column) <- P_S,
// and a row likewise. A row i that leaves the band is counted as of some kinds from now on,
//     P_S <- P_S + sum_t u_t x_t P_(S + row i).
#include "lib/structure/separable/band_walk.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/structure/separable/band_states.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr double often_in_band = 1e6; // products between two calls of `done`

class BandWalk {
  public:
    BandWalk(const Generators &generators, const std::function<void(double)> &done)
        : diagonal_(generators.diagonal),
          shape_(band_shape(diagonal_.size(), {generators.above.kinds, generators.above.width},
                            {generators.below.kinds, generators.below.width})),
          of_rows_(shape_.is_transposed ? generators.below : generators.above),
          of_cols_(shape_.is_transposed ? generators.above : generators.below),
          done_(done),
          field_(generators.prime),
          sums_(field_, shape_),
          row_bits_(std::max<std::size_t>(of_rows_.width, 1)),
          col_bits_(of_cols_.width + 1),
          beside_(std::size_t{1} << (row_bits_ + col_bits_)) {
        beside_[0] = {{0, 0, 0}, {0}, {field_.to(1), 0}};
    }

    std::uint64_t permanent() {
        each_move(shape_, [this](const BandMove &move) {
            if (move.comes && !move.is_row && move.cols.come > 1) end_kinds(move.cols.come - 2);
            make(move);
        });
        const std::uint64_t *const all_taken = beside_[0].slice(0);
        return all_taken ? field_.from(*all_taken) : 0;
    }

  private:
    std::size_t bit_of(bool is_row, std::size_t line) const {
        return std::size_t{1} << (is_row ? line % row_bits_ : row_bits_ + line % col_bits_);
    }
    std::size_t rows_in(std::size_t set) const {
        return static_cast<std::size_t>(std::popcount(set & ((std::size_t{1} << row_bits_) - 1)));
    }
    std::size_t cols_in(std::size_t set) const {
        return static_cast<std::size_t>(std::popcount(set >> row_bits_));
    }

    void make(const BandMove &move) {
        const std::size_t line = (move.comes ? move.own().come : move.own().left) - 1,
                          own = bit_of(move.is_row, line);
        std::vector<BandStates> made(beside_.size());
        for (std::size_t set = 0; set < beside_.size(); ++set) {
            if ((set & ~waiting(move)) != 0 || (set & own) != 0) continue;
            const WaitingRange range = waiting_range(shape_, move, rows_in(set), cols_in(set));
            const std::vector<StateSource> sources =
                move.comes ? taken(move, line, set) : left(move.is_row, line, set);
            made[set] = sums_.sum(range, sources);
            tell_of(sums_.products(made[set], sources.size()));
            if (move.comes) continue;
            sums_.take_back(std::move(beside_[set]));
            sums_.take_back(std::move(beside_[set | own]));
        }
        for (std::size_t set = 0; move.comes && set < beside_.size(); ++set)
            if ((set & own) == 0) made[set | own] = std::move(beside_[set]);
        beside_ = std::move(made);
    }

    // All lines that are known.
    std::size_t waiting(const BandMove &move) const {
        std::size_t set = 0;
        for (std::size_t i = move.rows.left; i < move.rows.come; ++i) set |= bit_of(true, i);
        for (std::size_t j = move.cols.left; j < move.cols.come; ++j) set |= bit_of(false, j);
        return set;
    }

    // The line that comes takes another.
    std::vector<StateSource> taken(const BandMove &move, std::size_t line, std::size_t set) const {
        const Triangle &closed = move.is_row ? of_cols_ : of_rows_;
        const auto more = move.is_row ? StateSource::Way::more_cols : StateSource::Way::more_rows;
        std::vector<StateSource> sources;
        for (std::size_t t = 0; t < closed.kinds; ++t)
            sources.push_back({&beside_[set], field_.to(closed.closes[line][t]), more, t});
        for (std::size_t other = move.others().left; other < move.others().come; ++other) {
            const std::size_t bit = bit_of(!move.is_row, other);
            if ((set & bit) != 0) continue;
            const std::uint64_t entry = other == line ? diagonal_[line] : closed.near[line][line - other - 1];
            sources.push_back({&beside_[set | bit], field_.to(entry)});
        }
        return sources;
    }

    // The line that leaves has been taken, or is counted.
    std::vector<StateSource> left(bool is_row, std::size_t line, std::size_t set) const {
        const Triangle &opened = is_row ? of_rows_ : of_cols_;
        const auto fewer = is_row ? StateSource::Way::fewer_rows : StateSource::Way::fewer_cols;
        std::vector<StateSource> sources{{&beside_[set], field_.to(1)}};
        for (std::size_t t = 0; t < opened.kinds; ++t)
            sources.push_back({&beside_[set | bit_of(is_row, line)],
                               field_.to(opened.opens[line + opened.width][t]), fewer, t});
        return sources;
    }

    // At this step, where no other line closes them.
    void end_kinds(std::size_t step) {
        const unsigned rows = of_rows_.ends[step], cols = of_cols_.ends[step];
        if (rows == 0 && cols == 0) return;
        for (BandStates &states : beside_) sums_.leave_out(states, rows, cols);
    }

    void tell_of(double products) {
        untold_ += products;
        if (untold_ < often_in_band) return;
        done_(untold_);
        untold_ = 0;
    }

    const std::vector<std::uint64_t> &diagonal_;
    BandShape shape_;
    const Triangle &of_rows_, &of_cols_;
    const std::function<void(double)> &done_;
    Montgomery field_;
    BandSums sums_;
    std::size_t row_bits_, col_bits_; // of sets
    std::vector<BandStates> beside_;  // by set of known lines that wait
    double untold_ = 0;
};

} // namespace

std::uint64_t band_permanent(const Generators &generators, const std::function<void(double)> &done) {
    return BandWalk(generators, done).permanent();
}

} // namespace libperm
