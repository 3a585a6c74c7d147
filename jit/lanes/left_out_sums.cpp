#include "jit/lanes/left_out_sums.hpp"

#include "jit/lanes/lane_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jit/lanes/left_out_sums.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "jit/lanes/count_steps-inl.hpp"
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#ifndef LIBPERM_LEFT_OUT_SHAPE
#define LIBPERM_LEFT_OUT_SHAPE
namespace libperm {
namespace {

constexpr int additions_between_flushes = 16; // of minors

constexpr int most_middle = 6; // columns whose signs change along a piece

// Column 0 keeps its sign; those of the next columns are the lanes', the middle ones' change from step to
// step, the last ones' from piece to piece.
struct GradientShape {
    int vectors, low, middle, high;

    explicit GradientShape(const CountedColumns &a)
        : vectors(a.columns < 5                     ? 1
                  : a.columns < 6 || a.is_complex() ? 2
                                                    : 4),
          low(3 + std::bit_width(static_cast<unsigned>(vectors)) - 1),
          middle(std::min(a.columns - 1 - low, most_middle)),
          high(a.columns - 1 - low - middle) {}

    int first_middle() const { return 1 + low; }
    int differences() const { return low - 3 + middle; } // of the columns from first_difference on
    static constexpr int first_difference = 4;
    int first_high() const { return 1 + low + middle; }
};

} // namespace
} // namespace libperm
#endif

