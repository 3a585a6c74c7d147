// Cells of periodic matrices, small and of any kind.
#pragma once

#include "bench/families.hpp"
#include "lib/periodic/answers/periodic_plan.hpp"
#include "lib/periodic/answers/residue_terms.hpp"
#include "lib/run/results.hpp"
#include "tests/support/exactly.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cells {

enum class Kind { ones, integers, rationals, complex };

inline libperm::Gaussian any_value(Kind kind, perm::families::Random &random) {
    const auto part = [&](std::int64_t denominator) {
        mpq_class x(static_cast<long>(random.integer(-4, 4)), static_cast<unsigned long>(denominator));
        x.canonicalize();
        return x;
    };
    libperm::Gaussian value{1, 0};
    if (kind == Kind::ones) return value;
    do
        value = {part(kind == Kind::integers ? 1 : random.integer(1, 5)),
                 kind == Kind::complex ? part(2) : mpq_class(0)};
    while (is_zero(value));
    return value;
}

inline libperm::PeriodicMatrix any(perm::families::Random &random, Kind kind, bool joined) {
    libperm::PeriodicMatrix a;
    a.rows = static_cast<std::int32_t>(random.integer(1, joined ? 3 : 4));
    a.reach = static_cast<std::int32_t>(random.integer(0, a.rows == 1 ? 3 : joined ? 1 : 2));
    a.joined = joined;
    const double density = 0.2 + 0.1 * static_cast<double>(random.integer(0, 6));
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int32_t cell = -a.reach; cell <= a.reach; ++cell)
            for (std::int32_t j = 0; j < a.rows; ++j)
                if (random.uniform() < density) {
                    a.entries.push_back({i, j, cell});
                    a.values.push_back(any_value(kind, random));
                }
    return a;
}

// Of the square lattice, so many pairs of squares wide, a layer's colours exchanged in the next: the cells of
// it seen in a mirror.
inline libperm::PeriodicMatrix strip(std::int32_t pairs) {
    libperm::PeriodicMatrix a;
    a.rows = pairs;
    a.reach = 1;
    const auto add = [&](std::int32_t i, std::int32_t j, std::int32_t cell) {
        if (j < 0 || j >= pairs) return;
        a.entries.push_back({i, j, cell});
        a.values.push_back({1, 0});
    };
    for (std::int32_t i = 0; i < pairs;
         ++i) { // black at 2 i, white at 2 j + 1; mirrored, white at 2 (pairs - 1 - j)
        add(i, i, 0);
        add(i, i - 1, 0);
        add(i, pairs - 1 - i, 1);
        add(i, pairs - 1 - i, -1);
    }
    return a;
}

inline libperm::PeriodicPlan planned(const libperm::PeriodicMatrix &a, const char *precision = nullptr) {
    perm_opts opts = PERM_OPTS_INIT;
    opts.precision = precision;
    const libperm::Options options = libperm::read_options(&opts);
    libperm::CurrentCall control(options);
    return libperm::make_periodic_plan(a, options);
}

inline std::vector<libperm::Outcome> exact_terms(const libperm::PeriodicPlan &plan, std::int64_t first,
                                                 std::int64_t count) {
    libperm::ExactTerms exact(plan, first, count, libperm::primes_of_terms(plan, first, count));
    return exact.outcomes(exact.residues());
}

inline libperm::Gaussian value_of(const libperm::Outcome &outcome) {
    return outcome.wide ? *outcome.wide : libperm::Gaussian{exactly(outcome.value), 0};
}

inline std::string text(const libperm::PeriodicMatrix &a) {
    std::string out =
        std::to_string(a.rows) + " rows, reach " + std::to_string(a.reach) + (a.joined ? ", joined" : "");
    for (std::size_t k = 0; k < a.entries.size(); ++k) {
        const libperm::PeriodicEntry &e = a.entries[k];
        out += "\n " + std::to_string(e.row) + " " + std::to_string(e.column) + " " + std::to_string(e.cell) +
               ": " + a.values[k].re.get_str() + " " + a.values[k].im.get_str();
    }
    out += "\n head " + std::to_string(a.head.rows) + "x" + std::to_string(a.head.columns) + " tail " +
           std::to_string(a.tail.rows) + "x" + std::to_string(a.tail.columns);
    return out;
}

} // namespace cells
