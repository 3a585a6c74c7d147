// For each set S of known lines that wait, P_S(x, y) holds the states: the coefficient of x^r y^c is the sum
// of what leaves r_t rows of each kind t and c_s columns of each kind s waiting beside S. With the row's u
// and p and the column's v and q of lib/structure/separable/generators.hpp, a column that comes takes a row
// that is counted or one that is known, or joins S,
//     P_S <- sum_t v_t dP_S/dx_t + sum_i a_i P_(S + row i),   P_(S + column) <- P_S,
// and a row likewise. A row i that leaves the band is counted as of some kinds from now on,
//     P_S <- P_S + sum_t u_t x_t P_(S + row i).
// Without a band nothing is known: a column is counted as it comes, and then the row, which may close the
// column that has just come, and is not to,
//     E = sum_t v_t dP/dx_t + sum_s q_s y_s P,
//     P <- (a_kk - sum_s p_s q_s) P + sum_t u_t x_t E + sum_s p_s dE/dy_s.
#include "lib/structure/separable/walk.hpp"

#include "lib/number/residues.hpp"
#include "lib/structure/separable/moves.hpp"
#include "preprocess/limits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <utility>

namespace libperm {
namespace {

// How many lines of each kind wait beside a set of known lines: slices of so many rows that are counted: a
// line for each of the rows' divisions, with the columns' divisions and a 0 behind them.
struct StateTable {
    WaitingRange range;
    std::vector<std::size_t> begins; // of slices
    std::vector<std::uint64_t> numbers;

    // The slice of w rows.
    std::uint64_t *slice(std::ptrdiff_t w) {
        return numbers.data() + begins[static_cast<std::size_t>(w - range.first)];
    }
    const std::uint64_t *slice(std::ptrdiff_t w) const {
        return numbers.data() + begins[static_cast<std::size_t>(w - range.first)];
    }
};

// What is added to each state: a multiple of the state that has the same lines, or one more of some kind,
// times how many it has, or one less.
struct StateSource {
    enum class Way { same, more_rows, fewer_rows, more_cols, fewer_cols };

    const StateTable *from = nullptr;
    std::uint64_t factor = 0; // in Montgomery's form
    Way way = Way::same;
    std::size_t kind = 0;
};

// Of one move: those of the same columns, and those of other columns.
constexpr std::size_t most_by_line = most_kinds + most_band + 2, most_by_place = most_kinds;

// Sums of such states: what each move of a walk comes to.
class StateSums {
  public:
    StateSums(const Montgomery &field, const WalkShape &shape, std::size_t most_rows, std::size_t most_cols,
              double most_numbers)
        : steps_(),
          field_(field),
          kinds_{shape.rows.kinds, shape.cols.kinds},
          rows_(shape.rows.kinds, most_rows),
          cols_(shape.cols.kinds, most_cols),
          zeros_(divisions_of(most_cols, shape.cols.kinds)),
          most_numbers_(static_cast<std::size_t>(most_numbers)) {
        for (std::size_t w = 0; w <= shape.n + 1; ++w) counts_.push_back(field_.to(w));
    }

    // Writes the sums to `to`, which may be one of the sources, its states the same ones: those that it had
    // not are 0.
    void sum(StateTable &to, const WaitingRange &range, const std::vector<StateSource> &sources) {
        if (to.numbers.capacity() == 0 && !spare_.empty()) {
            to = std::move(spare_.back());
            spare_.pop_back();
        }
        std::size_t numbers = 0;
        to.range = range;
        to.begins.clear();
        for (std::ptrdiff_t w = range.first; w <= range.last; ++w) {
            to.begins.push_back(numbers);
            numbers += row_divisions(w) * line_size(range.columns(w));
        }
        to.numbers.reserve(most_numbers_);
        to.numbers.resize(numbers);
        for (std::ptrdiff_t w = range.first; w <= range.last;) {
            const Run run = run_from(w, range.last, sources);
            (this->*filler(run.lines, run.places))(w, run.last, to);
            w = run.last + 1;
        }
    }

    // They are not needed any more. Their memory is, as fresh pages cost as much as the sums.
    void take_back(StateTable &&states) {
        if (states.numbers.capacity() > 0) spare_.push_back(std::move(states));
    }

