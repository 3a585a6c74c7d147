// What the lines behind a cut make of the open columns: for each set of these that they may be left with, one
// minor of a matrix M with as many rows as there are columns left.
//
// Lines k, k + 1, ... have the determinant c det M[:, S] where S are the open columns that are left to them,
// and c is the same for all S: the columns that they alone touch are eliminated. M is kept as [I X] up to the
// order of its columns. Its basis is chosen by the largest pivots, so that the numbers of X stay small.

#include "lib/samples/planar/planar_level.hpp"

#include "lib/number/doubles.hpp"
#include "lib/number/mpfr_number.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace libperm {

// Field: the numbers and what is done with them (below).
template <class Field> class Rest {
    using Number = typename Field::Number;

  public:
    // Of no lines. The field must outlive it.
    explicit Rest(const Field &field) : field_(&field) {}

    // Row i of M is 1 in the column basis()[i] and row(i) in the others.
    const std::vector<std::int32_t> &basis() const { return basis_; }
    const std::vector<std::int32_t> &others() const { return others_; }
    const Number *row(std::size_t i) const { return rows_[i].data(); }

    // With a line before these. `entries`: of its own, with their signs. False: no pivot is left that is not
    // 0.
    bool prepend(const OrderedLine &line, const std::vector<Number> &entries) {
        for (const std::int32_t column : line.closes) {
            others_.push_back(column);
            for (std::vector<Number> &row : rows_) row.push_back(field_->zero());
        }
        if (!add_row(line, entries)) return false;
        for (const std::int32_t column : line.opens)
            if (!eliminate(column)) return false;
        return true;
    }

  private:
    static constexpr std::size_t none = ~std::size_t{0};

    static std::size_t place_in(const std::vector<std::int32_t> &columns, std::int32_t column) {
        const auto found = std::find(columns.begin(), columns.end(), column);
        return found == columns.end() ? none : static_cast<std::size_t>(found - columns.begin());
    }

    // to -= factor * row.
    void subtract(std::vector<Number> &to, const Number &factor, const std::vector<Number> &row) const {
        if (Field::is_zero(factor)) return;
        field_->subtract_multiple(to.data(), factor, row.data(), row.size());
    }

    // Without what the basis has of it, it is one more row, and has a column of its own in the basis.
    bool add_row(const OrderedLine &line, const std::vector<Number> &entries) {
        std::vector<Number> own(others_.size(), field_->zero());
        for (std::size_t k = 0; k < entries.size(); ++k)
            if (const std::size_t place = place_in(others_, line.entries[k].column); place != none)
                own[place] = entries[k];
        for (std::size_t k = 0; k < entries.size(); ++k)
            if (const std::size_t i = place_in(basis_, line.entries[k].column); i != none)
                subtract(own, entries[k], rows_[i]);
        const std::size_t pivot = largest(own);
        if (pivot == none) return false;
        for (std::size_t c = 0; c < own.size(); ++c)
            if (c != pivot) field_->divide(own[c], own[pivot]);
        basis_.push_back(others_[pivot]);
        for (std::vector<Number> &row : rows_) {
            const Number factor = row[pivot];
            row[pivot] = field_->zero();
            subtract(row, factor, own);
            take_out(row, pivot);
        }
        take_out(own, pivot);
        take_out(others_, pivot);
        rows_.push_back(std::move(own));
        return true;
    }

    // A column that no line before these touches: one row goes with it.
    bool eliminate(std::int32_t column) {
        std::size_t i = place_in(basis_, column);
        if (i == none) {
            const std::size_t c = place_in(others_, column);
            for (std::size_t k = 0; k < rows_.size(); ++k)
                if (!Field::is_zero(rows_[k][c]) && (i == none || Field::is_larger(rows_[k][c], rows_[i][c])))
                    i = k;
            if (i == none) return false;
            exchange(i, c);
        }
        take_out(basis_, i);
        take_out(rows_, i);
        return true;
    }

    // The columns basis()[i] and others()[c] change their places.
    void exchange(std::size_t i, std::size_t c) {
        std::vector<Number> &pivot_row = rows_[i];
        const Number pivot = std::exchange(pivot_row[c], field_->one());
        for (Number &x : pivot_row) field_->divide(x, pivot);
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            if (k == i) continue;
            const Number factor = std::exchange(rows_[k][c], field_->zero());
            subtract(rows_[k], factor, pivot_row);
        }
        std::swap(basis_[i], others_[c]);
    }

    std::size_t largest(const std::vector<Number> &row) const {
        std::size_t best = none;
        for (std::size_t c = 0; c < row.size(); ++c)
            if (!Field::is_zero(row[c]) && (best == none || Field::is_larger(row[c], row[best]))) best = c;
        return best;
    }

    template <class T> static void take_out(std::vector<T> &list, std::size_t place) {
        if (place + 1 != list.size()) std::swap(list[place], list.back());
        list.pop_back();
    }

    const Field *field_;
    std::vector<std::int32_t> basis_, others_;
    std::vector<std::vector<Number>> rows_; // X
};

