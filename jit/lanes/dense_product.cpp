#include "jit/lanes/dense_product.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/dense_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/lanes-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

constexpr std::size_t in_vector = hn::MaxLanes(Tag());
// So many sums are under way as there are registers for.
constexpr int tile_rows = in_vector == 8 ? 8 : 4;
constexpr std::size_t tile_columns = 3 * in_vector;
static_assert(panel_columns % tile_columns == 0);

struct TileRow {
    Vector left, middle, right;

    LANES_INLINE TileRow() : left(hn::Zero(Tag())), middle(hn::Zero(Tag())), right(hn::Zero(Tag())) {}
    LANES_INLINE explicit TileRow(const double *p)
        : left(hn::LoadU(Tag(), p)),
          middle(hn::LoadU(Tag(), p + in_vector)),
          right(hn::LoadU(Tag(), p + 2 * in_vector)) {}
};

// Sums of a tile, over one chunk. In halves of halves, as compilers keep these in registers.
template <int rows> struct Tile {
    Tile<rows / 2> upper, lower;

    LANES_INLINE Tile() {}
    LANES_INLINE void add(const double *a, const TileRow &b) {
        upper.add(a, b);
        lower.add(a + rows / 2, b);
    }
    LANES_INLINE void add_to(double *c, std::size_t stride) const {
        upper.add_to(c, stride);
        lower.add_to(c + rows / 2 * stride, stride);
    }
};
template <> struct Tile<1> {
    TileRow sum;

    LANES_INLINE Tile() {}
    LANES_INLINE void add(const double *a, const TileRow &b) {
        const Vector factor = hn::Set(Tag(), *a);
        sum.left = multiply_add(factor, b.left, sum.left);
        sum.middle = multiply_add(factor, b.middle, sum.middle);
        sum.right = multiply_add(factor, b.right, sum.right);
    }
    LANES_INLINE void add_to(double *c, std::size_t) const {
        hn::StoreU(hn::Add(hn::LoadU(Tag(), c), sum.left), Tag(), c);
        hn::StoreU(hn::Add(hn::LoadU(Tag(), c + in_vector), sum.middle), Tag(), c + in_vector);
        hn::StoreU(hn::Add(hn::LoadU(Tag(), c + 2 * in_vector), sum.right), Tag(), c + 2 * in_vector);
    }
};

LANES_INLINE void add_tile(const double *a, const double *b, std::size_t count, double *c,
                           std::size_t stride) {
    Tile<tile_rows> sums;
    for (std::size_t k = 0; k < count; ++k) sums.add(a + k * panel_rows, TileRow(b + k * panel_columns));
    sums.add_to(c, stride);
}

// work(c, stride) of a full panel's numbers, where they stand or, of one that is filled up, in a copy.
template <class Work>
LANES_INLINE void with_full_panel(const DensePanels &p, double *numbers, const Work &work) {
    if (p.rows == panel_rows && p.columns == panel_columns) return work(numbers, p.stride);
    HWY_ALIGN double c[panel_rows * panel_columns] = {};
    for (std::size_t r = 0; r < p.rows; ++r)
        std::copy_n(numbers + r * p.stride, p.columns, c + r * panel_columns);
    work(static_cast<double *>(c), panel_columns);
    for (std::size_t r = 0; r < p.rows; ++r)
        std::copy_n(c + r * panel_columns, p.columns, numbers + r * p.stride);
}

void add_doubles(const DensePanels &p) {
    with_full_panel(p, p.c, [&](double *c, std::size_t stride) HWY_ATTR {
        for (std::size_t r = 0; r < panel_rows; r += tile_rows)
            for (std::size_t v = 0; v < panel_columns; v += tile_columns)
                add_tile(p.a + r, p.b + v, p.inner, c + r * stride + v, stride);
    });
}

using One = Wide<1>;
using Pairs = DD<One>;

LANES_INLINE One at(const double *p) { return {hn::LoadU(Tag(), p)}; }

template <int rows> struct DdTile {
    DdTile<rows / 2> upper, lower;

    LANES_INLINE DdTile(const double *hi, const double *lo, std::size_t stride)
        : upper(hi, lo, stride), lower(hi + rows / 2 * stride, lo + rows / 2 * stride, stride) {}
    LANES_INLINE void add(const double *hi, const double *lo, const Pairs::Number &b) {
        upper.add(hi, lo, b);
        lower.add(hi + rows / 2, lo + rows / 2, b);
    }
    LANES_INLINE void put(double *hi, double *lo, std::size_t stride) const {
        upper.put(hi, lo, stride);
        lower.put(hi + rows / 2 * stride, lo + rows / 2 * stride, stride);
    }
};
template <> struct DdTile<1> {
    Pairs::Number sum;

    LANES_INLINE DdTile(const double *hi, const double *lo, std::size_t) : sum{at(hi), at(lo)} {}
    LANES_INLINE void add(const double *hi, const double *lo, const Pairs::Number &b) {
        sum = Pairs::madd({One(*hi), One(*lo)}, b, sum);
    }
    LANES_INLINE void put(double *hi, double *lo, std::size_t) const {
        hn::StoreU(sum.hi.v, Tag(), hi);
        hn::StoreU(sum.lo.v, Tag(), lo);
    }
};

void add_dd(const DenseDdPanels &p) {
    constexpr int rows = in_vector == 8 ? 8 : 4;
    const auto add = [&](double *hi, double *lo, std::size_t stride) HWY_ATTR {
        for (std::size_t r = 0; r < panel_rows; r += rows)
            for (std::size_t v = 0; v < panel_columns; v += in_vector) {
                DdTile<rows> sums(hi + r * stride + v, lo + r * stride + v, stride);
                for (std::size_t k = 0; k < p.hi.inner; ++k) {
                    const std::size_t left = k * panel_rows + r, right = k * panel_columns + v;
                    sums.add(p.hi.a + left, p.a_lo + left, {at(p.hi.b + right), at(p.b_lo + right)});
                }
                sums.put(hi + r * stride + v, lo + r * stride + v, stride);
            }
    };
    with_full_panel(p.hi, p.hi.c, [&](double *hi, std::size_t stride) HWY_ATTR {
        with_full_panel(p.hi, p.c_lo, [&](double *lo, std::size_t) HWY_ATTR { add(hi, lo, stride); });
    });
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {
HWY_EXPORT(add_doubles);
HWY_EXPORT(add_dd);
} // namespace

void pack_rows(const double *a, std::size_t rows, std::size_t inner, std::size_t panel, double *packed) {
    for (std::size_t r = 0; r < panel_rows; ++r) {
        const std::size_t row = panel * panel_rows + r;
        for (std::size_t k = 0; k < inner; ++k)
            packed[k * panel_rows + r] = row < rows ? a[row * inner + k] : 0;
    }
}

void pack_columns(const double *b, std::size_t columns, std::size_t inner, std::size_t panel,
                  double *packed) {
    const std::size_t first = panel * panel_columns, count = std::min(panel_columns, columns - first);
    for (std::size_t k = 0; k < inner; ++k) {
        double *to = packed + k * panel_columns;
        std::copy_n(b + k * columns + first, count, to);
        std::fill(to + count, to + panel_columns, 0.0);
    }
}

void add_panel_product(const DensePanels &panels) { HWY_DYNAMIC_DISPATCH(add_doubles)(panels); }
void add_panel_product(const DenseDdPanels &panels) { HWY_DYNAMIC_DISPATCH(add_dd)(panels); }

} // namespace libperm
#endif
