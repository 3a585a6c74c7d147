#include "lib/glynn/multiplicities/exact_multiplicities.hpp"

#include "jit/text/text.hpp"
#include "lib/base/threads.hpp"
#include "lib/glynn/multiplicities/linear_powers.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "lib/input/input_pattern.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/block_grids.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/call.hpp"
#include "lib/run/candidates.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/placement.hpp"
#include "lib/ryser/engine.hpp"
#include "preprocess/index.hpp"
#include "preprocess/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gmpxx.h>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace libperm {
namespace {

constexpr double least_written = 1 << 20;    // entries; of fewer the general road knows more ways,
constexpr double least_written_of_two = 1e4; // but takes longer than this where there are two kinds
constexpr double written_bytes = 64;         // that an entry takes there
constexpr double worth_writing_out = 0.3;    // seconds of one thread: what takes longer may be quicker there
constexpr double worth_waiting = 100;        // seconds, where it would not fit the memory limit there
constexpr double most_exact_terms = 0x1p40;

constexpr int prime_bits = 62;
constexpr double certain_bits = 61.99; // of each of the first 2^30 primes below 2^62, and more
constexpr std::size_t primes_at_once = 128;

bool is_for_kinds(const perm_csr *a) {
    return a && a->struct_size == sizeof(perm_csr) && (a->row_multiplicity || a->col_multiplicity) &&
           !a->row_unmatched && !a->col_unmatched && a->n_rows >= 1 && a->n_rows <= most_lines_read &&
           a->n_cols >= 1 && a->n_cols <= most_lines_read;
}

bool is_usual(const Options &o) {
    return (!o.names_engine() || o.engine == engine_for(Goal::multiplicities)) && o.device != Device::gpu &&
           o.reckoned_gpus == 0 && o.passes.merging && o.checkpoint.empty() && !o.machine &&
           (o.precision == Precision::automatic || o.precision == Precision::double_ ||
            o.precision == Precision::exact);
}

// The caller's kinds of rows and columns, those that count 0 times left out, and one of rows of ones if it
// takes that to be square.
struct Sides {
    std::vector<EqualLines> rows, columns; // by the caller's numbers
    std::int64_t n = 0, ones = 0;
    double written = 0; // entries
};

// Whole numbers, row by row, and how much smaller or larger the permanent became by that.
struct IntegerMultiplicities {
    Pattern pattern; // of lines that count, square, as many more as make its order as even as n
    std::vector<mpz_class> re, im;
    std::vector<mpq_class> factors;  // by kind of rows, of each
    std::int64_t ones = 0;           // rows of them that make it square
    double bits = 0;                 // |re|, |im| of the permanent are below 2^bits
    std::int64_t nnz = 0;            // of the matrix written out
    std::vector<EqualLines> columns; // in the pattern
    RyserPlan plan;
};

constexpr std::int64_t most_lines = 1 << 28; // with what they count

// The entries of a row that count, in the places of their columns.
ExactBlock row_of(const InputPattern &input, const Values &values, std::int32_t row,
                  const std::vector<std::int32_t> &place) {
    ExactBlock entries;
    entries.pattern.rows = 1;
    std::int64_t k = input.pattern.row_begin(row);
    for (const std::int32_t j : input.pattern.row(row)) {
        Gaussian x = values.wide.empty() ? Gaussian{mpq_class(values.real[at(k)]), 0} : values.wide[at(k)];
        ++k;
        if (place[at(j)] < 0 || is_zero(x)) continue;
        entries.pattern.col.push_back(place[at(j)]);
        entries.values.push_back(std::move(x));
    }
    return entries;
}

void add_row(IntegerMultiplicities &out, ExactBlock row, const Sides &kinds, std::int32_t count) {
    row.pattern.row_ptr.push_back(std::ssize(row.pattern.col));
    IntegerBlock whole = integer_rows(row);
    whole.im.resize(whole.re.size());
    mpz_class most = 0; // of a row sum
    for (std::size_t k = 0; k < whole.re.size(); ++k) {
        const std::int32_t copies = kinds.columns[at(row.pattern.col[k])].count;
        most += (abs(whole.re[k]) + abs(whole.im[k])) * copies;
        out.nnz += std::int64_t{count} * copies;
        out.pattern.col.push_back(row.pattern.col[k]);
        out.re.push_back(std::move(whole.re[k]));
        out.im.push_back(std::move(whole.im[k]));
    }
    out.pattern.row_ptr.push_back(std::ssize(out.pattern.col));
    out.plan.row_kinds.push_back({static_cast<std::int32_t>(out.plan.row_kinds.size()), count});
    out.factors.push_back(std::move(whole.factor));
    out.bits += static_cast<double>(mpz_sizeinbase(most.get_mpz_t(), 2)) * count;
}

mpq_class power(const mpq_class &x, std::int32_t exponent) {
    mpq_class result; // in lowest terms, as x is
    mpz_pow_ui(result.get_num_mpz_t(), x.get_num_mpz_t(), static_cast<unsigned long>(exponent));
    mpz_pow_ui(result.get_den_mpz_t(), x.get_den_mpz_t(), static_cast<unsigned long>(exponent));
    return result;
}

// Empty for what is not to be told here: more lines than are counted, or what is at fault.
std::optional<Sides> read_sides(const perm_csr &a, const Pattern &pattern) {
    const LineCounts row_count(a.row_multiplicity, a.n_rows, "row"),
        column_count(a.col_multiplicity, a.n_cols, "col");
    if (row_count.sum() > column_count.sum() || column_count.sum() > most_lines || column_count.sum() == 0)
        return {};
    Sides kinds;
    const auto put = [](const LineCounts &counts, std::int64_t lines, std::vector<EqualLines> &to) {
        for (std::int32_t i = 0; i < lines; ++i)
            if (counts[i] > 0) to.push_back({i, static_cast<std::int32_t>(counts[i])});
    };
    put(row_count, a.n_rows, kinds.rows);
    put(column_count, a.n_cols, kinds.columns);
    kinds.n = column_count.sum();
    kinds.ones = kinds.n - row_count.sum();
    kinds.written = static_cast<double>(kinds.ones) * static_cast<double>(kinds.n);
    for (std::int32_t i = 0; i < pattern.rows; ++i)
        for (const std::int32_t j : pattern.row(i))
            kinds.written += static_cast<double>(row_count[i]) * static_cast<double>(column_count[j]);
    return kinds;
}

IntegerMultiplicities integer_multiplicities_of(const Sides &kinds, const InputPattern &input,
                                                const Values &values) {
    IntegerMultiplicities out;
    out.ones = kinds.ones;
    std::vector<std::int32_t> place(at(input.pattern.cols), -1);
    for (std::size_t t = 0; t < kinds.columns.size(); ++t)
        place[at(kinds.columns[t].line)] = static_cast<std::int32_t>(t);
    for (const EqualLines &row : kinds.rows) {
        poll();
        add_row(out, row_of(input, values, row.line, place), kinds, row.count);
    }
    if (kinds.ones > 0) {
        ExactBlock ones;
        ones.pattern.rows = 1;
        ones.pattern.col.resize(kinds.columns.size());
        std::iota(ones.pattern.col.begin(), ones.pattern.col.end(), 0);
        ones.values.assign(kinds.columns.size(), {1, 0});
        add_row(out, std::move(ones), kinds, static_cast<std::int32_t>(kinds.ones));
    }
    if (std::all_of(out.im.begin(), out.im.end(), [](const mpz_class &x) { return x == 0; })) out.im.clear();
    for (std::size_t t = 0; t < kinds.columns.size(); ++t)
        out.columns.push_back({static_cast<std::int32_t>(t), kinds.columns[t].count});
    out.plan.counted = true;
    out.plan.column_kinds = out.columns;
    leave_out_column(out.plan);
    const std::size_t lines = std::max(out.plan.row_kinds.size(), kinds.columns.size());
    const std::size_t order = lines + (lines + at(kinds.n)) % 2;
    out.pattern.row_ptr.resize(order + 1, out.pattern.nnz());
    out.pattern.rows = out.pattern.cols = static_cast<std::int32_t>(order);
    return out;
}

// About so many bits has what the permanent of the whole numbers is to be multiplied by.
double factor_bits(const IntegerMultiplicities &a) {
    double bits = static_cast<double>(a.ones) * std::log2(static_cast<double>(a.ones) + 1);
    for (std::size_t r = 0; r < a.factors.size(); ++r)
        bits +=
            a.plan.row_kinds[r].count * static_cast<double>(mpz_sizeinbase(a.factors[r].get_num_mpz_t(), 2) +
                                                            mpz_sizeinbase(a.factors[r].get_den_mpz_t(), 2));
    return bits;
}

mpq_class factor_of(const IntegerMultiplicities &a) {
    mpz_class ways; // that the rows of ones can take the columns left
    mpz_fac_ui(ways.get_mpz_t(), static_cast<unsigned long>(a.ones));
    mpq_class factor = 1 / mpq_class(ways);
    for (std::size_t r = 0; r < a.factors.size(); ++r) {
        poll();
        factor *= power(a.factors[r], a.plan.row_kinds[r].count);
    }
    return factor;
}

std::size_t primes_for(const IntegerMultiplicities &a) {
    return static_cast<std::size_t>((a.bits + 2) / certain_bits) + 1;
}

double serial_seconds(const IntegerMultiplicities &a) {
    double factors = 0, weights = 0;
    for (const EqualLines &r : a.plan.row_kinds)
        factors += 1 + std::bit_width(static_cast<std::uint32_t>(r.count)) +
                   std::popcount(static_cast<std::uint32_t>(r.count));
    for (const EqualLines &c : a.plan.column_kinds) weights += c.count;
    constexpr double term = 20e-9, factor = 2.5e-9, weight = 12e-9, prime = 5e-5;
    const double matrices = a.im.empty() ? 1 : 2; // of each prime: two square roots of -1
    return matrices * static_cast<double>(primes_for(a)) *
           (prime + a.plan.terms * (term + factor * factors) + weight * weights);
}

double matrices_of(const IntegerMultiplicities &a) {
    return (a.im.empty() ? 1 : 2) * static_cast<double>(primes_for(a));
}

// What the result takes with its factor; numbers that are put together are there several times.
std::int64_t bytes_of_results(const IntegerMultiplicities &a) {
    constexpr double times = 6;
    return static_cast<std::int64_t>(std::min(times * (a.bits + factor_bits(a)) / 8, 0x1p61));
}

Gaussian permanent_modulo_primes(const IntegerMultiplicities &a) {
    const bool gaussian = !a.im.empty();
    const double residue_bytes =
        16 * matrices_of(a) + 8.0 * primes_at_once * static_cast<double>(a.re.size());
    const Charge charge(&call().memory(),
                        bytes_of_results(a) + static_cast<std::int64_t>(std::min(residue_bytes, 0x1p61)));
    const std::vector<std::uint64_t> primes = primes_below(prime_bits, primes_for(a), gaussian);
    std::vector<std::uint64_t> residues;
    for (std::size_t first = 0; first < primes.size(); first += primes_at_once) {
        const auto begin = primes.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = static_cast<std::ptrdiff_t>(std::min(primes_at_once, primes.size() - first));
        const Residues of_primes = residues_of(a.pattern, a.re, a.im, {begin, begin + count});
        const EngineResult some = run_ryser(a.plan, of_primes);
        const auto &found = std::get<ResidueVector>(some.value);
        residues.insert(residues.end(), found.begin(), found.end());
    }
    return from_residues(primes, residues, gaussian, &call().memory()) * Gaussian{factor_of(a), 0};
}

// The permanent is c_0! c_1! times the coefficient of x^c_0 y^c_1 in prod_i (a_i0 x + a_i1 y)^r_i; y is 1
// here.
struct TwoClasses {
    std::vector<LinearPower> powers;
    std::int64_t first = 0, second = 0; // how many there are of the two; of one kind alone the second is 0
};

// Takes the classes of columns, or of rows if they are two at most and there is less to sum.
std::optional<TwoClasses> two_classes_of(const IntegerMultiplicities &a) {
    const auto fewest = [](const std::vector<EqualLines> &kinds) {
        return kinds.size() > 2   ? std::numeric_limits<std::int32_t>::max()
               : kinds.size() < 2 ? 0
                                  : std::min(kinds[0].count, kinds[1].count);
    };
    const std::vector<EqualLines> &rows = a.plan.row_kinds;
    if (rows.size() > 2 && a.columns.size() > 2) return {};
    const bool by_rows = fewest(rows) < fewest(a.columns);
    const std::vector<EqualLines> &two = by_rows ? rows : a.columns, &others = by_rows ? a.columns : rows;
    TwoClasses out;
    out.first = two[0].count;
    out.second = two.size() > 1 ? two[1].count : 0;
    for (const EqualLines &line : others) out.powers.push_back({{}, {}, line.count});
    for (std::int32_t i = 0; i < a.pattern.rows; ++i)
        for (std::int64_t k = a.pattern.row_begin(i); k < a.pattern.row_begin(i + 1); ++k) {
            const std::int32_t j = a.pattern.col[at(k)];
            LinearPower &p = out.powers[at(by_rows ? j : i)];
            GaussianInteger &x = (by_rows ? i : j) == 0 ? p.slope : p.constant;
            x.re = a.re[at(k)];
            if (!a.im.empty()) x.im = a.im[at(k)];
        }
    return out;
}

Gaussian permanent_of_two(const IntegerMultiplicities &a, TwoClasses kinds) {
    const Charge charge(&call().memory(), bytes_of_results(a));
    const GaussianInteger x = coefficient(std::move(kinds.powers), kinds.first, &call().memory());
    mpz_class orders, of_second;
    mpz_fac_ui(orders.get_mpz_t(), static_cast<unsigned long>(kinds.first));
    mpz_fac_ui(of_second.get_mpz_t(), static_cast<unsigned long>(kinds.second));
    orders *= of_second;
    poll();
    return Gaussian{mpq_class(x.re * orders), mpq_class(x.im * orders)} * Gaussian{factor_of(a), 0};
}

// No other way would take less.
void require_time(const Sides &kinds, double seconds, const Options &options) {
    if (seconds > options.refuse_seconds)
        throw refused_for_time(formatted("two kinds of lines (n = {}) are", kinds.n), seconds, options);
}

ExactMultiplicities result_of(const IntegerMultiplicities &a, const Sides &kinds, Engine engine,
                              double seconds, const Gaussian &permanent) {
    ExactMultiplicities result;
    set_value(result.outcome, WideBall{permanent, {}});
    result.n = kinds.n;
    result.nnz = a.nnz;
    result.outcome.engine = engine;
    result.outcome.blocks = result.outcome.blocks_computed = 1;
    result.outcome.predicted_seconds = seconds;
    result.outcome.counts.peak_bytes = call().memory().peak();
    return result;
}

} // namespace

