// P(x, y) holds the states: the coefficient of x^r y^c is the sum of what leaves r_t rows of each kind t and
// c_s columns of each kind s waiting. At a step, with the row's u and p and the column's v and q of
// lib/structure/separable/generators.hpp, the column comes first,
//     E = sum_t v_t dP/dx_t + sum_s q_s y_s P,
// then the row, which may close the column that has just come, and is not to:
//     P <- (a_kk - sum_s p_s q_s) P + sum_t u_t x_t E + sum_s p_s dE/dy_s.
// Without a column E = P; without a row P <- E.
#include "lib/structure/separable/walk.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/structure/separable/band_price.hpp"
#include "lib/structure/separable/band_walk.hpp"
#include "lib/structure/separable/divisions.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr double often_in_walk = 1e6; // products between two calls of `done`

// The slices of a step, by how many rows wait: no more than have come, or than there are columns behind, and
// no fewer than there have come more rows than columns.
struct SliceRange {
    std::size_t first = 0, last = 0;
    std::size_t lead = 0; // rows that have come, less columns: modulo 2^64

    std::size_t columns(std::size_t w) const { return w - lead; } // that wait beside w rows
};
struct StepRange {
    ComingLines step;
    SliceRange half, whole; // when the column has come, and when the row has
};

SliceRange slice_range(std::size_t n, std::size_t rows, std::size_t cols) {
    return {rows > cols ? rows - cols : 0, std::min(rows, n - cols), rows - cols};
}

std::vector<StepRange> step_ranges(const std::vector<ComingLines> &steps) {
    const auto n = static_cast<std::size_t>(
        std::count_if(steps.begin(), steps.end(), [](const ComingLines &step) { return step.row; }));
    std::size_t rows = 0, cols = 0; // that have come
    std::vector<StepRange> ranges;
    for (const ComingLines &step : steps) {
        if (step.col) ++cols;
        const SliceRange half = slice_range(n, rows, cols);
        if (step.row) ++rows;
        ranges.push_back({step, half, slice_range(n, rows, cols)});
    }
    return ranges;
}

// Numbers in a row of a slice of P: by kinds of the columns that wait, and 0 up to as many as there are with
// one column more.
std::size_t row_of_slice(std::size_t columns, std::size_t kinds) { return divisions_of(columns + 1, kinds); }

// What the largest slices need, with a kinds of rows and b of columns.
struct WalkSize {
    WalkSize(const std::vector<StepRange> &ranges, std::size_t a, std::size_t b) {
        take_slices({}, a, b);
        for (const StepRange &range : ranges) {
            take_slices(range.whole, a, b);
            for (std::size_t w = range.half.first; w <= range.whole.last; ++w) {
                half = std::max(half, divisions_of(w, a) * divisions_of(range.half.columns(w), b));
                cols = std::max(cols, range.half.columns(w));
            }
        }
    }

    // Slices of P, and one more that is read: it stays 0.
    void take_slices(const SliceRange &range, std::size_t a, std::size_t b) {
        while (slices.size() < range.last + 2) slices.push_back(0);
        for (std::size_t w = range.first; w <= range.last + 1; ++w) {
            slices[w] = std::max(slices[w], divisions_of(w, a) * row_of_slice(range.columns(w), b));
            cols = std::max(cols, range.columns(w));
        }
    }

    std::size_t rows() const { return slices.size() - 1; }

    std::vector<std::size_t> slices; // numbers in each
    std::size_t half = 0;            // numbers in the largest slice of E
    std::size_t cols = 0;            // that wait, at most
};

