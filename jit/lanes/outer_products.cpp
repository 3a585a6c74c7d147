#include "jit/lanes/outer_products.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/outer_products.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/lanes-inl.hpp"
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

constexpr std::size_t in_vector = hn::MaxLanes(Tag());
constexpr int tile_rows = 4, tile_vectors = in_vector == 8 ? 4 : 2; // as many sums as there are registers for

template <int size> LANES_INLINE Wide<size> in_all(Vector x) {
    if constexpr (size == 1)
        return {x};
    else
        return {in_all<size / 2>(x), in_all<size / 2>(x)};
}

// A number, or a pair of doubles, of a column again and again; a pair takes two vectors of one lane.
template <int size, int doubles> LANES_INLINE Wide<size> repeated(const double *a) {
    if constexpr (doubles == 1)
        return in_all<size>(hn::Set(Tag(), *a));
    else if constexpr (in_vector > 1)
        return in_all<size>(hn::LoadDup128(Tag(), a));
    else if constexpr (size > 2)
        return {repeated<size / 2, doubles>(a), repeated<size / 2, doubles>(a)};
    else if constexpr (size == 2)
        return {Wide<1>(a[0]), Wide<1>(a[1])};
}
constexpr int least_vectors(int doubles) { return in_vector == 1 ? doubles : 1; }

// Sums of a tile. In halves of halves, as compilers keep these in registers.
template <int rows, int size, int doubles> struct OuterTile {
    OuterTile<rows / 2, size, doubles> upper, lower;

    LANES_INLINE OuterTile() {}
    LANES_INLINE void add(const double *a, Wide<size> b) {
        upper.add(a, b);
        lower.add(a + rows / 2 * doubles, b);
    }
    LANES_INLINE void put(double *c, std::size_t stride) const {
        upper.put(c, stride);
        lower.put(c + rows / 2 * stride, stride);
    }
};
template <int size, int doubles> struct OuterTile<1, size, doubles> {
    Wide<size> sum;

    LANES_INLINE OuterTile() : sum(0.0) {}
    LANES_INLINE void add(const double *a, Wide<size> b) { sum = sum + repeated<size, doubles>(a) * b; }
    LANES_INLINE void put(double *c, std::size_t) const { store_anywhere(sum, c); }
};

template <int rows, int size, int doubles>
LANES_INLINE void sum_tile(const OuterProducts &p, std::size_t row, std::size_t first) {
    OuterTile<rows, size, doubles> sums;
    const double *const *a = p.a.data();
    const double *const *b = p.b.data();
    const std::size_t count = p.a.size();
    for (std::size_t k = 0; k < count; ++k) sums.add(a[k] + row * doubles, load_anywhere<size>(b[k] + first));
    sums.put(p.c + (row * p.stride) * doubles + first, p.stride * doubles);
}

template <int size, int doubles> LANES_INLINE void sum_columns(const OuterProducts &p, std::size_t first) {
    std::size_t row = 0;
    for (; row + tile_rows <= p.rows; row += tile_rows) sum_tile<tile_rows, size, doubles>(p, row, first);
    if (row + 2 <= p.rows) {
        sum_tile<2, size, doubles>(p, row, first);
        row += 2;
    }
    if (row < p.rows) sum_tile<1, size, doubles>(p, row, first);
}

template <int doubles> LANES_INLINE void sum_all(const OuterProducts &p) {
    const std::size_t vectors = p.columns * doubles / in_vector;
    std::size_t done = 0;
    for (; done + tile_vectors <= vectors; done += tile_vectors)
        sum_columns<tile_vectors, doubles>(p, done * in_vector);
    if constexpr (tile_vectors == 4)
        if (done + 2 <= vectors) {
            sum_columns<2, doubles>(p, done * in_vector);
            done += 2;
        }
    if (done < vectors) sum_columns<least_vectors(doubles), doubles>(p, done * in_vector);
}

template <int doubles>
LANES_INLINE void add_outer(const double *a, std::size_t rows, const double *b, std::size_t columns,
                            double *c) {
    constexpr int size = least_vectors(doubles);
    for (std::size_t r = 0; r < rows; ++r, c += columns) {
        const Wide<size> factor = repeated<size, doubles>(a + r * doubles);
        for (std::size_t v = 0; v < columns; v += size * in_vector)
            store_anywhere(load_anywhere<size>(c + v) + factor * load_anywhere<size>(b + v), c + v);
    }
}

template <int doubles> LANES_INLINE double add_subsets(const SubsetProducts &p) {
    std::uint64_t products = 0;
    const std::uint32_t all = (std::uint32_t{1} << p.lines) - 1;
    const SubsetIndex index(p.right);
    for (const SubsetPiece &left : p.left) {
        const double *a = p.a + std::size_t{left.begin} * doubles;
        const std::uint32_t rest = all & ~std::uint32_t{left.subset};
        for (std::uint32_t t = rest;; t = (t - 1) & rest) {
            if (index.at[t] != SubsetIndex::none) {
                const SubsetPiece &right = p.right[index.at[t]];
                const std::size_t columns = (right.count + outer_columns - 1) / outer_columns * outer_columns;
                const std::size_t matrix = (left.subset | t) * p.kinds + left.kind;
                add_outer<doubles>(a, left.count, p.b + std::size_t{right.begin} * doubles, columns * doubles,
                                   p.c + std::size_t{p.c_begin[matrix]} * doubles);
                ++p.added[matrix];
                products += std::uint64_t{left.states} * right.states;
            }
            if (t == 0) break;
        }
    }
    return static_cast<double>(products);
}

void sum_products(const OuterProducts &p, bool pairs) { pairs ? sum_all<2>(p) : sum_all<1>(p); }
double add_products(const SubsetProducts &p, bool pairs) {
    return pairs ? add_subsets<2>(p) : add_subsets<1>(p);
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {
HWY_EXPORT(sum_products);
HWY_EXPORT(add_products);
} // namespace

void sum_outer_products(const OuterProducts &products, bool pairs) {
    HWY_DYNAMIC_DISPATCH(sum_products)(products, pairs);
}
double add_subset_products(const SubsetProducts &products, bool pairs) {
    return HWY_DYNAMIC_DISPATCH(add_products)(products, pairs);
}

} // namespace libperm
#endif
