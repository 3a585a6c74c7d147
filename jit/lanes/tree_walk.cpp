#include "jit/lanes/tree_walk.hpp"

#include "jit/lanes/decoded_tree.hpp"
#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/tree_walk.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/lanes-inl.hpp"
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

static_assert(block_bytes == TreeWalk::lanes * sizeof(double));
static_assert(TreeWalk::lanes <= 64); // sets of them are words
constexpr int all_vectors = TreeWalk::lanes / static_cast<int>(hn::MaxLanes(Tag()));
// Those of all parts of a number, and of what an operation needs beside, are to stay in registers.
template <int most> using Lanes = Wide<HWY_MIN(all_vectors, most)>;
constexpr int of_complex = all_vectors == 8 ? 8 : 4; // where vectors are that wide there are 32 registers

template <class A> class Walk {
  public:
    using D = typename A::Scalar;
    using Number = typename A::Number;
    using Row = typename A::Row;
    static constexpr bool is_of_doubles = std::is_base_of_v<Real<D>, A>;
    static constexpr bool has_own_rows = A::row_parts > 1 && !std::is_same_v<Row, Number>;
    static constexpr std::size_t row_at = has_own_rows ? A::parts : 0, // parts from a row's block on
        row_parts = A::parts + (has_own_rows ? A::row_parts : 0);

    Walk(const Tree &tree, const DecodedTree &decoded, A arithmetic, const double *values, double *workspace,
         const std::function<void()> &poll)
        : f(arithmetic),
          tree_(tree),
          entries_(values + A::row_parts * tree.n),
          constants_(entries_ + A::row_parts * tree.row.size()),
          blocks_(reinterpret_cast<char *>(workspace)),
          one_(decoded.one),
          poll_(poll) {}

    void root(const DecodedPart &root) const {
        put(one_, A::number(D(1.0)));
        for (std::int32_t r = 0; has_own_rows && r < tree_.n; ++r) put_row(of_row(r), get_row(of_row(r)));
        multiply(root.top);
        loop(root);
    }

  private:
    double *at(std::uint32_t block) const { return reinterpret_cast<double *>(blocks_ + block); }
    LANES_INLINE Number get(std::uint32_t block) const {
        return read_number<Number>(at(block), TreeWalk::lanes);
    }
    LANES_INLINE void put(std::uint32_t block, Number a) const {
        write_number(a, at(block), TreeWalk::lanes);
    }
    // Row sums.
    static std::uint32_t of_row(std::int32_t row) {
        return static_cast<std::uint32_t>(static_cast<std::size_t>(row) * row_parts * block_bytes);
    }
    LANES_INLINE Row get_row(std::uint32_t block) const {
        return read_number<Row>(at(block) + row_at * TreeWalk::lanes, TreeWalk::lanes);
    }
    LANES_INLINE void put_row(std::uint32_t block, Row a) const {
        if constexpr (has_own_rows) put(block, a);
        write_number(a, at(block) + row_at * TreeWalk::lanes, TreeWalk::lanes);
    }
    LANES_INLINE Row plus_constant(std::uint32_t block, std::uint32_t constant) const {
        return f.add(get_row(block), same_number<Row>(constants_ + A::row_parts * constant));
    }
    LANES_INLINE auto factor(std::uint32_t row) const {
        if constexpr (has_own_rows)
            return get(row);
        else
            return get_row(row);
    }
    // Absolute values: the first part of a block.
    LANES_INLINE D size(std::uint32_t block) const { return read_number<D>(at(block)); }
    LANES_INLINE void put_size(std::uint32_t block, D a) const { write_number(a, at(block)); }

    void multiply(const Product &product) const {
        if (product.rows.empty()) return;
        Number a = get(product.from);
        for (const std::uint32_t row : product.rows) a = f.multiply(a, factor(row));
        put(product.to, a);
    }

    void change(std::int32_t column, bool in) const {
        const auto begin = static_cast<std::size_t>(tree_.column_ptr[static_cast<std::size_t>(column)]);
        const auto end = static_cast<std::size_t>(tree_.column_ptr[static_cast<std::size_t>(column) + 1]);
        for (std::size_t e = begin; e < end; ++e) {
            const std::uint32_t row = of_row(tree_.row[e]);
            const Row entry = same_number<Row>(entries_ + A::row_parts * e), x = get_row(row);
            put_row(row, in ? f.add(x, entry) : f.subtract(x, entry));
        }
    }

    void inner(const DecodedPart &part) const {
        if (part.parts.empty()) {
            if (!part.leaf.words.empty()) run(part.leaf.words.data());
            return;
        }
        value(part.parts[0]);
        if (part.parts.size() == 1) return;
        put(part.inner_f, get(part.parts[0].value_f));
        put_size(part.inner_g, size(part.parts[0].value_g));
        for (std::size_t k = 1; k < part.parts.size(); ++k) {
            value(part.parts[k]);
            put(part.inner_f, f.multiply(get(part.inner_f), get(part.parts[k].value_f)));
            put_size(part.inner_g, size(part.inner_g) * size(part.parts[k].value_g));
        }
    }

    void value(const DecodedPart &part) const {
        if (part.levels.empty()) return inner(part);
        loop(part);
        put(part.value_f, f.total(A::joined(get(part.sum), get(part.error))));
        put_size(part.value_g, size(part.absolute));
    }

    void loop(const DecodedPart &part) const {
        put(part.sum, A::lead(A::zero_sum()));
        put(part.error, A::rest(A::zero_sum()));
        put_size(part.absolute, D(0.0));
        const int bits = part.loop_end - part.loop;
        for (int j = bits; j-- > 0;) multiply(part.levels[static_cast<std::size_t>(j)]);
        for (std::uint64_t b = 0;;) {
            inner(part);
            add(part, b % 2 == 1);
            if (++turns_ % 256 == 0 && poll_) poll_();
            if (++b >> bits != 0) break;
            const int changed = std::countr_zero(b);
            change(part.loop + changed, (b >> changed >> 1) % 2 == 0);
            for (int j = changed + 1; j-- > 0;) multiply(part.levels[static_cast<std::size_t>(j)]);
        }
        if (bits > 0) change(part.loop_end - 1, false);
    }

    // add_turn of device/tree_walk.cuh.
    void add(const DecodedPart &part, bool odd) const {
        const Number factor = get(part.factor), term = f.multiply(factor, get(part.inner_f));
        const auto sum = f.sum(A::joined(get(part.sum), get(part.error)), odd ? f.negate(term) : term);
        put(part.sum, A::lead(sum));
        put(part.error, A::rest(sum));
        if constexpr (A::bounded)
            put_size(part.absolute, fma(f.magnitude(factor), size(part.inner_g), size(part.absolute)));
    }

    HWY_NOINLINE void run(const std::uint32_t *p) const {
        if constexpr (is_of_doubles)
            run_steps(p);
        else
            run_instructions(p);
    }
    void run_steps(const std::uint32_t *p) const;
    void run_instructions(const std::uint32_t *p) const;

    const A f;
    const Tree &tree_;
    const double *entries_, *constants_;
    char *blocks_;
    std::uint32_t one_;
    const std::function<void()> &poll_;
    mutable std::uint64_t turns_ = 0;
};