// A: the kinds of rows, B: of columns. A slice holds the states of so many rows that wait, by the rows'
// division.
template <std::size_t A, std::size_t B> class SeparableWalk {
  public:
    SeparableWalk(const Generators &generators, const std::vector<ComingLines> &steps,
                  const Triangle &of_rows, const Triangle &of_cols, const std::function<void(double)> &done)
        : ranges_(step_ranges(steps)),
          diagonal_(generators.diagonal),
          of_rows_(of_rows),
          of_cols_(of_cols),
          done_(done),
          field_(generators.prime),
          size_(ranges_, A, B),
          rows_(A, size_.rows()),
          cols_(B, size_.cols) {
        for (const std::size_t numbers : size_.slices) slices_.emplace_back(numbers, 0);
        slices_[0][0] = field_.to(1);
        for (auto &half : halves_) half.resize(size_.half);
        zeros_.resize(row_of_slice(size_.cols, B));
        for (std::size_t w = 0; w <= std::max(size_.rows(), size_.cols) + 1; ++w)
            counts_.push_back(field_.to(w));
        for (auto &weights : closing_) weights.resize(size_.cols + 2);
    }

    std::uint64_t permanent() {
        for (std::size_t k = 0; k < ranges_.size(); ++k) {
            const auto &[step, half, whole] = ranges_[k];
            read_generators(k);
            for (std::size_t w = half.first; w <= whole.last; ++w) {
                std::swap(halves_[0], halves_[1]);
                const std::size_t columns = half.columns(w);
                if (w > half.last)
                    std::fill_n(halves_[1].begin(), divisions_of(w, A) * divisions_of(columns, B), 0);
                else if (step.col)
                    take_column(w, columns);
                else
                    copy_to_half(w, columns);
                if (w < whole.first) continue;
                if (step.row)
                    take_row(w, whole.columns(w), w > half.first);
                else
                    copy_from_half(w, columns);
            }
            give_up(of_rows_.ends[k], of_cols_.ends[k], whole);
        }
        return field_.from(slices_[0][0]);
    }

  private:
    void read_generators(std::size_t k) {
        own_ = field_.to(diagonal_[k]);
        for (std::size_t t = 0; t < A; ++t) {
            row_opens_[t] = field_.to(of_rows_.opens[k][t]);
            col_closes_[t] = field_.to(of_rows_.closes[k][t]);
        }
        for (std::size_t s = 0; s < B; ++s) {
            col_opens_[s] = field_.to(of_cols_.opens[k][s]);
            const std::uint64_t closes = field_.to(of_cols_.closes[k][s]);
            own_ = field_.subtract(own_, field_.multiply(closes, col_opens_[s]));
            for (std::size_t m = 0; m < closing_[s].size(); ++m)
                closing_[s][m] = field_.multiply(closes, counts_[m]);
        }
    }

    // Slice w of E, where so many columns wait, into the second half.
    void take_column(std::size_t w, std::size_t columns) {
        const std::size_t size = divisions_of(columns, B), wider = row_of_slice(columns, B),
                          fewer = columns == 0 ? 0 : divisions_of(columns - 1, B);
        std::uint64_t *to = halves_[1].data();
        std::array<const std::uint32_t *, B> less{};
        for (std::size_t s = 0; s < B; ++s) less[s] = cols_.less(s).data();
        for (std::size_t r = 0; r < divisions_of(w, A); ++r, to += size) {
            std::array<const std::uint64_t *, A> from{};
            std::array<std::uint64_t, A + B> x{}, y{};
            for (std::size_t t = 0; t < A; ++t) {
                from[t] = slices_[w + 1].data() + rows_.more(t)[r] * wider;
                y[t] = field_.multiply(col_closes_[t], counts_[rows_.count(t, w, r) + 1]);
            }
            for (std::size_t s = 0; s < B; ++s) y[A + s] = col_opens_[s];
            const std::uint64_t *const own = columns == 0 ? zeros_.data() : slices_[w].data() + r * size;
            for (std::size_t c = 0; c < size; ++c) {
                for (std::size_t t = 0; t < A; ++t) x[t] = from[t][c];
                for (std::size_t s = 0; s < B; ++s) x[A + s] = own[std::min<std::size_t>(less[s][c], fewer)];
                to[c] = field_.sum_of_products(x.data(), y.data(), A + B);
            }
        }
        tell_of((A + B) * divisions_of(w, A) * size);
    }

    // Slice w of P, where so many columns wait, of slices w - 1 (if there is such) and w of E.
    void take_row(std::size_t w, std::size_t columns, bool has_less) {
        const std::size_t size = divisions_of(columns, B), wider = row_of_slice(columns, B);
        std::array<const std::uint32_t *, B> more{};
        for (std::size_t s = 0; s < B; ++s) more[s] = cols_.more(s).data();
        for (std::size_t r = 0; r < divisions_of(w, A); ++r) {
            std::array<const std::uint64_t *, A> from{};
            std::array<std::uint64_t, 1 + A + B> x{}, y{own_};
            for (std::size_t t = 0; t < A; ++t) {
                const std::size_t less = rows_.less(t)[r];
                from[t] = has_less && less < divisions_of(w - 1, A) ? halves_[0].data() + less * size
                                                                    : zeros_.data();
                y[1 + t] = row_opens_[t];
            }
            const std::uint64_t *const half = halves_[1].data() + r * wider;
            std::uint64_t *const own = slices_[w].data() + r * wider;
            for (std::size_t c = 0; c < size; ++c) {
                x[0] = own[c]; // of a row alone, whatever stands there: times 0
                for (std::size_t t = 0; t < A; ++t) x[1 + t] = from[t][c];
                for (std::size_t s = 0; s < B; ++s) {
                    x[1 + A + s] = half[more[s][c]];
                    y[1 + A + s] = closing_[s][cols_.count(s, columns, c) + 1];
                }
                own[c] = field_.sum_of_products(x.data(), y.data(), 1 + A + B);
            }
            std::fill(own + size, own + wider, 0);
        }
        tell_of((1 + A + B) * divisions_of(w, A) * size);
    }

    void copy_to_half(std::size_t w, std::size_t columns) {
        const std::size_t size = divisions_of(columns, B), wider = row_of_slice(columns, B);
        for (std::size_t r = 0; r < divisions_of(w, A); ++r)
            std::copy_n(slices_[w].data() + r * wider, size, halves_[1].data() + r * size);
    }
    void copy_from_half(std::size_t w, std::size_t columns) {
        const std::size_t size = divisions_of(columns, B), wider = row_of_slice(columns, B);
        for (std::size_t r = 0; r < divisions_of(w, A); ++r) {
            std::uint64_t *const own = slices_[w].data() + r * wider;
            std::fill(std::copy_n(halves_[1].data() + r * size, size, own), own + wider, 0);
        }
    }

    // Lines of these kinds (a bit each) that no other will close.
    void give_up(unsigned rows, unsigned cols, const SliceRange &range) {
        if (rows == 0 && cols == 0) return;
        const auto waits = [](const Divisions &lines, std::size_t kinds, unsigned ended, std::size_t total,
                              std::size_t division) {
            for (std::size_t t = 0; t < kinds; ++t)
                if ((ended >> t & 1) != 0 && lines.count(t, total, division) > 0) return true;
            return false;
        };
        for (std::size_t w = range.first; w <= range.last; ++w) {
            const std::size_t columns = range.columns(w);
            std::uint64_t *own = slices_[w].data();
            for (std::size_t r = 0; r < divisions_of(w, A); ++r, own += row_of_slice(columns, B)) {
                const bool all = waits(rows_, A, rows, w, r);
                for (std::size_t c = 0; c < divisions_of(columns, B); ++c)
                    if (all || waits(cols_, B, cols, columns, c)) own[c] = 0;
            }
        }
    }

    void tell_of(std::size_t products) {
        untold_ += static_cast<double>(products);
        if (untold_ < often_in_walk) return;
        done_(untold_);
        untold_ = 0;
    }

    std::vector<StepRange> ranges_;
    const std::vector<std::uint64_t> &diagonal_;
    const Triangle &of_rows_, &of_cols_;
    const std::function<void(double)> &done_;
    Montgomery field_;
    WalkSize size_;
    Divisions rows_, cols_;
    std::vector<std::vector<std::uint64_t>> slices_;   // of P, by how many rows wait
    std::array<std::vector<std::uint64_t>, 2> halves_; // slices w - 1 and w of E
    std::vector<std::uint64_t> zeros_, counts_;        // 0, 1, 2, ... in Montgomery's form
    // At this step: u, v and q by kind, p times how many wait, and what stands before P.
    std::array<std::uint64_t, A> row_opens_{}, col_closes_{};
    std::array<std::uint64_t, B> col_opens_{};
    std::array<std::vector<std::uint64_t>, B> closing_;
    std::uint64_t own_ = 0;
    double untold_ = 0;
};

