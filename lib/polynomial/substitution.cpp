#include "lib/polynomial/substitution.hpp"

#include "jit/compile/digest.hpp"
#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/base/error.hpp"
#include "lib/input/graph.hpp"
#include "lib/saved/bytes.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {
namespace {

// What makes the numbers of a line whole, and a bound of the sum of their absolute values then.
struct LineBound {
    mpz_class denominator = 1;
    mpq_class sum = 0;

    void take(const Gaussian &x, std::int64_t times) {
        for (const mpq_class *part : {&x.re, &x.im}) {
            if (*part == 0) continue;
            denominator = lcm(denominator, part->get_den());
            sum += abs(*part) * mpz_class(times);
        }
    }
    double bits() const {
        const mpq_class whole = sum * denominator;
        const mpz_class &most = whole.get_num();
        signed long exp2 = 0;
        const double mantissa = mpz_get_d_2exp(&exp2, most.get_mpz_t());
        return most <= 1 ? 0 : static_cast<double>(exp2) + std::log2(mantissa) + 1e-9;
    }
};

std::vector<std::int64_t> kept_counts(const std::int64_t *given, std::int64_t lines) {
    return given ? std::vector<std::int64_t>(given, given + lines) : std::vector<std::int64_t>();
}

InputPattern without_weights(InputPattern given) {
    given.row_weights = given.col_weights = false;
    if (!given.source.empty()) given.source.resize(at(given.pattern.nnz()));
    return given;
}

// What is at fault is told of the linear parts.
Values read_linear(const InputPattern &given, const void *linear, MemoryAccount &account) {
    if (given.pattern.nnz() > 0 && !linear)
        throw Error(PERM_BAD_ARGUMENT, "linear is a null pointer: it holds a number for each entry");
    try {
        return read_values(without_weights(given), linear, &account);
    } catch (const Error &error) {
        if (error.status() != PERM_BAD_MATRIX) throw;
        throw Error(PERM_BAD_MATRIX, std::string("linear: ") + error.what());
    }
}

} // namespace

// Each row is in one of its entries, or free with its weight, or with 1 where rows are more than columns; a
// column that no row is in has its weight, too. Of a graph's pair the lower line says which.
CoefficientSize LinearEntries::coefficient_size() const {
    if (size_) return *size_;
    const InputPattern &given = as_given(input);
    const Pattern &a = given.pattern;
    const LineCounts rows = row_count(), columns = column_count();
    PolledSteps steps;
    CoefficientSize size;
    const auto take = [&size](const LineBound &line, std::int64_t times) {
        mpz_class power;
        mpz_pow_ui(power.get_mpz_t(), line.denominator.get_mpz_t(), at(times));
        size.denominator *= power;
        size.bits += static_cast<double>(times) * line.bits();
    };
    std::size_t weight = entries();
    for (std::int32_t i = 0; i < a.rows; ++i) {
        LineBound row;
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
            steps.take(64);
            if (input.pattern.one_sided && a.col[at(k)] < i) continue;
            row.take(constant_at(at(k)), columns[a.col[at(k)]]);
            row.take(linear_at(at(k)), columns[a.col[at(k)]]);
        }
        mpq_class of_weight = 0;
        if (given.row_weights) {
            const mpq_class entries_alone = row.sum;
            row.take(constant_at(weight++), 1);
            of_weight = row.sum - entries_alone;
        } else if (input.free_columns > 0) {
            row.sum += 1;
        }
        if (input.pattern.one_sided && of_weight < 1) row.sum += 1 - of_weight; // of the other line of a pair
        take(row, rows[i]);
    }
    for (std::int32_t j = 0; given.col_weights && j < a.cols; ++j) {
        steps.take(64);
        LineBound column;
        column.take(constant_at(weight++), 1);
        if (column.sum < 1) column.sum = 1;
        take(column, columns[j]);
    }
    size.bits = std::ceil(size.bits);
    return size;
}

