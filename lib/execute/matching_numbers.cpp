#include "lib/execute/matching_numbers.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/struct_size.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/checkpoint.hpp"
#include "lib/execute/execute.hpp"
#include "lib/execute/ferrers_numbers.hpp"
#include "lib/execute/matching_sums.hpp"
#include "lib/input/written_out.hpp"
#include "lib/number/ball.hpp"
#include "lib/run/placement.hpp"
#include "lib/run/run_control.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace libperm {
namespace {

constexpr double as_planning = 0.005; // seconds

// The entries as whole numbers: times their common denominator.
struct WholeEntries {
    std::vector<Gaussian> numbers;
    mpz_class denominator = 1;
};

WholeEntries whole_entries(Values values, const Poll &poll) {
    WholeEntries out;
    PolledSteps steps(poll);
    for (const double x : values.real) out.numbers.push_back({mpq_class(x), 0});
    for (Gaussian &x : values.wide) out.numbers.push_back(std::move(x));
    for (const Gaussian &x : out.numbers)
        for (const mpq_class *part : {&x.re, &x.im}) {
            steps.take(16);
            if (part->get_den() != 1) out.denominator = lcm(out.denominator, part->get_den());
        }
    for (Gaussian &x : out.numbers) {
        steps.take(16);
        x.re *= out.denominator;
        x.im *= out.denominator;
    }
    return out;
}

mpq_class number_of(const Scaled &x) {
    mpq_class number(x.mantissa);
    const auto shift = static_cast<mp_bitcnt_t>(std::abs(x.exp2));
    return x.exp2 < 0 ? mpq_class(number >> shift) : mpq_class(number << shift);
}

// This bounds each of the numbers of matchings: every row is in none of its entries, or in one.
double bits_of_numbers(const Pattern &a, const std::vector<Gaussian> &entries, const LineCounts &row_count,
                       const LineCounts &column_count, const Poll &poll) {
    PolledSteps steps(poll);
    double bits = 2; // a sign, and what these sums of logarithms are rounded by
    for (std::int32_t i = 0; i < a.rows; ++i) {
        mpz_class sum = 1;
        std::int64_t k = a.row_begin(i);
        for (const std::int32_t j : a.row(i)) {
            steps.take(16);
            const Gaussian &x = entries[at(k++)];
            sum += (abs(x.re.get_num()) + abs(x.im.get_num())) * static_cast<long>(column_count[j]);
        }
        signed long exp2 = 0;
        const double mantissa = mpz_get_d_2exp(&exp2, sum.get_mpz_t());
        bits += static_cast<double>(row_count[i]) * (static_cast<double>(exp2) + std::log2(mantissa) + 1e-9);
    }
    return std::ceil(bits);
}

// The c_k are read off a sum of c_k 2^(b k), |c_k| < 2^(b - 1).
std::vector<mpz_class> digits_of(mpz_class sum, std::size_t count, unsigned long bits, const Poll &poll) {
    std::vector<mpz_class> digits(count);
    const mpz_class half = mpz_class(1) << (bits - 1);
    for (mpz_class &digit : digits) {
        poll();
        mpz_fdiv_r_2exp(digit.get_mpz_t(), sum.get_mpz_t(), bits);
        if (digit >= half) digit -= mpz_class(1) << bits;
        sum -= digit;
        mpz_fdiv_q_2exp(sum.get_mpz_t(), sum.get_mpz_t(), bits);
    }
    if (sum != 0) throw Error(PERM_INTERNAL, "the numbers of matchings do not fit into their sum");
    return digits;
}

constexpr std::int64_t of_number = sizeof(Gaussian) + 4 * 32; // bytes, with four short numbers

// What side_by_side comes to beside the entries: long numbers, each as often as it is written out.
std::int64_t bytes_side_by_side(std::int64_t entries, unsigned long bits,
                                const std::vector<std::int64_t> &source, const Poll &poll) {
    PolledSteps steps(poll);
    std::int64_t times = entries;
    for (const std::int64_t k : source) {
        steps.take();
        times += k >= 0 && k < entries;
    }
    return of_number * std::ssize(source) + static_cast<std::int64_t>(bits / 8) * times;
}

// Every entry times 2^bits, the weights 1.
Values side_by_side(std::vector<Gaussian> entries, unsigned long bits, const InputPattern &written,
                    const std::vector<std::int64_t> &source, const Poll &poll) {
    Values values;
    PolledSteps steps(poll);
    for (Gaussian &x : entries) {
        steps.take(64 + static_cast<std::int64_t>(bits / 32));
        x.re <<= bits;
        x.im <<= bits;
        values.wide.push_back(std::move(x));
    }
    values.wide.resize(at(value_count(written)), Gaussian{1, 0});
    return spread(values, source, poll);
}

// All entries are made whole numbers.
struct WholeNumbers {
    std::vector<mpz_class> re, im; // times denominator^k; no im: they are real
};

std::optional<MatchingSums> cheapest_sums(const Pattern &a, const WholeEntries &whole,
                                          const LineCounts &row_count, const LineCounts &column_count,
                                          double bits, const Options &options, RunControl &control) {
    if (options.names_engine() || options.device == Device::gpu || !options.checkpoint.empty()) return {};
    const Poll poll = [&control] { control.poll(); };
    PolledSteps steps(poll);
    const Charge charge(&control.memory(), a.nnz() * 64);
    std::vector<mpz_class> values, in_columns;
    for (const Gaussian &x : whole.numbers) {
        steps.take(16);
        if (x.im != 0) return {};
        values.push_back(x.re.get_num());
    }
    const Transposed columns = transpose(a, poll);
    for (const std::int64_t k : columns.source) {
        steps.take(16);
        in_columns.push_back(values[at(k)]);
    }
    std::optional<MatchingSums> over_columns =
        MatchingSums::of(columns.pattern, in_columns, column_count, row_count, bits, control);
    std::optional<MatchingSums> over_rows =
        MatchingSums::of(a, values, row_count, column_count, bits, control);
    const bool takes_rows =
        over_rows && (!over_columns || over_rows->serial_seconds() < over_columns->serial_seconds());
    return takes_rows ? std::move(over_rows) : std::move(over_columns);
}

void require_time(double seconds, const MatchingSums &sums, const Options &options) {
    if (seconds > options.refuse_seconds)
        throw refused_for_time(
            formatted("the numbers of matchings by sums over {:.3g} subsets are", sums.terms()), seconds,
            options);
}

std::optional<WholeNumbers> numbers_of_board(const Pattern &a, const WholeEntries &whole,
                                             const LineCounts &row_count, const LineCounts &column_count,
                                             std::size_t count, const Options &options, RunControl &control) {
    if (options.names_engine() || options.device == Device::gpu || !options.checkpoint.empty()) return {};
    const Charge charge(&control.memory(), a.nnz() * 32);
    std::vector<mpz_class> values;
    for (const Gaussian &x : whole.numbers) {
        if (x.im != 0) return {};
        values.push_back(x.re.get_num());
    }
    auto re = ferrers_numbers(a, values, row_count, column_count, count, [&control] { control.poll(); });
    if (!re) return {};
    return WholeNumbers{std::move(*re), {}};
}

WholeNumbers numbers_by_sums(const MatchingSums &sums, double seconds, std::size_t count,
                             const Options &options, RunControl &control, Outcome &like) {
    require_time(seconds, sums, options);
    log_decision(formatted("numbers of matchings: sums over {:.3g} subsets of lines, {} predicted",
                           sums.terms(), readable_seconds(seconds)));
    WholeNumbers out{sums.run(count, options.threads, control), {}};
    like.engine = engine_for(Goal::matchings);
    like.blocks = like.blocks_computed = 1;
    like.predicted_seconds = seconds;
    like.counts.subsets = sums.terms();
    like.counts.peak_bytes = control.memory().peak();
    return out;
}

WholeNumbers numbers_of(const Outcome &sum, std::size_t count, unsigned long bits, const Poll &poll) {
    const Gaussian number = sum.wide ? *sum.wide : Gaussian{number_of(sum.value), 0};
    return {digits_of(number.re.get_num(), count, bits, poll),
            digits_of(number.im.get_num(), count, bits, poll)};
}

} // namespace