namespace {

// The numbers that planar blocks are sampled in: doubles, two of them for a number, or as many bits as it
// takes. What is computed in them is proven by its result (lib/samples/planar/planar_shots.hpp), so that no
// errors are followed.

class DoubleField {
  public:
    using Number = double;

    static double number(double mantissa, std::int64_t exp2) {
        constexpr std::int64_t far = 3000; // beyond, it is 0 or infinite
        return std::ldexp(mantissa, static_cast<int>(std::clamp(exp2, -far, far)));
    }
    static double zero() { return 0; }
    static double one() { return 1; }
    static bool is_zero(double x) { return x == 0; }
    static bool is_larger(double x, double y) { return std::fabs(x) > std::fabs(y); }
    static void multiply(double &to, double x) { to *= x; }
    static void divide(double &to, double x) { to /= x; }
    static void subtract_multiple(double *to, double factor, const double *x, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) to[k] -= factor * x[k];
    }

    // |x| 2^-unit, of a number whose exponent is not above it.
    static std::int64_t exponent(double) { return 0; }
    static TwoDoubles::Number size(double x, std::int64_t) { return {std::fabs(x), 0}; }
};

class TwoDoublesField {
  public:
    using Number = TwoDoubles::Number;

    static Number number(double mantissa, std::int64_t exp2) {
        return {DoubleField::number(mantissa, exp2), 0};
    }
    static Number zero() { return {0, 0}; }
    static Number one() { return {1, 0}; }
    static bool is_zero(Number x) { return x.hi == 0; }
    static bool is_larger(Number x, Number y) { return std::fabs(x.hi) > std::fabs(y.hi); }
    static void multiply(Number &to, Number x) { to = TwoDoubles::multiply(to, x); }
    static void divide(Number &to, Number x) {
        const double high = to.hi / x.hi;
        const Number rest = TwoDoubles::subtract(to, TwoDoubles::multiply(x, {high, 0}));
        to = number::fast_two_sum(high, rest.hi / x.hi);
    }
    static void subtract_multiple(Number *to, Number factor, const Number *x, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k)
            to[k] = TwoDoubles::subtract(to[k], TwoDoubles::multiply(factor, x[k]));
    }

    static std::int64_t exponent(Number) { return 0; }
    static Number size(Number x, std::int64_t) { return x.hi < 0 ? TwoDoubles::negate(x) : x; }
};

class MpfrField {
  public:
    using Number = MpfrNumber;

    explicit MpfrField(mpfr_prec_t bits) : bits_(bits) {}

