// Engine bjorklund in MPFR numbers: the sum of jit/lanes/hafnian_sum.hpp without lanes, of two pairs or more.
// Norms are doubles, errors in units of 2^-bits.
#include "lib/bjorklund/sums.hpp"
#include "lib/number/ball.hpp"
#include "lib/number/mpfr_field.hpp"
#include "lib/run/pieces.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace libperm {
namespace {

constexpr int mpfr_piece_sign_bits = 6, most_mpfr_piece_bits = 16;

template <class Field> struct MpfrHafnian {
    typename Field::Number sum;
    double error = 0;
};

template <class Field>
void save_part(cereal::PortableBinaryOutputArchive &ar, const MpfrHafnian<Field> &part) {
    MpfrHafnian<Field> copy(part);
    Field::each_part(copy.sum, [&](const MpfrNumber &x) { ar(x.to_string()); });
    ar(part.error);
}
template <class Field> void load_part(cereal::PortableBinaryInputArchive &ar, MpfrHafnian<Field> &part) {
    Field::each_part(part.sum, [&](MpfrNumber &x) {
        std::string text;
        ar(text);
        if (!x.set_string(text)) throw Error(PERM_BAD_ARGUMENT, "a part that is known is no number");
    });
    ar(part.error);
}

// Of a polynomial: the sum of its coefficients' absolute values, and a bound of its error in this norm.
struct MpfrNorm {
    double sum = 0, error = 0;

    friend MpfrNorm operator+(MpfrNorm x, MpfrNorm y) { return {x.sum + y.sum, x.error + y.error}; }
    MpfrNorm times(MpfrNorm y, double unit) const {
        return {sum * y.sum, error * (y.sum + unit * y.error) + sum * y.error};
    }
    MpfrNorm rounded(double roundings) const { return {sum, error + roundings * sum + 0x1p-1000}; }
};

template <class Field> class MpfrPairs {
    using Number = typename Field::Number;

  public:
    // The entries as LineNumbers has them.
    MpfrPairs(std::vector<Number> entries, int pairs, bool has_loops, int bits)
        : pairs_(pairs),
          leaf_(pairs - 2),
          bits_(bits),
          has_loops_(has_loops),
          unit_(std::max(0x1p-1000, std::ldexp(1.0, -bits))),
          entries_(std::move(entries)) {}

    int sign_bits() const { return std::max(0, leaf_ - 1); }

    // Of the piece with these first signs.
    MpfrHafnian<Field> sum(int piece_bits, std::uint64_t piece) const {
        Work work(*this);
        Level &root = work.levels[0];
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            Field::set(root.plus.numbers[k], entries_[k]);
            const double size = Field::magnitude(entries_[k]);
            root.plus.norms[k] = MpfrNorm{size, 0}.rounded(1);
        }
        Field::set(root.plus.numbers.back(), Gaussian{1, 0}, 0);
        root.plus.norms.back() = {1, 0};
        const Node *node = &root.plus;
        int s = 0;
        if (leaf_ > 0) {
            split(work, s, *node); // the first sign is 1
            node = &work.levels[at(++s)].plus;
        }
        for (int bit = 0; bit < piece_bits; ++bit) {
            split(work, s, *node);
            const Level &level = work.levels[at(++s)];
            node = piece >> bit & 1 ? &level.minus : &level.plus;
        }
        MpfrHafnian<Field> part{Field::number(bits_), 0};
        descend(work, s, *node, part.sum, part.error);
        return part;
    }

  private:
    struct Node {
        std::vector<Number> numbers; // by polynomial, all entries and then g
        std::vector<MpfrNorm> norms;
    };
    struct Level { // with s pairs taken out
        std::size_t lines = 0, length = 0, polynomials = 0;
        Node plus, minus;
        Number value; // of the second child

        std::size_t entry(std::size_t j, std::size_t k) const {
            return j * (2 * lines - j - 1) / 2 + (k - j - 1);
        }
        const Number *polynomial(const Node &of, std::size_t number) const {
            return &of.numbers[number * length];
        }
    };
    struct Work {
        std::vector<Level> levels;
        std::vector<std::vector<Number>> scratch;
        Number sum, room;