std::uint64_t product_of_diagonal(const Generators &generators) {
    const Montgomery field(generators.prime);
    std::uint64_t product = field.to(1);
    for (const std::uint64_t x : generators.diagonal) product = field.multiply(product, field.to(x));
    return field.from(product);
}

// The steps of the transpose, which has the same permanent: fewer kinds of rows than of columns are better,
// as the inner loop is one over columns.
std::vector<ComingLines> transposed_steps(std::vector<ComingLines> steps) {
    for (ComingLines &step : steps) std::swap(step.row, step.col);
    return steps;
}

std::vector<StepRange> ranges_of_kinds(const std::vector<ComingLines> &steps, std::size_t above,
                                       std::size_t below) {
    return step_ranges(above > below ? transposed_steps(steps) : steps);
}

BandShape shape_with(const Band &band, std::size_t n, std::size_t above, std::size_t below) {
    return band_shape(n, {above, band.above}, {below, band.below});
}

} // namespace

std::uint64_t separable_permanent(const Generators &generators, const std::function<void(double)> &done) {
    if (generators.above.width > 0 || generators.below.width > 0) return band_permanent(generators, done);
    const Triangle *rows = &generators.above, *cols = &generators.below;
    const bool is_transposed = rows->kinds > cols->kinds;
    const std::vector<ComingLines> steps =
        is_transposed ? transposed_steps(generators.steps) : generators.steps;
    if (is_transposed) std::swap(rows, cols);
    const auto walk = [&]<std::size_t A, std::size_t B>() {
        return SeparableWalk<A, B>(generators, steps, *rows, *cols, done).permanent();
    };
    switch (rows->kinds * 4 + cols->kinds) {
    case 1:
        return walk.template operator()<0, 1>();
    case 2:
        return walk.template operator()<0, 2>();
    case 3:
        return walk.template operator()<0, 3>();
    case 5:
        return walk.template operator()<1, 1>();
    case 6:
        return walk.template operator()<1, 2>();
    case 7:
        return walk.template operator()<1, 3>();
    case 10:
        return walk.template operator()<2, 2>();
    case 11:
        return walk.template operator()<2, 3>();
    case 15:
        return walk.template operator()<3, 3>();
    default:
        return product_of_diagonal(generators);
    }
}