template <class A> LANES_INLINE void Walk<A>::run_instructions(const std::uint32_t *p) const {
    // Absolute values are whole numbers here: |a| is a.
    const auto size_of = [&](std::uint32_t block) { return f.magnitude(get(block)); };
#define PERM_INSTRUCTION(op, ...)                                                                            \
    case static_cast<std::uint32_t>(Op::op):                                                                 \
        put(p[4], __VA_ARGS__);                                                                              \
        break;

    for (;; p += 5) switch (*p) {
            PERM_INSTRUCTION(add, plus_constant(p[1], p[2]))
            PERM_INSTRUCTION(multiply, f.multiply(get(p[1]), get(p[2])))
            PERM_INSTRUCTION(subtract, f.subtract(get(p[1]), get(p[2])))
            PERM_INSTRUCTION(nmadd, f.nmadd(get(p[1]), get(p[2]), get(p[3])))
            PERM_INSTRUCTION(plus, f.add(get(p[1]), get(p[2])))
            PERM_INSTRUCTION(madd, f.madd(get(p[1]), get(p[2]), get(p[3])))
            PERM_INSTRUCTION(least, A::number(least(size(p[1]), size(p[2]))))
            PERM_INSTRUCTION(reciprocal, A::number(reciprocal(size(p[1]))))
            PERM_INSTRUCTION(derivative_absolute, A::number(fma(size_of(p[1]), size(p[2]), size_of(p[3]))))
            PERM_INSTRUCTION(add_absolute, A::number(size_of(p[1]) + size_of(p[2])))
            PERM_INSTRUCTION(multiply_absolute, A::number(size_of(p[1]) * size(p[2])))
            PERM_INSTRUCTION(madd_absolute, A::number(fma(size_of(p[1]), size(p[2]), size(p[3]))))
        default:
            return;
        }

#undef PERM_INSTRUCTION
}

