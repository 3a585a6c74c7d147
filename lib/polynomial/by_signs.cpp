#include "jit/lanes/polynomial_sum.hpp"
#include "lib/base/aligned_doubles.hpp"
#include "lib/base/archive.hpp"
#include "lib/glynn/dense_sum.hpp"
#include "lib/glynn/grid_matrix.hpp"
#include "lib/number/ball.hpp"
#include "lib/polynomial/plain_sums.hpp"
#include "lib/polynomial/substitution.hpp"
#include "lib/run/pieces.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace libperm {
namespace {

constexpr int most_polynomial_rows = most_summed_kinds / 2;
constexpr int most_apart = 20;            // bits that a row's sums in C and L may differ by
constexpr std::uint64_t most_pieces = 64; // of as many terms at least as these
constexpr double terms_of_piece = 1 << 13;

// What a coefficient of a row and a term takes on an AMD EPYC with vectors of eight doubles.
constexpr double real_seconds = 0.25e-9, complex_seconds = 0.7e-9, times_in_dd = 10;

// C's rows, and L's below.
std::vector<int> twice(const std::vector<int> &count) {
    std::vector<int> both = count;
    both.insert(both.end(), count.begin(), count.end());
    return both;
}

// What a matrix looks like: kinds of rows and columns, each so often, in all as many of both.
struct PolynomialShape {
    std::vector<int> row_count, column_count;
    int degree = 0;
    bool is_complex = false, dd = false; // dd: computed in double-doubles
};

// The entries other than 0 of C and L, by kinds of rows and columns.
struct LinearEntry {
    int row, column;
    std::complex<double> constant, linear;
};

// The coefficients of a dense matrix's permanent whose entries are c + l x, by one sum over signs, or counts
// of repeated columns, in pieces.
class PolynomialSums {
  public:
    // The sums are made in 2^exp2 x, where C and L are about equal.
    PolynomialSums(PolynomialShape shape, std::int64_t exp2)
        : shape_(std::move(shape)),
          exp2_(exp2),
          rows_(static_cast<int>(shape_.row_count.size())),
          lines_(twice(shape_.row_count), shape_.column_count, shape_.is_complex),
          scale_(shape_.row_count.size()) {}

    static bool may_take(const PolynomialShape &shape) {
        return !shape.row_count.empty() && shape.row_count.size() <= most_polynomial_rows &&
               shape.column_count.size() <= most_summed_kinds &&
               std::ranges::all_of(shape.column_count, [](int count) { return count <= most_of_kind; });
    }

    // False where entries lie too far apart for row sums that round nothing.
    bool fix(const std::vector<LinearEntry> &entries) {
        std::vector<char> has_constant(at(rows_)), has_linear(at(rows_));
        for (const auto &[i, j, c, l] : entries) {
            lines_.set(i, j, c.real(), c.imag());
            lines_.set(rows_ + i, j, l.real(), l.imag());
            if (c != 0.0) has_constant[at(i)] = 1;
            if (l != 0.0) has_linear[at(i)] = 1;
        }
        if (!lines_.fix() || lines_.is_moved()) return false;
        for (std::size_t j = 0; j < shape_.column_count.size(); ++j)
            exp2_of_all_ += shape_.column_count[j] * lines_.column_exp2(static_cast<int>(j));
        for (int i = 0; i < rows_; ++i) {
            const std::int64_t of_linear = lines_.row_exp2(rows_ + i) - exp2_,
                               of_row = has_constant[at(i)] ? lines_.row_exp2(i) : of_linear;
            if (has_linear[at(i)] && std::abs(of_linear - of_row) > most_apart) return false;
            exp2_of_all_ += shape_.row_count[at(i)] * of_row;
            scale_[at(i)] = has_linear[at(i)] ? std::ldexp(1, static_cast<int>(of_linear - of_row)) : 0;
        }
        return true;
    }