double separable_products(const std::vector<ComingLines> &steps, std::size_t above, std::size_t below,
                          const Band &band) {
    if (!band.is_none()) return band_products(shape_with(band, steps.size(), above, below));
    const auto [a, b] = std::minmax(above, below);
    if (b == 0) return static_cast<double>(steps.size());
    const auto states = [a = a, b = b](std::size_t w, std::size_t columns) {
        return static_cast<double>(divisions_of(w, a)) * static_cast<double>(divisions_of(columns, b));
    };
    double of_columns = 0, of_rows = 0;
    for (const auto &[step, half, whole] : ranges_of_kinds(steps, above, below)) {
        for (std::size_t w = half.first; step.col && w <= half.last; ++w)
            of_columns += states(w, half.columns(w));
        for (std::size_t w = whole.first; step.row && w <= whole.last; ++w)
            of_rows += states(w, whole.columns(w));
    }
    const auto kinds = static_cast<double>(a + b);
    return kinds * of_columns + (1 + kinds) * of_rows;
}

double separable_bytes(const std::vector<ComingLines> &steps, std::size_t above, std::size_t below,
                       const Band &band) {
    if (!band.is_none()) return band_bytes(shape_with(band, steps.size(), above, below));
    const auto [a, b] = std::minmax(above, below);
    if (b == 0) return 0;
    const WalkSize size(ranges_of_kinds(steps, above, below), a, b);
    double numbers = 2 * static_cast<double>(size.half);
    for (const std::size_t slice : size.slices) numbers += static_cast<double>(slice);
    constexpr double tables = 6; // words of 8 bytes by division, of Divisions
    return 8 * (numbers + tables * static_cast<double>(divisions_of(size.cols, b)));
}

} // namespace libperm