template <class A> LANES_INLINE void Walk<A>::run_steps(const std::uint32_t *p) const {
    constexpr int vectors = static_cast<int>(sizeof(D) / sizeof(Vector));
    char *const blocks = blocks_;
    D acc(0.0);

#define PERM_BLOCK(w) load<vectors>(reinterpret_cast<const double *>(blocks + p[w]))
#define PERM_CONSTANT(w) D(constants_[A::row_parts * p[w]]) // never of two grids
#define PERM_SUM(w) D(plus_constant(p[w], p[(w) + 1]))
#define PERM_STEP(op, a, b, c, ...)                                                                          \
    case step_of(Op::op, OperandKind::a, OperandKind::b, OperandKind::c):                                    \
        acc = __VA_ARGS__;                                                                                   \
        p += step_words(Op::op, OperandKind::a, OperandKind::b, OperandKind::c);                             \
        break;                                                                                               \
    case step_of(Op::op, OperandKind::a, OperandKind::b, OperandKind::c) + kept:                             \
        acc = __VA_ARGS__;                                                                                   \
        p += step_words(Op::op, OperandKind::a, OperandKind::b, OperandKind::c);                             \
        store(acc, reinterpret_cast<double *>(blocks + *p++));                                               \
        break;

    for (;;) switch (*p) {
            PERM_STEP(add, sum, none, none, PERM_SUM(1))
            PERM_STEP(add, accumulator, none, none, acc + PERM_CONSTANT(1))
            PERM_STEP(add, value, none, none, PERM_BLOCK(1) + PERM_CONSTANT(2))
            PERM_STEP(multiply, accumulator, value, none, acc * PERM_BLOCK(1))
            PERM_STEP(multiply, accumulator, sum, none, acc * PERM_SUM(1))
            PERM_STEP(multiply, value, value, none, PERM_BLOCK(1) * PERM_BLOCK(2))
            PERM_STEP(multiply, value, sum, none, PERM_BLOCK(1) * PERM_SUM(2))
            PERM_STEP(multiply, sum, sum, none, PERM_SUM(1) * PERM_SUM(3))
            PERM_STEP(multiply, accumulator, four_sums, none,
                      acc * PERM_SUM(1) * PERM_SUM(3) * PERM_SUM(5) * PERM_SUM(7))
            PERM_STEP(subtract, accumulator, value, none, acc - PERM_BLOCK(1))
            PERM_STEP(subtract, accumulator, sum, none, acc - PERM_SUM(1))
            PERM_STEP(subtract, value, accumulator, none, PERM_BLOCK(1) - acc)
            PERM_STEP(subtract, sum, accumulator, none, PERM_SUM(1) - acc)
            PERM_STEP(subtract, value, value, none, PERM_BLOCK(1) - PERM_BLOCK(2))
            PERM_STEP(subtract, value, sum, none, PERM_BLOCK(1) - PERM_SUM(2))
            PERM_STEP(subtract, sum, value, none, PERM_SUM(1) - PERM_BLOCK(3))
            PERM_STEP(subtract, sum, sum, none, PERM_SUM(1) - PERM_SUM(3))
            PERM_STEP(nmadd, accumulator, value, value, fnma(acc, PERM_BLOCK(1), PERM_BLOCK(2)))
            PERM_STEP(nmadd, accumulator, value, sum, fnma(acc, PERM_BLOCK(1), PERM_SUM(2)))
            PERM_STEP(nmadd, accumulator, sum, value, fnma(acc, PERM_SUM(1), PERM_BLOCK(3)))
            PERM_STEP(nmadd, accumulator, sum, sum, fnma(acc, PERM_SUM(1), PERM_SUM(3)))
            PERM_STEP(nmadd, value, value, accumulator, fnma(PERM_BLOCK(1), PERM_BLOCK(2), acc))
            PERM_STEP(nmadd, value, value, value, fnma(PERM_BLOCK(1), PERM_BLOCK(2), PERM_BLOCK(3)))
            PERM_STEP(nmadd, value, value, sum, fnma(PERM_BLOCK(1), PERM_BLOCK(2), PERM_SUM(3)))
            PERM_STEP(nmadd, value, sum, accumulator, fnma(PERM_BLOCK(1), PERM_SUM(2), acc))
            PERM_STEP(nmadd, value, sum, value, fnma(PERM_BLOCK(1), PERM_SUM(2), PERM_BLOCK(4)))
            PERM_STEP(nmadd, value, sum, sum, fnma(PERM_BLOCK(1), PERM_SUM(2), PERM_SUM(4)))
            PERM_STEP(nmadd, sum, sum, accumulator, fnma(PERM_SUM(1), PERM_SUM(3), acc))
            PERM_STEP(nmadd, sum, sum, value, fnma(PERM_SUM(1), PERM_SUM(3), PERM_BLOCK(5)))
            PERM_STEP(nmadd, sum, sum, sum, fnma(PERM_SUM(1), PERM_SUM(3), PERM_SUM(5)))
            PERM_STEP(add_absolute, accumulator, value, none, fabs(acc) + fabs(PERM_BLOCK(1)))
            PERM_STEP(add_absolute, accumulator, sum, none, fabs(acc) + fabs(PERM_SUM(1)))
            PERM_STEP(add_absolute, value, value, none, fabs(PERM_BLOCK(1)) + fabs(PERM_BLOCK(2)))
            PERM_STEP(add_absolute, value, sum, none, fabs(PERM_BLOCK(1)) + fabs(PERM_SUM(2)))
            PERM_STEP(add_absolute, sum, sum, none, fabs(PERM_SUM(1)) + fabs(PERM_SUM(3)))
            PERM_STEP(multiply_absolute, accumulator, value, none, fabs(acc) * PERM_BLOCK(1))
            PERM_STEP(multiply_absolute, value, accumulator, none, fabs(PERM_BLOCK(1)) * acc)
            PERM_STEP(multiply_absolute, sum, accumulator, none, fabs(PERM_SUM(1)) * acc)
            PERM_STEP(multiply_absolute, value, value, none, fabs(PERM_BLOCK(1)) * PERM_BLOCK(2))
            PERM_STEP(multiply_absolute, sum, value, none, fabs(PERM_SUM(1)) * PERM_BLOCK(3))
            PERM_STEP(madd_absolute, accumulator, value, value,
                      absolute_madd(acc, PERM_BLOCK(1), PERM_BLOCK(2)))
            PERM_STEP(madd_absolute, value, accumulator, value,
                      absolute_madd(PERM_BLOCK(1), acc, PERM_BLOCK(2)))
            PERM_STEP(madd_absolute, sum, accumulator, value, absolute_madd(PERM_SUM(1), acc, PERM_BLOCK(3)))
            PERM_STEP(madd_absolute, value, value, accumulator,
                      absolute_madd(PERM_BLOCK(1), PERM_BLOCK(2), acc))
            PERM_STEP(madd_absolute, sum, value, accumulator, absolute_madd(PERM_SUM(1), PERM_BLOCK(3), acc))
            PERM_STEP(madd_absolute, value, value, value,
                      absolute_madd(PERM_BLOCK(1), PERM_BLOCK(2), PERM_BLOCK(3)))
            PERM_STEP(madd_absolute, sum, value, value,
                      absolute_madd(PERM_SUM(1), PERM_BLOCK(3), PERM_BLOCK(4)))
            PERM_STEP(plus, value, value, none, PERM_BLOCK(1) + PERM_BLOCK(2))
            PERM_STEP(madd, value, value, value, fma(PERM_BLOCK(1), PERM_BLOCK(2), PERM_BLOCK(3)))
            PERM_STEP(least, value, value, none, least(PERM_BLOCK(1), PERM_BLOCK(2)))
            PERM_STEP(reciprocal, value, none, none, reciprocal(PERM_BLOCK(1)))
            PERM_STEP(derivative_absolute, value, value, value,
                      fma(fabs(PERM_BLOCK(1)), PERM_BLOCK(2), fabs(PERM_BLOCK(3))))
        default:
            return;
        }

#undef PERM_STEP
#undef PERM_SUM
#undef PERM_CONSTANT
#undef PERM_BLOCK
}

