#include "lib/structure/integers.hpp"

#include "lib/number/residues.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

constexpr int probe_bits = 62;

const Montgomery &probe_field() {
    static const Montgomery field(probe_prime());
    return field;
}

std::uint64_t times_power_of_two(std::uint64_t x, std::int64_t exponent) {
    const Montgomery &field = probe_field();
    const auto order = static_cast<std::int64_t>(field.prime() - 1); // 2^order is 1
    const auto e = static_cast<std::uint64_t>((exponent % order + order) % order);
    return field.from(field.multiply(field.to(x), field.power(field.to(2), e)));
}

std::optional<std::uint64_t> residue_of_rational(const mpq_class &x) {
    const Montgomery &field = probe_field();
    const std::uint64_t top = mpz_fdiv_ui(x.get_num_mpz_t(), field.prime());
    if (mpz_cmp_ui(x.get_den_mpz_t(), 1) == 0) return top;
    const std::uint64_t below = mpz_fdiv_ui(x.get_den_mpz_t(), field.prime());
    if (below == 0) return {};
    return field.from(field.multiply(field.to(top), field.power(field.to(below), field.prime() - 2)));
}

using Integers = std::vector<std::int8_t>;

// x / unit, where that is a small integer; else a larger one.
constexpr int none = most_integer + 1;
int quotient(const Tracked &x, const Tracked &unit) {
    const std::int64_t exp2 = x.exp2 - unit.exp2;
    if (is_zero(x)) return 0;
    if (exp2 < -2 || exp2 > 8) return none;
    const double scaled = std::ldexp(x.value, static_cast<int>(exp2));
    const double nearest = std::nearbyint(scaled / unit.value);
    const bool is_exact = std::fma(nearest, unit.value, -scaled) == 0;
    return is_exact && std::abs(nearest) <= most_integer ? static_cast<int>(nearest) : none;
}
int quotient(const Gaussian &x, const Gaussian &unit) {
    const bool is_of_one = unit.re == 1 && unit.im == 0;
    if (is_of_one && !(is_real(x) && is_integer(x))) return none;
    const Gaussian by = is_of_one ? x : x / unit;
    if (!is_real(by) || !is_integer(by) || mpz_cmpabs_ui(by.re.get_num_mpz_t(), most_integer) > 0)
        return none;
    return static_cast<int>(by.re.get_num().get_si());
}

// A number that may be what all entries are multiples of: so far each was, or it was one of the next. Null:
// there is none.
template <class Value> const Value *common_unit(const std::vector<Value> &values) {
    const Value *unit = nullptr;
    for (const Value &x : values) {
        if (is_zero(x) || (unit && quotient(x, *unit) != none)) continue;
        if (unit && quotient(*unit, x) == none) return nullptr;
        unit = &x;
    }
    return unit;
}

// All entries as multiples of a unit; none: some are not, in more rows, and in more columns, than may be.
template <class Value>
Integers multiples(const BlockOf<Value> &block, const Value &unit, std::int32_t most_lines = 0) {
    Integers integers;
    integers.reserve(block.values.size());
    std::int32_t rows = 0, cols = 0, last = -1;
    std::array<char, most_integer_lines> is_met{};
    for (std::int32_t i = 0; i < block.n(); ++i)
        for (const std::int32_t j : block.pattern.row(i)) {
            const int q = quotient(block.values[integers.size()], unit);
            integers.push_back(q == none ? no_integer : static_cast<std::int8_t>(q));
            if (q != none) continue;
            rows += std::exchange(last, i) != i;
            cols += std::exchange(is_met[at(j)], 1) == 0;
            if (rows > most_lines && cols > most_lines) return {};
        }
    return integers;
}

bool are_alike(const Tracked &x, const Tracked &y) {
    return std::abs(x.value) == std::abs(y.value) && x.exp2 == y.exp2;
}
bool are_alike(const Gaussian &x, const Gaussian &y) { // or one is the other's conjugate
    const auto same = [](const mpq_class &p, const mpq_class &q) {
        return mpz_cmpabs(p.get_num_mpz_t(), q.get_num_mpz_t()) == 0 && p.get_den() == q.get_den();
    };
    return same(x.re, y.re) && same(x.im, y.im);
}