        explicit Work(const MpfrPairs &of) : sum(of.zero()), room(of.zero()) {
            for (int s = 0; s <= of.leaf_; ++s) {
                const std::size_t lines = at(2 * (of.pairs_ - s)) + (of.has_loops_ ? 1 : 0);
                const std::size_t polynomials = lines * (lines - 1) / 2 + 1;
                const Node node{std::vector<Number>(polynomials * at(s + 1), of.zero()),
                                std::vector<MpfrNorm>(polynomials)};
                levels.push_back({lines, at(s + 1), polynomials, node, s > 0 ? node : Node{}, of.zero()});
            }
            scratch.assign(4, std::vector<Number>(levels.back().length, of.zero()));
        }
    };
    struct Product {
        const Number *x, *y;
    };

    Number zero() const { return Field::number(bits_); }
    static constexpr double per_product = std::is_same_v<Field, MpfrReal> ? 1 : 3;

    // take(coefficient k of the sum of the products) in its order.
    template <class Take>
    void convolve(Work &work, std::initializer_list<Product> products, std::size_t length,
                  const Take &take) const {
        for (std::size_t k = 0; k < length; ++k) {
            Field::set(work.sum, Gaussian{}, 0);
            for (const Product &p : products)
                for (std::size_t i = 0; i <= k; ++i)
                    Field::add_product(work.sum, p.x[i], p.y[k - i], work.room);
            take(k, work.sum);
        }
    }

    // b_j,j+1 + l_j l_j+1, and its norm.
    const Number *closed(Work &work, const Level &at, const Node &of, std::size_t j, std::size_t scratch,
                         MpfrNorm &norm) const {
        const std::size_t edge = at.entry(j, j + 1);
        norm = of.norms[edge];
        if (!has_loops_) return at.polynomial(of, edge);
        const std::size_t l0 = at.entry(j, at.lines - 1), l1 = at.entry(j + 1, at.lines - 1);
        std::vector<Number> &to = work.scratch[scratch];
        convolve(work, {{at.polynomial(of, l0), at.polynomial(of, l1)}}, at.length,
                 [&](std::size_t k, const Number &x) {
                     Field::set(to[k], x);
                     Field::add(to[k], at.polynomial(of, edge)[k]);
                 });
        norm = (norm + of.norms[l0].times(of.norms[l1], unit_))
                   .rounded(per_product * static_cast<double>(at.length) + 1);
        return to.data();
    }

    struct Place { // of a polynomial in its node, and in the children
        std::size_t before, after;
    };

    void children(Work &work, const Level &at, const Node &from, Level &to, Place place,
                  std::initializer_list<Product> products, MpfrNorm product) const {
        const Number *const b = at.polynomial(from, place.before);
        Number *const plus = &to.plus.numbers[place.after * to.length],
                      *const minus = &to.minus.numbers[place.after * to.length];
        Field::set(plus[0], b[0]);
        Field::set(minus[0], b[0]);
        double plus_size = Field::magnitude(b[0]), minus_size = plus_size;
        convolve(work, products, at.length, [&](std::size_t k, const Number &x) {
            if (k + 1 < at.length) {
                Field::set(plus[k + 1], b[k + 1]);
                Field::set(minus[k + 1], b[k + 1]);
            } else {
                Field::set(plus[k + 1], Gaussian{}, 0);
                Field::set(minus[k + 1], Gaussian{}, 0);
            }
            Field::add(plus[k + 1], x);
            Field::subtract(minus[k + 1], x);
            plus_size += Field::magnitude(plus[k + 1]);
            minus_size += Field::magnitude(minus[k + 1]);
        });
        const double roundings =
            per_product * static_cast<double>(products.size() * at.length); // of a coefficient
        const MpfrNorm all = (from.norms[place.before] + product.rounded(roundings)).rounded(1);
        to.plus.norms[place.after] = {plus_size, all.error};
        to.minus.norms[place.after] = {minus_size, all.error};
    }