template <class A>
void walk_in(const Tree &tree, const DecodedTree &decoded, const A &arithmetic, const double *values,
             double *workspace, int lanes, // NOLINT(readability-non-const-parameter)
             const std::function<void()> &poll) {
    constexpr int at_once = static_cast<int>(sizeof(typename A::Scalar) / sizeof(double));
    for (int first = 0; first < lanes; first += at_once)
        Walk<A>(tree, decoded, arithmetic, values, workspace + first, poll).root(decoded.root);
}

void walk(const Tree &tree, const DecodedTree &decoded, Arithmetic arithmetic, std::span<const double> values,
          double *workspace, int lanes, const std::function<void()> &poll) {
    const auto in = [&](const auto &a) { walk_in(tree, decoded, a, values.data(), workspace, lanes, poll); };
    switch (arithmetic) {
    case Arithmetic::real:
        return in(Real<Lanes<8>>());
    case Arithmetic::complex:
        return in(Complex<Real<Lanes<of_complex>>>());
    case Arithmetic::dd:
        return in(DD<Lanes<4>>());
    case Arithmetic::complex_dd:
        return in(Complex<DD<Lanes<2>>>());
    case Arithmetic::pair:
        return in(Compensated<Lanes<4>>());
    case Arithmetic::split:
        return in(Compensated<Lanes<4>, SplitRow<Lanes<4>>>());
    case Arithmetic::two_grids:
        return in(TwoGrids<Lanes<8>>());
    case Arithmetic::complex_two_grids:
        return in(Complex<TwoGrids<Lanes<of_complex>>>());
    case Arithmetic::complex_split:
        return in(Complex<Compensated<Lanes<2>, SplitRow<Lanes<2>>>>());
    case Arithmetic::modular: {
        using D = Lanes<4>;
        return in(Modular<D>{D(values[values.size() - 2]), D(values[values.size() - 1])});
    }
    }
}

