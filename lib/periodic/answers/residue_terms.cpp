#include "lib/periodic/answers/residue_terms.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/number/chinese_remainder.hpp"
#include "lib/periodic/answers/terms.hpp"
#include "lib/periodic/table/table_walk.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace libperm {
namespace {

// A move takes that for each prime: with ones in lanes, with ones, with other entries.
constexpr double seconds_in_lanes = 0.4e-9, seconds_of_one = 0.7e-9, seconds_each = 2e-9;
constexpr double seconds_of_prime = 5e-6; // that is found

// Multiplies each row of a part by what makes its entries whole numbers.
void make_integer(const std::vector<PeriodicEntry> &entries, std::int32_t rows, std::size_t base,
                  IntegerEntries &out, const std::vector<Gaussian> &values, mpz_class &factor) {
    std::vector<mpz_class> multiple(static_cast<std::size_t>(rows), 1);
    const auto of = [&](std::size_t k) -> mpz_class & {
        return multiple[static_cast<std::size_t>(entries[k].row)];
    };
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const Gaussian &x = values[base + k];
        of(k) = lcm(lcm(of(k), x.re.get_den()), x.im.get_den());
    }
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const auto whole = [&](const mpq_class &x) { return mpz_class(x.get_num() * (of(k) / x.get_den())); };
        out.re[base + k] = whole(values[base + k].re);
        if (!out.im.empty()) out.im[base + k] = whole(values[base + k].im);
    }
    for (const mpz_class &m : multiple) factor *= m;
}

// `number`: of a state; `advance`: by a period of the program.
template <class NumberOf, class Advance>
void walk(const TableProgram &program, std::int64_t first, std::int64_t count, const NumberOf &number,
          const Advance &advance) {
    const auto period = [&](std::int64_t m) { return static_cast<std::int32_t>(m % program.periods); };
    walk_lengths(
        0, first, count, [&](std::int64_t m) { number(program.ends[static_cast<std::size_t>(period(m))]); },
        [&](std::int64_t m) { advance(period(m)); });
}

// Tells which entries are 1 modulo all primes.
std::vector<bool> ones_of(const Residues &residues) {
    std::vector<bool> ones(residues.values.front().size(), true);
    for (const std::vector<std::uint64_t> &values : residues.values)
        for (std::size_t k = 0; k < ones.size(); ++k) ones[k] = ones[k] && values[k] == 1;
    return ones;
}

// Modulo few primes at once, by the operator or, where it is not written out, by its table.
template <int K>
ResidueTerms few(const PeriodicPlan &plan, const Residues &residues, std::size_t begin, std::int64_t first,
                 std::int64_t count) {
    using Numbers = ResidueNumbers<K>;
    Numbers numbers(residues, begin);
    const std::vector<typename Numbers::Factor> factors = numbers.begin_step(all_entries(plan.values.size()));
    ResidueTerms terms(std::min<std::size_t>(K, residues.primes.size() - begin));
    const auto take = [&](const typename Numbers::Number &term) {
        const auto closed = numbers.close(term);
        for (std::size_t k = 0; k < terms.size(); ++k) terms[k].push_back(closed[k]);
    };
    if (!plan.tables) {
        for (const auto &term : terms_of(plan, numbers, factors, first, count)) take(term);
        return terms;
    }
    const std::vector<bool> ones = ones_of(residues);
    TableOnCpu<Numbers> table(*plan.tables, plan.tables->used, numbers, factors, ones);
    table.begin(numbers.zero());
    table.set(plan.tables->ends.front(), numbers.one());
    walk(
        *plan.tables, first, count, [&](std::uint64_t state) { take(table.number(state)); },
        [&](std::int32_t u) { table.advance(u); });
    return terms;
}

void find_in_groups(const PeriodicPlan &plan, const Residues &residues, std::int64_t first,
                    std::int64_t count, const TellTerms &tell) {
    const NumberedPieces groups = NumberedPieces::of_length(residues.primes.size(), residues_at_once);
    const auto find = [&](std::uint64_t g) {
        const std::size_t begin = groups[g].first, size = groups[g].last - begin;
        call().begin_piece();
        ResidueTerms some = size == 1   ? few<1>(plan, residues, begin, first, count)
                            : size == 2 ? few<2>(plan, residues, begin, first, count)
                                        : few<residues_at_once>(plan, residues, begin, first, count);
        parallel_for(size, [&](std::uint64_t k) { tell(begin + k, std::move(some[k])); });
    };
    if (!plan.tables) return parallel_for(groups.count(), find);
    for (std::uint64_t g = 0; g < groups.count(); ++g) find(g); // threads share the table
}

