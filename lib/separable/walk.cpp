// P(x, y) holds the states: the coefficient of x^r y^c is the sum of what leaves r_t rows of each kind t and
// c_s columns of each kind s waiting; as many rows wait as columns. At place k, with the row's u and p and
// the column's v and q of lib/separable/generators.hpp, the column comes first,
//     E = sum_t v_t dP/dx_t + sum_s q_s y_s P,
// then the row, which may close the column that has just come, and is not to:
//     P <- (a_kk - sum_s p_s q_s) P + sum_t u_t x_t E + sum_s p_s dE/dy_s.
#include "lib/separable/walk.hpp"

#include "lib/number/montgomery.hpp"
#include "lib/separable/divisions.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr double often_in_walk = 1e6; // products between two calls of `done`

// At least as many as rows may wait, which is n / 2: as many have come, and as many columns are behind. A
// slice more, of an odd n, stays 0.
std::size_t most_waiting(std::size_t n) { return (n + 1) / 2; }

// A: the kinds of rows, B: of columns. Lines that wait are w of each: the states of a w are a slice, by row.
template <std::size_t A, std::size_t B> class SeparableWalk {
  public:
    SeparableWalk(const Generators &generators, const Triangle &of_rows, const Triangle &of_cols,
                  const std::function<void(double)> &done)
        : diagonal_(generators.diagonal),
          of_rows_(of_rows),
          of_cols_(of_cols),
          done_(done),
          field_(generators.prime),
          n_(diagonal_.size()),
          rows_(A, most_waiting(n_)),
          cols_(B, most_waiting(n_) + 1) {
        const std::size_t most = most_waiting(n_);
        for (std::size_t w = 0; w <= most; ++w) slices_.emplace_back(divisions_of(w, A) * width(w), 0);
        slices_[0][0] = field_.to(1);
        for (auto &half : halves_) half.resize(divisions_of(most, A) * width(most));
        zeros_.resize(width(most));
        for (std::size_t w = 0; w <= most + 1; ++w) numbers_.push_back(field_.to(w));
        for (auto &weights : closing_) weights.resize(most + 2);
    }

    std::uint64_t permanent() {
        for (std::size_t k = 0; k < n_; ++k) {
            read_generators(k);
            for (std::size_t w = 0; w <= std::min(k + 1, n_ - 1 - k); ++w) {
                std::swap(halves_[0], halves_[1]);
                if (w <= k)
                    take_column(w);
                else // one column more cannot have come
                    std::fill_n(halves_[1].begin(), divisions_of(w, A) * width(w), 0);
                take_row(w);
                tell_of(static_cast<double>(divisions_of(w, A)) *
                        static_cast<double>((w <= k ? (A + B) * width(w) : 0) +
                                            (1 + A + B) * divisions_of(w, B)));
            }
            give_up(of_rows_.ends[k], of_cols_.ends[k], std::min(k + 1, n_ - 1 - k));
        }
        return field_.from(slices_[0][0]);
    }

  private:
    // Of a row of slice w: a slice of E has so many columns of kinds, for w + 1 that wait. One of P has
    // fewer, and 0 behind them.
    static std::size_t width(std::size_t w) { return divisions_of(w + 1, B); }

    void read_generators(std::size_t k) {
        std::uint64_t own = field_.to(diagonal_[k]);
        for (std::size_t t = 0; t < A; ++t) {
            row_opens_[t] = field_.to(of_rows_.opens[k][t]);
            col_closes_[t] = field_.to(of_rows_.closes[k][t]);
        }
        for (std::size_t s = 0; s < B; ++s) {
            col_opens_[s] = field_.to(of_cols_.opens[k][s]);
            const std::uint64_t closes = field_.to(of_cols_.closes[k][s]);
            own = field_.subtract(own, field_.multiply(closes, col_opens_[s]));
            for (std::size_t m = 0; m < closing_[s].size(); ++m)
                closing_[s][m] = field_.multiply(closes, numbers_[m]);
        }
        own_ = own;
    }

    // Slice w of E, w rows and w + 1 columns: into the second half.
    void take_column(std::size_t w) {
        const std::size_t columns = width(w), fewer = divisions_of(w, B), wider = width(w + 1);
        std::uint64_t *to = halves_[1].data();
        std::array<const std::uint32_t *, B> less{};
        for (std::size_t s = 0; s < B; ++s) less[s] = cols_.less(s).data();
        for (std::size_t r = 0; r < divisions_of(w, A); ++r, to += columns) {
            std::array<const std::uint64_t *, A> from{};
            std::array<std::uint64_t, A + B> x{}, y{};
            for (std::size_t t = 0; t < A; ++t) {
                from[t] =
                    w < most_waiting(n_) ? slices_[w + 1].data() + rows_.more(t)[r] * wider : zeros_.data();
                y[t] = field_.multiply(col_closes_[t], numbers_[rows_.count(t, w, r) + 1]);
            }
            for (std::size_t s = 0; s < B; ++s) y[A + s] = col_opens_[s];
            const std::uint64_t *const own = slices_[w].data() + r * columns;
            for (std::size_t c = 0; c < columns; ++c) {
                for (std::size_t t = 0; t < A; ++t) x[t] = from[t][c];
                for (std::size_t s = 0; s < B; ++s) x[A + s] = own[std::min<std::size_t>(less[s][c], fewer)];
                to[c] = field_.sum_of_products(x.data(), y.data(), A + B);
            }
        }
    }

    // Slice w of P, in place, of slices w - 1 and w of E.
    void take_row(std::size_t w) {
        const std::size_t columns = width(w), fewer = divisions_of(w, B);
        std::array<const std::uint32_t *, B> more{};
        for (std::size_t s = 0; s < B; ++s) more[s] = cols_.more(s).data();
        for (std::size_t r = 0; r < divisions_of(w, A); ++r) {
            std::array<const std::uint64_t *, A> from{};
            std::array<std::uint64_t, 1 + A + B> x{}, y{own_};
            for (std::size_t t = 0; t < A; ++t) {
                const std::size_t less = rows_.less(t)[r];
                from[t] =
                    w > 0 && less < divisions_of(w - 1, A) ? halves_[0].data() + less * fewer : zeros_.data();
                y[1 + t] = row_opens_[t];
            }
            const std::uint64_t *const half = halves_[1].data() + r * columns;
            std::uint64_t *const own = slices_[w].data() + r * columns;
            for (std::size_t c = 0; c < fewer; ++c) {
                x[0] = own[c];
                for (std::size_t t = 0; t < A; ++t) x[1 + t] = from[t][c];
                for (std::size_t s = 0; s < B; ++s) {
                    x[1 + A + s] = half[more[s][c]];
                    y[1 + A + s] = closing_[s][cols_.count(s, w, c) + 1];
                }
                own[c] = field_.sum_of_products(x.data(), y.data(), 1 + A + B);
            }
        }
    }

    // Lines of these kinds (a bit each) that no other will close.
    void give_up(unsigned rows, unsigned cols, std::size_t most) {
        if (rows == 0 && cols == 0) return;
        const auto waits = [](const Divisions &lines, std::size_t kinds, unsigned ended, std::size_t w,
                              std::size_t division) {
            for (std::size_t t = 0; t < kinds; ++t)
                if ((ended >> t & 1) != 0 && lines.count(t, w, division) > 0) return true;
            return false;
        };
        for (std::size_t w = 1; w <= most; ++w) {
            std::uint64_t *own = slices_[w].data();
            for (std::size_t r = 0; r < divisions_of(w, A); ++r, own += width(w)) {
                const bool all = waits(rows_, A, rows, w, r);
                for (std::size_t c = 0; c < divisions_of(w, B); ++c)
                    if (all || waits(cols_, B, cols, w, c)) own[c] = 0;
            }
        }
    }

    void tell_of(double products) {
        untold_ += products;
        if (untold_ < often_in_walk) return;
        done_(untold_);
        untold_ = 0;
    }

    const std::vector<std::uint64_t> &diagonal_;
    const Triangle &of_rows_, &of_cols_;
    const std::function<void(double)> &done_;
    Montgomery field_;
    std::size_t n_;
    Divisions rows_, cols_;
    std::vector<std::vector<std::uint64_t>> slices_;   // of P, by w
    std::array<std::vector<std::uint64_t>, 2> halves_; // slices w - 1 and w of E
    std::vector<std::uint64_t> zeros_, numbers_;       // 0, 1, 2, ... in Montgomery's form
    // At this place: u, v and q by kind, p times how many wait, and what stands before P.
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

} // namespace