const char *target() { return hwy::TargetName(HWY_TARGET); }

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk);
HWY_EXPORT(target);

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// x of each lane's segment; lanes beyond the last segment repeat it. Sums are exact in any order: the columns
// that all segments have, most of them where these follow each other, come in once.
template <class A>
void start(const Tree &tree, const A &f, std::span<const double> values,
           std::span<const std::uint64_t> segments, double *x) {
    using Row = typename A::Row;
    constexpr std::ptrdiff_t row_parts = A::row_parts, stride = TreeWalk::lanes;
    constexpr bool has_own_rows = row_parts > 1 && !std::is_same_v<Row, typename A::Number>;
    constexpr std::ptrdiff_t parts = A::parts + (has_own_rows ? row_parts : 0); // of a row's block
    if (has_own_rows) x += A::parts * stride;
    std::array<std::uint64_t, TreeWalk::lanes> columns; // above a segment's, that are in
    std::uint64_t in_all = ~std::uint64_t{0}, in_any = 0;
    for (std::size_t lane = 0; lane < columns.size(); ++lane) {
        const std::uint64_t segment = segments[std::min(lane, segments.size() - 1)];
        columns[lane] = segment ^ segment >> 1;
        in_all &= columns[lane];
        in_any |= columns[lane];
    }
    // add(row, entry) of the columns of a set.
    const auto entries = [&](std::uint64_t set, const auto &add) {
        for (; set != 0; set &= set - 1) {
            const std::int32_t column = tree.segment_bits + std::countr_zero(set);
            for (auto e = tree.column_ptr[at(column)]; e < tree.column_ptr[at(column) + 1]; ++e)
                add(tree.row[at(e)], gathered<Row>(values.data() + (tree.n + e) * row_parts));
        }
    };
    std::vector<double> common(values.begin(), values.begin() + tree.n * row_parts);
    entries(in_all, [&](std::int32_t row, const Row &entry) {
        double *const sum = common.data() + row * row_parts;
        scatter(f.add(gathered<Row>(sum), entry), sum);
    });
    for (std::int32_t i = 0; i < tree.n; ++i)
        for (std::ptrdiff_t part = 0; part < (has_own_rows ? row_parts : parts); ++part)
            std::fill_n(x + (i * parts + part) * stride, stride,
                        part < row_parts ? common[at(i * row_parts + part)] : 0);
    for (std::uint64_t some = in_any & ~in_all; some != 0; some &= some - 1) {
        std::uint64_t lanes = 0; // that have the column
        for (std::size_t lane = 0; lane < columns.size(); ++lane)
            lanes |= (columns[lane] >> std::countr_zero(some) & 1) << lane;
        entries(some & (~some + 1), [&](std::int32_t row, const Row &entry) {
            double *const sums = x + row * parts * stride;
            for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
                double *const sum = sums + std::countr_zero(rest);
                scatter(f.add(gathered<Row>(sum, stride), entry), sum, stride);
            }
        });
    }
}

