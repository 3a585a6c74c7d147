#include "jit/lanes/hafnian_sum.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/hafnian_sum.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/lanes-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

using Lane = Wide<1>;
constexpr std::size_t in_vector = hn::MaxLanes(Tag());
constexpr int vectors = HafnianLanes::lanes / static_cast<int>(in_vector);

// width: coefficients under way together, as there are registers for.
template <Arithmetic arithmetic, int coefficients> struct FactsOf {
    static constexpr int width = coefficients;
    static constexpr double unit = hafnian_unit(arithmetic),
                            per_product = hafnian_roundings(arithmetic) * unit;
};
template <class A> struct Facts;
template <> struct Facts<Real<Lane>> : FactsOf<Arithmetic::real, 8> {};
template <> struct Facts<Complex<Real<Lane>>> : FactsOf<Arithmetic::complex, 4> {};
template <> struct Facts<DD<Lane>> : FactsOf<Arithmetic::dd, 4> {};
template <> struct Facts<Complex<DD<Lane>>> : FactsOf<Arithmetic::complex_dd, 2> {};
template <> struct Facts<Modular<Lane>> : FactsOf<Arithmetic::modular, 4> {};

template <class A, int count> struct Factors { const double *x[count], *y[count]; };

// Consecutive coefficients of a sum of products of polynomials: each is added up by the place of its factors
// in x, whatever the width.
template <class A, int width> struct Coefficients {
    using Number = typename A::Number;
    static constexpr std::size_t stride = doubles_in<Number>;
    Number first;
    Coefficients<A, width - 1> rest;

    LANES_INLINE Coefficients() : first(A::number(Lane(0.0))) {}
    LANES_INLINE void add(const A &a, const Number &x, const double *y) {
        const Number other = read_number<Number>(y);
        first = a.madd(x, other, first);
        rest.add(a, x, y + stride);
    }
    // x from behind `reach` on, which reaches but the later ones; y: all of it.
    template <int count>
    LANES_INLINE void add_last(const A &a, const Factors<A, count> &of, std::size_t reach) {
        for (int t = 0; t < count; ++t) {
            const Number next = read_number<Number>(of.x[t] + reach + stride);
            rest.add(a, next, of.y[t]);
        }
        rest.add_last(a, of, reach + stride);
    }
    template <class Take> LANES_INLINE void give(int k, const Take &take) const {
        take(k, first);
        rest.give(k + 1, take);
    }
};
template <class A> struct Coefficients<A, 1> {
    using Number = typename A::Number;
    Number first;

    LANES_INLINE Coefficients() : first(A::number(Lane(0.0))) {}
    LANES_INLINE void add(const A &a, const Number &x, const double *y) {
        const Number other = read_number<Number>(y);
        first = a.madd(x, other, first);
    }
    template <int count> LANES_INLINE void add_last(const A &, const Factors<A, count> &, std::size_t) {}
    template <class Take> LANES_INLINE void give(int k, const Take &take) const { take(k, first); }
};

// take(k, coefficient k) of sum x y, from `from` on to length - 1.
template <int width, class A, int count, class Take>
LANES_INLINE void convolve(const A &a, const Factors<A, count> &of, int from, int length, const Take &take) {
    using Number = typename A::Number;
    constexpr std::size_t stride = doubles_in<Number>;
    int k = from;
    for (; k + width <= length; k += width) {
        Coefficients<A, width> sum;
        const std::size_t reach = static_cast<std::size_t>(k) * stride;
        for (std::size_t i = 0; i <= reach; i += stride)
            for (int t = 0; t < count; ++t) {
                const Number x = read_number<Number>(of.x[t] + i);
                sum.add(a, x, of.y[t] + (reach - i));
            }
        sum.add_last(a, of, reach);
        sum.give(k, take);
    }
    if constexpr (width > 1) convolve<width / 2>(a, of, k, length, take);
}