std::uint64_t separable_permanent(const Generators &generators, const std::function<void(double)> &done) {
    // Fewer kinds of rows than of columns are better, as a loop over columns is the inner one; the transpose
    // has the same permanent.
    const Triangle *rows = &generators.above, *cols = &generators.below;
    if (rows->kinds > cols->kinds) std::swap(rows, cols);
    const auto walk = [&]<std::size_t A, std::size_t B>() {
        return SeparableWalk<A, B>(generators, *rows, *cols, done).permanent();
    };
    switch (rows->kinds * 4 + cols->kinds) {
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

double separable_products(std::size_t n, std::size_t above, std::size_t below) {
    const auto [a, b] = std::minmax(above, below);
    if (a == 0) return static_cast<double>(n);
    const auto kinds = static_cast<double>(a + b);
    // Sums over slices 0 .. w of each half of a step.
    std::vector<double> of_column{0}, of_row{0};
    for (std::size_t w = 0; w <= most_waiting(n); ++w) {
        const auto rows = static_cast<double>(divisions_of(w, a));
        of_column.push_back(of_column.back() + kinds * rows * static_cast<double>(divisions_of(w + 1, b)));
        of_row.push_back(of_row.back() + (1 + kinds) * rows * static_cast<double>(divisions_of(w, b)));
    }
    double products = 0;
    for (std::size_t k = 0; k < n; ++k)
        products += of_column[std::min(k, n - 1 - k) + 1] + of_row[std::min(k + 1, n - 1 - k) + 1];
    return products;
}

double separable_bytes(std::size_t n, std::size_t above, std::size_t below) {
    const auto [a, b] = std::minmax(above, below);
    if (a == 0) return 0;
    double numbers = 0, slice = 0;
    for (std::size_t w = 0; w <= most_waiting(n); ++w) {
        slice = static_cast<double>(divisions_of(w, a)) * static_cast<double>(divisions_of(w + 1, b));
        numbers += slice;
    }
    constexpr double tables = 6; // words of 8 bytes by division, of Divisions
    return 8 * (numbers + 2 * slice + tables * static_cast<double>(divisions_of(most_waiting(n) + 1, b)));
}

} // namespace libperm