HWY_BEFORE_NAMESPACE();
namespace libperm::HWY_NAMESPACE {

// Products of row sums with each factor left out in turn: by the products of those before it and of those
// behind it, so that nothing is divided by and a zero is a factor as any other. Walks `vectors` eights at
// once.
template <bool complex, bool split, int vectors> class LeftOut {
  public:
    static constexpr int size = vectors * vectors_of_eight, lanes = vectors * eight_lanes;
    static constexpr int numbers = complex ? 2 : 1, parts = numbers * (split ? 2 : 1);
    using D = Wide<size>;
    using A = std::conditional_t<complex, Complex<Real<D>>, Real<D>>;
    using Number = typename A::Number;
    using Eights = std::conditional_t<complex, Complex<Real<Eight>>, Real<Eight>>;

    // Scratch is counted in doubles: a number for each row.
    static constexpr int number_doubles = numbers * lanes;
    static std::size_t space(int rows) {
        return static_cast<std::size_t>(rows) * std::size_t{2 * number_doubles};
    }

    LeftOut(int rows, const int *row_count, double *space)
        : rows_(rows), row_count_(row_count), x_(space), before_(space + rows * number_doubles) {
        for (int i = 0; i < rows; ++i)
            if (row_count[i] > 1) repeated_ = i + 1;
    }

    // take(i, w * the product without one factor of row i); returns w times the whole product. row_sum(i).
    template <class RowSum, class Take>
    LANES_INLINE Number each(D w, const RowSum &row_sum, const Take &take) {
        Number product = A::number(w);
        for (int i = 0; i < repeated_; ++i)
            if (row_count_[i] > 1) product = A::multiply(product, power<A>(row_sum(i), row_count_[i] - 1));
        for (int i = 0; i < rows_ - 1; ++i) {
            const Number x = row_sum(i);
            write_number(x, x_ + i * number_doubles);
            write_number(product, before_ + i * number_doubles);
            product = A::multiply(product, x);
        }
        Number behind = row_sum(rows_ - 1);
        take(rows_ - 1, product);
        if (rows_ == 1) return A::multiply(product, behind);
        product = A::multiply(product, behind);
        for (int i = rows_ - 2; i > 0; --i) {
            take(i, A::multiply(read_number<Number>(before_ + i * number_doubles), behind));
            behind = A::multiply(read_number<Number>(x_ + i * number_doubles), behind);
        }
        take(0, A::multiply(read_number<Number>(before_), behind));
        return product;
    }

  private:
    const int rows_;
    int repeated_ = 0; // of the first rows some count more than once
    const int *const row_count_;
    double *const x_, *const before_;
};

// All derivatives.
template <bool complex, bool split, int vectors> class GradientWalk {
    using Products = LeftOut<complex, split, vectors>;
    using A = typename Products::A;
    using Sums = RowSums<complex, split, false, Products::size>;
    using Number = typename Products::Number;
    static constexpr int size = Products::size, lanes = Products::lanes, parts = Products::parts,
                         numbers = Products::numbers, block = numbers * eight_lanes;

  public:
    LANES_INLINE GradientWalk(const CountedColumns &a, double *space)
        : a_(a),
          shape_(a),
          rows_(a.rows),
          products_(a.rows, a.row_count, space),
          table_(space + Products::space(a.rows)),
          pending_(table_ + rows_ * parts * lanes),
          differences_(pending_ + (shape_.middle + 1) * rows_ * block),
          mass_(differences_ + shape_.differences() * rows_ * block),
          base_(mass_ + rows_ * eight_lanes) {
        a.list(part_);
        tabulate();
    }
    static std::size_t space(const CountedColumns &a) {
        const GradientShape shape(a);
        const int doubles =
            a.rows * (parts * lanes + (shape.middle + 1 + shape.differences()) * block + eight_lanes) +
            parts * a.stride;
        return Products::space(a.rows) + static_cast<std::size_t>(doubles);
    }

    LANES_INLINE void add(std::uint64_t first, std::uint64_t last, LineSums &out) {
        for (std::uint64_t piece = first; piece < last; ++piece) add_piece(piece, out);
    }

    double base(int part, int i) const { return base_[part * a_.stride + i]; }
    const double *low_sum(int part, int i, int lane) const {
        return table_ + (i * parts + part) * lanes + lane;
    }

  private:
    using Eights = typename Products::Eights;
    using Whole = typename Eights::Number;
    static constexpr int vector_bits = vectors == 4 ? 2 : vectors == 2 ? 1 : 0;

    LANES_INLINE void add_piece(std::uint64_t piece, LineSums &out) {
        begin(piece);
        whole_ = Eights::zero_sum();
        std::fill(differences_, base_, 0.0); // and the masses
        const unsigned steps = 1u << shape_.middle;
        for (unsigned step = 0; step < steps; ++step) {
            if (step > 0) change(step);
            if (step % 2 == 0)
                even_step();
            else
                odd_step(step);
        }
        finish(piece, out);
    }

    double *pending(int level, int i) { return pending_ + (level * rows_ + i) * block; }
    double entry(int part, int i, int j) const { return part_[part][j * a_.stride + i]; }

    // The lanes' signs of column 1 .. low, and their product.
    LANES_INLINE void tabulate() {
        std::fill_n(sign_, lanes, 1.0);
        for (int lane = 0; lane < lanes; ++lane)
            for (int bit = 0; bit < shape_.low; ++bit)
                if (lane >> bit & 1) sign_[lane] = -sign_[lane];
        for (int i = 0; i < rows_; ++i)
            for (int part = 0; part < parts; ++part) {
                double *const to = table_ + (i * parts + part) * lanes;
                to[0] = 0;
                for (int bit = 0; bit < shape_.low; ++bit) to[0] += entry(part, i, bit + 1);
                for (int lane = 1; lane < lanes; ++lane)
                    to[lane] =
                        to[lane & (lane - 1)] - 2 * entry(part, i, std::countr_zero(unsigned(lane)) + 1);
            }
    }

    LANES_INLINE void begin(std::uint64_t piece) {
        for (int part = 0; part < parts; ++part) {
            std::copy_n(part_[part], a_.stride, base_ + part * a_.stride);
            for (int j = shape_.first_middle(); j < a_.columns; ++j) {
                const bool is_off = j >= shape_.first_high() && (piece >> (j - shape_.first_high()) & 1) != 0;
                add_column(part, j, is_off ? -1 : 1);
            }
        }
    }
    LANES_INLINE void change(unsigned step) {
        const int bit = std::countr_zero(step);
        const double twice = (step ^ step >> 1) >> bit & 1 ? -2 : 2;
        for (int part = 0; part < parts; ++part) add_column(part, shape_.first_middle() + bit, twice);
    }
    LANES_INLINE void add_column(int part, int j, double times) {
        const double *const column = part_[part] + j * a_.stride;
        double *const base = base_ + part * a_.stride;
        for (int i = 0; i < a_.stride; ++i) base[i] += times * column[i];
    }

    LANES_INLINE void add_mass(int i, const Number &x) {
        double *const to = mass_ + i * eight_lanes;
        store(load<vectors_of_eight>(to) + to_eight<size>(A::magnitude(x)), to);
    }
    double *difference(int k, int i) { return differences_ + (k * rows_ + i) * block; }
    LANES_INLINE void add_difference(bool is_on, int k, int i, const Whole &x) {
        double *const to = difference(k, i);
        const Whole old = read_number<Whole>(to);
        if (is_on)
            write_number(Eights::add(old, x), to);
        else
            write_number(Eights::subtract(old, x), to);
    }

    // The sum of a step's eights, whose differences are those of the columns that tell them apart.
    template <int of> LANES_INLINE Eight fold_vectors(Wide<of> x, Eight *differences) {
        if constexpr (of == vectors_of_eight) {
            return x;
        } else {
            differences[std::bit_width(static_cast<unsigned>(of / vectors_of_eight)) - 2] =
                to_eight<of / 2>(x.low - x.high);
            return fold_vectors<of / 2>(x.low + x.high, differences);
        }
    }
    LANES_INLINE Whole fold(bool is_even, int i, const Number &x) {
        Whole sum;
        if constexpr (complex) {
            Eight re[2], im[2];
            sum = {fold_vectors<size>(x.re, re), fold_vectors<size>(x.im, im)};
            for (int k = 0; k < vector_bits; ++k) add_difference(is_even, k, i, {re[k], im[k]});
        } else {
            Eight all[2];
            sum = fold_vectors<size>(x, all);
            for (int k = 0; k < vector_bits; ++k) add_difference(is_even, k, i, all[k]);
        }
        return sum;
    }

    LANES_INLINE void even_step() {
        const Number whole = products_.each(
            load<size>(sign_), [this](int i) HWY_ATTR { return Sums::of(*this, i); },
            [this](int i, const Number &x) HWY_ATTR {
                add_mass(i, x);
                write_number(fold(true, i, x), pending(0, i));
            });
        add_whole(whole, true);
    }
    // Its terms' sign is the other than the even step's before it.
    LANES_INLINE void odd_step(unsigned step) {
        const int levels = std::countr_one(step); // halves that are done
        double *const to = pending(levels, 0);
        const bool is_on = (step >> 1 & 1) == 0;
        const Number whole = products_.each(
            load<size>(sign_), [this](int i) HWY_ATTR { return Sums::of(*this, i); },
            [&](int i, const Number &x) HWY_ATTR {
                add_mass(i, x);
                const Whole first = read_number<Whole>(pending(0, i)), second = fold(false, i, x);
                add_difference(is_on, vector_bits, i, Eights::add(first, second));
                write_number(Eights::subtract(first, second), to + i * block);
            });
        add_whole(whole, false);
        for (int level = 1; level < levels; ++level) join_halves(level, to, step);
    }
    LANES_INLINE void join_halves(int level, double *seconds, unsigned step) {
        const bool is_on = (step >> (level + 1) & 1) == 0;
        for (int i = 0; i < rows_; ++i) {
            const Whole first = read_number<Whole>(pending(level, i)),
                        second = read_number<Whole>(seconds + i * block);
            add_difference(is_on, vector_bits + level, i, Eights::subtract(first, second));
            write_number(Eights::add(first, second), seconds + i * block);
        }
    }
    LANES_INLINE void add_whole(const Number &x, bool is_on) {
        const Whole e = to_eight<size>(x);
        whole_ = Eights::sum(whole_, is_on ? e : Eights::negate(e));
        whole_mass_ = whole_mass_ + to_eight<size>(A::magnitude(x));
    }

    // Adds numbers, times 1 or -1.
    static LANES_INLINE void add(double x, double *sum, double *rest) {
        const Twofold<double> s = two_sum(*sum, x);
        *sum = s.hi;
        *rest += s.lo;
    }

    LANES_INLINE void finish(std::uint64_t piece, LineSums &out) {
        const double sign = std::popcount(piece) % 2 == 0 ? 1 : -1;
        for (int part = 0; part < numbers; ++part)
            for (int i = 0; i < rows_; ++i) {
                const auto put = [&](int j, double x) HWY_ATTR {
                    add(sign * x, out.sums(part, j) + i, out.rests(part, j) + i);
                };
                double low[4];
                sum_lanes(pending(shape_.middle, i) + part * eight_lanes, low);
                for (int j = 0; j < 4; ++j) put(j, low[j]);
                for (int k = 0; k < shape_.differences(); ++k)
                    put(GradientShape::first_difference + k,
                        lane_sum(load<vectors_of_eight>(difference(k, i) + part * eight_lanes)));
                for (int k = 0; k < shape_.high; ++k)
                    put(shape_.first_high() + k, piece >> k & 1 ? -low[0] : low[0]);
            }
        for (int i = 0; i < rows_; ++i)
            out.mass()[i] += lane_sum(load<vectors_of_eight>(mass_ + i * eight_lanes));
        const auto add_part = [&](Eight sums, Eight rests, double &sum, double &rest) HWY_ATTR {
            add(sign * lane_sum(sums), &sum, &rest);
            rest += sign * lane_sum(rests);
        };
        if constexpr (complex) {
            add_part(whole_.re.sum, whole_.re.error, out.whole.re, out.whole.re_rest);
            add_part(whole_.im.sum, whole_.im.error, out.whole.im, out.whole.im_rest);
        } else {
            add_part(whole_.sum, whole_.error, out.whole.re, out.whole.re_rest);
        }
        out.whole.mass += lane_sum(whole_mass_);
        whole_mass_ = Eight(0.0);
    }

    // Of lanes that have their signs: all, and with the sign of each column 1 .. 3 besides.
    static LANES_INLINE void sum_lanes(const double *x, double *low) {
        double pair[4], by_one = 0;
        for (int k = 0; k < 4; ++k) pair[k] = x[2 * k] + x[2 * k + 1];
        for (int k = 0; k < 4; ++k) by_one += x[2 * k] - x[2 * k + 1];
        const double even = pair[0] + pair[2], odd = pair[1] + pair[3];
        low[0] = even + odd;
        low[1] = by_one;
        low[2] = even - odd;
        low[3] = (pair[0] + pair[1]) - (pair[2] + pair[3]);
    }

    const CountedColumns &a_;
    const GradientShape shape_;
    const int rows_;
    Products products_;
    double *const table_, *const pending_, *const differences_, *const mass_, *const base_;
    const double *part_[parts];
    typename Eights::Sum whole_;
    Eight whole_mass_ = Eight(0.0);
    HWY_ALIGN double sign_[lanes];
};

// Without `out`: the space that it takes.
std::size_t walk_gradient(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                          LineSums *out) {
    return by_parts(a, [&]<bool complex, bool split>() {
        switch (GradientShape(a).vectors) {
        case 1:
            return walk_lines<GradientWalk<complex, split, 1>>(a, first, last, space, out);
        case 2:
            return walk_lines<GradientWalk<complex, split, 2>>(a, first, last, space, out);
        default:
            return walk_lines<GradientWalk<complex, split, complex ? 2 : 4>>(a, first, last, space, out);
        }
    });
}

// The sub-permanents of a line.
template <bool complex, bool split> class MinorWalk {
    using Steps = CountSteps<complex, split>;
    using Eights = std::conditional_t<complex, Complex<Real<Eight>>, Real<Eight>>;
    using Whole = typename Eights::Number;
    static constexpr int most_vectors = complex ? 2 : 4; // at once
    using Many = LeftOut<complex, split, most_vectors>;
    using One = LeftOut<complex, split, 1>;

  public:
    LANES_INLINE MinorWalk(const CountedColumns &a, double *space)
        : steps_(a),
          many_(a.rows, a.row_count, space),
          one_(a.rows, a.row_count, space),
          sums_(a.rows, space + Many::space(a.rows)) {}
    static std::size_t space(const CountedColumns &a) {
        return Many::space(a.rows) + EightSums<complex>::space(a.rows);
    }

    LANES_INLINE void add(std::uint64_t first, std::uint64_t last, LineSums &out) {
        steps_.begin(first);
        for (std::uint64_t step = first; step < last; ++step) {
            if (step > first) steps_.advance();
            const double weight = steps_.weight();
            if (weight != 0) add_step(weight);
        }
        sums_.flush();
        sums_.finish(out);
    }

  private:
    LANES_INLINE void add_step(double weight) {
        int lane = 0;
        for (; lane + Many::lanes <= steps_.lanes(); lane += Many::lanes) add_lanes(many_, weight, lane);
        for (; lane < steps_.lanes(); lane += eight_lanes) add_lanes(one_, weight, lane);
    }
    template <class Products> LANES_INLINE void add_lanes(Products &products, double weight, int lane) {
        constexpr int size = Products::size;
        using Number = typename Products::Number;
        using Sums = RowSums<complex, split, false, size>;
        products.each(
            Wide<size>(weight) * load<size>(steps_.low_weight(lane)),
            [&](int i) HWY_ATTR { return Sums::of(steps_, i, lane); },
            [&](int i, const Number &x) HWY_ATTR {
                double *const terms = sums_.terms(i);
                sums_.add_mass(i, to_eight<size>(Products::A::magnitude(x)));
                write_number(Eights::add(read_number<Whole>(terms), to_eight<size>(x)), terms);
            });
        if (++additions_ % additions_between_flushes == 0) sums_.flush();
    }

    Steps steps_;
    Many many_;
    One one_;
    EightSums<complex> sums_;
    int additions_ = 0;
};

std::size_t walk_minors(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                        LineSums *out) {
    return by_parts(a, [&]<bool complex, bool split>() {
        return walk_lines<MinorWalk<complex, split>>(a, first, last, space, out);
    });
}

} // namespace libperm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace libperm {
namespace {

HWY_EXPORT(walk_gradient);
HWY_EXPORT(walk_minors);

} // namespace

std::uint64_t gradient_pieces(const CountedColumns &a) { return std::uint64_t{1} << GradientShape(a).high; }

int gradient_additions(const CountedColumns &a) {
    const GradientShape shape(a);
    return (1 << shape.middle) + shape.low + 3;
}

std::size_t gradient_space(const CountedColumns &a) {
    return HWY_DYNAMIC_DISPATCH(walk_gradient)(a, 0, 0, nullptr, nullptr);
}

void add_gradient(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                  LineSums &sums) {
    HWY_DYNAMIC_DISPATCH(walk_gradient)(a, first, last, space, &sums);
}

int minor_additions(const CountedColumns &) { return additions_between_flushes + 2; }

std::size_t minor_space(const CountedColumns &a) {
    return HWY_DYNAMIC_DISPATCH(walk_minors)(a, 0, 0, nullptr, nullptr);
}

void add_minors(const CountedColumns &a, std::uint64_t first, std::uint64_t last, double *space,
                LineSums &sums) {
    HWY_DYNAMIC_DISPATCH(walk_minors)(a, first, last, space, &sums);
}

} // namespace libperm
#endif