// A residue as devices have it, next to 0, and back.
double next_to_zero(std::uint64_t residue, std::uint64_t prime) {
    return residue > prime / 2 ? -static_cast<double>(prime - residue) : static_cast<double>(residue);
}
std::uint64_t residue_of(double next_to_zero, std::uint64_t prime) {
    const auto x = static_cast<std::int64_t>(next_to_zero);
    return static_cast<std::uint64_t>(x < 0 ? x + static_cast<std::int64_t>(prime) : x);
}

void on_device(DeviceQueue &queue, const PeriodicPlan &plan, const Residues &residues,
               const NumberRange &primes, std::int64_t first, std::int64_t count, const TellTerms &tell) {
    TableOnDevice table(queue, *plan.tables, plan.tables->used, Arithmetic::modular);
    const std::vector<bool> ones = ones_of(residues);
    for (std::size_t k = primes.first; k < primes.last; ++k) {
        const std::uint64_t p = residues.primes[k];
        std::vector<double> coefficients;
        for (const std::uint64_t a : residues.values[k])
            coefficients.insert(coefficients.end(), {next_to_zero(a, p), 0});
        table.take(coefficients, ones, static_cast<double>(p));
        table.begin(table.table(), 0);
        table.set(table.table(), plan.tables->ends.front(), 1);
        call().begin_piece();
        std::vector<std::uint64_t> terms;
        walk(
            *plan.tables, first, count,
            [&](std::uint64_t state) { terms.push_back(residue_of(table.number(state), p) % p); },
            [&](std::int32_t u) { table.advance(u); });
        tell(k, std::move(terms));
    }
}

// The terms from which a recurrence tells all others: so many, behind the first.
std::int64_t determining(const PeriodicPlan &plan) { return 2 * plan.recurrence_order() + 2; }

// Lanes take primes just below 2^59.
bool is_of_lanes(const std::vector<std::uint64_t> &primes) {
    constexpr std::uint64_t highest = std::uint64_t{1} << residue_lane_bits;
    return std::all_of(primes.begin(), primes.end(),
                       [](std::uint64_t p) { return p < highest && p > highest - most_below; });
}

// Lanes walk where all entries are 1 and there is enough to do for them.
bool walks_in_lanes(const PeriodicPlan &plan, double primes) {
    constexpr double least_primes = 4; // of open ends, where each has a lane
    return plan.has_ones_alone() && (plan.joined() || primes >= least_primes);
}

// Of joined ends a lane has a start, of open ones a prime.
void find_in_lanes(const PeriodicPlan &plan, const std::vector<std::uint64_t> &primes, std::int64_t first,
                   std::int64_t count, const TellTerms &tell) {
    if (plan.joined()) {
        std::vector<LaneLevels> levels;
        for (const PeriodBlock &block : plan.loops)
            levels.push_back(block.starts_of(first, count).empty() ? LaneLevels()
                                                                   : lane_levels(block.levels));
        const auto of_block = [&](std::size_t b) -> const LaneLevels & { return levels[b]; };
        return parallel_for(primes.size(), [&](std::uint64_t k) {
            call().begin_piece();
            tell(k, traces_of(plan, LaneSums(std::span(&primes[k], 1)), of_block, first, count));
        });
    }
    const LaneLevels start = lane_levels(plan.open.start), period = lane_levels(plan.open.period.levels),
                     finish = lane_levels(plan.open.finish);
    const NumberedPieces groups = NumberedPieces::of_length(primes.size(), residue_lanes);
    parallel_for(groups.count(), [&](std::uint64_t g) {
        const std::span some = std::span(primes).subspan(groups[g].first, groups[g].last - groups[g].first);
        call().begin_piece();
        const LaneSums sums(some);
        ResidueTerms terms(some.size());
        walk_open(
            plan, sums, OpenLevels<LaneLevels>{start, period, finish}, first, count,
            [&](const auto &) { return plan.open.least; },
            [&](const ResidueLanes &x) {
                for (std::size_t k = 0; k < some.size(); ++k) terms[k].push_back(sums.residue(x, k));
            });
        parallel_for(some.size(), [&](std::uint64_t k) { tell(groups[g].first + k, std::move(terms[k])); });
    });
}

} // namespace

