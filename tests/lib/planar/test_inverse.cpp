// The inverse at the entries alone, modulo primes so small that most pivots are 0 and delayed, against all of
// it.
#include "bench/families.hpp"
#include "lib/planar/determinant.hpp"
#include "lib/planar/fields.hpp"
#include "preprocess/index.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <utility>
#include <vector>

using namespace perm::families;
using namespace libperm;

namespace {

using Matrix = std::vector<std::vector<std::uint64_t>>;

struct Sparse {
    Pattern pattern;
    std::vector<std::uint64_t> values;
};

// With a perfect matching; entries that are 0 stay.
Sparse random_sparse(std::int32_t n, double share, std::uint64_t prime, Random &random) {
    const std::vector<std::int64_t> matched = random.permutation(n);
    Sparse a;
    a.pattern.rows = a.pattern.cols = n;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < n; ++j)
            if (matched[at(i)] == j || random.chance(share)) {
                a.pattern.col.push_back(j);
                a.values.push_back(random.bits() % prime);
            }
        a.pattern.row_ptr.push_back(std::ssize(a.pattern.col));
    }
    return a;
}

std::uint64_t power(std::uint64_t x, std::uint64_t e, std::uint64_t prime) {
    std::uint64_t out = 1;
    for (; e > 0; e >>= 1, x = x * x % prime)
        if (e & 1) out = out * x % prime;
    return out;
}

// Gauss and Jordan's. None: there is none.
std::optional<Matrix> inverse_of(Matrix a, std::uint64_t prime) {
    const std::size_t n = a.size();
    for (std::size_t i = 0; i < n; ++i) {
        a[i].resize(2 * n, 0);
        a[i][n + i] = 1;
    }
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        while (pivot < n && a[pivot][k] == 0) ++pivot;
        if (pivot == n) return {};
        std::swap(a[k], a[pivot]);
        const std::uint64_t inverse = power(a[k][k], prime - 2, prime);
        for (std::uint64_t &x : a[k]) x = x * inverse % prime;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t times = a[i][k];
            for (std::size_t j = 0; i != k && j < 2 * n; ++j)
                a[i][j] = (a[i][j] + (prime - times) * a[k][j]) % prime;
        }
    }
    for (std::vector<std::uint64_t> &row : a) row.erase(row.begin(), row.begin() + static_cast<long>(n));
    return a;
}

} // namespace

TEST_CASE("an inverse at the entries is the inverse there, wherever pivots go") {
    Random random(run::seed(0x696e76));
    int compared = 0, singular = 0;
    for (int k = 0; k < run::cases(6000); ++k) {
        const std::uint64_t prime = std::vector<std::uint64_t>{3, 5, 7, 1000003}[at(k % 4)];
        const auto n = static_cast<std::int32_t>(random.integer(1, 14));
        const Sparse a = random_sparse(n, random.uniform(0, 0.4), prime, random);
        Matrix whole(at(n), std::vector<std::uint64_t>(at(n), 0));
        std::vector<std::pair<std::size_t, std::size_t>> lines;
        for (std::int32_t i = 0; i < n; ++i)
            for (const std::int32_t j : a.pattern.row(i)) {
                whole[at(i)][at(j)] = a.values[lines.size()];
                lines.emplace_back(i, j);
            }
        const Fronts fronts(a.pattern, maximum_matching(a.pattern));
        ModularField field(prime);
        const Montgomery numbers(prime);
        std::vector<std::optional<std::uint64_t>> found(lines.size());
        double held = 0;
        const auto done = [](double) {};
        const auto hold = [&](double count) { held = std::max(held, count); };
        Inverse inverse(fronts, field);
        const bool is_there =
            inverse.eliminate([&](std::size_t e) { return field.number(a.values[e]); }, done, hold);
        if (is_there)
            inverse.go_back(done, hold, [&](std::size_t e, std::uint64_t x) { found[e] = numbers.from(x); });
        const std::optional<Matrix> truth = inverse_of(whole, prime);
        CAPTURE(k);
        REQUIRE(is_there == truth.has_value());
        singular += is_there ? 0 : 1;
        for (std::size_t e = 0; is_there && e < lines.size(); ++e, ++compared)
            REQUIRE(found[e] == (*truth)[lines[e].second][lines[e].first]);
        CHECK((!is_there || held >= n));
    }
    CHECK(compared > run::enough(30000));
    CHECK(singular > run::enough(200));
}
