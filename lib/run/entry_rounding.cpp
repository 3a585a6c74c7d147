#include "lib/run/entry_rounding.hpp"

#include "lib/base/error.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/scaled.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/permanent_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace libperm {
namespace {

constexpr double half_unit = 0x1p-53, roundings = 1 + 0x1p-30;
constexpr double negligible = 0x1p-20;  // below it a looser bound does
constexpr double most_soules = 1 << 12; // lines, counted
constexpr double most_copies = 100;     // lines, counted, which repeat: more are not written out

// The doubles lie side by side.
struct Signs {
    bool rounded = false, negative = false, imaginary = false;
};
Signs signs_of(const double *values, std::int64_t count, bool is_complex) {
    std::uint64_t re = 0, im = 0;
    const std::int64_t step = is_complex ? 2 : 1;
    for (std::int64_t k = 0; k < count; ++k) re |= std::bit_cast<std::uint64_t>(values[k * step]);
    for (std::int64_t k = 0; is_complex && k < count; ++k)
        im |= std::bit_cast<std::uint64_t>(values[k * step + 1]);
    constexpr std::uint64_t low = (std::uint64_t{1} << 27) - 1, sign = std::uint64_t{1} << 63;
    return {((re | im) & low) != 0, (re & sign) != 0, (im & ~sign) != 0};
}

Signs operator|(Signs x, Signs y) {
    return {x.rounded || y.rounded, x.negative || y.negative, x.imaginary || y.imaginary};
}

// As this version knows it: of a call of microseconds not copied where it is whole.
perm_csr known(const perm_csr &a) {
    return a.struct_size == sizeof(perm_csr)
               ? a
               : read_known(a, offsetof(perm_csr, row_multiplicity), "perm_csr");
}

// Of entries and weights; of numbers that are no doubles none is rounded.
Signs signs_of(const perm_csr &a) {
    const bool is_complex = a.value_type == PERM_VALUE_C128;
    if (a.value_type != PERM_VALUE_F64 && !is_complex) return {};
    Signs signs;
    const auto add = [&](const void *values, std::int64_t count) {
        if (values) signs = signs | signs_of(static_cast<const double *>(values), count, is_complex);
    };
    add(a.values, a.nnz);
    add(a.row_unmatched, a.n_rows);
    add(a.col_unmatched, a.n_cols);
    return signs;
}

bool is_moderate(double x) { return x > 0x1p-400 && x < 0x1p400; }

// The product of the row sums of |re| + |im|, of a call of microseconds: nothing is kept, the mantissa is not
// brought to [1/2, 1).
template <class Index> Scaled product_of_rows(const perm_csr &a) {
    const auto *row_ptr = static_cast<const Index *>(a.row_ptr);
    const auto *values = static_cast<const double *>(a.values);
    const std::int64_t parts = a.value_type == PERM_VALUE_C128 ? 2 : 1;
    double product = 1;
    std::int64_t exp2 = 0;
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        double sum = 0;
        for (std::int64_t k = parts * row_ptr[i]; k < parts * row_ptr[i + 1]; ++k)
            sum += std::fabs(values[k]);
        if (!is_moderate(sum)) {
            const Scaled part = make_scaled(sum);
            sum = part.mantissa;
            exp2 += part.exp2;
        }
        product *= sum;
        if (is_moderate(product)) continue;
        const Scaled part = make_scaled(product, exp2);
        product = part.mantissa;
        exp2 = part.exp2;
    }
    return {product, exp2};
}

// Absolute entries, by the side of which each line is matched.
class Magnitudes {
  public:
    // is_graph: rows and columns are the same lines, none of which is matched to itself.
    Magnitudes(const perm_csr &a, bool transposed, bool is_graph = false)
        : transposed_(transposed),
          is_graph_(is_graph),
          times_(transposed ? a.col_multiplicity : a.row_multiplicity),
          other_times_(transposed || is_graph ? a.row_multiplicity : a.col_multiplicity),
          lines_(at(transposed ? a.n_cols : a.n_rows)) {
        a.index_type == PERM_INDEX_I64 ? read<std::int64_t>(a) : read<std::int32_t>(a);
    }

    // Product of the lines' sums.
    Scaled of_sums() {
        return product([](const Line &line) {
            double sum = line.unmatched;
            for (const Entry &x : line.entries) sum += x.size * static_cast<double>(x.times);
            return sum;
        });
    }

    // Soules, Linear Multilinear Algebra 51 (2003): with each line's entries falling, they count k!^(1/k) -
    // (k-1)!^(1/(k-1)) times. n lines of equal entries give n!. Of as many lines both ways, all matched.
    Scaled of_soules() {
        for (Line &line : lines_)
            std::sort(line.entries.begin(), line.entries.end(),
                      [](const Entry &x, const Entry &y) { return x.size > y.size; });
        return product([this](const Line &line) {
            double sum = 0;
            std::size_t k = 0;
            for (const Entry &x : line.entries)
                for (std::int64_t copy = 0; copy < x.times; ++copy) sum += x.size * share(k++);
            return sum;
        });
    }