bool recurs(const PeriodicPlan &plan, std::int64_t m) {
    return !plan.tables && m > plan.first_term() + 2 * determining(plan);
}

int bits_of_primes(const PeriodicPlan &plan, double bits) {
    if (plan.tables) return residue_bits;
    return walks_in_lanes(plan, bits / residue_lane_bits) ? residue_lane_bits : residue_bits;
}

IntegerEntries integer_entries(const PeriodicPlan &plan) {
    poll();
    IntegerEntries out;
    out.re.resize(plan.values.size());
    if (!plan.real) out.im.resize(plan.values.size());
    const PeriodicMatrix &a = plan.matrix;
    make_integer(a.entries, a.rows, 0, out, plan.values, out.per_cell);
    make_integer(a.head.entries, a.head.rows, a.entries.size(), out, plan.values, out.of_ends);
    make_integer(a.tail.entries, a.tail.rows, a.entries.size() + a.head.entries.size(), out, plan.values,
                 out.of_ends);
    out.re.back() = 1;
    return out;
}

double factor_bits(const IntegerEntries &entries, std::int64_t m) {
    const auto bits_of = [](const mpz_class &x) { // of 1 none
        long exp2 = 0;
        const double mantissa = mpz_get_d_2exp(&exp2, x.get_mpz_t());
        return (static_cast<double>(exp2) + std::log2(mantissa)) * (1 + 1e-14);
    };
    return bits_of(entries.per_cell) * static_cast<double>(m) + bits_of(entries.of_ends);
}

Residues residues_of(const IntegerEntries &entries, const std::vector<std::uint64_t> &primes) {
    static const Pattern none; // the entries are no matrix's
    return residues_of(none, entries.re, entries.im, primes);
}

void find_modulo(const PeriodicPlan &plan, const IntegerEntries &entries,
                 const std::vector<std::uint64_t> &primes, std::int64_t first, std::int64_t count,
                 const TellTerms &tell, const DeviceQueues *queues) {
    if (!plan.tables && is_of_lanes(primes) && walks_in_lanes(plan, static_cast<double>(primes.size())))
        return find_in_lanes(plan, primes, first, count, tell);
    const Residues residues = residues_of(entries, primes);
    if (plan.tables) return find_by_table(plan, residues, first, count, queues, tell);
    find_in_groups(plan, residues, first, count, tell);
}

ResidueTerms terms_modulo(const PeriodicPlan &plan, const IntegerEntries &entries,
                          const std::vector<std::uint64_t> &primes, std::int64_t first, std::int64_t count) {
    return told_terms(primes.size(),
                      [&](const TellTerms &tell) { find_modulo(plan, entries, primes, first, count, tell); });
}

void find_by_recurrence(const PeriodicPlan &plan, const IntegerEntries &entries,
                        const std::vector<std::uint64_t> &primes, std::int64_t first, std::int64_t count,
                        const TellTerms &tell, const DeviceQueues *queues) {
    if (!recurs(plan, first)) return find_modulo(plan, entries, primes, first, count, tell, queues);
    const std::int64_t begin = plan.first_term();
    const auto go_on = [&](std::size_t k, const std::vector<std::uint64_t> &terms) {
        const Recurrence recurrence = shortest_recurrence(terms, primes[k]);
        std::vector<std::uint64_t> out;
        for (std::int64_t m = first; m < first + count; ++m)
            out.push_back(term_of(recurrence, terms, static_cast<std::uint64_t>(m - begin), primes[k]));
        tell(k, std::move(out));
    };
    find_modulo(plan, entries, primes, begin, determining(plan), go_on);
}

