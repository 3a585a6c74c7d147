#include "lib/sieve/build.hpp"

#include "lib/base/randomness.hpp"
#include "lib/sieve/sign_walk.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace libperm {
namespace {

using Step = SieveProgram::Step;
using Finish = SieveProgram::Finish;

constexpr std::int32_t largest_factor = 2 * most_row_weight;

// Exponents of the primes that the factors of all rows have, with places in the codes.
class Exponents {
  public:
    explicit Exponents(const std::vector<SieveFactor> &factors) {
        std::vector<std::uint32_t> most(largest_factor + 1);
        for (const SieveFactor &row : factors) {
            std::vector<std::uint32_t> of_row(most.size());
            for (std::int32_t count = 0; count <= row.weight; ++count)
                if (row.shares[at(count)] > 0 && count != row.vanishes)
                    for (const auto &[prime, exponent] : factored(row.at(count)))
                        of_row[prime] = std::max(of_row[prime], exponent);
            for (std::size_t p = 0; p < most.size(); ++p) most[p] += of_row[p];
        }
        // The first code's highest bit is the sign.
        std::array<std::uint64_t, most_sieve_codes> room{sieve_sign, std::uint64_t{1} << 32}, used{1, 1};
        for (std::uint32_t p = 0; p < most.size(); ++p) {
            if (most[p] == 0) continue;
            const std::uint64_t radix = most[p] + 1;
            std::uint32_t code = 0;
            while (code < most_sieve_codes && used[code] * radix > room[code]) ++code;
            if (code == most_sieve_codes) return;
            all.push_back(
                {p, code, static_cast<std::uint32_t>(used[code]), static_cast<std::uint32_t>(radix)});
            used[code] *= radix;
            codes = std::max(codes, code + 1);
        }
        fits = true;
    }

    std::array<std::uint32_t, most_sieve_codes> code(std::int32_t factor) const {
        std::array<std::uint32_t, most_sieve_codes> code{};
        if (factor == 0) return code;
        for (const auto &[prime, exponent] : factored(factor))
            for (const SieveProgram::Exponent &e : all)
                if (e.prime == prime) code[e.code] += exponent * e.stride;
        if (factor < 0) code[0] += sieve_sign;
        return code;
    }

    std::vector<SieveProgram::Exponent> all;
    std::uint32_t codes = 1;
    bool fits = false;

  private:
    struct Power {
        std::uint32_t prime, exponent;
    };
    static std::vector<Power> factored(std::int32_t x) {
        std::vector<Power> powers;
        std::int32_t left = std::abs(x);
        for (std::int32_t p = 2; left > 1; ++p) {
            if (left % p != 0) continue;
            powers.push_back({static_cast<std::uint32_t>(p), 0});
            for (; left % p == 0; left /= p) ++powers.back().exponent;
        }
        return powers;
    }
};

struct Place {
    std::uint32_t word, shift, mask;
};

// Rows in the order in which they finish, as many in a word as there is room for.
std::vector<Place> places_of(const std::vector<SieveFactor> &factors,
                             const std::vector<std::size_t> &by_finish, std::uint32_t &words) {
    std::vector<Place> places(factors.size());
    std::uint32_t word = 0, used = 0;
    for (const std::size_t i : by_finish) {
        const auto bits =
            static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(factors[i].weight)));
        if (used + bits > 32) {
            ++word;
            used = 0;
        }
        places[i] = {word, used, (1u << bits) - 1};
        used += bits;
    }
    words = word + 1;
    return places;
}

std::vector<SieveProgram::Branch> branches_of(const SieveProgram &program, const SieveRows &columns,
                                              const std::vector<Place> &places,
                                              std::span<const std::int32_t> taken, bool is_first_fixed) {
    std::vector<SieveProgram::Branch> branches;
    const std::uint32_t first = is_first_fixed ? 1 : 0;
    for (std::uint32_t signs = 0; signs < 1u << (taken.size() - first); ++signs) {
        SieveProgram::Branch branch{std::vector<std::uint32_t>(program.words), 0};
        const std::uint32_t minus = signs << first; // by column of the step
        if (std::popcount(minus) % 2 == 1) branch.sign = sieve_sign;
        for (std::size_t k = 0; k < taken.size(); ++k) {
            const bool is_minus = (minus >> k & 1) != 0;
            const auto bit = at(std::lower_bound(program.told.begin(), program.told.end(), taken[k]) -
                                program.told.begin());
            if (!is_minus && bit < program.told.size() && program.told[bit] == taken[k])
                branch.adds[program.first_told + bit / 32] += 1u << bit % 32;
            for (const SieveEntry &entry : columns[at(taken[k])]) {
                const Place &place = places[at(entry.col)];
                if (place.mask != 0 && is_minus == (entry.value < 0))
                    branch.adds[place.word] += static_cast<std::uint32_t>(std::abs(entry.value))
                                               << place.shift;
            }
        }
        branches.push_back(std::move(branch));
    }
    return branches;
}