    MpfrNumber number(double mantissa, std::int64_t exp2) const {
        MpfrNumber x(bits_);
        mpfr_set_d(x, mantissa, MPFR_RNDN);
        mpfr_mul_2si(x, x, exp2, MPFR_RNDN);
        return x;
    }
    MpfrNumber zero() const { return MpfrNumber(bits_); }
    MpfrNumber one() const { return number(1, 0); }
    static bool is_zero(const MpfrNumber &x) { return mpfr_zero_p(x) != 0; }
    static bool is_larger(const MpfrNumber &x, const MpfrNumber &y) { return mpfr_cmpabs(x, y) > 0; }
    static void multiply(MpfrNumber &to, const MpfrNumber &x) { mpfr_mul(to, to, x, MPFR_RNDN); }
    static void divide(MpfrNumber &to, const MpfrNumber &x) { mpfr_div(to, to, x, MPFR_RNDN); }
    static void subtract_multiple(MpfrNumber *to, const MpfrNumber &factor, const MpfrNumber *x,
                                  std::size_t count) {
        MpfrNumber negated(factor);
        mpfr_neg(negated, negated, MPFR_RNDN);
        for (std::size_t k = 0; k < count; ++k)
            if (!is_zero(x[k])) mpfr_fma(to[k], negated, x[k], to[k], MPFR_RNDN);
    }

    static std::int64_t exponent(const MpfrNumber &x) {
        return mpfr_regular_p(x) != 0 ? mpfr_get_exp(x) : mpfr_get_emin();
    }
    TwoDoubles::Number size(const MpfrNumber &x, std::int64_t unit) const {
        MpfrNumber rest(bits_);
        mpfr_abs(rest, x, MPFR_RNDN);
        mpfr_mul_2si(rest, rest, -unit, MPFR_RNDN);
        const double hi = mpfr_get_d(rest, MPFR_RNDN);
        mpfr_sub_d(rest, rest, hi, MPFR_RNDN);
        return {hi, mpfr_get_d(rest, MPFR_RNDN)};
    }

  private:
    mpfr_prec_t bits_;
};

// The vector that a matrix with one column more than rows takes to 0.
// y: transposed, q + 1 rows of q numbers, and spoiled. By y = P^T L U with pivots chosen by rows, so that no
// number of L is above 1: v y = 0 is (P v) L = 0, and U is not needed. `order` and `v`: room. False: there is
// more than one.
template <class Field>
bool null_vector(const Field &field, std::size_t q, std::vector<typename Field::Number> &y,
                 std::vector<std::size_t> &order, std::vector<typename Field::Number> &v) {
    using Number = typename Field::Number;
    order.resize(q + 1);
    for (std::size_t r = 0; r <= q; ++r) order[r] = r;
    const auto row = [&](std::size_t r) { return y.data() + order[r] * q; };
    for (std::size_t t = 0; t < q; ++t) {
        std::size_t best = t;
        for (std::size_t r = t + 1; r <= q; ++r)
            if (Field::is_larger(row(r)[t], row(best)[t])) best = r;
        std::swap(order[t], order[best]);
        const Number *const pivot = row(t);
        if (Field::is_zero(pivot[t])) return false;
        for (std::size_t r = t + 1; r <= q; ++r) {
            Number *const other = row(r);
            if (Field::is_zero(other[t])) continue;
            field.divide(other[t], pivot[t]);
            field.subtract_multiple(other + t + 1, other[t], pivot + t + 1, q - t - 1);
        }
    }
    v.assign(q + 1, field.zero());
    v[order[q]] = field.one();
    for (std::size_t t = q; t-- > 0;)
        for (std::size_t r = t + 1; r <= q; ++r)
            field.subtract_multiple(&v[order[t]], row(r)[t], &v[order[r]], 1);
    return true;
}