template <class A>
void take_partials(const DecodedPart &root, const double *workspace, std::span<const std::uint64_t> segments,
                   PartialOf<A> *partials) {
    using Number = typename A::Number;
    for (std::size_t lane = 0; lane < segments.size(); ++lane) {
        const auto number = [&](std::uint32_t block) {
            return gathered<Number>(workspace + block / sizeof(double) + lane, TreeWalk::lanes);
        };
        const auto sum = A::joined(number(root.sum), number(root.error));
        partials[lane] = {segments[lane] % 2 == 1 ? A::opposite(sum) : sum,
                          workspace[root.absolute / sizeof(double) + lane]};
    }
}

} // namespace

TreeWalk::TreeWalk(const Tree &tree, std::span<const double> values, Arithmetic arithmetic)
    : tree_(tree),
      values_(values),
      arithmetic_(arithmetic),
      decoded_(std::make_shared<DecodedTree>(tree, arithmetic)) {}

void TreeWalk::walk(std::span<const std::uint64_t> segments, void *partials,
                    const std::function<void()> &poll) const {
    const auto workspace = hwy::AllocateAligned<double>(decoded_->bytes / sizeof(double));
    if (!workspace) throw std::bad_alloc();
    with_arithmetic_of(arithmetic_, values_, [&](const auto &f) {
        using A = std::remove_cvref_t<decltype(f)>;
        start(tree_, f, values_, segments, workspace.get());
        HWY_DYNAMIC_DISPATCH(walk)
        (tree_, *decoded_, arithmetic_, values_, workspace.get(), static_cast<int>(segments.size()), poll);
        take_partials<A>(decoded_->root, workspace.get(), segments, static_cast<PartialOf<A> *>(partials));
    });
}

const char *tree_walk_target() {
    const std::string_view name = HWY_DYNAMIC_DISPATCH(target)();
    return name.starts_with("AVX3") ? "AVX-512" : name.data(); // as everybody else calls it
}

} // namespace libperm
#endif
