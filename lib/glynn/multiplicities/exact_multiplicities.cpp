#include "lib/glynn/multiplicities/exact_multiplicities.hpp"

#include "jit/text/text.hpp"
#include "lib/base/threads.hpp"
#include "lib/glynn/entries.hpp"
#include "lib/glynn/multiplicities/integer_multiplicities.hpp"
#include "lib/glynn/multiplicities/linear_powers.hpp"
#include "lib/input/matrix.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/number/residues.hpp"
#include "lib/run/cost.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/placement.hpp"
#include "lib/run/run_control.hpp"
#include "lib/ryser/sums.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <limits>
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
           a->n_cols >= 1 && a->n_cols <= most_lines_read && a->nnz >= 0 && a->nnz <= a->n_rows * a->n_cols &&
           a->row_ptr && (a->nnz == 0 || a->col_idx) &&
           (a->index_type == PERM_INDEX_I64 || a->index_type == PERM_INDEX_I32) &&
           a->value_type >= PERM_VALUE_F64 && a->value_type <= PERM_VALUE_TEXT;
}

bool is_usual(const Options &o) {
    return (!o.names_engine() || o.engine == engine_for(Goal::multiplicities)) && o.device != Device::gpu &&
           o.reckoned_gpus == 0 && o.passes.merging && o.checkpoint.empty() && !o.machine &&
           (o.precision == Precision::automatic || o.precision == Precision::double_ ||
            o.precision == Precision::exact);
}

// Reads the pattern that the caller gave, columns ascending.
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

Gaussian permanent_modulo_primes(const IntegerMultiplicities &a, RunControl &control) {
    const Poll poll = [&control] { control.poll(); };
    const bool gaussian = !a.im.empty();
    const double residue_bytes =
        16 * matrices_of(a) + 8.0 * primes_at_once * static_cast<double>(a.re.size());
    const Charge charge(&control.memory(),
                        bytes_of_results(a) + static_cast<std::int64_t>(std::min(residue_bytes, 0x1p61)));
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
    return from_residues(primes, residues, gaussian, poll, &control.memory()) *
           Gaussian{factor_of(a, poll), 0};
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

Gaussian permanent_of_two(const IntegerMultiplicities &a, TwoClasses kinds, RunControl &control) {
    const Poll poll = [&control] { control.poll(); };
    const Charge charge(&control.memory(), bytes_of_results(a));
    const GaussianInteger x = coefficient(std::move(kinds.powers), kinds.first, poll, &control.memory());
    mpz_class orders, of_second;
    mpz_fac_ui(orders.get_mpz_t(), static_cast<unsigned long>(kinds.first));
    mpz_fac_ui(of_second.get_mpz_t(), static_cast<unsigned long>(kinds.second));
    orders *= of_second;
    poll();
    return Gaussian{mpq_class(x.re * orders), mpq_class(x.im * orders)} * Gaussian{factor_of(a, poll), 0};
}

// No other way would take less.
void require_time(const Sides &kinds, double seconds, const Options &options) {
    if (seconds > options.refuse_seconds)
        throw refused_for_time(formatted("two kinds of lines (n = {}) are", kinds.n), seconds, options);
}

ExactMultiplicities result_of(const IntegerMultiplicities &a, const Sides &kinds, Engine engine,
                              double seconds, const Gaussian &permanent, RunControl &control) {
    ExactMultiplicities result;
    set_value(result.outcome, WideBall{permanent, {}});
    result.n = kinds.n;
    result.nnz = a.nnz;
    result.outcome.engine = engine;
    result.outcome.blocks = result.outcome.blocks_computed = 1;
    result.outcome.predicted_seconds = seconds;
    result.outcome.counts.peak_bytes = control.memory().peak();
    return result;
}

} // namespace

std::optional<ExactMultiplicities> compute_exact_multiplicities(const perm_csr *a, const Options &options,
                                                                RunControl &control) {
    if (!is_for_kinds(a) || !is_usual(options)) return {};
    const std::optional<InputPattern> input = read_entries(*a);
    if (!input) return {};
    const std::optional<Sides> kinds = read_sides(*a, input->pattern);
    if (!kinds || kinds->written < least_written_of_two) return {};
    const Poll poll = [&control] { control.poll(); };
    const IntegerMultiplicities integers = integer_multiplicities_of(
        *kinds, *input, read_values(*input, a->values, poll, &control.memory()), poll);
    if (std::optional<TwoClasses> two = options.names_engine() ? std::nullopt : two_classes_of(integers)) {
        const double seconds = coefficient_seconds(two->powers, two->first);
        require_time(*kinds, seconds, options);
        control.begin(0, seconds);
        const Gaussian permanent = permanent_of_two(integers, *std::move(two), control);
        return result_of(integers, *kinds, Engine::none, seconds, permanent, control);
    }
    if (kinds->written < least_written) return {};
    const double serial = serial_seconds(integers), seconds = seconds_on(options.threads, serial);
    const bool fits = kinds->written * written_bytes <= static_cast<double>(options.memory_limit);
    if (integers.plan.terms > most_exact_terms || seconds > options.refuse_seconds ||
        seconds_on(usual_threads, serial) > worth_waiting || (fits && serial > worth_writing_out))
        return {};
    control.begin(matrices_of(integers) * integers.plan.terms, seconds);
    Gaussian permanent;
    with_threads(options.threads, [&] { permanent = permanent_modulo_primes(integers, control); });
    ExactMultiplicities result =
        result_of(integers, *kinds, engine_for(Goal::multiplicities), serial, permanent, control);
    result.outcome.counts.subsets = integers.plan.terms;
    result.outcome.counts.operations =
        integers.plan.terms * static_cast<double>(primes_for(integers) * integers.plan.row_kinds.size());
    return result;
}

} // namespace libperm