Finish finish_of(const SieveFactor &row, const Place &place, const Exponents &exponents) {
    Finish finish{place.word, place.shift, place.mask, place.mask + 1, {}, {}};
    if (row.vanishes >= 0) finish.vanishes = static_cast<std::uint32_t>(row.vanishes);
    for (std::uint32_t count = 0; count <= place.mask; ++count) {
        const auto c = static_cast<std::int32_t>(count);
        const bool is_met = c <= row.weight && row.shares[at(c)] > 0;
        finish.factors.push_back(is_met ? row.at(c) : 0);
        const auto code = exponents.code(finish.factors.back());
        for (std::size_t k = 0; k < code.size(); ++k) finish.codes[k].push_back(code[k]);
    }
    for (auto &codes : finish.codes) codes.resize(std::max(codes.size(), least_sieve_table));
    return finish;
}

constexpr double start_seconds = 1e-3; // blocks and counts are made, prefixes are listed

} // namespace

std::optional<SieveProgram> sieve_program(const SieveWay &way) {
    const std::vector<SieveFactor> factors = row_factors(way.rows, way.is_halved);
    const Exponents exponents(factors);
    if (!exponents.fits) return {};
    const SieveRows columns = transposed(way.rows);
    std::vector<std::size_t> step_of_column(way.order.size()), finish(way.rows.size());
    std::size_t k = 0;
    for (std::size_t s = 0; s < way.steps.size(); ++s)
        for (std::int32_t j = 0; j < way.steps[s]; ++j) step_of_column[at(way.order[k++])] = s;
    for (std::size_t i = 0; i < way.rows.size(); ++i)
        for (const SieveEntry &entry : way.rows[i])
            finish[i] = std::max(finish[i], step_of_column[at(entry.col)]);
    SieveProgram program;
    std::vector<std::size_t> by_finish;
    for (std::size_t i = 0; i < way.rows.size(); ++i) {
        if (!is_other(way.rows[i])) {
            by_finish.push_back(i);
            continue;
        }
        ++program.n_halved;
        for (const SieveEntry &entry : way.rows[i]) program.told.push_back(entry.col);
    }
    std::sort(program.told.begin(), program.told.end());
    program.told.erase(std::unique(program.told.begin(), program.told.end()), program.told.end());
    std::stable_sort(by_finish.begin(), by_finish.end(),
                     [&](std::size_t x, std::size_t y) { return finish[x] < finish[y]; });

    const std::vector<Place> places = places_of(factors, by_finish, program.first_told);
    program.words = program.first_told + static_cast<std::uint32_t>((program.told.size() + 31) / 32);
    program.codes = exponents.codes;
    program.exponents = exponents.all;
    program.is_halved = way.is_halved;
    for (const SieveFactor &row : factors) program.n_halved += row.scale == 2;
    const std::span order(way.order);
    std::size_t next = 0, begin = 0;
    for (std::size_t s = 0; s < way.steps.size(); ++s) {
        const auto taken = order.subspan(begin, at(way.steps[s]));
        Step step{
            program.first_told, branches_of(program, columns, places, taken, way.is_halved && s == 0), {}};
        begin += taken.size();
        for (; next < by_finish.size() && finish[by_finish[next]] == s; ++next)
            step.finishes.push_back(finish_of(factors[by_finish[next]], places[by_finish[next]], exponents));
        if (next < by_finish.size()) step.first_word = places[by_finish[next]].word;
        program.steps.push_back(std::move(step));
    }
    return program;
}

