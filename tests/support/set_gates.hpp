// Gates at random, and their marginals by tables over sets, on the processor or on a device.
#pragma once

#include "lib/base/threads.hpp"
#include "lib/input/matrix.hpp"
#include "lib/sets/set_gradient.hpp"
#include "tests/support/matchings.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

namespace gates {

using Draw = std::function<double(perm::families::Random &)>;

inline double uniform(perm::families::Random &random) { return 1 - random.uniform(); }
inline double far_apart(perm::families::Random &random) {
    return uniform(random) * std::exp2(static_cast<double>(random.integer(-400, 400)));
}

inline MatchingMatrix drawn(perm::families::Random &random, std::int64_t rows, std::int64_t cols,
                            double density, const Draw &draw) {
    MatchingMatrix a;
    a.cols = cols;
    a.entries.assign(static_cast<std::size_t>(rows),
                     std::vector<oracle::Gaussian>(static_cast<std::size_t>(cols)));
    for (auto &row : a.entries)
        for (oracle::Gaussian &x : row)
            if (random.chance(density)) x = real_number(draw(random));
    const auto weights = [&](std::int64_t count) {
        std::vector<oracle::Gaussian> out;
        for (std::int64_t k = 0; k < count; ++k)
            out.push_back(random.chance(0.1) ? oracle::Gaussian{} : real_number(draw(random)));
        return out;
    };
    if (random.chance(0.8)) a.row_weights = weights(rows);
    if (random.chance(0.8)) a.col_weights = weights(cols);
    return a;
}

struct Found {
    libperm::SetValue value;
    std::vector<double> marginals, bounds;
};

struct Ways {
    std::int64_t memory = std::int64_t{1} << 32;
    int threads = 1;
    libperm::DeviceQueue *device = nullptr;
};

inline std::optional<Found> found_in(const MatchingInput &input, const Ways &ways) {
    const libperm::InputPattern read = libperm::read_pattern(&input.csr());
    const libperm::InputPattern &given = as_given(read);
    libperm::Options options;
    options.memory_limit = ways.memory;
    const auto sets = libperm::SetGradient::of(given, options);
    if (!sets || !sets->fits(options)) return {};
    const auto count =
        static_cast<std::size_t>(given.pattern.nnz() + given.pattern.rows + given.pattern.cols);
    Found found{{}, std::vector<double>(count + 1, -1), std::vector<double>(count + 1, -1)};
    libperm::CallWatch watch;
    watch.memory_limit = ways.memory;
    libperm::CurrentCall control(watch);
    std::vector<double> own;
    const double *values = plain_weights(given, input.values(), own);
    REQUIRE(values != nullptr);
    std::optional<libperm::SetValue> value;
    libperm::with_threads(ways.threads, [&] {
        value = sets->run(values, found.marginals.data(), found.bounds.data(), ways.device);
    });
    if (!value) return {};
    found.value = *value;
    CHECK(found.marginals.back() == -1);
    CHECK(libperm::call().memory().peak() <= ways.memory);
    return found;
}

inline bool is_same(const Found &x, const Found &y) {
    return std::memcmp(x.marginals.data(), y.marginals.data(), x.marginals.size() * sizeof(double)) == 0 &&
           std::memcmp(x.bounds.data(), y.bounds.data(), x.bounds.size() * sizeof(double)) == 0 &&
           x.value.value.mantissa == y.value.value.mantissa && x.value.value.exp2 == y.value.value.exp2 &&
           x.value.rel_error_bound == y.value.rel_error_bound;
}

} // namespace gates