// Of a polynomial's coefficients: sum |c_k|, which is submultiplicative, and as much they can be wrong by.
struct Norm {
    Lane sum, error;
};
LANES_INLINE Norm operator+(Norm x, Norm y) { return {x.sum + y.sum, x.error + y.error}; }
LANES_INLINE Norm operator*(Norm x, Norm y) {
    return {x.sum * y.sum, fma(x.error, y.sum + y.error, x.sum * y.error)};
}
LANES_INLINE Norm rounded(Norm x, double roundings) {
    constexpr double underflow = 0x1p-1000; // of any step, and far more
    return {x.sum, fma(x.sum, Lane(roundings), x.error + Lane(underflow))};
}

// At least |x|, and hardly more: sqrt(1 + t^2) <= 1 + (sqrt(2) - 1) t for t <= 1.
template <class Real> LANES_INLINE Lane modulus(const Real &x) {
    if constexpr (requires { x.hi; })
        return fabs(x.hi);
    else
        return fabs(x);
}
template <class Part> LANES_INLINE Lane modulus(const ComplexOf<Part> &x) {
    constexpr double share = 0x1.a827999fcef36p-2;
    const Lane re = modulus(x.re), im = modulus(x.im);
    return fma(Lane(share), re + im, Lane(1 - share) * fmax(re, im));
}