SieveProfile sieve_profile(const SieveProgram &one_by_one, double seconds) {
    constexpr std::uint64_t seed = 58;
    constexpr std::size_t kept = 512;
    constexpr double branch_seconds = 4e-8;
    constexpr int least_runs = 4, most_runs = 64;
    const std::size_t size = one_by_one.prefix_words(), n = one_by_one.steps.size();
    const double of_run = 2 * branch_seconds * static_cast<double>(kept * n);
    const int runs = std::clamp(static_cast<int>(seconds / of_run), least_runs, most_runs);
    SieveProfile profile;
    profile.prefixes.assign(n + 1, 0);
    std::vector<double> sums;
    PolledSteps steps;
    for (int run = 0; run < runs; ++run) {
        Randomness random(seed, static_cast<std::uint64_t>(run));
        std::vector<std::uint32_t> prefixes(size), next, one(size);
        double each = 1, sum = 0; // prefixes that one stands for
        profile.prefixes[0] += 1;
        for (std::size_t k = 0; k < n; ++k) {
            next.clear();
            for (std::size_t from = 0; from < prefixes.size(); from += size)
                for (const SieveProgram::Branch &branch : one_by_one.steps[k].branches) {
                    steps.take(8);
                    if (sieve_goes_on(one_by_one, one_by_one.steps[k], branch, &prefixes[from], one.data()))
                        next.insert(next.end(), one.begin(), one.end());
                }
            std::size_t count = next.size() / size;
            profile.prefixes[k + 1] += each * static_cast<double>(count);
            sum += each * static_cast<double>(count);
            if (count > kept) {
                for (std::size_t x = 0; x < kept; ++x) { // the first of a shuffle
                    const std::size_t y = x + random.below(count - x);
                    std::swap_ranges(next.begin() + std::ptrdiff_t(x * size),
                                     next.begin() + std::ptrdiff_t((x + 1) * size),
                                     next.begin() + std::ptrdiff_t(y * size));
                }
                next.resize(kept * size);
                each *= static_cast<double>(count) / kept;
            }
            prefixes.swap(next);
        }
        sums.push_back(sum);
        if (each == 1) break; // all were counted
    }
    const auto count = static_cast<double>(sums.size());
    for (double &x : profile.prefixes) x /= count;
    if (sums.size() > 1) {
        const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / count;
        double square = 0;
        for (const double x : sums) square += (x - mean) * (x - mean);
        profile.spread = std::sqrt(square / (count - 1) / count) / mean;
    }
    return profile;
}

SievePace sieve_pace(const GpuProperties &gpu) {
    constexpr double issued = 0.24; // of the instructions that lanes could take
    const double one = 1 / (issued * 128 * gpu.multiprocessors * gpu.clock_hz);
    return {20 * one, 2 * one, 12 * one, 2 * one, 3 * one, 20 * one, 1e-10};
}

SieveCost sieve_cost(const SieveProgram &program, const SieveWay &way, const SieveProfile &profile,
                     const SievePace &pace) {
    SieveCost cost;
    cost.seconds = start_seconds;
    std::size_t column = 0;
    auto words_before = static_cast<double>(program.prefix_words());
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        const Step &step = program.steps[s];
        const double before = profile.prefixes[column];
        column += at(way.steps[s]);
        const double words = program.words - step.first_word + program.codes;
        cost.seconds += before * pace.of_step(step.branches.size(), words_before, words,
                                              static_cast<double>(step.finishes.size()));
        words_before = words;
        cost.prefixes += profile.prefixes[column];
        cost.peak = std::max(cost.peak, profile.prefixes[column]);
    }
    cost.seconds += (SieveCounts::are_direct(program) ? pace.leaf : pace.far_leaf) * profile.prefixes.back();
    return cost;
}

std::vector<std::int32_t> best_steps(const SieveProgram &one_by_one, const SieveProfile &profile,
                                     const SievePace &pace) {
    const std::size_t n = one_by_one.steps.size();
    std::vector<double> least(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> from(n + 1);
    least[0] = 0;
    for (std::size_t k = 0; k < n; ++k) {
        double finishes = 0;
        std::size_t branches = 1;
        const auto words_before = static_cast<double>(one_by_one.prefix_words() - one_by_one.first_word(k));
        for (std::size_t to = k + 1; to <= std::min(n, k + at(most_columns_at_once)); ++to) {
            const Step &last = one_by_one.steps[to - 1];
            finishes += static_cast<double>(last.finishes.size());
            branches *= last.branches.size();
            const double words = one_by_one.words - last.first_word + one_by_one.codes;
            const double seconds =
                least[k] + profile.prefixes[k] * pace.of_step(branches, words_before, words, finishes);
            if (seconds >= least[to]) continue;
            least[to] = seconds;
            from[to] = k;
        }
    }
    std::vector<std::int32_t> steps;
    for (std::size_t k = n; k > 0; k = from[k]) steps.push_back(static_cast<std::int32_t>(k - from[k]));
    std::reverse(steps.begin(), steps.end());
    return steps;
}

} // namespace libperm