  private:
    struct Entry {
        double size;
        std::int64_t times;
    };
    struct Line {
        std::vector<Entry> entries;
        double unmatched = 0;
    };

    template <class Index> void read(const perm_csr &a) {
        const bool is_complex = a.value_type == PERM_VALUE_C128;
        const auto *row_ptr = static_cast<const Index *>(a.row_ptr);
        const auto *col = static_cast<const Index *>(a.col_idx);
        const auto size = [&](const void *values, std::int64_t k) {
            const auto *const x = static_cast<const double *>(values);
            return is_complex ? std::hypot(x[2 * k], x[2 * k + 1]) : std::fabs(x[k]);
        };
        for (std::int64_t i = 0; i < a.n_rows; ++i)
            for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
                const std::int64_t line = transposed_ ? col[k] : i, other = transposed_ ? i : col[k];
                const std::int64_t times = other_times_ ? other_times_[other] : 1;
                lines_[at(line)].entries.push_back(
                    {size(a.values, k), times - (is_graph_ && line == other ? 1 : 0)});
            }
        const void *const own = transposed_ ? a.col_unmatched : a.row_unmatched;
        const void *const others = transposed_ ? a.row_unmatched : a.col_unmatched;
        for (std::size_t i = 0; own && i < lines_.size(); ++i)
            lines_[i].unmatched = size(own, static_cast<std::int64_t>(i));
        const std::int64_t count = transposed_ ? a.n_rows : a.n_cols;
        for (std::int64_t j = 0; others && j < count; ++j)
            raise(others_, std::max(1.0, size(others, j)), other_times_ ? other_times_[j] : 1);
    }

    static void raise(Scaled &product, double x, std::int64_t times) {
        if (times == 0) return;
        const Scaled one = make_scaled(x);
        const double log = static_cast<double>(times) * std::log2(x);
        const double whole = std::floor(log);
        product = times == 1 ? make_scaled(product.mantissa * one.mantissa, product.exp2 + one.exp2)
                             : make_scaled(product.mantissa * std::exp2(log - whole) * roundings,
                                           product.exp2 + static_cast<std::int64_t>(whole));
    }

    template <class Sum> Scaled product(const Sum &sum) const {
        Scaled all = others_;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const std::int64_t times = times_ ? times_[i] : 1;
            const double x = times == 0 ? 1 : sum(lines_[i]);
            if (x == 0) return {};
            raise(all, x, times);
        }
        return all;
    }

    // This is the k-th largest.
    double share(std::size_t k) {
        while (shares_.size() <= k) {
            const auto next = static_cast<double>(shares_.size() + 1);
            log_factorial_ += std::log(next);
            const double power = std::exp(log_factorial_ / next) * roundings;
            shares_.push_back(power - last_power_ / roundings);
            last_power_ = power;
        }
        return shares_[k];
    }

    const bool transposed_, is_graph_;
    const std::int64_t *const times_, *const other_times_;
    std::vector<Line> lines_;
    Scaled others_ = make_scaled(1);
    std::vector<double> shares_;
    double log_factorial_ = 0, last_power_ = 0;
};

Scaled root_of(const Scaled &x) {
    const bool is_odd = x.exp2 % 2 != 0;
    return make_scaled(std::sqrt(is_odd ? 2 * x.mantissa : x.mantissa), (x.exp2 - (is_odd ? 1 : 0)) / 2);
}

// At least haf(|A|), the root of
//   prod_i (sum over j != i of |a_ij| + |l_i|^2), copies of a line counted as lines:
// two matchings make even cycles, and paths from loop to loop. Both ways round a cycle, and both ways along a
// path, are products of this, in which each line chooses the next, the last one of a path its own loop twice:
// their sum is no less than what the two matchings come to.
template <class Index> Scaled root_of_lines(const perm_csr &a, bool has_loops) {
    constexpr Scaled no_bound{0.5, std::int64_t{1} << 40};
    const auto *row_ptr = static_cast<const Index *>(a.row_ptr);
    const auto *col = static_cast<const Index *>(a.col_idx);
    const bool is_complex = a.value_type == PERM_VALUE_C128;
    const auto size = [&](const void *values, std::int64_t k) {
        const auto *const x = static_cast<const double *>(values);
        return is_complex ? std::fabs(x[2 * k]) + std::fabs(x[2 * k + 1]) : std::fabs(x[k]);
    };
    const auto copies = [&](std::int64_t i) { return a.row_multiplicity ? a.row_multiplicity[i] : 1; };
    Scaled all{0.5, 1};
    for (std::int64_t i = 0; i < a.n_rows; ++i) {
        double sum = 0, loop = a.row_unmatched ? size(a.row_unmatched, i) : 0;
        for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
            const double x = size(a.values, k);
            sum += x * static_cast<double>(copies(col[k]) - (col[k] == i ? 1 : 0));
            if (col[k] == i && has_loops && !a.row_unmatched) loop = x;
        }
        if (copies(i) == 0) continue;
        if ((sum != 0 && !is_moderate(sum)) || (loop != 0 && !is_moderate(loop))) return no_bound;
        const Scaled line = make_scaled(sum + loop * loop);
        for (std::int64_t copy = 0; copy < copies(i); ++copy)
            all = make_scaled(all.mantissa * line.mantissa, all.exp2 + line.exp2);
    }
    return root_of(all);
}