    NumberedPieces pieces() const {
        const std::uint64_t steps = count_steps(view().columns);
        const auto wanted = static_cast<std::uint64_t>(std::ceil(terms() / terms_of_piece));
        return NumberedPieces::so_many(steps,
                                       std::clamp<std::uint64_t>(wanted, 1, std::min(steps, most_pieces)));
    }
    LineSums no_sums() const { return {shape_.degree + 1, 1, shape_.is_complex}; }
    LineSums piece(NumberRange steps) const {
        const LinearColumns columns = view();
        const AlignedDoubles space = aligned_doubles(polynomial_space(columns));
        LineSums sums = no_sums();
        add_polynomials(columns, steps.first, steps.last, space.get(), sums);
        return sums;
    }
    double terms() const { return static_cast<double>(count_steps(view().columns)) * low_lanes(); }
    double seconds() const { // on one thread
        const double rows = std::accumulate(shape_.row_count.begin(), shape_.row_count.end(), 0.0),
                     degree = shape_.degree + 1, products = degree * (rows - degree / 2) + rows;
        return terms() * products * (shape_.is_complex ? complex_seconds : real_seconds) *
               (shape_.dd ? times_in_dd : 1);
    }

    void put_coefficient(const LineSums &sums, int k, Outcome &to) const;

  private:
    LinearColumns view() const { return {lines_.view(), rows_, shape_.degree, scale_.data(), shape_.dd}; }
    double low_lanes() const { return low_kinds(view().columns).lanes; }

    const PolynomialShape shape_;
    const std::int64_t exp2_;
    const int rows_;
    GridMatrix lines_; // of C, and of L below
    std::vector<double> scale_;
    std::int64_t exp2_of_all_ = 0;
};

// A term is rounded in each row where both products are added (of two rows at once by half a rounding more),
// where a row's sums are put together, by its weight, and where it is added to those of its step. Each row's
// sums are at most 2^20 N, so that what underflows, 2^-1074 at a time, grows to less than 2^-500.
void PolynomialSums::put_coefficient(const LineSums &sums, int k, Outcome &to) const {
    const TermSum sum = sums.sum(k, 0);
    const CountedColumns columns = lines_.view();
    const int n = lines_.columns_in_all();
    const Arithmetic numbers = !shape_.dd          ? columns.arithmetic()
                               : shape_.is_complex ? Arithmetic::complex_dd
                                                   : Arithmetic::dd;
    const double of_row = product_roundings(numbers) + fused_roundings(numbers) + 0.5,
                 of_sums = columns.is_split() && !shape_.dd ? 1 : 0;
    const double steps = static_cast<double>(count_steps(columns)),
                 additions = shape_.dd ? steps * low_lanes() / 8 : polynomial_additions();
    const double gamma = gamma_bound(n * (of_row + of_sums) + product_roundings(numbers) + additions +
                                         static_cast<double>(shape_.column_count.size()),
                                     unit_of(numbers));
    const double share = (gamma / (1 - gamma) + (steps + 600) * (steps + 600) * 0x1p-104) * (1 + 0x1p-20);
    const double of_total = shape_.dd ? 0 : 0x1.05p-53 * size_of(sum);
    const double all = share * sum.mass + of_total + 0x1p-500;
    const std::int64_t exp2 = exp2_of_all_ - n + k * exp2_;
    const Scaled error = make_scaled(all * (1 + 0x1p-40), exp2);
    const auto number = [&](double x, double rest) {
        return mpq_class(exact_number(make_scaled(x, exp2)) + exact_number(make_scaled(rest, exp2)));
    };
    if (shape_.dd && (sum.im != 0 || sum.re_rest != 0))
        set_value(to, WideBall{{number(sum.re, sum.re_rest), number(sum.im, sum.im_rest)}, error});
    else if (const double im = sum.im + sum.im_rest; im != 0)
        set_value(to, WideBall{{number(sum.re + sum.re_rest, 0), number(im, 0)}, error});
    else
        set_value(to, Ball{make_scaled(sum.re + sum.re_rest, exp2), error});
}

} // namespace

// What a piece comes to.
struct PolynomialPart {
    LineSums sums;
};

template <class Archive> void fields(Archive &ar, PolynomialPart &part) {
    for (const std::span<double> table : {part.sums.all_sums(), part.sums.all_masses()})
        ar(cereal::binary_data(table.data(), table.size_bytes()));
    require_read<Archive>(std::ranges::all_of(part.sums.all_masses(), [](double mass) { return mass >= 0; }),
                          "a sum of absolute values");
}

namespace {

class BySigns final : public PlainSums {
  public:
    BySigns(const LinearEntries &entries, const Options &options, std::unique_ptr<const PolynomialSums> sums)
        : PlainSums(entries, options, engine_name(engine_for(Goal::polynomial)), sums->seconds(),
                    sums->pieces().count()),
          sums_(std::move(sums)),
          count_(static_cast<int>(entries.degree + 1)) {}