LinearEntries::LinearEntries(const perm_csr *a, const void *linear_parts, MatrixFunction function) {
    input = read_pattern(a, function, &call().memory());
    if (input.value_type == PERM_VALUE_PATTERN)
        throw Error(
            PERM_BAD_ARGUMENT,
            "a pattern has no values, and c + l x takes two numbers: give both, of another value_type");
    const perm_csr csr = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    read_counts(a);
    const InputPattern &given = as_given(input);
    constant = read_values(given, GivenValues(input, csr).data(), &call().memory());
    linear = read_linear(given, linear_parts, call().memory());
    count = std::min(row_count().sum(), column_count().sum()) + 1;
    if (input.pattern.one_sided) {
        for (Values *half : {&constant, &linear}) { // c + l x is symmetric, then, whatever cancels
            require_symmetric(given, *half);
            mirror_upper_half(given, *half);
        }
        if (function == MatrixFunction::hafnian && !input.written->row_weights) count = (count - 1) / 2 + 1;
        degree = count - 1;
    } else {
        find_powers();
    }
    find_digest(function);
}

LinearEntries LinearEntries::of_matchings(const perm_csr *a, MatrixFunction function) {
    LinearEntries made;
    made.input = read_free(a, function, &call().memory());
    made.read_counts(a);
    const InputPattern &given = as_given(made.input);
    const bool is_graph = made.input.pattern.one_sided;
    const std::int64_t rows = made.row_count().sum(), columns = made.column_count().sum();
    made.count = (is_graph ? rows / 2 : std::min(rows, columns)) + 1;
    made.degree = made.count - 1;
    const perm_csr csr = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    made.linear = read_values(without_weights(given), csr.values, &call().memory());
    if (is_graph) require_symmetric(given, made.linear);
    made.constant.real.resize(made.values(), 1); // the weights
    std::fill_n(made.constant.real.begin(), made.entries(), 0);
    made.find_digest(function);
    PolledSteps steps;
    for (std::size_t k = 0; k < made.entries(); ++k) {
        steps.take(16);
        const Gaussian x = made.linear_at(k);
        made.unit = lcm(lcm(made.unit, x.re.get_den()), x.im.get_den());
    }
    if (made.unit != 1) made.make_whole();
    made.size_ = made.coefficient_size();
    const double bytes =
        made.size_->bits * static_cast<double>(made.count) / 8 * 4; // number, digits, residues
    call().memory().require(
        static_cast<std::int64_t>(std::min(bytes, 0x1p62)),
        formatted("the numbers of matchings with 0 to {} edges have up to {:.3g} bits each", made.degree,
                  made.size_->bits));
    return made;
}

// Times the unit.
void LinearEntries::make_whole() {
    PolledSteps steps;
    constexpr std::int64_t of_number = sizeof(Gaussian) + 4 * 32; // bytes, with four short numbers
    const Charge charge(&call().memory(), of_number * static_cast<std::int64_t>(entries()));
    std::vector<Gaussian> whole;
    for (std::size_t k = 0; k < entries(); ++k) {
        steps.take(16);
        Gaussian x = linear_at(k);
        x.re *= unit;
        x.im *= unit;
        whole.push_back(std::move(x));
    }
    linear = Values();
    linear.wide = std::move(whole);
}

void LinearEntries::read_counts(const perm_csr *a) {
    const perm_csr csr = read_known(*a, offsetof(perm_csr, row_multiplicity), "perm_csr");
    row_counts_ = kept_counts(csr.row_multiplicity, csr.n_rows);
    column_counts_ = input.pattern.one_sided ? row_counts_ : kept_counts(csr.col_multiplicity, csr.n_cols);
}

void LinearEntries::find_digest(MatrixFunction function) {
    const InputPattern &given = as_given(input);
    digest = digest_of_bytes(written(given.pattern.row_ptr) + written(given.pattern.col) +
                             written(std::vector<std::int64_t>{given.pattern.rows, given.pattern.cols,
                                                               given.row_weights, given.col_weights}) +
                             written(row_counts_) + written(column_counts_) + function_name(function) +
                             digest_of(constant) + digest_of(linear));
}