    // States with lines of these kinds, a bit each, become 0.
    void leave_out(StateTable &states, unsigned rows, unsigned cols) const {
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
            for (std::size_t r = 0; r < row_divisions(w); ++r) {
                std::uint64_t *state = std::exchange(own, own + line_size(states.range.columns(w)));
                const bool all = has(rows_, kinds_[0], rows, count, r);
                for (std::size_t c = 0; c < col_divisions(states.range.columns(w)); ++c, ++state)
                    if (all || has(cols_, kinds_[1], cols, columns, c)) *state = 0;
            }
        }
    }

  private:
    using Way = StateSource::Way;

    // Slices with the same sources in reach, by line and by place in the line.
    struct Run {
        std::ptrdiff_t last;
        std::size_t lines = 0, places = 0;
    };

    std::size_t row_divisions(std::ptrdiff_t w) const {
        return divisions_of(static_cast<std::size_t>(w), kinds_[0]);
    }

    std::size_t col_divisions(std::ptrdiff_t columns) const {
        return divisions_of(static_cast<std::size_t>(columns), kinds_[1]);
    }

    // With a 0 behind it, unless nothing is read by place.
    std::size_t line_size(std::ptrdiff_t columns) const {
        return col_divisions(columns) + (kinds_[1] > 1 ? 1 : 0);
    }

    Run run_from(std::ptrdiff_t w, std::ptrdiff_t last, const std::vector<StateSource> &sources) {
        Run run{last};
        for (const StateSource &source : sources) {
            const WaitingRange &range = source.from->range;
            const std::ptrdiff_t rows = rows_read(source, w), until = range.last - rows;
            if (rows < range.first) run.last = std::min(run.last, w + range.first - rows - 1);
            if (rows < range.first || until < 0) continue;
            run.last = std::min(run.last, w + until);
            if (is_by_place(source))
                by_place_[run.places++] = source;
            else
                by_line_[run.lines++] = source;
        }
        return run;
    }

    static std::ptrdiff_t rows_read(const StateSource &source, std::ptrdiff_t w) {
        return w + (source.way == Way::more_rows) - (source.way == Way::fewer_rows);
    }

    bool is_by_place(const StateSource &source) const {
        return kinds_[1] > 1 && (source.way == Way::more_cols || source.way == Way::fewer_cols);
    }

    // A slice as a source reads it.
    struct Slice {
        const std::uint64_t *numbers;
        std::size_t line_size;
    };
    Slice slice_of(const StateSource &source, std::ptrdiff_t w) const {
        const std::ptrdiff_t rows = rows_read(source, w);
        return {source.from->slice(rows), line_size(source.from->range.columns(rows))};
    }

    // Where the line that it reads begins, and its factor there.
    std::pair<const std::uint64_t *, std::uint64_t> of_line(const StateSource &source, const Slice &slice,
                                                            std::ptrdiff_t w, std::size_t line) const {
        const std::size_t kind = source.kind, total = static_cast<std::size_t>(w);
        if (source.way == Way::same) return {slice.numbers + line * slice.line_size, source.factor};
        if (source.way == Way::more_rows)
            return {slice.numbers + rows_.more(kind)[line] * slice.line_size,
                    field_.multiply(source.factor, counts_[rows_.count(kind, total, line) + 1])};
        const std::size_t less = rows_.less(kind)[line];
        return {less < row_divisions(w - 1) ? slice.numbers + less * slice.line_size : zeros_.data(),
                source.factor};
    }

    // By how many columns of the kind wait; of the first kind by how many others do, from the end.
    void find_factors(const StateSource &source, std::size_t most,
                      std::vector<std::uint64_t> &factors) const {
        factors.assign(most + 1, source.factor);
        for (std::size_t m = 0; source.way == Way::more_cols && m <= most; ++m)
            factors[source.kind == 0 ? most - m : m] = field_.multiply(source.factor, counts_[m + 1]);
    }

    // By place in a line: where it is read, and by what it is multiplied.
    struct Places {
        const std::uint32_t *from, *count;
        std::uint32_t none; // the place of a 0, which stands for all that are further
        const std::uint64_t *factors;
    };
    Places places_of(const StateSource &source, std::ptrdiff_t columns,
                     const std::vector<std::uint64_t> &factors) const {
        const std::size_t kind = source.kind, total = static_cast<std::size_t>(columns);
        const std::uint32_t *const count = cols_.told(kind).data();
        if (source.way == Way::more_cols)
            return {cols_.more(kind).data(), count, Divisions::none,
                    factors.data() + (kind == 0 ? factors.size() - 1 - total : 0)};
        const std::size_t none = columns == 0 ? 0 : col_divisions(columns - 1);
        return {cols_.less(kind).data(), count, static_cast<std::uint32_t>(none), factors.data()};
    }