// Each line divided by what its entries have in common, for its factor may be any.
Integers primitive(Integers integers, const Pattern &a) {
    std::vector<int> of_col(at(a.cols));
    std::size_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        int of_row = 0;
        const std::size_t first = k;
        for (; k < at(a.row_ptr[at(i) + 1]); ++k) of_row = std::gcd(of_row, integers[k]);
        k = first;
        for (const std::int32_t j : a.row(i)) {
            if (of_row > 1) integers[k] = static_cast<std::int8_t>(integers[k] / of_row);
            of_col[at(j)] = std::gcd(of_col[at(j)], integers[k++]);
        }
    }
    for (k = 0; k < integers.size(); ++k)
        if (const int common = of_col[at(a.col[k])]; common > 1)
            integers[k] = static_cast<std::int8_t>(integers[k] / common);
    return integers;
}

// A number whose magnitude is met again and again; null: there may be none.
template <class Value> const Value *frequent(const std::vector<Value> &values) {
    constexpr std::size_t looked_at = 16;
    constexpr std::ptrdiff_t often = 4;
    std::array<const Value *, looked_at> some;
    for (std::size_t k = 0; k < looked_at; ++k) some[k] = &values[k * values.size() / looked_at];
    for (const Value *x : some)
        if (!is_zero(*x) &&
            std::ranges::count_if(some, [x](const Value *y) { return are_alike(*x, *y); }) >= often)
            return x;
    return nullptr;
}

// Multiples but for some lines.
template <class Value> Integers beside_others(const BlockOf<Value> &block) {
    constexpr std::int32_t least_lines = 12;
    if (block.n() < least_lines) return {};
    const std::int32_t most = std::min(most_lines_of_others, block.n() / 4);
    if (Integers of_one = multiples(block, number_one<Value>(), most); !of_one.empty()) return of_one;
    const Value *unit = frequent(block.values);
    return unit ? multiples(block, *unit, most) : Integers();
}

// Goes through the entries, row by row, as soon as one of their columns has its factor: first(i, k, j) where
// row i gets its own by entry k in column j, then next(i, k, j) for each entry, which is false where it does
// not agree. Whether all do, and all rows were met.
template <class Value, class First, class Next>
bool along_lines(const BlockOf<Value> &block, const First &first, const Next &next) {
    const Pattern &a = block.pattern;
    std::vector<char> row_is_met(at(a.rows)), col_is_met(at(a.cols));
    std::int32_t met = 0;
    for (bool is_first = true;; is_first = false) {
        const std::int32_t before = met;
        for (std::int32_t i = 0; i < a.rows; ++i) {
            if (row_is_met[at(i)]) continue;
            const auto row = a.row(i);
            const auto known =
                std::find_if(row.begin(), row.end(), [&](std::int32_t j) { return col_is_met[at(j)]; });
            if (known == row.end() && !(is_first && i == 0)) continue;
            row_is_met[at(i)] = 1;
            ++met;
            if (known != row.end()) first(i, a.row_begin(i) + (known - row.begin()), *known);
            std::int64_t k = a.row_begin(i);
            for (const std::int32_t j : row) {
                if (!next(i, k++, j, col_is_met[at(j)] != 0)) return false;
                col_is_met[at(j)] = 1;
            }
        }
        if (met == a.rows) return true;
        if (met == before) return false;
    }
}

const Gaussian &exact_number(const Gaussian &x) { return x; }
Gaussian exact_number(const Tracked &x) { // 0 for one whose digits would be too many
    constexpr std::int64_t far = 500;
    return std::abs(x.exp2) > far ? Gaussian() : Gaussian{shifted(mpq_class(x.value), x.exp2), 0};
}