std::optional<ExactMultiplicities> compute_exact_multiplicities(const perm_csr *a, const Options &options) {
    if (!is_for_kinds(a) || !is_usual(options)) return {};
    const InputPattern input = read_once(a, &call().memory());
    const std::optional<Sides> kinds = read_sides(*a, input.pattern);
    if (!kinds || kinds->written < least_written_of_two) return {};
    const IntegerMultiplicities integers =
        integer_multiplicities_of(*kinds, input, read_values(input, a->values, &call().memory()));
    if (std::optional<TwoClasses> two = options.names_engine() ? std::nullopt : two_classes_of(integers)) {
        const double seconds = coefficient_seconds(two->powers, two->first);
        require_time(*kinds, seconds, options);
        call().begin(0, seconds);
        const Gaussian permanent = permanent_of_two(integers, *std::move(two));
        return result_of(integers, *kinds, Engine::none, seconds, permanent);
    }
    if (kinds->written < least_written) return {};
    const double serial = serial_seconds(integers), seconds = seconds_on(options.threads, serial);
    const bool fits = kinds->written * written_bytes <= static_cast<double>(options.memory_limit);
    if (integers.plan.terms > most_exact_terms || seconds > options.refuse_seconds ||
        seconds_on(usual_threads, serial) > worth_waiting || (fits && serial > worth_writing_out))
        return {};
    call().begin(matrices_of(integers) * integers.plan.terms, seconds);
    Gaussian permanent;
    with_threads(options.threads, [&] { permanent = permanent_modulo_primes(integers); });
    ExactMultiplicities result =
        result_of(integers, *kinds, engine_for(Goal::multiplicities), serial, permanent);
    result.outcome.counts.subsets = integers.plan.terms;
    result.outcome.counts.operations =
        integers.plan.terms * static_cast<double>(primes_for(integers) * integers.plan.row_kinds.size());
    return result;
}

} // namespace libperm
