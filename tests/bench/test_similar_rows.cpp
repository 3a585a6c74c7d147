// Rows grouped by what they have in common, against the algorithm word for word.
#include "bench/families.hpp"
#include "bench/kernels/similar_rows.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace bench;
using namespace libperm;
using perm::families::Random;

namespace {

struct Rows {
    std::vector<std::uint32_t> first{0}, column;
};

// Blocks of 4 rows and 3 columns, some of them with entries, rows shuffled by their numbers' bits.
Rows any_rows(Random &random, std::uint32_t columns) {
    Rows a;
    const auto rows = random.integer(0, 60);
    const double blocks = random.uniform(), entries = random.uniform();
    std::vector<std::vector<bool>> is_block(5, std::vector<bool>(columns / 3 + 1));
    for (auto &line : is_block)
        for (std::size_t k = 0; k < line.size(); ++k) line[k] = random.chance(blocks);
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto &line = is_block[static_cast<std::size_t>(i * 7 % 5)];
        for (std::uint32_t j = 0; j < columns; ++j)
            if (line[j / 3] && random.chance(entries)) a.column.push_back(j);
        a.first.push_back(static_cast<std::uint32_t>(a.column.size()));
    }
    return a;
}

using Pattern = std::set<std::uint32_t>;
Pattern pattern_of(const Rows &a, std::size_t i, std::uint32_t width) {
    Pattern out;
    for (std::uint32_t k = a.first[i]; k < a.first[i + 1]; ++k) out.insert(a.column[k] / width);
    return out;
}

// Algorithm 2.
RowGroups expected(const Rows &a, std::uint32_t width, double tau) {
    RowGroups out;
    std::vector<bool> done(a.first.size() - 1, false);
    for (std::uint32_t i = 0; i < done.size(); ++i) {
        if (done[i]) continue;
        Pattern group = pattern_of(a, i, width);
        const double most = static_cast<double>(group.size()) / (1 - tau / 2);
        for (std::uint32_t j = i; j < done.size(); ++j) {
            if (done[j]) continue;
            const Pattern row = pattern_of(a, j, width);
            Pattern all = group;
            all.insert(row.begin(), row.end());
            const std::size_t common = group.size() + row.size() - all.size();
            if (static_cast<double>(common) < tau * static_cast<double>(all.size()) ||
                static_cast<double>(all.size()) > most)
                continue;
            done[j] = true;
            out.row.push_back(j);
            group = all;
        }
        out.first.push_back(static_cast<std::uint32_t>(out.row.size()));
    }
    return out;
}

} // namespace

TEST_CASE("1-SA: the groups are the algorithm's, and as dense as its theorem says") {
    Random random(run::seed(0x31536100));
    int compared = 0;
    for (int trial = 0; trial < run::cases(300); ++trial) {
        const auto columns = static_cast<std::uint32_t>(random.integer(1, 40)),
                   width = static_cast<std::uint32_t>(random.integer(1, 5));
        const double tau = trial % 5 == 0 ? 1 : random.uniform();
        CAPTURE(columns);
        CAPTURE(width);
        CAPTURE(tau);
        const Rows a = any_rows(random, columns);
        const RowGroups found = similar_rows(a.first, a.column, columns, width, tau),
                        truth = expected(a, width, tau);
        CHECK(found.row == truth.row);
        CHECK(found.first == truth.first);
        for (std::size_t g = 0; g + 1 < found.first.size(); ++g) {
            Pattern all;
            double entries = 0;
            for (std::uint32_t k = found.first[g]; k < found.first[g + 1]; ++k) {
                const Pattern row = pattern_of(a, found.row[k], width);
                all.insert(row.begin(), row.end());
                entries += static_cast<double>(row.size());
            }
            const double area = static_cast<double>(all.size()) * (found.first[g + 1] - found.first[g]);
            CHECK(entries >= tau / 2 * area * (1 - 1e-12));
            ++compared;
        }
    }
    CHECK(compared > run::enough(300));
}