// Where magnitudes are products of a number for each row and one for each column: the signs beside these.
template <class Value> Integers signs_of_products(const BlockOf<Value> &block) {
    PolledSteps steps;
    std::vector<Gaussian> row(at(block.n()), Gaussian{1, 0}), col(at(block.n()));
    Integers signs(block.values.size());
    const bool are = along_lines(
        block,
        [&](std::int32_t i, std::int64_t k, std::int32_t j) {
            row[at(i)] = exact_number(block.values[at(k)]) / col[at(j)];
        },
        [&](std::int32_t i, std::int64_t k, std::int32_t j, bool is_known) {
            steps.take(64);
            const Gaussian &x = exact_number(block.values[at(k)]);
            if (is_zero(x) || is_zero(row[at(i)])) return false;
            if (!is_known) col[at(j)] = x / row[at(i)];
            const Gaussian product = row[at(i)] * col[at(j)];
            const bool is_plus = product == x;
            signs[at(k)] = is_plus ? 1 : -1;
            return is_plus || product == Gaussian{-x.re, -x.im};
        });
    return are ? signs : Integers();
}

} // namespace

std::uint64_t probe_prime() {
    static const std::uint64_t prime = primes_below(probe_bits, 1, true).front();
    return prime;
}

std::uint64_t probe_residue(const Tracked &x) {
    if (x.value == 0) return 0;
    const auto digits = static_cast<std::uint64_t>(std::fabs(std::ldexp(x.value, 53)));
    const int zeros = std::countr_zero(digits);
    const std::uint64_t odd = digits >> zeros;
    const std::int64_t exponent = x.exp2 - 53 + zeros;
    const bool fits = exponent >= 0 && std::bit_width(odd) + exponent < probe_bits;
    const std::uint64_t size = fits ? odd << exponent : times_power_of_two(odd, exponent);
    return x.value < 0 && size != 0 ? probe_prime() - size : size;
}

std::optional<std::uint64_t> probe_residue(const Gaussian &x) {
    const auto re = residue_of_rational(x.re);
    if (!re || is_real(x)) return re;
    static const std::uint64_t i = square_root_of_minus_one(probe_prime());
    const auto im = residue_of_rational(x.im);
    if (!im) return {};
    const Montgomery &field = probe_field();
    return field.add(*re, field.from(field.multiply(field.to(*im), field.to(i))));
}

template <class Value>
std::vector<std::uint64_t> probe_rows(const BlockOf<Value> &block, std::span<const std::int32_t> rows) {
    const std::size_t n = at(block.n());
    std::vector<std::uint64_t> residues(rows.size() * n);
    PolledSteps steps;
    std::size_t begin = 0;
    for (const std::int32_t i : rows) {
        steps.take(16 * static_cast<std::int64_t>(n));
        std::int64_t k = block.pattern.row_begin(i);
        for (const std::int32_t j : block.pattern.row(i))
            residues[begin + at(j)] = std::optional(probe_residue(block.values[at(k++)])).value_or(0);
        begin += n;
    }
    return residues;
}

template std::vector<std::uint64_t> probe_rows(const Block &, std::span<const std::int32_t>);
template std::vector<std::uint64_t> probe_rows(const ExactBlock &, std::span<const std::int32_t>);

template <class Value> std::vector<std::int8_t> find_integers(const BlockOf<Value> &block) {
    if (block.n() < 1 || block.n() > most_integer_lines || block.values.empty()) return {};
    Integers all = multiples(block, number_one<Value>());
    if (const Value *unit = all.empty() ? common_unit(block.values) : nullptr) all = multiples(block, *unit);
    if (!all.empty()) all = primitive(std::move(all), block.pattern);
    const auto is_small = [](int b) { return std::abs(b) <= 1; };
    if (!all.empty() && std::ranges::all_of(all, is_small)) return all;
    if (Integers signs = signs_of_products(block); !signs.empty()) return signs;
    return all.empty() ? beside_others(block) : all;
}

template std::vector<std::int8_t> find_integers(const Block &block);
template std::vector<std::int8_t> find_integers(const ExactBlock &block);

} // namespace libperm
