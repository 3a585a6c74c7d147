#include "lib/small/exact_kinds.hpp"

#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/cost.hpp"
#include "lib/run/run_control.hpp"
#include "lib/ryser/sums.hpp"
#include "lib/small/entries.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

namespace libperm {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr double least_written = 1 << 20;    // entries; of fewer the general road knows more ways
constexpr double written_bytes = 64;         // that an entry takes there
constexpr double worth_writing_out = 0.3;    // seconds of one thread: what takes longer may be quicker there
constexpr double worth_waiting = 100;        // seconds, where it would not fit the memory limit there
constexpr std::int64_t most_lines = 1 << 28; // with what they count
constexpr double most_terms = 0x1p40;

constexpr int prime_bits = 62;
constexpr double certain_bits = 61.99; // of each of the first 2^30 primes below 2^62, and more
constexpr std::size_t primes_at_once = 128;

// The caller's kinds of rows and columns, those that count 0 times left out, and one of rows of ones if it
// takes that to be square.
struct Sides {
    std::vector<EqualLines> rows, columns; // by the caller's numbers
    std::int64_t n = 0, ones = 0;
    double written = 0; // entries
};

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

bool is_for_kinds(const perm_csr *a) {
    return a && a->struct_size == sizeof(perm_csr) && (a->row_multiplicity || a->col_multiplicity) &&
           a->n_rows >= 1 && a->n_rows <= most_lines_read && a->n_cols >= 1 && a->n_cols <= most_lines_read &&
           a->nnz >= 0 && a->nnz <= a->n_rows * a->n_cols && a->row_ptr && (a->nnz == 0 || a->col_idx) &&
           (a->index_type == PERM_INDEX_I64 || a->index_type == PERM_INDEX_I32) &&
           a->value_type >= PERM_VALUE_F64 && a->value_type <= PERM_VALUE_TEXT;
}

bool is_usual(const Options &o) {
    return (!o.names_engine() || o.engine == Engine::ryser) && o.device != Device::gpu &&
           o.reckoned_gpus == 0 && o.passes.merging && o.checkpoint.empty() && !o.machine &&
           (o.precision == Precision::automatic || o.precision == Precision::double_ ||
            o.precision == Precision::exact);
}

// As the caller gave it, columns ascending.
std::optional<InputPattern> read_entries(const perm_csr &a) {
    struct Place {
        std::int32_t i, j;
        std::int64_t k;
    };
    std::vector<Place> places;
    if (!for_each_entry(a, [&](std::size_t k, int i, int j) {
            places.push_back({i, j, static_cast<std::int64_t>(k)});
        }))
        return {};
    std::sort(places.begin(), places.end(),
              [](const Place &x, const Place &y) { return std::pair(x.i, x.j) < std::pair(y.i, y.j); });
    InputPattern input;
    input.value_type = static_cast<perm_value_type>(a.value_type);
    input.pattern.rows = static_cast<std::int32_t>(a.n_rows);
    input.pattern.cols = static_cast<std::int32_t>(a.n_cols);
    input.pattern.row_ptr.assign(at(a.n_rows) + 1, 0);
    for (const Place &place : places) {
        ++input.pattern.row_ptr[at(place.i) + 1];
        input.pattern.col.push_back(place.j);
        input.source.push_back(place.k);
    }
    for (std::int64_t i = 0; i < a.n_rows; ++i)
        input.pattern.row_ptr[at(i) + 1] += input.pattern.row_ptr[at(i)];
    return input;
}

// Whole numbers, row by row, and how much smaller or larger the permanent became by that.
struct Integers {
    Pattern pattern; // of lines that count, square, as many more as make its order as even as n
    std::vector<mpz_class> re, im;
    mpq_class factor = 1;
    double bits = 0;      // |re|, |im| of the permanent are below 2^bits
    std::int64_t nnz = 0; // of the matrix written out
    RyserPlan plan;
};

mpq_class power(const mpq_class &x, std::int32_t exponent) {
    mpq_class result; // in lowest terms, as x is
    mpz_pow_ui(result.get_num_mpz_t(), x.get_num_mpz_t(), static_cast<unsigned long>(exponent));
    mpz_pow_ui(result.get_den_mpz_t(), x.get_den_mpz_t(), static_cast<unsigned long>(exponent));
    return result;
}

// An entry of a row that counts, in the place of its column.
struct Entry {
    std::int32_t column;
    Gaussian value;
};

std::vector<Entry> entries_of(const InputPattern &input, const Values &values, std::int32_t row,
                              const std::vector<std::int32_t> &place) {
    std::vector<Entry> entries;
    std::int64_t k = input.pattern.row_begin(row);
    for (const std::int32_t j : input.pattern.row(row)) {
        Gaussian x = values.wide.empty() ? Gaussian{mpq_class(values.real[at(k)]), 0} : values.wide[at(k)];
        ++k;
        if (place[at(j)] >= 0 && !is_zero(x)) entries.push_back({place[at(j)], std::move(x)});
    }
    return entries;
}

void add_row(Integers &out, const std::vector<Entry> &entries, const Sides &kinds, std::int32_t count) {
    mpz_class multiple = 1, divisor = 0, most = 0; // of denominators, of numerators; of a row sum
    for (const Entry &e : entries)
        for (const mpq_class *x : {&e.value.re, &e.value.im}) {
            multiple = lcm(multiple, x->get_den());
            divisor = gcd(divisor, x->get_num());
        }
    if (divisor == 0) divisor = 1;
    for (const Entry &e : entries) {
        const auto whole = [&](const mpq_class &x) {
            return mpz_class(x.get_num() / divisor * (multiple / x.get_den()));
        };
        out.pattern.col.push_back(e.column);
        out.re.push_back(whole(e.value.re));
        out.im.push_back(whole(e.value.im));
        most += (abs(out.re.back()) + abs(out.im.back())) * kinds.columns[at(e.column)].count;
        out.nnz += std::int64_t{count} * kinds.columns[at(e.column)].count;
    }
    out.pattern.row_ptr.push_back(static_cast<std::int64_t>(out.pattern.col.size()));
    out.plan.row_kinds.push_back({static_cast<std::int32_t>(out.plan.row_kinds.size()), count});
    out.factor *= power(mpq_class(divisor, multiple), count);
    out.bits += static_cast<double>(mpz_sizeinbase(most.get_mpz_t(), 2)) * count;
}

// The kind of columns that is left out of the sum is one of the fewest: m + 1 counts become m.
void plan_columns(const Sides &kinds, RyserPlan &plan) {
    for (std::size_t t = 0; t < kinds.columns.size(); ++t)
        plan.column_kinds.push_back({static_cast<std::int32_t>(t), kinds.columns[t].count});
    const auto left_out =
        std::min_element(plan.column_kinds.begin(), plan.column_kinds.end(),
                         [](const EqualLines &x, const EqualLines &y) { return x.count < y.count; });
    plan.last_column = left_out->line;
    if (--left_out->count == 0) plan.column_kinds.erase(left_out);
    for (const EqualLines &c : plan.column_kinds) plan.terms *= c.count + 1.0;
}

Integers integers_of(const Sides &kinds, const InputPattern &input, const Values &values) {
    Integers out;
    std::vector<std::int32_t> place(at(input.pattern.cols), -1);
    for (std::size_t t = 0; t < kinds.columns.size(); ++t)
        place[at(kinds.columns[t].line)] = static_cast<std::int32_t>(t);
    for (const EqualLines &row : kinds.rows)
        add_row(out, entries_of(input, values, row.line, place), kinds, row.count);
    if (kinds.ones > 0) {
        std::vector<Entry> ones;
        for (std::size_t t = 0; t < kinds.columns.size(); ++t)
            ones.push_back({static_cast<std::int32_t>(t), {1, 0}});
        add_row(out, ones, kinds, static_cast<std::int32_t>(kinds.ones));
        mpz_class ways; // that these rows can take the columns left
        mpz_fac_ui(ways.get_mpz_t(), static_cast<unsigned long>(kinds.ones));
        out.factor /= mpq_class(ways);
    }
    if (std::all_of(out.im.begin(), out.im.end(), [](const mpz_class &x) { return x == 0; })) out.im.clear();
    plan_columns(kinds, out.plan);
    const std::size_t lines = std::max(out.plan.row_kinds.size(), kinds.columns.size());
    const std::size_t order = lines + (lines + at(kinds.n)) % 2;
    out.pattern.row_ptr.resize(order + 1, out.pattern.nnz());
    out.pattern.rows = out.pattern.cols = static_cast<std::int32_t>(order);
    return out;
}

std::size_t primes_for(const Integers &a) {
    return static_cast<std::size_t>((a.bits + 2) / certain_bits) + 1;
}

double serial_seconds(const Integers &a) {
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

Gaussian permanent_of(const Integers &a, RunControl &control) {
    const Poll poll = [&control] { control.poll(); };
    const bool gaussian = !a.im.empty();
    const std::vector<std::uint64_t> primes = primes_below(prime_bits, primes_for(a), gaussian, poll);
    std::vector<std::uint64_t> residues;
    for (std::size_t first = 0; first < primes.size(); first += primes_at_once) {
        const auto begin = primes.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = static_cast<std::ptrdiff_t>(std::min(primes_at_once, primes.size() - first));
        const EngineResult some =
            ryser_modular(a.plan, residues_of(a.pattern, a.re, a.im, {begin, begin + count}, poll), control);
        const auto &found = std::get<ResidueVector>(some.value);
        residues.insert(residues.end(), found.begin(), found.end());
    }
    return from_residues(primes, residues, gaussian, poll) * Gaussian{a.factor, 0};
}

} // namespace

std::optional<ExactKinds> compute_exact_kinds(const perm_csr *a, const Options &options,
                                              RunControl &control) {
    if (!is_for_kinds(a) || !is_usual(options)) return {};
    Sides kinds;
    std::int64_t rows = 0;
    if (!read_side(a->row_multiplicity, a->n_rows, kinds.rows, rows) ||
        !read_side(a->col_multiplicity, a->n_cols, kinds.columns, kinds.n) || rows > kinds.n || kinds.n == 0)
        return {};
    kinds.ones = kinds.n - rows;
    const std::optional<InputPattern> input = read_entries(*a);
    if (!input) return {};
    std::vector<double> row_count(at(a->n_rows), 0), column_count(at(a->n_cols), 0);
    for (const EqualLines &r : kinds.rows) row_count[at(r.line)] = r.count;
    for (const EqualLines &c : kinds.columns) column_count[at(c.line)] = c.count;
    kinds.written = static_cast<double>(kinds.ones) * static_cast<double>(kinds.n);
    for (std::int32_t i = 0; i < input->pattern.rows; ++i)
        for (const std::int32_t j : input->pattern.row(i))
            kinds.written += row_count[at(i)] * column_count[at(j)];
    if (kinds.written < least_written) return {};

    const Integers integers = integers_of(kinds, *input, read_values(*input, a->values));
    const double serial = serial_seconds(integers), seconds = seconds_on(options.threads, serial);
    const bool fits = kinds.written * written_bytes <= static_cast<double>(options.memory_limit);
    const double most_seconds = std::min(options.refuse_seconds, worth_waiting);
    if (integers.plan.terms > most_terms || seconds > most_seconds || (fits && serial > worth_writing_out))
        return {};
    ExactKinds result;
    control.begin((integers.im.empty() ? 1 : 2) * static_cast<double>(primes_for(integers)) *
                      integers.plan.terms,
                  seconds);
    with_threads(options.threads, [&] {
        set_value(result.outcome, WideBall{permanent_of(integers, control), {}});
    });
    result.n = kinds.n;
    result.nnz = integers.nnz;
    result.outcome.engine = Engine::ryser;
    result.outcome.blocks = result.outcome.blocks_computed = 1;
    result.outcome.predicted_seconds = serial;
    result.outcome.counts.subsets = integers.plan.terms;
    result.outcome.counts.operations =
        integers.plan.terms * static_cast<double>(primes_for(integers) * integers.plan.row_kinds.size());
    return result;
}

} // namespace libperm