    // Takes out lines 0 and 1, with either sign.
    void split(Work &work, int s, const Node &node) const {
        const Level &at = work.levels[static_cast<std::size_t>(s)];
        Level &to = work.levels[static_cast<std::size_t>(s) + 1];
        const auto p = [&](std::size_t j, std::size_t k) { return at.polynomial(node, at.entry(j, k)); };
        const auto norm = [&](std::size_t j, std::size_t k) { return node.norms[at.entry(j, k)]; };
        std::size_t child = 0;
        for (std::size_t j = 2; j < at.lines; ++j)
            for (std::size_t k = j + 1; k < at.lines; ++k)
                children(work, at, node, to, {at.entry(j, k), child++},
                         {{p(0, j), p(1, k)}, {p(1, j), p(0, k)}},
                         norm(0, j).times(norm(1, k), unit_) + norm(1, j).times(norm(0, k), unit_));
        const std::size_t g = at.polynomials - 1;
        MpfrNorm q;
        const Number *const cycle = closed(work, at, node, 0, 0, q);
        children(work, at, node, to, {g, child}, {{at.polynomial(node, g), cycle}},
                 node.norms[g].times(q, unit_));
    }

    void descend(Work &work, int s, const Node &node, Number &to, double &error) const {
        if (s == leaf_) return leaf(work, node, to, error);
        split(work, s, node);
        Level &next = work.levels[at(s) + 1];
        descend(work, s + 1, next.plus, to, error);
        descend(work, s + 1, next.minus, next.value, error);
        Field::subtract(to, next.value);
    }

    // As in jit/lanes/hafnian_sum.cpp.
    void leaf(Work &work, const Node &node, Number &to, double &error) const {
        const Level &at = work.levels.back();
        const auto p = [&](std::size_t j, std::size_t k) { return at.polynomial(node, at.entry(j, k)); };
        const auto norm = [&](std::size_t j, std::size_t k) { return node.norms[at.entry(j, k)]; };
        const std::size_t g = at.polynomials - 1;
        const auto length = static_cast<double>(at.length);
        MpfrNorm q01, q23, haf = norm(0, 2).times(norm(1, 3), unit_) + norm(0, 3).times(norm(1, 2), unit_);
        const Number *const c01 = closed(work, at, node, 0, 0, q01), *const c23 =
                                                                         closed(work, at, node, 2, 1, q23);
        haf = haf + q01.times(q23, unit_);
        Field::set(to, Gaussian{}, 0);
        const auto add = [&](std::size_t k, const Number &x) {
            Field::add_product(to, x, at.polynomial(node, g)[at.length - 1 - k], work.room);
        };
        if (has_loops_) {
            for (std::size_t j = 2; j < 4; ++j) {
                convolve(work, {{p(0, j), p(1, 4)}, {p(1, j), p(0, 4)}}, at.length,
                         [&](std::size_t k, const Number &x) { Field::set(work.scratch[j][k], x); });
                const MpfrNorm walks =
                    norm(0, j).times(norm(1, 4), unit_) + norm(1, j).times(norm(0, 4), unit_);
                haf = haf + norm(5 - j, 4).times(walks.rounded(per_product * 2 * length), unit_);
            }
            convolve(work,
                     {{c01, c23},
                      {p(0, 2), p(1, 3)},
                      {p(0, 3), p(1, 2)},
                      {p(2, 4), work.scratch[3].data()},
                      {p(3, 4), work.scratch[2].data()}},
                     at.length, add);
        } else {
            convolve(work, {{c01, c23}, {p(0, 2), p(1, 3)}, {p(0, 3), p(1, 2)}}, at.length, add);
        }
        error += node.norms[g]
                     .times(haf.rounded(per_product * 5 * length), unit_)
                     .rounded(per_product * length + pairs_ + 2)
                     .error;
    }

