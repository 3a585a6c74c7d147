#include "lib/polynomial/ferrers_numbers.hpp"

#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

constexpr double most_steps = 1e8;

mpz_class power_of(const mpz_class &x, std::int64_t exponent) {
    mpz_class power;
    mpz_pow_ui(power.get_mpz_t(), x.get_mpz_t(), static_cast<unsigned long>(exponent));
    return power;
}

mpq_class power_of(const mpq_class &x, std::int64_t exponent) {
    return {power_of(x.get_num(), exponent), power_of(x.get_den(), exponent)};
}

} // namespace

std::optional<std::vector<mpz_class>> ferrers_numbers(const Pattern &a, const std::vector<mpz_class> &values,
                                                      const LineCounts &row_count,
                                                      const LineCounts &column_count, std::size_t count) {
    if (static_cast<double>(row_count.sum()) * static_cast<double>(count) > most_steps) return {};
    PolledSteps steps;
    std::vector<std::int32_t> rows;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        steps.take();
        if (row_count[i] > 0 && !a.row(i).empty()) rows.push_back(i);
    }
    std::sort(rows.begin(), rows.end(),
              [&](std::int32_t i, std::int32_t j) { return a.row(i).size() < a.row(j).size(); });
    std::vector<bool> taken(at(a.cols));
    std::size_t before = 0; // columns
    std::int64_t places = 0;
    std::vector<mpz_class> numbers(count);
    numbers[0] = 1;
    for (const std::int32_t i : rows) {
        const mpz_class &x = values[at(a.row_begin(i))];
        std::size_t shared = 0;
        std::int64_t k = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) {
            steps.take(4);
            if (values[at(k++)] != x) return {};
            shared += taken[at(j)];
            if (!taken[at(j)]) places += column_count[j];
            taken[at(j)] = true;
        }
        if (shared != before) return {};
        before = a.row(i).size();
        for (std::int64_t time = 0; time < row_count[i]; ++time)
            for (std::size_t rooks = count - 1; rooks > 0; --rooks) {
                if (numbers[rooks - 1] == 0) continue;
                steps.take(static_cast<std::int64_t>(16 + mpz_size(numbers[rooks - 1].get_mpz_t())));
                numbers[rooks] += numbers[rooks - 1] * x * (places - static_cast<std::int64_t>(rooks) + 1);
            }
    }
    return numbers;
}

std::optional<mpq_class> ferrers_sum(const InputPattern &given, const Values &values,
                                     const LineCounts &row_count, const LineCounts &column_count) {
    const Pattern &a = given.pattern;
    if (!given.row_weights || !given.col_weights) return {};
    const auto entries = at(a.nnz());
    const std::size_t of_rows = entries, of_columns = entries + at(a.rows), all = of_columns + at(a.cols);
    const auto is_same = [&](std::size_t x, std::size_t y) {
        return values.wide.empty() ? values.real[x] == values.real[y] : values.wide[x] == values.wide[y];
    };
    for (std::size_t k = of_rows + 1; k < all; ++k)
        if (k != of_columns && !is_same(k, k - 1)) return {};
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_begin(i) + 1; k < a.row_begin(i + 1); ++k)
            if (!is_same(at(k), at(k - 1))) return {};
    if (std::any_of(values.wide.begin(), values.wide.end(), [](const Gaussian &x) { return !is_real(x); }))
        return {};
    const auto number = [&](std::size_t k) {
        return values.wide.empty() ? mpq_class(values.real[k]) : values.wide[k].re;
    };
    mpz_class denominator = 1;
    for (std::int32_t i = 0; i < a.rows; ++i)
        if (!a.row(i).empty()) denominator = lcm(denominator, number(at(a.row_begin(i))).get_den());
    const std::int64_t rows = row_count.sum(), columns = column_count.sum(), most = std::min(rows, columns);
    constexpr std::int64_t of_number = 48;
    Charge charge(&call().memory(), of_number * a.nnz());
    std::vector<mpz_class> whole(entries);
    double bits = 0; // of a number of matchings
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (a.row(i).empty()) continue;
        const mpq_class x = number(at(a.row_begin(i))) * denominator;
        std::fill(whole.begin() + a.row_begin(i), whole.begin() + a.row_begin(i + 1), x.get_num());
        const auto of_entry = static_cast<double>(mpz_sizeinbase(x.get_num_mpz_t(), 2));
        bits += static_cast<double>(row_count[i]) * (of_entry + std::log2(static_cast<double>(columns) + 1));
    }
    charge.grow(static_cast<std::int64_t>(std::min(0x1p60, bits / 8 * static_cast<double>(most + 1))));
    const auto numbers = ferrers_numbers(a, whole, row_count, column_count, at(most + 1));
    if (!numbers) return {};
    // With m_k D^k numbers, and q = p / d the product of both weights: sum m_k q^(most - k), by Horner's
    // rule.
    const mpq_class row = number(of_rows), column = number(of_columns);
    mpq_class q = row * column;
    const mpz_class p = q.get_num() * denominator, &d = q.get_den();
    mpz_class sum = 0, power = 1;
    for (const mpz_class &m : *numbers) {
        poll();
        sum = sum * p + m * power;
        power *= d;
    }
    mpq_class value(sum, power_of(mpz_class(d * denominator), most));
    value.canonicalize();
    return value * power_of(row, rows - most) * power_of(column, columns - most);
}

} // namespace libperm
