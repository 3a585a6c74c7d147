#include "lib/glynn/multiplicities/integer_multiplicities.hpp"

#include "preprocess/gaussian.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libperm {
namespace {

constexpr std::int64_t most_lines = 1 << 28; // with what they count

bool read_side(const std::int64_t *given, std::int64_t lines, std::vector<EqualLines> &out,
               std::int64_t &total) {
    for (std::int64_t i = 0; i < lines; ++i) {
        const std::int64_t count = given ? given[i] : 1;
        if (count < 0 || count > most_lines) return false;
        if (count > 0) out.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(count)});
        total += count;
    }
    return total <= most_lines;
}

// An entry of a row that counts, in the place of its column.
struct KindEntry {
    std::int32_t column;
    Gaussian value;
};

std::vector<KindEntry> entries_of(const InputPattern &input, const Values &values, std::int32_t row,
                                  const std::vector<std::int32_t> &place) {
    std::vector<KindEntry> entries;
    std::int64_t k = input.pattern.row_begin(row);
    for (const std::int32_t j : input.pattern.row(row)) {
        Gaussian x = values.wide.empty() ? Gaussian{mpq_class(values.real[at(k)]), 0} : values.wide[at(k)];
        ++k;
        if (place[at(j)] >= 0 && !is_zero(x)) entries.push_back({place[at(j)], std::move(x)});
    }
    return entries;
}

void add_row(IntegerMultiplicities &out, const std::vector<KindEntry> &entries, const Sides &kinds,
             std::int32_t count) {
    mpz_class multiple = 1, divisor = 0, most = 0; // of denominators, of numerators; of a row sum
    for (const KindEntry &e : entries)
        for (const mpq_class *x : {&e.value.re, &e.value.im}) {
            multiple = lcm(multiple, x->get_den());
            divisor = gcd(divisor, x->get_num());
        }
    if (divisor == 0) divisor = 1;
    for (const KindEntry &e : entries) {
        const auto integer = [&](const mpq_class &x) {
            return mpz_class(x.get_num() / divisor * (multiple / x.get_den()));
        };
        out.pattern.col.push_back(e.column);
        out.re.push_back(integer(e.value.re));
        out.im.push_back(integer(e.value.im));
        most += (abs(out.re.back()) + abs(out.im.back())) * kinds.columns[at(e.column)].count;
        out.nnz += std::int64_t{count} * kinds.columns[at(e.column)].count;
    }
    out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
    out.plan.row_kinds.push_back({static_cast<std::int32_t>(out.plan.row_kinds.size()), count});
    out.factors.push_back({mpq_class(divisor, multiple), count});
    out.bits += static_cast<double>(mpz_sizeinbase(most.get_mpz_t(), 2)) * count;
}

mpq_class power(const mpq_class &x, std::int32_t exponent) {
    mpq_class result; // in lowest terms, as x is
    mpz_pow_ui(result.get_num_mpz_t(), x.get_num_mpz_t(), static_cast<unsigned long>(exponent));
    mpz_pow_ui(result.get_den_mpz_t(), x.get_den_mpz_t(), static_cast<unsigned long>(exponent));
    return result;
}

// The kind of columns that is left out of the sum is one of the fewest: m + 1 counts become m.
void plan_columns(const std::vector<EqualLines> &columns, RyserPlan &plan) {
    plan.column_kinds = columns;
    const auto left_out =
        std::min_element(plan.column_kinds.begin(), plan.column_kinds.end(),
                         [](const EqualLines &x, const EqualLines &y) { return x.count < y.count; });
    plan.last_column = left_out->line;
    if (--left_out->count == 0) plan.column_kinds.erase(left_out);
    for (const EqualLines &c : plan.column_kinds) plan.terms *= c.count + 1.0;
}

} // namespace

std::optional<Sides> read_sides(const perm_csr &a, const Pattern &pattern) {
    Sides kinds;
    std::int64_t rows = 0;
    if (!read_side(a.row_multiplicity, a.n_rows, kinds.rows, rows) ||
        !read_side(a.col_multiplicity, a.n_cols, kinds.columns, kinds.n) || rows > kinds.n || kinds.n == 0)
        return {};
    kinds.ones = kinds.n - rows;
    std::vector<double> row_count(at(a.n_rows), 0), column_count(at(a.n_cols), 0);
    for (const EqualLines &r : kinds.rows) row_count[at(r.line)] = r.count;
    for (const EqualLines &c : kinds.columns) column_count[at(c.line)] = c.count;
    kinds.written = static_cast<double>(kinds.ones) * static_cast<double>(kinds.n);
    for (std::int32_t i = 0; i < pattern.rows; ++i)
        for (const std::int32_t j : pattern.row(i)) kinds.written += row_count[at(i)] * column_count[at(j)];
    return kinds;
}

IntegerMultiplicities integer_multiplicities_of(const Sides &kinds, const InputPattern &input,
                                                const Values &values, const Poll &poll) {
    IntegerMultiplicities out;
    out.ones = kinds.ones;
    std::vector<std::int32_t> place(at(input.pattern.cols), -1);
    for (std::size_t t = 0; t < kinds.columns.size(); ++t)
        place[at(kinds.columns[t].line)] = static_cast<std::int32_t>(t);
    for (const EqualLines &row : kinds.rows) {
        poll();
        add_row(out, entries_of(input, values, row.line, place), kinds, row.count);
    }
    if (kinds.ones > 0) {
        std::vector<KindEntry> ones;
        for (std::size_t t = 0; t < kinds.columns.size(); ++t)
            ones.push_back({static_cast<std::int32_t>(t), {1, 0}});
        add_row(out, ones, kinds, static_cast<std::int32_t>(kinds.ones));
    }
    if (std::all_of(out.im.begin(), out.im.end(), [](const mpz_class &x) { return x == 0; })) out.im.clear();
    for (std::size_t t = 0; t < kinds.columns.size(); ++t)
        out.columns.push_back({static_cast<std::int32_t>(t), kinds.columns[t].count});
    plan_columns(out.columns, out.plan);
    const std::size_t lines = std::max(out.plan.row_kinds.size(), kinds.columns.size());
    const std::size_t order = lines + (lines + at(kinds.n)) % 2;
    out.pattern.row_ptr.resize(order + 1, out.pattern.nnz());
    out.pattern.rows = out.pattern.cols = static_cast<std::int32_t>(order);
    return out;
}

double factor_bits(const IntegerMultiplicities &a) {
    double bits = static_cast<double>(a.ones) * std::log2(static_cast<double>(a.ones) + 1);
    for (const RowFactor &f : a.factors)
        bits += f.count * static_cast<double>(mpz_sizeinbase(f.by.get_num_mpz_t(), 2) +
                                              mpz_sizeinbase(f.by.get_den_mpz_t(), 2));
    return bits;
}

mpq_class factor_of(const IntegerMultiplicities &a, const Poll &poll) {
    mpz_class ways; // that the rows of ones can take the columns left
    mpz_fac_ui(ways.get_mpz_t(), static_cast<unsigned long>(a.ones));
    mpq_class factor = 1 / mpq_class(ways);
    for (const RowFactor &f : a.factors) {
        poll();
        factor *= power(f.by, f.count);
    }
    return factor;
}

} // namespace libperm