// Which column the next line of a shot takes.
//
// The lines behind it have the determinant c det M[:, S] for the open columns S that are left to them
// (Rest). With the line itself these are one more than M has rows, S' say, and
// if it takes column j then det M[:, S' - j] is, but for its sign, v_j where M[:, S'] v = 0. So j has the
// share |a_j v_j| of all that the line can take. M being [I X], v follows from those of its columns that are
// beside the basis and left, and those in the basis that are used.
template <class Field> class Chooser {
    using Number = typename Field::Number;

  public:
    Chooser(const Field &field, std::int32_t n) : field_(field), place_(at(n), 0) {}

    // `entries`: of the line, with their signs; `rest`: of the lines behind it.
    void choose(const OrderedLine &line, const std::vector<Number> &entries, const Rest<Field> &rest,
                PlanarShot &shot) {
        free_.clear();
        for (std::size_t k = 0; k < line.entries.size(); ++k)
            if (!shot.is_used[at(line.entries[k].column)]) free_.push_back(k);
        for (const std::int32_t column : line.closes) { // nobody else will take it
            if (shot.is_used[at(column)]) continue;
            std::erase_if(free_, [&](std::size_t k) { return line.entries[k].column != column; });
        }
        if (free_.size() > 1 && !weigh(entries, line, rest, shot)) free_.clear();
        shot.is_lost = free_.empty();
        if (shot.is_lost) return;
        const OrderedLine::Entry &taken = line.entries[free_.size() > 1 ? drawn(shot) : free_.front()];
        shot.is_used[at(taken.column)] = 1;
        shot.entries.push_back(taken.entry);
    }

  private:
    // sizes_: of what is free. False: it is not known.
    bool weigh(const std::vector<Number> &entries, const OrderedLine &line, const Rest<Field> &rest,
               const PlanarShot &shot) {
        const auto &basis = rest.basis(), &others = rest.others();
        used_.clear(), left_.clear();
        for (std::size_t i = 0; i < basis.size(); ++i) {
            place_[at(basis[i])] = i;
            if (shot.is_used[at(basis[i])]) used_.push_back(i);
        }
        for (std::size_t c = 0; c < others.size(); ++c) {
            if (shot.is_used[at(others[c])]) continue;
            place_[at(others[c])] = basis.size() + left_.size();
            left_.push_back(c);
        }
        const std::size_t q = used_.size();
        if (left_.size() != q + 1) return false;
        y_.assign(q * (q + 1), field_.zero());
        for (std::size_t i = 0; i < q; ++i)
            for (std::size_t c = 0; c <= q; ++c) y_[c * q + i] = rest.row(used_[i])[left_[c]];
        if (!null_vector(field_, q, y_, order_, v_)) return false;
        values_.clear();
        std::int64_t unit = Field::exponent(field_.zero());
        for (const std::size_t k : free_) {
            Number value = value_at(place_[at(line.entries[k].column)], rest);
            field_.multiply(value, entries[k]);
            unit = std::max(unit, Field::exponent(value));
            values_.push_back(std::move(value));
        }
        sizes_.clear();
        for (const Number &value : values_) sizes_.push_back(field_.size(value, unit));
        return true;
    }

    // Of the vector.
    Number value_at(std::size_t place, const Rest<Field> &rest) const {
        const std::size_t rows = rest.basis().size();
        if (place >= rows) return v_[place - rows];
        Number value = field_.zero();
        for (std::size_t c = 0; c < left_.size(); ++c)
            field_.subtract_multiple(&value, v_[c], &rest.row(place)[left_[c]], 1);
        return value;
    }

    // The first whose sizes come to more than a random number of 106 bits, times all of them.
    std::size_t drawn(PlanarShot &shot) {
        TwoDoubles::Number sum{0, 0};
        for (const TwoDoubles::Number &size : sizes_) sum = TwoDoubles::add(sum, size);
        const double high = shot.random.uniform();
        TwoDoubles::Number above = TwoDoubles::multiply({high, shot.random.uniform() * 0x1p-53}, sum);
        std::size_t k = 0;
        for (; k + 1 < sizes_.size(); ++k) {
            above = TwoDoubles::subtract(above, sizes_[k]);
            if (above.hi < 0) break;
        }
        shot.drawn.multiply(sizes_[k]);
        shot.of.multiply(sum);
        return free_[k];
    }

    const Field &field_;
    std::vector<std::size_t> place_;       // by column: in the basis, or behind it in left_
    std::vector<std::size_t> used_, left_; // rows whose column is used; other columns that are not
    std::vector<std::size_t> free_;        // entries of the line
    std::vector<Number> y_, v_, values_;
    std::vector<std::size_t> order_;
    std::vector<TwoDoubles::Number> sizes_;
};