MatchingNumbers matching_numbers(const perm_csr *given, const Options &options, std::int64_t count,
                                 RunControl &control) {
    const Poll poll = [&control] { control.poll(); };
    InputPattern input = read_free(given, poll, &control.memory());
    const perm_csr csr = read_known(*given, offsetof(perm_csr, row_multiplicity), "perm_csr");
    InputPattern entries = *input.written;
    entries.row_weights = entries.col_weights = false;
    if (!entries.source.empty()) entries.source.resize(at(entries.pattern.nnz()));
    const Pattern &a = entries.pattern;
    const Charge of_entries(&control.memory(), of_number * a.nnz());
    WholeEntries whole = whole_entries(read_values(entries, csr.values, poll, &control.memory()), poll);

    const LineCounts row_count(csr.row_multiplicity, a.rows, "row"),
        column_count(csr.col_multiplicity, a.cols, "col");
    const std::int64_t most = std::min(row_count.sum(), column_count.sum());
    if (count != most + 1)
        throw Error(PERM_BAD_ARGUMENT,
                    formatted("count is {}: of {} rows and {} columns there are {} numbers of "
                              "matchings",
                              count, row_count.sum(), column_count.sum(), most + 1));
    const double bits = bits_of_numbers(a, whole.numbers, row_count, column_count, poll);
    const double bytes = bits * static_cast<double>(most + 1) / 8 * 4; // residues, the number and its digits
    if (bytes > static_cast<double>(options.memory_limit))
        throw refused_for_memory(
            formatted("the numbers of matchings with 0 to {} edges have up to {:.3g} bits each: {}", most,
                      bits, readable_bytes(bytes)),
            static_cast<double>(options.memory_limit), "raise the limit: memory_limit_bytes");
    Options exact = options;
    exact.precision = Precision::exact;
    std::optional<WholeNumbers> of_board =
        numbers_of_board(a, whole, row_count, column_count, at(count), options, control);
    const std::optional<MatchingSums> sums =
        of_board ? std::nullopt : cheapest_sums(a, whole, row_count, column_count, bits, options, control);
    const double seconds = sums ? sums->serial_seconds() / options.threads : 0;
    MatchingNumbers out;
    Outcome like;
    WholeNumbers numbers;
    const auto by_sums = [&] {
        numbers = numbers_by_sums(*sums, seconds, at(count), options, control, like);
    };
    if (of_board) {
        out.plan.input = std::move(input);
        out.plan.options = exact;
        numbers = std::move(*of_board);
    } else if (sums && seconds < as_planning) {
        out.plan.input = std::move(input);
        out.plan.options = exact;
        by_sums();
    } else {
        const auto shift = static_cast<unsigned long>(bits);
        const Charge of_values(&control.memory(), bytes_side_by_side(a.nnz(), shift, input.source, poll));
        Values values = side_by_side(std::move(whole.numbers), shift, *input.written, input.source, poll);
        input.value_type = PERM_VALUE_TEXT;
        simplify(input, values);
        out.plan = make_kept_plan(std::move(input), exact, values, control);
        if (sums && (out.plan.refusal != PERM_OK || seconds < out.plan.seconds)) {
            by_sums();
        } else {
            like = execute_kept(out.plan, values, control);
            numbers = numbers_of(like, at(count), shift, poll);
        }
    }
    mpz_class power = 1;
    for (std::size_t k = 0; k < numbers.re.size(); ++k) {
        Outcome one = like;
        Gaussian coefficient{mpq_class(numbers.re[k], power),
                             numbers.im.empty() ? mpq_class(0) : mpq_class(numbers.im[k], power)};
        coefficient.re.canonicalize();
        coefficient.im.canonicalize();
        set_value(one, WideBall{std::move(coefficient), {}});
        round_off(options, one);
        out.numbers.push_back(std::move(one));
        power *= whole.denominator;
    }
    return out;
}

} // namespace libperm