// Whatever its entries are that are not 0.
bool is_zero_by_pattern(const perm_csr &a) {
    InputPattern input = read_pattern(&a);
    Values values = read_values(input, GivenValues(input, a).data());
    simplify(input, values);
    return maximum_matching(input.pattern).size < input.pattern.rows;
}

double counted(const std::int64_t *times, std::int64_t lines) {
    double sum = times ? 0 : static_cast<double>(lines);
    for (std::int64_t i = 0; times && i < lines; ++i) sum += static_cast<double>(times[i]);
    return sum;
}

double mantissa_of(const perm_result &result) {
    return result.mantissa_im == 0 ? std::fabs(result.mantissa_re)
                                   : std::hypot(result.mantissa_re, result.mantissa_im);
}

// Of the result, so many factors that are rounded in each term, all of which come to the bound.
double share_of(const perm_result &result, double factors, const Scaled &bound) {
    const double value = mantissa_of(result);
    if (bound.mantissa == 0) return 0;
    if (value == 0) return std::numeric_limits<double>::infinity();
    const double ratio = factors * roundings * bound.mantissa / value;
    const std::int64_t exp2 = bound.exp2 - result.exp2;
    return std::abs(exp2) < 1 << 10 ? std::ldexp(ratio, static_cast<int>(exp2))
                                    : to_double_up(make_scaled(ratio, exp2));
}

} // namespace

double entry_rounding(const perm_csr &given, const perm_result &result) {
    const perm_csr a = known(given);
    const bool may_stay = a.row_unmatched || a.col_unmatched;
    const Signs signs = signs_of(a);
    if (!signs.rounded) return 0;
    const double rows = counted(a.row_multiplicity, a.n_rows),
                 columns = counted(a.col_multiplicity, a.n_cols);
    const double factors = (may_stay ? rows + columns : std::min(rows, columns)) * half_unit;
    const double value = mantissa_of(result);
    if (!signs.negative && !signs.imaginary) return value == 0 ? 0 : factors;
    if (value == 0 && is_zero_by_pattern(a)) return 0;
    const auto relative = [&](const Scaled &bound) { return share_of(result, factors, bound); };
    double least = std::numeric_limits<double>::infinity();
    if (!may_stay && !a.row_multiplicity && !a.col_multiplicity && rows <= columns) {
        least = relative(a.index_type == PERM_INDEX_I64 ? product_of_rows<std::int64_t>(a)
                                                        : product_of_rows<std::int32_t>(a));
        if (least < negligible) return least;
    }
    for (const bool transposed : {false, true}) {
        // Each line of that side is matched, or pays for staying unmatched.
        if (transposed ? columns > rows && !a.col_unmatched : rows > columns && !a.row_unmatched) continue;
        Magnitudes magnitudes(a, transposed);
        least = std::min(least, relative(magnitudes.of_sums()));
        if (least < negligible) return least;
        if (may_stay || rows != columns || columns > most_soules) continue;
        least = std::min(least, relative(magnitudes.of_soules()));
        if (least < negligible) return least;
    }
    return least;
}

double graph_entry_rounding(const perm_csr &given, MatrixFunction function, const perm_result &result) {
    const perm_csr a = known(given);
    const Signs signs = signs_of(a);
    if (!signs.rounded) return 0;
    const double lines = counted(a.row_multiplicity, a.n_rows), factors = lines * half_unit;
    if (!signs.negative && !signs.imaginary) return mantissa_of(result) == 0 ? 0 : factors;
    double least = std::numeric_limits<double>::infinity();
    if (lines <= most_soules) {
        const bool has_loops = function == MatrixFunction::loop_hafnian;
        least = share_of(result, factors,
                         a.index_type == PERM_INDEX_I64 ? root_of_lines<std::int64_t>(a, has_loops)
                                                        : root_of_lines<std::int32_t>(a, has_loops));
        if (least < negligible) return least;
        // Two matchings without loops are a permutation's cycles, at most as often as they have directions.
        if (!has_loops && !a.row_unmatched)
            least =
                std::min(least, share_of(result, factors, root_of(Magnitudes(a, false, true).of_soules())));
        if (least < negligible || (a.row_multiplicity && lines > most_copies)) return least;
    }
    InputPattern input = read_pattern(&a, function);
    Values values = read_values(input, GivenValues(input, a).data());
    simplify(input, values);
    if (!has_perfect_matching(input.pattern)) return 0;
    Block magnitudes{input.pattern, {}};
    for (const double x : values.real) magnitudes.values.push_back(tracked(std::fabs(x)));
    for (const Gaussian &x : values.wide)
        magnitudes.values.push_back(tracked(std::hypot(x.re.get_d(), x.im.get_d()) * (1 + 0x1p-50)));
    const PermanentBound bound = permanent_bound(magnitudes);
    return std::min(least, share_of(result, factors, {bound.mantissa, bound.exp2}));
}

} // namespace libperm