    // Slices from w to `last`.
    template <std::size_t Lines, std::size_t OtherColumns>
    void fill(std::ptrdiff_t w, std::ptrdiff_t last, StateTable &table) {
        if (kinds_[1] <= 1) return fill_singles<Lines>(w, last, table);
        constexpr std::size_t all = Lines + OtherColumns; // sources
        std::array<Slice, all> slices{};
        std::array<const std::uint64_t *, all> from{};
        std::array<std::uint64_t, all> x{}, y{};
        std::array<Places, OtherColumns> places{};
        for (std::size_t k = 0; k < OtherColumns; ++k)
            find_factors(by_place_[k], static_cast<std::size_t>(table.range.columns(last)), factors_[k]);
        for (std::uint64_t *to = table.slice(w); w <= last; ++w) {
            const std::ptrdiff_t columns = table.range.columns(w);
            const std::size_t size = col_divisions(columns), lines = row_divisions(w);
            steps_.take(static_cast<std::int64_t>(lines * size * all));
            for (std::size_t k = 0; k < Lines; ++k) slices[k] = slice_of(by_line_[k], w);
            for (std::size_t k = 0; k < OtherColumns; ++k) {
                slices[Lines + k] = slice_of(by_place_[k], w);
                places[k] = places_of(by_place_[k], columns, factors_[k]);
            }
            for (std::size_t line = 0; line < lines; ++line, to += size + 1) {
                for (std::size_t k = 0; k < Lines; ++k)
                    std::tie(from[k], y[k]) = of_line(by_line_[k], slices[k], w, line);
                for (std::size_t k = Lines; k < all; ++k)
                    from[k] = slices[k].numbers + line * slices[k].line_size;
                for (std::size_t c = 0; c < size; ++c) {
                    for (std::size_t k = 0; k < Lines; ++k) x[k] = from[k][c];
                    for (std::size_t k = 0; k < OtherColumns; ++k) {
                        x[Lines + k] = from[Lines + k][std::min(places[k].from[c], places[k].none)];
                        y[Lines + k] = places[k].factors[places[k].count[c]];
                    }
                    to[c] = field_.sum_of_products(x.data(), y.data(), all);
                }
                to[size] = 0;
            }
        }
    }

    // With one kind of rows and of columns, or none, each slice is one number, and they follow each other.
    template <std::size_t Lines> void fill_singles(std::ptrdiff_t w, std::ptrdiff_t last, StateTable &table) {
        std::array<const std::uint64_t *, Lines> from{};
        std::array<std::uint64_t, Lines> x{}, y{}, steps{};
        for (std::size_t k = 0; k < Lines; ++k) {
            const StateSource &source = by_line_[k];
            const bool by_rows = source.way == Way::more_rows, by_cols = source.way == Way::more_cols;
            from[k] = slice_of(source, w).numbers;
            y[k] = steps[k] = source.factor;
            const auto count = static_cast<std::size_t>(by_rows ? w : by_cols ? table.range.columns(w) : 0);
            if (by_rows || by_cols)
                y[k] = field_.multiply(source.factor, counts_[count + 1]);
            else
                steps[k] = 0;
        }
        std::uint64_t *const to = table.slice(w);
        for (std::size_t c = 0; c <= static_cast<std::size_t>(last - w); ++c) {
            for (std::size_t k = 0; k < Lines; ++k) x[k] = from[k][c];
            to[c] = field_.sum_of_products(x.data(), y.data(), Lines);
            for (std::size_t k = 0; k < Lines; ++k) y[k] = field_.add(y[k], steps[k]);
        }
    }

    // For so many sources of each kind: unrolled, sums take half as long.
    using Filler = void (StateSums::*)(std::ptrdiff_t, std::ptrdiff_t, StateTable &);
    static Filler filler(std::size_t lines, std::size_t places) {
        constexpr std::size_t choices = most_by_place + 1;
        static constexpr auto all = []<std::size_t... K>(std::index_sequence<K...>) {
            return std::array<Filler, sizeof...(K)>{&StateSums::fill<K / choices, K % choices>...};
        }
        (std::make_index_sequence<(most_by_line + 1) * choices>{});
        return all[lines * choices + places];
    }

