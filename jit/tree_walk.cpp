#include "jit/tree_walk.hpp"

#include "jit/decoded_tree.hpp"

#include <hwy/detect_compiler_arch.h>

#define HWY_DISABLED_TARGETS                                                                                 \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/tree_walk.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Tag>;

// a * b + c, rounded once.
HWY_INLINE Vector multiply_add(Vector a, Vector b, Vector c) {
#if HWY_NATIVE_FMA
    return hn::MulAdd(a, b, c);
#else
    HWY_ALIGN double x[hn::MaxLanes(Tag())], y[hn::MaxLanes(Tag())], z[hn::MaxLanes(Tag())];
    hn::Store(a, Tag(), x);
    hn::Store(b, Tag(), y);
    hn::Store(c, Tag(), z);
    for (std::size_t k = 0; k < hn::MaxLanes(Tag()); ++k) z[k] = std::fma(x[k], y[k], z[k]);
    return hn::Load(Tag(), z);
#endif
}

HWY_INLINE Vector negated_multiply_add(Vector a, Vector b, Vector c) {
#if HWY_NATIVE_FMA
    return hn::NegMulAdd(a, b, c);
#else
    return multiply_add(hn::Neg(a), b, c);
#endif
}

// Vectors that go through a program together, enough to hide how long an operation takes. In pairs of pairs,
// as compilers keep these in registers.
template <int size> struct Wide { Wide<size / 2> low, high; };
template <> struct Wide<1> { Vector v; };

template <int size> HWY_INLINE Wide<size> load(const double *p) {
    if constexpr (size == 1)
        return {hn::Load(Tag(), p)};
    else
        return {load<size / 2>(p), load<size / 2>(p + size / 2 * hn::MaxLanes(Tag()))};
}
template <int size> HWY_INLINE void store(Wide<size> a, double *p) {
    if constexpr (size == 1) {
        hn::Store(a.v, Tag(), p);
    } else {
        store(a.low, p);
        store(a.high, p + size / 2 * hn::MaxLanes(Tag()));
    }
}
template <int size> HWY_INLINE Wide<size> fill(Vector v) {
    if constexpr (size == 1)
        return {v};
    else
        return {fill<size / 2>(v), fill<size / 2>(v)};
}

#define PERM_WIDE(name, expression)                                                                          \
    template <int size> HWY_INLINE Wide<size> name(Wide<size> a, Wide<size> b) {                             \
        if constexpr (size == 1)                                                                             \
            return {expression};                                                                             \
        else                                                                                                 \
            return {name(a.low, b.low), name(a.high, b.high)};                                               \
    }
PERM_WIDE(operator+, hn::Add(a.v, b.v))
PERM_WIDE(operator-, hn::Sub(a.v, b.v))
PERM_WIDE(operator*, hn::Mul(a.v, b.v))
#undef PERM_WIDE

// c - a * b, rounded once.
template <int size> HWY_INLINE Wide<size> nmadd(Wide<size> c, Wide<size> a, Wide<size> b) {
    if constexpr (size == 1)
        return {negated_multiply_add(a.v, b.v, c.v)};
    else
        return {nmadd(c.low, a.low, b.low), nmadd(c.high, a.high, b.high)};
}
template <int size> HWY_INLINE Wide<size> magnitude(Wide<size> a) {
    if constexpr (size == 1)
        return {hn::Abs(a.v)};
    else
        return {magnitude(a.low), magnitude(a.high)};
}
// |a| * b + c, rounded once.
template <int size> HWY_INLINE Wide<size> absolute_madd(Wide<size> a, Wide<size> b, Wide<size> c) {
    if constexpr (size == 1)
        return {multiply_add(hn::Abs(a.v), b.v, c.v)};
    else
        return {absolute_madd(a.low, b.low, c.low), absolute_madd(a.high, b.high, c.high)};
}
template <int size> HWY_INLINE Wide<size> negate(Wide<size> a) {
    if constexpr (size == 1)
        return {hn::Neg(a.v)};
    else
        return {negate(a.low), negate(a.high)};
}

