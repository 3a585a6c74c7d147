// For each set S of known lines that wait, P_S(x, y) holds the states: the coefficient of x^r y^c is the sum
// of what leaves r_t rows of each kind t and c_s columns of each kind s waiting beside S. A column that comes
// takes a row that is counted or one that is known, or joins S,
//     P_S <- sum_t v_t dP_S/dx_t + sum_i a_i P_(S + row i),   P_(S + column) <- P_S,
// and a row likewise. A row i that leaves the band is counted as of some kinds from now on,
//     P_S <- P_S + sum_t u_t x_t P_(S + row i).
#include "lib/structure/separable/band_walk.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/structure/separable/band_moves.hpp"
#include "lib/structure/separable/band_price.hpp"
#include "lib/structure/separable/divisions.hpp"
#include "lib/structure/separable/generators.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace libperm {
namespace {

// How many lines of each kind wait beside a set of known lines: slices of so many rows that are counted: a
// line for each of the rows' divisions, with the columns' divisions and a 0 behind them.
struct BandStates {
    WaitingRange range;
    std::vector<std::size_t> begins; // of slices
    std::vector<std::uint64_t> numbers;

    // The slice of w rows, or none.
    const std::uint64_t *slice(std::ptrdiff_t w) const {
        if (w < range.first || w > range.last) return nullptr;
        return numbers.data() + begins[static_cast<std::size_t>(w - range.first)];
    }
};

// What is added to each state: a multiple of the state that has the same lines, or one more of some kind,
// times how many it has, or one less.
struct StateSource {
    enum class Way { same, more_rows, fewer_rows, more_cols, fewer_cols };

    const BandStates *from = nullptr;
    std::uint64_t factor = 0; // in Montgomery's form
    Way way = Way::same;
    std::size_t kind = 0;
};

constexpr std::size_t most_sources = most_kinds + most_band + 1;

// Sums of such states: what each move of a walk with a band comes to.
class BandSums {
  public:
    BandSums(const Montgomery &field, const BandShape &shape)
        : field_(field),
          shape_(shape),
          rows_(shape.rows.kinds, shape.n / 2 + 1),
          cols_(shape.cols.kinds, shape.n / 2 + 1),
          most_numbers_(static_cast<std::size_t>(most_beside_a_set(shape))) {
        for (std::size_t w = 0; w <= shape.n + 1; ++w) counts_.push_back(field_.to(w));
    }

    // At most `most_sources`.
    BandStates sum(const WaitingRange &range, const std::vector<StateSource> &sources) {
        BandStates states{range, {}, {}};
        if (spare_.empty()) {
            states.numbers.reserve(most_numbers_);
        } else {
            states.numbers = std::move(spare_.back());
            spare_.pop_back();
        }
        std::size_t numbers = 0;
        for (std::ptrdiff_t w = range.first; w <= range.last; ++w) {
            states.begins.push_back(numbers);
            numbers += row_divisions(w) * (col_divisions(range.columns(w)) + 1);
        }
        states.numbers.resize(numbers);
        for (std::ptrdiff_t w = range.first; w <= range.last; ++w)
            fill(w, range.columns(w), sources,
                 states.numbers.data() + states.begins[static_cast<std::size_t>(w - range.first)]);
        return states;
    }

    // They are not needed any more. Their memory is, as fresh pages cost as much as the sums.
    void take_back(BandStates &&states) {
        if (states.numbers.capacity() >= most_numbers_) spare_.push_back(std::move(states.numbers));
    }

    // States with lines of these kinds, a bit each, become 0.
    void leave_out(BandStates &states, unsigned rows, unsigned cols) const {
        const auto has = [](const Divisions &lines, std::size_t kinds, unsigned ended, std::size_t total,
                            std::size_t division) {
            for (std::size_t t = 0; t < kinds; ++t)
                if ((ended >> t & 1) != 0 && lines.count(t, total, division) > 0) return true;
            return false;
        };
        std::uint64_t *own = states.numbers.data();
        for (std::ptrdiff_t w = states.range.first; w <= states.range.last; ++w) {
            const auto count = static_cast<std::size_t>(w),
                       columns = static_cast<std::size_t>(states.range.columns(w));
            for (std::size_t r = 0; r < row_divisions(w); ++r, ++own) {
                const bool all = has(rows_, shape_.rows.kinds, rows, count, r);
                for (std::size_t c = 0; c < col_divisions(states.range.columns(w)); ++c, ++own)
                    if (all || has(cols_, shape_.cols.kinds, cols, columns, c)) *own = 0;
            }
        }
    }

    // What that sum costs, in products.
    double products(const BandStates &states, std::size_t sources) const {
        StateCount count;
        for (std::ptrdiff_t w = states.range.first; w <= states.range.last; ++w) {
            const auto lines = static_cast<double>(row_divisions(w));
            count.lines += lines;
            count.states += lines * static_cast<double>(col_divisions(states.range.columns(w)));
        }
        return products_of_sums(count, sources);
    }