LineCounts LinearEntries::row_count() const {
    return {row_counts_.empty() ? nullptr : row_counts_.data(), as_given(input).pattern.rows, "row"};
}

LineCounts LinearEntries::column_count() const {
    return {column_counts_.empty() ? nullptr : column_counts_.data(), as_given(input).pattern.cols, "col"};
}

// As many entries with x as rows and as columns have some; no fewer than lines that have nothing else, and
// no weight.
void LinearEntries::find_powers() {
    PolledSteps steps;
    const InputPattern &given = as_given(input);
    const Pattern &a = given.pattern;
    const LineCounts rows = row_count(), columns = column_count();
    std::vector<char> has_linear(at(a.cols)), has_constant(at(a.cols));
    std::int64_t in_rows = 0, in_columns = 0, only_in_rows = 0, only_in_columns = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        bool some_linear = false, some_constant = false;
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
            const std::size_t j = at(a.col[at(k)]);
            steps.take(64);
            if (!is_zero(linear_at(at(k)))) has_linear[j] = some_linear = true;
            if (!is_zero(constant_at(at(k)))) has_constant[j] = some_constant = true;
        }
        if (some_linear) in_rows += rows[i];
        if (!some_constant) only_in_rows += rows[i];
    }
    for (std::int32_t j = 0; j < a.cols; ++j) {
        if (has_linear[at(j)]) in_columns += columns[j];
        if (!has_constant[at(j)]) only_in_columns += columns[j];
    }
    degree = std::min({in_rows, in_columns, count - 1});
    const bool may_stay = given.row_weights || given.col_weights || rows.sum() != columns.sum();
    lowest = may_stay ? 0 : std::max(only_in_rows, only_in_columns);
}

std::int64_t LinearEntries::balanced_radius() const {
    PolledSteps steps;
    const Pattern &a = as_given(input).pattern;
    const auto size = [](const Gaussian &x) { return std::abs(x.re.get_d()) + std::abs(x.im.get_d()); };
    double sum = 0, rows = 0;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        double of_constant = 0, of_linear = 0;
        for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
            steps.take(64);
            of_constant += size(constant_at(at(k)));
            of_linear += size(linear_at(at(k)));
        }
        if (of_constant == 0 || of_linear == 0) continue;
        sum += std::log2(of_constant) - std::log2(of_linear);
        ++rows;
    }
    return rows == 0 || !std::isfinite(sum) ? 0 : static_cast<std::int64_t>(std::round(sum / rows));
}

InputPattern LinearEntries::input_of(perm_value_type type) const {
    InputPattern other = input;
    InputPattern given = as_given(input);
    given.source.clear();
    given.value_type = other.value_type = type;
    if (!input.written) return given;
    other.written = std::make_shared<const InputPattern>(std::move(given));
    return other;
}

std::vector<mpz_class> digits_of(mpz_class sum, std::size_t count, unsigned long bits) {
    std::vector<mpz_class> digits(count);
    const mpz_class half = mpz_class(1) << (bits - 1);
    for (mpz_class &digit : digits) {
        poll();
        mpz_fdiv_r_2exp(digit.get_mpz_t(), sum.get_mpz_t(), bits);
        if (digit >= half) digit -= mpz_class(1) << bits;
        sum -= digit;
        mpz_fdiv_q_2exp(sum.get_mpz_t(), sum.get_mpz_t(), bits);
    }
    if (sum != 0) throw Error(PERM_INTERNAL, "the coefficients do not fit into the polynomial's value");
    return digits;
}

mpq_class exact_number(const Scaled &x) { return shifted(mpq_class(x.mantissa), x.exp2); }

Gaussian exact_number(const Outcome &x) { return x.wide ? *x.wide : Gaussian{exact_number(x.value), 0}; }

Plan plan_for(InputPattern input, const Values &values, const Options &options, const std::string *plan) {
    if (!plan) return make_plan(std::move(input), options, values);
    Plan saved = plan_of(*plan, options);
    if (difference(saved.input, input))
        throw Error(PERM_BAD_ARGUMENT, "the plan that this was begun with is of another matrix: begin anew");
    return saved;
}

} // namespace libperm