    std::vector<Outcome> coefficients(PieceStore *store) const override {
        const std::vector<PolynomialPart> found_parts = parts(store);
        if (store && store->is_of_one_shard()) return {};
        LineSums all = found_parts.front().sums;
        for (std::size_t k = 1; k < found_parts.size(); ++k) all.add(found_parts[k].sums);
        std::vector<Outcome> out;
        for (int k = 0; k < count_; ++k) {
            Outcome one;
            one.engine = engine_for(Goal::polynomial);
            one.blocks = one.blocks_computed = 1;
            one.predicted_seconds = seconds();
            one.counts.subsets = sums_->terms();
            sums_->put_coefficient(all, k, one);
            out.push_back(std::move(one));
        }
        return out;
    }

  private:
    void run_shard(const Shard &, PieceStore &store) const override { parts(&store); }

    std::vector<PolynomialPart> parts(PieceStore *store) const {
        const NumberedPieces pieces = sums_->pieces();
        const double share = store ? store->share() : 1, work = static_cast<double>(pieces.count());
        call().begin(share * work, share * seconds());
        CurrentCall own(1, PieceScope{store, {}});
        return parts_of_pieces(pieces.count(), 1, PolynomialPart{sums_->no_sums()},
                               each_on_its_thread([&](std::uint64_t k) {
                                   PolynomialPart part{sums_->piece(pieces[k])};
                                   call().advance(1);
                                   return part;
                               }));
    }

    const std::unique_ptr<const PolynomialSums> sums_;
    const int count_;
};

// A number that is a double in both parts.
std::optional<std::complex<double>> as_double(const Gaussian &x) {
    const std::complex<double> near(x.re.get_d(), x.im.get_d());
    if (!std::isfinite(near.real()) || !std::isfinite(near.imag())) return {};
    if (mpq_class(near.real()) != x.re || mpq_class(near.imag()) != x.im) return {};
    return near;
}

// Kinds of lines: how often each counts, and which of the caller's it is.
struct Kinds {
    Kinds(const LineCounts &counts, std::int32_t lines) : kind_of(at(lines), -1) {
        for (std::int32_t k = 0; k < lines; ++k) {
            if (counts[k] == 0) continue;
            kind_of[at(k)] = static_cast<int>(count.size());
            count.push_back(static_cast<int>(std::min<std::int64_t>(counts[k], most_of_kind + 1)));
        }
    }
    std::vector<int> count, kind_of; // kind_of: -1 where it is none
};

} // namespace

std::unique_ptr<Substitution> by_signs(const LinearEntries &entries, const Options &options) {
    const InputPattern &given = as_given(entries.input);
    const LineCounts row_count = entries.row_count(), column_count = entries.column_count();
    if (entries.input.pattern.one_sided || given.row_weights || given.col_weights ||
        row_count.sum() != column_count.sum() || row_count.sum() > most_polynomial_rows ||
        options.names_engine() || options.device == Device::gpu)
        return nullptr;
    const Kinds rows(row_count, given.pattern.rows), columns(column_count, given.pattern.cols);
    PolynomialShape shape{rows.count, columns.count, static_cast<int>(entries.degree), false,
                          options.precision == Precision::dd};
    std::vector<LinearEntry> numbers;
    for (std::int32_t i = 0; i < given.pattern.rows; ++i)
        for (std::int64_t k = given.pattern.row_begin(i); k < given.pattern.row_begin(i + 1); ++k) {
            const int row = rows.kind_of[at(i)], column = columns.kind_of[at(given.pattern.col[at(k)])];
            const auto c = as_double(entries.constant_at(at(k))), l = as_double(entries.linear_at(at(k)));
            if (!c || !l) return nullptr;
            if (row < 0 || column < 0) continue;
            shape.is_complex = shape.is_complex || c->imag() != 0 || l->imag() != 0;
            numbers.push_back({row, column, *c, *l});
        }
    if (!PolynomialSums::may_take(shape)) return nullptr;
    auto sums = std::make_unique<PolynomialSums>(std::move(shape), -entries.balanced_radius());
    if (!sums->fix(numbers)) return nullptr;
    return std::make_unique<BySigns>(entries, options, std::move(sums));
}

} // namespace libperm
