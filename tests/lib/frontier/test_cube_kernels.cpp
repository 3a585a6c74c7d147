// The kernels that a dense frontier's rows are run with on a GPU: few, each made for its rows.
#include "bench/families.hpp"
#include "lib/frontier/dense_layout.hpp"
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

using namespace libperm;

namespace {

struct Terms {
    int low, high;
};

// Of a row after which half of so many columns are used.
FrontierStep step_of(const Terms &terms, int width) {
    FrontierStep step;
    for (int k = 0; k < terms.low + terms.high; ++k) {
        FrontierTerm t{};
        t.slot = k < terms.low ? k : low_slots + k - terms.low;
        step.terms.push_back(t);
    }
    step.width_after = width;
    step.used_after = width / 2;
    return step;
}

void check_kernels(const FrontierProgram &program, const StateNumbers &numbers) {
    const std::vector<CubeKernel> kernels = cube_kernels(program, numbers);
    REQUIRE(kernels.size() == program.steps.size());
    bool fits = true;
    for (std::size_t t = 0; t < kernels.size(); ++t) {
        const RowShape row = shape_of(program.steps[t]);
        const CubeKernel &k = kernels[t];
        fits = fits && row.low <= k.low && row.high <= k.cube + k.others && k.cube <= most_cube(numbers) &&
               k.cube + k.others <= dense_most_high && k.low <= dense_low_slots;
    }
    CHECK(fits);
    const std::set<CubeKernel> different(kernels.begin(), kernels.end());
    CHECK(different.size() <= count_cube_kernels(program, numbers));
    CHECK(different.size() <= 5);
}

} // namespace

TEST_CASE("each row's entries fit its kernel, of which there are five at most") {
    const std::uint64_t first = run::seed(0x63756265);
    for (std::uint64_t seed = first; seed < first + 300; ++seed) {
        CAPTURE(seed);
        perm::families::Random random(seed);
        FrontierProgram program;
        for (std::int64_t rows = random.integer(1, 40); rows > 0; --rows) {
            const int low = static_cast<int>(random.integer(0, 12)),
                      high = static_cast<int>(random.integer(0, 28));
            program.steps.push_back(step_of({low, high}, static_cast<int>(random.integer(2, 34))));
        }
        for (const StateNumbers &numbers :
             {StateNumbers(true), StateNumbers(false), StateNumbers(Arithmetic::complex),
              StateNumbers(Arithmetic::complex_dd)})
            check_kernels(program, numbers);
    }
}

TEST_CASE("a row of 28 high entries beside rows of many low ones") {
    FrontierProgram program;
    for (const Terms &terms : {Terms{0, 28}, {2, 12}}) program.steps.push_back(step_of(terms, 25));
    for (const Terms &terms : {Terms{4, 10}, {6, 8}, {8, 6}, {10, 4}})
        program.steps.push_back(step_of(terms, 32));
    check_kernels(program, true);
}