// What lies behind is made from the last line on, and wanted from the first on: it is kept at the ends of
// segments, and made again inside of one.
std::int32_t segment_length(const NarrowOrder &order) {
    return static_cast<std::int32_t>(std::ceil(std::sqrt(static_cast<double>(order.lines.size()))));
}

template <class Field> class LevelOf final : public PlanarLevel {
    using Number = typename Field::Number;
    using Rests = std::vector<Rest<Field>>;

  public:
    LevelOf(const PlanarLines &lines, const Field &field, int bits)
        : lines_(lines), field_(field), bits_(bits), length_(segment_length(lines.order)) {
        const std::int32_t n = lines_.n();
        Rest<Field> rest(field_);
        for (std::int32_t k = n; k-- > 0 && is_known_;) { // behind line k
            if (k % length_ == length_ - 1 || k == n - 1) ends_.push_back(rest);
            is_known_ = rest.prepend(lines_.order.lines[at(k)], entries_of(k));
            if (k % 16 == 0) poll();
        }
        std::reverse(ends_.begin(), ends_.end());
    }

    void draw(std::span<PlanarShot> shots) const override {
        const Charge charge(&call().memory(), planar_level_bytes(lines_.order, bits_));
        for (PlanarShot &shot : shots) shot.is_lost = !is_known_;
        if (!is_known_) return;
        Chooser<Field> chooser(field_, lines_.n());
        for (std::size_t s = 0; s < ends_.size(); ++s) {
            const Rests rests = segment(s);
            for (std::size_t k = 0; k < rests.size(); ++k) {
                const std::int32_t line =
                    static_cast<std::int32_t>(s) * length_ + static_cast<std::int32_t>(k);
                const std::vector<Number> entries = entries_of(line);
                with_fma([&] {
                    for (PlanarShot &shot : shots)
                        if (!shot.is_lost)
                            chooser.choose(lines_.order.lines[at(line)], entries, rests[k], shot);
                });
                poll();
            }
        }
    }

  private:
    std::vector<Number> entries_of(std::int32_t line) const {
        std::vector<Number> out;
        for (const OrderedLine::Entry &e : lines_.order.lines[at(line)].entries) {
            const Tracked &x = lines_.entries[at(e.entry)];
            out.push_back(field_.number(x.value, x.exp2));
        }
        return out;
    }

    // What lies behind each of its lines.
    Rests segment(std::size_t s) const {
        const std::int32_t first = static_cast<std::int32_t>(s) * length_,
                           last = std::min(first + length_, lines_.n()) - 1;
        Rests rests(at(last - first + 1), Rest<Field>(field_));
        rests.back() = ends_[s];
        for (std::int32_t k = last; k > first; --k) {
            Rest<Field> &before = rests[at(k - 1 - first)];
            before = rests[at(k - first)];
            before.prepend(lines_.order.lines[at(k)], entries_of(k));
            poll();
        }
        return rests;
    }

    const PlanarLines lines_;
    const Field field_;
    const int bits_;
    const std::int32_t length_;
    bool is_known_ = true;
    Rests ends_; // behind the last line of each segment
};

} // namespace

std::unique_ptr<const PlanarLevel> planar_level(const PlanarLines &lines, int bits) {
    if (bits == in_doubles) return std::make_unique<LevelOf<DoubleField>>(lines, DoubleField(), bits);
    if (bits == in_two_doubles)
        return std::make_unique<LevelOf<TwoDoublesField>>(lines, TwoDoublesField(), bits);
    return std::make_unique<LevelOf<MpfrField>>(lines, MpfrField(bits), bits);
}

std::int64_t planar_level_bytes(const NarrowOrder &order, int bits) {
    constexpr double of_line = 160;     // lists
    double of_number = 48 + bits / 8.0; // MPFR's
    if (bits == in_doubles) of_number = sizeof(double);
    if (bits == in_two_doubles) of_number = sizeof(TwoDoubles::Number);
    const double rests = segment_length(order); // of a segment, and at the ends of all
    return static_cast<std::int64_t>(rests * (2 * of_number * order.most_numbers() + of_line));
}

} // namespace libperm