    PolledSteps steps_;
    Montgomery field_;
    std::array<std::size_t, 2> kinds_; // of rows, and of columns
    Divisions rows_, cols_;
    std::vector<std::uint64_t> zeros_, counts_; // 0, 1, 2, ... in Montgomery's form
    std::size_t most_numbers_;
    std::vector<StateTable> spare_; // each with room for so many
    // Of a run, and of a slice.
    std::array<StateSource, most_by_line> by_line_;
    std::array<StateSource, most_by_place> by_place_;
    std::array<std::vector<std::uint64_t>, most_by_place> factors_; // of each of by_place_
};

constexpr double often = 1e6; // products between two calls of `done`

WalkShape shape_of(const Generators &found) {
    return walk_shape(found.steps, {found.above.kinds, found.above.width},
                      {found.below.kinds, found.below.width});
}

class Walk {
  public:
    Walk(const Generators &generators, const std::function<void(double)> &done)
        : diagonal_(generators.diagonal),
          shape_(shape_of(generators)),
          moves_(moves_of(shape_)),
          of_rows_(shape_.is_transposed ? generators.below : generators.above),
          of_cols_(shape_.is_transposed ? generators.above : generators.below),
          done_(done),
          field_(generators.prime),
          sums_(field_, shape_, most_waiting(&WalkMove::rows, &WalkMove::cols),
                most_waiting(&WalkMove::cols, &WalkMove::rows), moves_.most_beside_a_set),
          row_bits_(shape_.known_rows()),
          col_bits_(shape_.known_cols()),
          beside_(std::size_t{1} << (row_bits_ + col_bits_)),
          made_(beside_.size()) {
        beside_[0] = {{0, 0, 0}, {0}, {field_.to(1), 0}};
    }

    std::uint64_t permanent() {
        for (std::size_t k = 0; k < moves_.steps.size(); ++k) {
            for (const WalkMove &move : moves_.steps[k]) make(move);
            end_kinds(k);
        }
        const StateTable &all = beside_[0];
        return all.range.is_empty() || all.range.first > 0 ? 0 : field_.from(*all.slice(0));
    }

  private:
    std::size_t most_waiting(LinesSoFar WalkMove::*own, LinesSoFar WalkMove::*others) const {
        std::size_t most = 0;
        for (const std::vector<WalkMove> &step : moves_.steps)
            for (const WalkMove &move : step)
                most = std::max(most, std::min((move.*own).left, shape_.n - (move.*others).come));
        return most;
    }

    std::size_t bit_of(bool is_row, std::size_t line) const {
        return std::size_t{1} << (is_row ? line % row_bits_ : row_bits_ + line % col_bits_);
    }
    std::size_t rows_in(std::size_t set) const {
        return static_cast<std::size_t>(std::popcount(set & ((std::size_t{1} << row_bits_) - 1)));
    }
    std::size_t cols_in(std::size_t set) const {
        return static_cast<std::size_t>(std::popcount(set >> row_bits_));
    }

    void make(const WalkMove &move) {
        const std::size_t own = move.comes && move.leaves ? 0 : bit_of(move.is_row, move.line),
                          others = known(move) & ~own;
        for (std::size_t set = 0; set < beside_.size(); ++set) {
            if ((set & ~others) != 0) continue;
            sources_.clear();
            if (move.comes) take_others(move, set);
            if (move.leaves) be_counted(move, set, set | own);
            if (move.is_row && move.has_pair) take_pair(move.line, made_[set] = std::move(before_));
            sums_.sum(made_[set], waiting_range(shape_, move, rows_in(set), cols_in(set)), sources_);
            if (move.stays_known()) continue;
            if (!move.is_row && move.has_pair) before_ = std::exchange(beside_[set], {});
            sums_.take_back(std::exchange(beside_[set], {}));
            sums_.take_back(std::exchange(beside_[set | own], {}));
        }
        for (std::size_t set = 0; move.stays_known() && set < beside_.size(); ++set)
            if ((set & own) == 0) made_[set | own] = std::exchange(beside_[set], {});
        std::swap(beside_, made_);
        tell_of(move.products);
    }