void find_by_table(const PeriodicPlan &plan, const Residues &residues, std::int64_t first, std::int64_t count,
                   const DeviceQueues *queues, const TellTerms &tell) {
    if (plan.joined())
        throw Error(PERM_REFUSED_MEMORY,
                    "joined ends are walked to from each of their states, whose operator does "
                    "not fit: raise memory_limit_bytes; their growth is found without it");
    if (queues) {
        const std::vector<DeviceQueue *> devices = queues->all();
        const NumberedPieces shares = NumberedPieces::so_many(residues.primes.size(), devices.size());
        return parallel_for(devices.size(), [&](std::uint64_t d) {
            if (shares[d].first < shares[d].last)
                on_device(*devices[d], plan, residues, shares[d], first, count, tell);
        });
    }
    find_in_groups(plan, residues, first, count, tell);
}

double table_seconds(const PeriodicPlan &plan, std::int64_t last) {
    constexpr double of_move = 3e-9;
    return static_cast<double>(last) * plan.moves() * of_move;
}

Work placed_table(const PeriodicPlan &plan, double cpu_seconds, double gpu_seconds, double gpu_bytes,
                  bool is_shared) {
    return {"periodic",
            cpu_seconds / plan.options.threads,
            gpu_start::open + gpu_start::compile,
            [gpu_seconds](const GpuProperties &) { return gpu_seconds; },
            gpu_bytes,
            is_shared};
}

double exact_seconds(const PeriodicPlan &plan, std::int64_t first, std::int64_t count, double bits) {
    constexpr double product = 3e-9; // modulo a prime
    if (plan.tables)
        return (bits / residue_bits + 1) * (plan.real ? 1 : 2) * table_seconds(plan, first + count - 1);
    const std::int64_t last = first + count - 1;
    const bool by_recurrence = recurs(plan, first);
    const auto terms = static_cast<double>(by_recurrence ? determining(plan) : last - plan.open.least + 1);
    const double primes = (bits / residue_bits + 1) * (plan.real ? 1 : 2);
    double each = terms * plan.moves_of_starts(first, by_recurrence ? determining(plan) : count) *
                  (walks_in_lanes(plan, primes) ? seconds_in_lanes
                   : plan.has_ones_alone()      ? seconds_of_one
                                                : seconds_each);
    if (by_recurrence) {
        const auto order = static_cast<double>(plan.recurrence_order());
        each += order * order *
                (4 + 2 * std::log2(static_cast<double>(last) + 1) * static_cast<double>(count)) * product;
    }
    return (each + seconds_of_prime) * primes + chinese_remainder_seconds(primes, static_cast<double>(count));
}

namespace {

// Joined ends far out may have their operator squared.
bool squares_modulo(const PeriodicPlan &plan, std::uint64_t prime, std::int64_t first, std::int64_t count) {
    if (!plan.joined() || plan.tables) return false;
    return residue_squares_seconds(plan, first, prime) * static_cast<double>(count) <
           exact_seconds(plan, first, count, 0);
}

} // namespace

double modular_seconds(const PeriodicPlan &plan, std::uint64_t prime, std::int64_t first,
                       std::int64_t count) {
    return squares_modulo(plan, prime, first, count)
               ? residue_squares_seconds(plan, first, prime) * static_cast<double>(count)
               : exact_seconds(plan, first, count, 0);
}

std::vector<std::uint64_t> terms_modulo_prime(const PeriodicPlan &plan, std::uint64_t prime,
                                              std::int64_t first, std::int64_t count) {
    if (!plan.real) throw Error(PERM_BAD_OPTION, "precision mod:P takes real entries: these are complex");
    const IntegerEntries entries = integer_entries(plan);
    const Montgomery field(prime);
    const auto residue = [&](const mpz_class &x) { return field.to(mpz_fdiv_ui(x.get_mpz_t(), prime)); };
    const std::uint64_t per_cell = residue(entries.per_cell), of_ends = residue(entries.of_ends);
    if (per_cell == 0 || of_ends == 0)
        throw Error(
            PERM_BAD_OPTION,
            formatted("an entry's denominator is a multiple of {}: it has no value modulo it", prime));
    std::vector<std::uint64_t> out;
    if (squares_modulo(plan, prime, first, count)) {
        const Residues residues = residues_of(entries, {prime});
        for (std::int64_t m = first; m < first + count; ++m) out.push_back(trace_modulo(plan, residues, m));
    } else {
        const TellTerms tell = [&out](std::size_t, std::vector<std::uint64_t> terms) {
            out = std::move(terms);
        };
        find_by_recurrence(plan, entries, {prime}, first, count, tell);
    }
    for (std::size_t k = 0; k < out.size(); ++k) {
        const auto m = static_cast<std::uint64_t>(first) + k;
        const std::uint64_t divisor = field.multiply(field.power(per_cell, m), of_ends);
        out[k] = field.from(field.multiply(field.to(out[k]), field.power(divisor, prime - 2)));
    }
    return out;
}