constexpr int most_vectors = 8;
constexpr int vectors = HWY_MIN(TreeWalk::lanes / static_cast<int>(hn::MaxLanes(Tag())), most_vectors);
using Lanes = Wide<vectors>;
constexpr int lanes_at_once = vectors * static_cast<int>(hn::MaxLanes(Tag()));

class Walk {
  public:
    Walk(const Tree &tree, const DecodedTree &decoded, const double *numbers, double *workspace,
         const std::function<void()> &poll)
        : tree_(tree),
          entries_(numbers + tree.n),
          constants_(entries_ + tree.row.size()),
          blocks_(reinterpret_cast<char *>(workspace)),
          one_(decoded.one),
          poll_(poll) {}

    void root(const DecodedPart &root) const {
        put(one_, fill<vectors>(hn::Set(Tag(), 1.0)));
        multiply(root.top);
        loop(root);
    }

  private:
    Lanes get(std::uint32_t block) const {
        return load<vectors>(reinterpret_cast<const double *>(blocks_ + block));
    }
    void put(std::uint32_t block, Lanes a) const { store(a, reinterpret_cast<double *>(blocks_ + block)); }

    void multiply(const Product &product) const {
        if (product.rows.empty()) return;
        Lanes a = get(product.from);
        for (const std::uint32_t row : product.rows) a = a * get(row);
        put(product.to, a);
    }