template <class A> class HafnianWalk {
    using Number = typename A::Number;
    static constexpr std::size_t stride = doubles_in<Number>;
    static constexpr double unit = Facts<A>::unit, per_product = Facts<A>::per_product;

  public:
    LANES_INLINE HafnianWalk(const HafnianLines &of, A a, double *room)
        : of_(of), a_(a), leaf_(of.pairs - 2), error_(Lane(0.0)) {
        for (int s = 0; s <= leaf_; ++s) {
            Level &level = levels_[s];
            level.lines = of.lines() - 2 * s;
            level.length = s + 1;
            level.polynomials = level.lines * (level.lines - 1) / 2 + 1;
            const std::size_t doubles = static_cast<std::size_t>(level.polynomials) * level.doubles();
            for (Node *node : {&level.plus, &level.minus}) {
                node->numbers = room;
                node->norms = room += doubles;
                room += 2 * static_cast<std::size_t>(level.polynomials) * in_vector;
            }
        }
        for (double *&p : scratch_) {
            p = room;
            room += levels_[leaf_].doubles();
        }
    }

    static std::size_t doubles(const HafnianLines &of) { // for the longest vectors
        std::size_t all = 0, polynomial = 0;
        for (int s = 0; s <= of.pairs - 2; ++s) {
            const auto lines = static_cast<std::size_t>(of.lines() - 2 * s);
            polynomial = (static_cast<std::size_t>(s) + 1) * A::parts;
            all += (lines * (lines - 1) / 2 + 1) * 2 * (polynomial + 2);
        }
        return HafnianLanes::lanes * (all + 4 * polynomial);
    }

    // One vector of the lanes.
    LANES_INLINE void sum(int piece_bits, std::uint64_t piece, int vector, HafnianLanes &to) {
        begin();
        split(0, levels_[0].plus, Lane(1.0));
        int s = 1;
        HWY_ALIGN double signs[in_vector];
        for (; s <= HafnianLanes::lane_bits; ++s) {
            for (std::size_t k = 0; k < in_vector; ++k)
                signs[k] = (static_cast<std::size_t>(vector) * in_vector + k) >> (s - 1) & 1 ? -1 : 1;
            split(s, levels_[s].plus, load<1>(signs));
        }
        for (int bit = 0; bit < piece_bits; ++bit, ++s)
            split(s, levels_[s].plus, Lane(piece >> bit & 1 ? -1.0 : 1.0));
        Number total;
        descend(s, levels_[s].plus, total);
        HWY_ALIGN double parts[A::parts * in_vector];
        write_number(total, parts);
        for (int part = 0; part < A::parts; ++part)
            std::copy_n(parts + static_cast<std::size_t>(part) * in_vector, in_vector,
                        to.parts[part] + static_cast<std::size_t>(vector) * in_vector);
        store(error_, parts);
        std::copy_n(parts, in_vector, to.error + static_cast<std::size_t>(vector) * in_vector);
    }

  private:
    // The polynomials that the signs so far have come to, all entries and then g; a norm and its error for
    // each.
    struct Node {
        double *numbers, *norms;

        LANES_INLINE Norm norm(int number) const {
            const double *const p = norms + 2 * static_cast<std::size_t>(number) * in_vector;
            return {load<1>(p), load<1>(p + in_vector)};
        }
        LANES_INLINE void put_norm(int number, Norm x) const {
            double *const p = norms + 2 * static_cast<std::size_t>(number) * in_vector;
            store(x.sum, p);
            store(x.error, p + in_vector);
        }
    };

    struct Level { // with s pairs taken out
        int lines, length, polynomials;
        Node plus, minus; // by the sign of the last

        std::size_t doubles() const { return static_cast<std::size_t>(length) * stride; } // of a polynomial
        int entry(int j, int k) const { return j * (2 * lines - j - 1) / 2 + (k - j - 1); }
        int g() const { return polynomials - 1; }
        double *polynomial(const Node &of, int number) const {
            return of.numbers + static_cast<std::size_t>(number) * doubles();
        }
    };

    template <int count, class Take>
    LANES_INLINE void products(const Factors<A, count> &of, int length, const Take &take) const {
        convolve<Facts<A>::width>(a_, of, 0, length, take);
    }

    LANES_INLINE void begin() {
        const Level &root = levels_[0];
        for (int k = 0; k < root.polynomials; ++k) {
            HWY_ALIGN double parts[A::parts * in_vector] = {};
            for (int part = 0; part < A::parts; ++part) {
                const double x = k < root.g() ? of_.entries[k * A::parts + part] : part == 0 ? 1 : 0;
                std::fill_n(parts + static_cast<std::size_t>(part) * in_vector, in_vector, x);
            }
            const Number x = read_number<Number>(parts);
            write_number(x, root.polynomial(root.plus, k));
            if constexpr (A::bounded)
                root.plus.put_norm(k, {modulus(x), Lane(k < root.g() ? of_.errors[k] : 0)});
        }
    }

    // b_01 + l_0 l_1, and its norm.
    LANES_INLINE const double *closed(const Level &at, const Node &of, int j, double *to, Norm &norm) const {
        const int edge = at.entry(j, j + 1), l0 = at.entry(j, at.lines - 1),
                  l1 = at.entry(j + 1, at.lines - 1);
        const double *const b = at.polynomial(of, edge);
        if constexpr (A::bounded) norm = of.norm(edge);
        if (!of_.has_loops) return b;
        Lane size(0.0);
        products<1>({{at.polynomial(of, l0)}, {at.polynomial(of, l1)}}, at.length, [&](int k, Number x) {
            const Number old = read_number<Number>(b + static_cast<std::size_t>(k) * stride);
            x = a_.add(x, old);
            if constexpr (A::bounded) size = size + modulus(x);
            write_number(x, to + static_cast<std::size_t>(k) * stride);
        });
        if constexpr (A::bounded) {
            norm = rounded(norm + of.norm(l0) * of.norm(l1), per_product * at.length + unit);
            norm.sum = size; // what they are, not what they could be
        }
        return to;
    }

    struct Place { // of a polynomial in its node, and in the children
        int before, after;
    };

    // The polynomial with sum x y r times either sign; product: the norm of that, as if no more were known.
    template <int count>
    LANES_INLINE void children(const Level &at, const Node &from, const Level &to, Place place, Lane sign,
                               const Factors<A, count> &of, Norm product) const {
        const double *const b = at.polynomial(from, place.before);
        double *const plus = to.polynomial(to.plus, place.after), *const minus =
                                                                      to.polynomial(to.minus, place.after);
        const Number x = read_number<Number>(b);
        write_number(x, plus);
        write_number(x, minus);
        Lane plus_size(0.0), minus_size(0.0);
        if constexpr (A::bounded) plus_size = minus_size = modulus(x);
        products(of, at.length, [&](int k, const Number &c) {
            const std::size_t next = static_cast<std::size_t>(k + 1) * stride;
            Number old = A::number(Lane(0.0));
            if (k + 1 < at.length) old = read_number<Number>(b + next);
            const Number p = a_.add_signed(old, sign, c), m = a_.add_signed(old, -sign, c);
            write_number(p, plus + next);
            write_number(m, minus + next);
            if constexpr (A::bounded) {
                plus_size = plus_size + modulus(p);
                minus_size = minus_size + modulus(m);
            }
        });
        if constexpr (A::bounded) {
            const Norm all =
                rounded(from.norm(place.before) + rounded(product, per_product * count * at.length), unit);
            to.plus.put_norm(place.after, {plus_size, all.error});
            to.minus.put_norm(place.after, {minus_size, all.error});
        }
    }

    // Takes out lines 0 and 1, with either sign.
    HWY_NOINLINE void split(int s, const Node &node, Lane sign) const {
        const Level &at = levels_[s], &to = levels_[s + 1];
        const auto p = [&](int j, int k) { return at.polynomial(node, at.entry(j, k)); };
        const auto norm = [&](int j, int k) { return node.norm(at.entry(j, k)); };
        int child = 0;
        for (int j = 2; j < at.lines; ++j)
            for (int k = j + 1; k < at.lines; ++k)
                children<2>(at, node, to, {at.entry(j, k), child++}, sign,
                            {{p(0, j), p(1, j)}, {p(1, k), p(0, k)}},
                            norm(0, j) * norm(1, k) + norm(1, j) * norm(0, k));
        Norm q;
        const double *const cycle = closed(at, node, 0, scratch_[0], q);
        children<1>(at, node, to, {at.g(), child}, sign, {{at.polynomial(node, at.g())}, {cycle}},
                    node.norm(at.g()) * q);
    }

    void descend(int s, const Node &node, Number &to) {
        if (s == leaf_) return leaf(node, to);
        split(s, node, Lane(1.0));
        Number negative;
        descend(s + 1, levels_[s + 1].plus, to);
        descend(s + 1, levels_[s + 1].minus, negative);
        to = a_.subtract(to, negative);
    }

    // [r^leaf_] g haf(b): of four lines b_01 b_23 + b_02 b_13 + b_03 b_12. With loops
    //   (b_01 + l_0 l_1) (b_23 + l_2 l_3) + b_02 b_13 + b_03 b_12 + l_2 w_3 + l_3 w_2,
    //   w_j = b_0j l_1 + b_1j l_0
    HWY_NOINLINE void leaf(const Node &node, Number &to) {
        const Level &at = levels_[leaf_];
        const auto p = [&](int j, int k) { return at.polynomial(node, at.entry(j, k)); };
        const double *const g = at.polynomial(node, at.g());
        count_leaf(node);
        to = A::number(Lane(0.0));
        const auto add = [&](int k, const Number &x) {
            const Number other = read_number<Number>(g + static_cast<std::size_t>(leaf_ - k) * stride);
            to = a_.madd(x, other, to);
        };
        if (!of_.has_loops)
            return products<3>({{p(0, 1), p(0, 2), p(0, 3)}, {p(2, 3), p(1, 3), p(1, 2)}}, at.length, add);
        for (int j = 2; j < 4; ++j)
            products<2>({{p(0, j), p(1, j)}, {p(1, 4), p(0, 4)}}, at.length, [&](int k, const Number &x) {
                write_number(x, scratch_[j] + static_cast<std::size_t>(k) * stride);
            });
        Norm ignored;
        const double *const q01 = closed(at, node, 0, scratch_[0], ignored), *const q23 =
                                                                                 closed(at, node, 2,
                                                                                        scratch_[1], ignored);
        products<5>(
            {{q01, p(0, 2), p(0, 3), p(2, 4), p(3, 4)}, {q23, p(1, 3), p(1, 2), scratch_[3], scratch_[2]}},
            at.length, add);
    }

    // The bound is of all additions that are to follow, too.
    LANES_INLINE void count_leaf(const Node &node) {
        if constexpr (A::bounded) {
            const Level &at = levels_[leaf_];
            const auto norm = [&](int j, int k) { return node.norm(at.entry(j, k)); };
            Norm haf = norm(0, 2) * norm(1, 3) + norm(0, 3) * norm(1, 2);
            Norm q01 = norm(0, 1), q23 = norm(2, 3);
            if (of_.has_loops) {
                const double once = per_product * at.length + unit;
                q01 = rounded(q01 + norm(0, 4) * norm(1, 4), once);
                q23 = rounded(q23 + norm(2, 4) * norm(3, 4), once);
                for (int j = 2; j < 4; ++j)
                    haf = haf + norm(5 - j, 4) *
                                    rounded(norm(0, j) * norm(1, 4) + norm(1, j) * norm(0, 4), 2 * once);
            }
            haf = rounded(haf + q01 * q23, per_product * 5 * at.length);
            const Norm value =
                rounded(node.norm(at.g()) * haf, per_product * at.length + unit * (of_.pairs + 2));
            error_ = error_ + value.error;
        }
    }

    const HafnianLines &of_;
    const A a_;
    const int leaf_;
    Lane error_;
    Level levels_[HafnianLines::most_pairs];
    double *scratch_[4];
};