namespace {

using Words = std::vector<std::uint64_t>;

Words to(const Montgomery &field, const Words &x) {
    Words out;
    out.reserve(x.size());
    for (const std::uint64_t w : x) out.push_back(field.to(w));
    return out;
}

// x(t) y(t) modulo t^order + c[1] t^(order-1) + ... + c[order].
Words product(const Montgomery &field, const Words &x, const Words &y, const Words &c, PolledSteps &steps) {
    const std::size_t order = c.size() - 1;
    Words wide(2 * order, 0);
    for (std::size_t i = 0; i < order; ++i) {
        steps.take(static_cast<std::int64_t>(order) * 2);
        for (std::size_t j = 0; j < order; ++j)
            wide[i + j] = field.add(wide[i + j], field.multiply(x[i], y[j]));
    }
    for (std::size_t k = 2 * order; k-- > order;) {
        steps.take(static_cast<std::int64_t>(order) * 2);
        const std::uint64_t high = wide[k];
        if (high == 0) continue;
        for (std::size_t j = 1; j <= order; ++j)
            wide[k - j] = field.subtract(wide[k - j], field.multiply(high, c[j]));
    }
    wide.resize(order);
    return wide;
}

} // namespace

Recurrence shortest_recurrence(const Words &terms, std::uint64_t p) {
    const Montgomery field(p);
    PolledSteps steps;
    const Words a = to(field, terms);
    Words c{field.to(1)}, before = c; // before the order last grew
    std::uint64_t discrepancy_before = field.to(1);
    std::size_t order = 0, since = 1;
    for (std::size_t n = 0; n < a.size(); ++n, ++since) {
        steps.take(static_cast<std::int64_t>(2 * c.size()));
        std::uint64_t discrepancy = 0;
        for (std::size_t j = 0; j < c.size() && j <= n; ++j)
            discrepancy = field.add(discrepancy, field.multiply(c[j], a[n - j]));
        if (discrepancy == 0) continue;
        const std::uint64_t factor = field.multiply(discrepancy, field.power(discrepancy_before, p - 2));
        const Words kept = c;
        if (c.size() < before.size() + since) c.resize(before.size() + since, 0);
        for (std::size_t j = 0; j < before.size(); ++j)
            c[j + since] = field.subtract(c[j + since], field.multiply(factor, before[j]));
        if (2 * order > n) continue;
        order = n + 1 - order;
        before = kept;
        discrepancy_before = discrepancy;
        since = 0;
    }
    Recurrence out;
    out.order = order;
    out.c.clear();
    for (const std::uint64_t x : c) out.c.push_back(field.from(x));
    while (out.c.size() > 1 && out.c.back() == 0) out.c.pop_back();
    return out;
}

std::uint64_t term_of(const Recurrence &recurrence, const Words &terms, std::uint64_t n, std::uint64_t p) {
    if (n < terms.size()) return terms[n];
    const Montgomery field(p);
    PolledSteps steps;
    // Terms behind the first order - degree obey c alone.
    const std::size_t degree = recurrence.c.size() - 1, skipped = recurrence.order - degree;
    if (degree == 0) return 0;
    const Words c = to(field, recurrence.c);
    const std::uint64_t power = n - skipped;
    Words x(degree, 0);
    x[0] = field.to(1);
    for (int b = static_cast<int>(std::bit_width(power)); b-- > 0;) {
        x = product(field, x, x, c, steps);
        if ((power >> b & 1) == 0) continue;
        const std::uint64_t high = x.back();
        for (std::size_t j = degree; j-- > 0;)
            x[j] = field.subtract(j == 0 ? 0 : x[j - 1], field.multiply(high, c[degree - j]));
    }
    std::uint64_t sum = 0;
    for (std::size_t j = 0; j < degree; ++j)
        sum = field.add(sum, field.multiply(x[j], field.to(terms[skipped + j])));
    return field.from(sum);
}

} // namespace libperm