    void change(std::int32_t column, bool in) const {
        const auto begin = static_cast<std::size_t>(tree_.column_ptr[static_cast<std::size_t>(column)]);
        const auto end = static_cast<std::size_t>(tree_.column_ptr[static_cast<std::size_t>(column) + 1]);
        for (std::size_t e = begin; e < end; ++e) {
            const auto row = static_cast<std::uint32_t>(tree_.row[e] * block_bytes);
            const Vector entry = hn::Set(Tag(), in ? entries_[e] : -entries_[e]);
            put(row, get(row) + fill<vectors>(entry));
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
        put(part.inner_g, get(part.parts[0].value_g));
        for (std::size_t k = 1; k < part.parts.size(); ++k) {
            value(part.parts[k]);
            put(part.inner_f, get(part.inner_f) * get(part.parts[k].value_f));
            put(part.inner_g, get(part.inner_g) * get(part.parts[k].value_g));
        }
    }

    void value(const DecodedPart &part) const {
        if (part.levels.empty()) return inner(part);
        loop(part);
        put(part.value_f, get(part.sum) + get(part.error));
        put(part.value_g, get(part.absolute));
    }

    void loop(const DecodedPart &part) const {
        const Lanes zero = fill<vectors>(hn::Zero(Tag()));
        put(part.sum, zero);
        put(part.error, zero);
        put(part.absolute, zero);
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

    // Knuth's 2Sum, as in device/gray_walk.cuh.
    void add(const DecodedPart &part, bool odd) const {
        const Lanes factor = get(part.factor);
        const Lanes product = factor * get(part.inner_f);
        const Lanes term = odd ? negate(product) : product;
        const Lanes sum = get(part.sum);
        const Lanes s = sum + term, b = s - sum;
        put(part.sum, s);
        put(part.error, get(part.error) + ((sum - (s - b)) + (term - b)));
        put(part.absolute, absolute_madd(factor, get(part.inner_g), get(part.absolute)));
    }

    void run(const std::uint32_t *p) const;

    const Tree &tree_;
    const double *entries_, *constants_;
    char *blocks_;
    std::uint32_t one_;
    const std::function<void()> &poll_;
    mutable std::uint64_t turns_ = 0;
};

HWY_NOINLINE void Walk::run(const std::uint32_t *p) const {
    char *const blocks = blocks_;
    const double *const constants = constants_;
    Lanes acc = fill<vectors>(hn::Zero(Tag()));

#define PERM_BLOCK(w) load<vectors>(reinterpret_cast<const double *>(blocks + p[w]))
#define PERM_CONSTANT(w) fill<vectors>(hn::Set(Tag(), constants[p[w]]))
#define PERM_SUM(w) (PERM_BLOCK(w) + PERM_CONSTANT((w) + 1))
#define PERM_STEP(step, operands, ...)                                                                       \
    case static_cast<std::uint32_t>(Step::step):                                                             \
        acc = __VA_ARGS__;                                                                                   \
        p += 1 + (operands);                                                                                 \
        break;                                                                                               \
    case static_cast<std::uint32_t>(Step::step) + kept:                                                      \
        acc = __VA_ARGS__;                                                                                   \
        store(acc, reinterpret_cast<double *>(blocks + p[1 + (operands)]));                                  \
        p += 2 + (operands);                                                                                 \
        break;

    for (;;) switch (*p) {
            PERM_STEP(value, 1, PERM_BLOCK(1))
            PERM_STEP(sum, 2, PERM_SUM(1))
            PERM_STEP(plus, 1, acc + PERM_CONSTANT(1))
            PERM_STEP(times_value, 1, acc * PERM_BLOCK(1))
            PERM_STEP(times_sum, 2, acc * PERM_SUM(1))
            PERM_STEP(times_4_sums, 8, acc * PERM_SUM(1) * PERM_SUM(3) * PERM_SUM(5) * PERM_SUM(7))
            PERM_STEP(value_times_value, 2, PERM_BLOCK(1) * PERM_BLOCK(2))
            PERM_STEP(value_times_sum, 3, PERM_BLOCK(1) * PERM_SUM(2))
            PERM_STEP(sum_times_sum, 4, PERM_SUM(1) * PERM_SUM(3))
            PERM_STEP(minus_value, 1, acc - PERM_BLOCK(1))
            PERM_STEP(minus_sum, 2, acc - PERM_SUM(1))
            PERM_STEP(value_minus, 1, PERM_BLOCK(1) - acc)
            PERM_STEP(sum_minus, 2, PERM_SUM(1) - acc)
            PERM_STEP(value_minus_times_value, 2, nmadd(PERM_BLOCK(1), acc, PERM_BLOCK(2)))
            PERM_STEP(value_minus_times_sum, 3, nmadd(PERM_BLOCK(1), acc, PERM_SUM(2)))
            PERM_STEP(sum_minus_times_value, 3, nmadd(PERM_SUM(1), acc, PERM_BLOCK(3)))
            PERM_STEP(sum_minus_times_sum, 4, nmadd(PERM_SUM(1), acc, PERM_SUM(3)))
            PERM_STEP(minus_value_times_value, 2, nmadd(acc, PERM_BLOCK(1), PERM_BLOCK(2)))
            PERM_STEP(minus_value_times_sum, 3, nmadd(acc, PERM_BLOCK(1), PERM_SUM(2)))
            PERM_STEP(minus_sum_times_sum, 4, nmadd(acc, PERM_SUM(1), PERM_SUM(3)))
            PERM_STEP(value_minus_value_times_value, 3, nmadd(PERM_BLOCK(1), PERM_BLOCK(2), PERM_BLOCK(3)))
            PERM_STEP(abs_plus_abs_value, 1, magnitude(acc) + magnitude(PERM_BLOCK(1)))
            PERM_STEP(abs_plus_abs_sum, 2, magnitude(acc) + magnitude(PERM_SUM(1)))
            PERM_STEP(abs_times_value, 1, magnitude(acc) * PERM_BLOCK(1))
            PERM_STEP(abs_value_times, 1, magnitude(PERM_BLOCK(1)) * acc)
            PERM_STEP(abs_sum_times, 2, magnitude(PERM_SUM(1)) * acc)
            PERM_STEP(abs_times_value_plus_value, 2, absolute_madd(acc, PERM_BLOCK(1), PERM_BLOCK(2)))
            PERM_STEP(abs_value_times_plus_value, 2, absolute_madd(PERM_BLOCK(1), acc, PERM_BLOCK(2)))
            PERM_STEP(abs_sum_times_plus_value, 3, absolute_madd(PERM_SUM(1), acc, PERM_BLOCK(3)))
            PERM_STEP(plus_abs_value_times_value, 2, absolute_madd(PERM_BLOCK(1), PERM_BLOCK(2), acc))
            PERM_STEP(plus_abs_sum_times_value, 3, absolute_madd(PERM_SUM(1), PERM_BLOCK(3), acc))
            PERM_STEP(abs_value_plus_abs_value, 2, magnitude(PERM_BLOCK(1)) + magnitude(PERM_BLOCK(2)))
            PERM_STEP(abs_value_times_value, 2, magnitude(PERM_BLOCK(1)) * PERM_BLOCK(2))
            PERM_STEP(abs_value_times_value_plus_value, 3,
                      absolute_madd(PERM_BLOCK(1), PERM_BLOCK(2), PERM_BLOCK(3)))
        default:
            return;
        }

#undef PERM_STEP
#undef PERM_SUM
#undef PERM_CONSTANT
#undef PERM_BLOCK
}

void walk(const Tree &tree, const DecodedTree &decoded, const double *numbers, double *workspace, int lanes,
          const std::function<void()> &poll) {
    for (int first = 0; first < lanes; first += lanes_at_once)
        Walk(tree, decoded, numbers, workspace + first, poll).root(decoded.root);
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

// x of each lane's segment; lanes beyond the last segment repeat it.
void start(const Tree &tree, std::span<const double> numbers, std::uint64_t first, int lanes, double *x) {
    for (std::int32_t i = 0; i < tree.n; ++i)
        std::fill_n(x + i * TreeWalk::lanes, TreeWalk::lanes, numbers[at(i)]);
    for (std::int32_t j = tree.segment_bits; j + 1 < tree.n; ++j) {
        std::uint32_t in = 0; // the lanes whose segments have column j
        for (int lane = 0; lane < TreeWalk::lanes; ++lane) {
            const std::uint64_t segment = first + static_cast<std::uint64_t>(std::min(lane, lanes - 1));
            in |= static_cast<std::uint32_t>((segment ^ segment >> 1) >> (j - tree.segment_bits) & 1) << lane;
        }
        if (in == 0) continue;
        for (auto e = tree.column_ptr[at(j)]; e < tree.column_ptr[at(j) + 1]; ++e) {
            double *const sums = x + tree.row[at(e)] * TreeWalk::lanes;
            const double entry = numbers[at(tree.n + e)];
            if (in == ~std::uint32_t{0}) // as most often
                for (int lane = 0; lane < TreeWalk::lanes; ++lane) sums[lane] += entry;
            else
                for (int lane = 0; lane < TreeWalk::lanes; ++lane)
                    if (in >> lane & 1) sums[lane] += entry;
        }
    }
}

} // namespace

TreeWalk::TreeWalk(const Tree &tree, std::span<const double> numbers)
    : tree_(tree), numbers_(numbers), decoded_(std::make_shared<DecodedTree>(tree)) {}

void TreeWalk::run(std::uint64_t first, std::span<Partial3> partials,
                   const std::function<void()> &poll) const {
    const auto count = static_cast<int>(partials.size());
    const auto workspace = hwy::AllocateAligned<double>(at(decoded_->blocks) * lanes);
    start(tree_, numbers_, first, count, workspace.get());
    HWY_DYNAMIC_DISPATCH(walk)(tree_, *decoded_, numbers_.data(), workspace.get(), count, poll);

    const DecodedPart &root = decoded_->root;
    for (int lane = 0; lane < count; ++lane) {
        const auto number = [&](std::uint32_t block) {
            return workspace[block / sizeof(double) + static_cast<std::size_t>(lane)];
        };
        const bool odd = (first + static_cast<std::uint64_t>(lane)) % 2 == 1;
        const double sum = number(root.sum), error = number(root.error);
        partials[at(lane)] = {odd ? -sum : sum, odd ? -error : error, number(root.absolute)};
    }
}

const char *tree_walk_target() {
    const std::string_view name = HWY_DYNAMIC_DISPATCH(target)();
    return name.starts_with("AVX3") ? "AVX-512" : name.data(); // as everybody else calls it
}

} // namespace libperm
#endif