    // Lines that are, behind this move.
    std::size_t known(const WalkMove &move) const {
        std::size_t set = 0;
        for (std::size_t i = move.rows.left; i < move.rows.come; ++i) set |= bit_of(true, i);
        for (std::size_t j = move.cols.left; j < move.cols.come; ++j) set |= bit_of(false, j);
        return set;
    }

    // The line that comes takes another.
    void take_others(const WalkMove &move, std::size_t set) {
        const std::size_t line = move.line;
        const Triangle &closed = move.is_row ? of_cols_ : of_rows_;
        const auto more = move.is_row ? StateSource::Way::more_cols : StateSource::Way::more_rows;
        for (std::size_t t = 0; t < closed.kinds; ++t)
            sources_.push_back({&beside_[set], field_.to(closed.closes[line][t]), more, t});
        for (std::size_t other = move.others().left; other < move.others().come; ++other) {
            const std::size_t bit = bit_of(!move.is_row, other);
            if ((set & bit) != 0) continue;
            const std::uint64_t entry = other == line ? diagonal_[line] : closed.near[line][line - other - 1];
            sources_.push_back({&beside_[set | bit], field_.to(entry)});
        }
    }

    // The line that leaves has been taken, or is counted.
    void be_counted(const WalkMove &move, std::size_t set, std::size_t with_line) {
        const Triangle &opened = move.is_row ? of_rows_ : of_cols_;
        const auto fewer = move.is_row ? StateSource::Way::fewer_rows : StateSource::Way::fewer_cols;
        if (!move.comes) sources_.push_back({&beside_[set], field_.to(1)});
        for (std::size_t t = 0; t < opened.kinds; ++t)
            sources_.push_back(
                {&beside_[with_line], field_.to(opened.opens[move.line + opened.width][t]), fewer, t});
    }

    // Row and column take each other, but as the row has taken the column from among those that are counted.
    void take_pair(std::size_t line, const StateTable &before) {
        std::uint64_t entry = field_.to(diagonal_[line]);
        for (std::size_t s = 0; s < of_cols_.kinds; ++s)
            entry = field_.subtract(entry, field_.multiply(field_.to(of_cols_.closes[line][s]),
                                                           field_.to(of_cols_.opens[line][s])));
        sources_.push_back({&before, entry});
    }

    // At this step, where no other line closes them.
    void end_kinds(std::size_t step) {
        const unsigned rows = of_rows_.ends[step], cols = of_cols_.ends[step];
        if (rows == 0 && cols == 0) return;
        for (StateTable &states : beside_) sums_.leave_out(states, rows, cols);
    }

    void tell_of(double products) {
        untold_ += products;
        if (untold_ < often) return;
        done_(untold_);
        untold_ = 0;
    }

    const std::vector<std::uint64_t> &diagonal_;
    const WalkShape shape_;
    const WalkMoves moves_;
    const Triangle &of_rows_, &of_cols_;
    const std::function<void(double)> &done_;
    Montgomery field_;
    StateSums sums_;
    std::size_t row_bits_, col_bits_;       // of sets
    std::vector<StateTable> beside_, made_; // by set of known lines that wait: before the move, and behind it
    StateTable before_;                     // without a band: before the column of this step came
    std::vector<StateSource> sources_;
    double untold_ = 0;
};

} // namespace

std::uint64_t separable_permanent(const Generators &generators, const std::function<void(double)> &done) {
    return Walk(generators, done).permanent();
}

double separable_products(const std::vector<ComingLines> &steps, std::size_t above, std::size_t below,
                          const Band &band) {
    return moves_of(walk_shape(steps, {above, band.above}, {below, band.below})).products;
}

double separable_bytes(const std::vector<ComingLines> &steps, std::size_t above, std::size_t below,
                       const Band &band) {
    const WalkShape shape = walk_shape(steps, {above, band.above}, {below, band.below});
    const double sets = static_cast<double>(std::size_t{1} << (shape.known_rows() + shape.known_cols())) +
                        1;        // and the one that is made
    constexpr double tables = 12; // words by division, of Divisions and of a slice
    return 8 * (sets * moves_of(shape).most_beside_a_set +
                tables * static_cast<double>(divisions_of(shape.n / 2 + 2, shape.cols.kinds)));
}

} // namespace libperm