// work(arithmetic) with that of the lines.
template <class Work> void with_arithmetic(const HafnianLines &of, const Work &work) {
    if (of.arithmetic == Arithmetic::modular) return work(Modular<Lane>{Lane(of.prime), Lane(1 / of.prime)});
    in_arithmetic<Lane>(of.arithmetic, work);
}

void walk_pairs(const HafnianLines &of, int piece_bits, std::uint64_t piece, double *room, HafnianLanes &to) {
    with_arithmetic(of, [&]<class A>(A a) {
        for (int vector = 0; vector < vectors; ++vector)
            HafnianWalk<A>(of, a, room).sum(piece_bits, piece, vector, to);
    });
}

std::size_t room_of_walk(const HafnianLines &of) {
    std::size_t doubles = 0;
    with_arithmetic(of, [&]<class A>(A) { doubles = HafnianWalk<A>::doubles(of); });
    return doubles;
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk_pairs);
HWY_EXPORT(room_of_walk);

} // namespace

std::size_t hafnian_room(const HafnianLines &of) { return HWY_DYNAMIC_DISPATCH(room_of_walk)(of); }

void sum_over_pair_signs(const HafnianLines &of, int piece_bits, std::uint64_t piece, double *room,
                         HafnianLanes &to) {
    HWY_DYNAMIC_DISPATCH(walk_pairs)(of, piece_bits, piece, room, to);
}

double hafnian_operations(int pairs, bool has_loops) {
    const double length = pairs - 1;
    double operations = (has_loops ? 11 : 3) * length * (length + 1) / 2;
    double nodes = 0.5; // for each term
    for (int s = pairs - 3; s >= 0; --s, nodes /= 2) {
        const double left = 2 * (pairs - s - 1) + (has_loops ? 1 : 0);
        operations += nodes * (left * (left - 1) + (has_loops ? 2 : 1)) * (s + 1) * (s + 2) / 2;
    }
    return operations;
}

} // namespace libperm
#endif