    int pairs_, leaf_, bits_;
    bool has_loops_;
    double unit_;
    std::vector<Number> entries_;
};

mpq_class exact_part(const MpfrNumber &x) {
    mpq_class q;
    mpfr_get_q(q.get_mpq_t(), x);
    return q;
}

// Two pairs at least: one more is an edge of 1.
template <class Field>
std::vector<typename Field::Number> entries_in_mpfr(const LineNumbers &lines, const ExactBlock &block,
                                                    int pairs, int bits) {
    const std::int32_t n = 2 * pairs + (lines.has_loops ? 1 : 0);
    std::vector<typename Field::Number> entries(at(n) * at(n - 1) / 2, Field::number(bits));
    const auto put = [&](std::int32_t i, std::int32_t j, const Gaussian &x) {
        const auto exp2 = [&](std::int32_t k) {
            return k < std::ssize(lines.scale) ? lines.scale[at(k)] : 0;
        };
        const std::int32_t to = j == i ? 2 * pairs : j;
        Field::set(entries[at(i) * at(2 * n - i - 1) / 2 + at(to - i - 1)], x,
                   static_cast<long>(exp2(i) + (j == i ? 0 : exp2(j))));
    };
    std::size_t k = 0;
    for (std::int32_t i = 0; i < block.n(); ++i)
        for (const std::int32_t j : block.pattern.row(i)) put(i, j, block.values[k++]);
    if (block.n() < 2 * lines.pairs) put(block.n(), block.n(), {1, 0});
    for (std::int32_t p = lines.pairs; p < pairs; ++p) put(2 * p, 2 * p + 1, {1, 0});
    return entries;
}

template <class Field>
WideBall compute_in_mpfr(const LineNumbers &lines, const ExactBlock &block, int bits, RunControl &control) {
    const int pairs = std::max(2, lines.pairs);
    const MpfrPairs<Field> sum(entries_in_mpfr<Field>(lines, block, pairs, bits), pairs, lines.has_loops,
                               bits);
    const int piece_bits = std::clamp(sum.sign_bits() - mpfr_piece_sign_bits, 0, most_mpfr_piece_bits);
    const std::uint64_t pieces = std::uint64_t{1} << piece_bits;
    const double work =
        std::exp2(std::max(0, pairs - 3) - piece_bits) * hafnian_operations(pairs, lines.has_loops);
    const auto run = [&](std::uint64_t k) {
        MpfrHafnian<Field> part = sum.sum(piece_bits, k);
        control.advance(work);
        return part;
    };
    std::vector<MpfrHafnian<Field>> parts = parts_of_pieces(
        control, pieces, work, MpfrHafnian<Field>{Field::number(bits), 0}, each_on_its_thread(control, run));
    for (std::uint64_t half = pieces / 2; half > 0; half /= 2)
        for (std::uint64_t k = 0; k < half; ++k) {
            Field::subtract(parts[k].sum, parts[k + half].sum);
            parts[k].error += parts[k + half].error;
        }
    const std::int64_t exp2 = lines.exp2 - std::max(0, pairs - 3);
    WideBall ball{{shifted(exact_part(Field::re(parts[0].sum)), exp2), 0},
                  make_scaled(parts[0].error * (1 + 0x1p-29), exp2 - bits)};
    if (const MpfrNumber *im = Field::im(parts[0].sum)) ball.value.im = shifted(exact_part(*im), exp2);
    if (std::isnan(ball.error.mantissa)) ball.error = make_scaled(std::numeric_limits<double>::infinity());
    return ball;
}

} // namespace

WideBall hafnian_in_mpfr(const BjorklundPlan &plan, const ExactBlock &block, int bits, RunControl &control) {
    const LineNumbers lines = numbers_of_lines(plan, block, Arithmetic::complex);
    return is_complex(lines.arithmetic) ? compute_in_mpfr<MpfrComplex>(lines, block, bits, control)
                                        : compute_in_mpfr<MpfrReal>(lines, block, bits, control);
}

} // namespace libperm