  private:
    // A source as a slice reads it, by line; of other columns, by place in the line.
    struct SliceSource {
        const StateSource *source = nullptr;
        const std::uint64_t *numbers = nullptr;
        std::size_t line_size = 0;
    };

    std::size_t row_divisions(std::ptrdiff_t w) const {
        return divisions_of(static_cast<std::size_t>(w), shape_.rows.kinds);
    }

    std::size_t col_divisions(std::ptrdiff_t columns) const {
        return divisions_of(static_cast<std::size_t>(columns), shape_.cols.kinds);
    }

    void fill(std::ptrdiff_t w, std::ptrdiff_t columns, const std::vector<StateSource> &sources,
              std::uint64_t *to) {
        find_in_reach(w, sources);
        for (std::size_t k = 0; k < by_place_.size(); ++k) find_places(*by_place_[k].source, columns, k);
        const std::size_t size = col_divisions(columns);
        for (std::size_t line = 0; line < row_divisions(w); ++line, to += size + 1)
            fill_line(w, line, size, to);
    }

    void find_in_reach(std::ptrdiff_t w, const std::vector<StateSource> &sources) {
        using Way = StateSource::Way;
        by_line_.clear();
        by_place_.clear();
        for (const StateSource &source : sources) {
            const std::ptrdiff_t rows = source.way == Way::more_rows    ? w + 1
                                        : source.way == Way::fewer_rows ? w - 1
                                                                        : w;
            const std::uint64_t *const numbers = source.from->slice(rows);
            if (!numbers) continue;
            const bool by_place = source.way == Way::more_cols || source.way == Way::fewer_cols;
            (by_place ? by_place_ : by_line_)
                .push_back({&source, numbers, col_divisions(source.from->range.columns(rows)) + 1});
        }
    }

    // The k-th source's place and factor by division of so many columns.
    void find_places(const StateSource &source, std::ptrdiff_t columns, std::size_t k) {
        const std::size_t size = col_divisions(columns), kind = source.kind;
        places_[k].resize(size);
        factors_[k].assign(size, source.factor);
        if (source.way == StateSource::Way::more_cols) {
            const auto total = static_cast<std::size_t>(columns);
            for (std::size_t c = 0; c < size; ++c) {
                places_[k][c] = cols_.more(kind)[c];
                factors_[k][c] = field_.multiply(source.factor, counts_[cols_.count(kind, total, c) + 1]);
            }
        } else {
            const auto none = static_cast<std::uint32_t>(columns == 0 ? 0 : col_divisions(columns - 1));
            for (std::size_t c = 0; c < size; ++c) places_[k][c] = std::min(cols_.less(kind)[c], none);
        }
    }

    void fill_line(std::ptrdiff_t w, std::size_t line, std::size_t size, std::uint64_t *to) const {
        std::array<const std::uint64_t *, most_sources> from{};
        std::array<std::uint64_t, most_sources> x{}, y{};
        std::size_t lines = 0;
        for (const auto &[source, numbers, line_size] : by_line_) {
            std::size_t other = line;
            y[lines] = source->factor;
            if (source->way == StateSource::Way::more_rows) {
                other = rows_.more(source->kind)[line];
                const std::size_t count = rows_.count(source->kind, static_cast<std::size_t>(w), line) + 1;
                y[lines] = field_.multiply(source->factor, counts_[count]);
            } else if (source->way == StateSource::Way::fewer_rows) {
                other = rows_.less(source->kind)[line];
                if (other >= row_divisions(w - 1)) continue;
            }
            from[lines++] = numbers + other * line_size;
        }
        const std::size_t places = by_place_.size();
        for (std::size_t k = 0; k < places; ++k)
            from[lines + k] = by_place_[k].numbers + line * by_place_[k].line_size;
        for (std::size_t c = 0; c < size; ++c) {
            for (std::size_t k = 0; k < lines; ++k) x[k] = from[k][c];
            for (std::size_t k = 0; k < places; ++k) {
                x[lines + k] = from[lines + k][places_[k][c]];
                y[lines + k] = factors_[k][c];
            }
            to[c] = field_.sum_of_products(x.data(), y.data(), lines + places);
        }
        to[size] = 0;
    }

    Montgomery field_;
    BandShape shape_;
    Divisions rows_, cols_;
    std::vector<std::uint64_t> counts_; // 0, 1, 2, ... in Montgomery's form
    std::size_t most_numbers_;
    std::vector<std::vector<std::uint64_t>> spare_; // each with room for so many
    // Of a slice.
    std::vector<SliceSource> by_line_, by_place_;
    std::array<std::vector<std::uint32_t>, most_kinds> places_; // of each of by_place_
    std::array<std::vector<std::uint64_t>, most_kinds> factors_;
};

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
