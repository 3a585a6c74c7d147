// The kernels' texts and keys: all that is in a text is in its key, and no value is in either.
#include "jit/kernel/device_code.hpp"
#include "jit/kernel/subset_source.hpp"
#include "tests/support/run.hpp"
#include "tests/support/subset_cases.hpp"
#include "tests/support/trees.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

using namespace libperm;
using namespace subset_cases;
using trees::block_of;
namespace families = perm::families;

namespace {

std::uint64_t test_seed() { return run::seed(0x6b726e); }

std::string without_comments(const std::string &source) {
    std::string code;
    for (std::size_t from = 0; from < source.size();) {
        const std::size_t end = source.find('\n', from);
        if (source.compare(from, 2, "//") != 0) code += source.substr(from, end - from) + "\n";
        from = end == std::string::npos ? end : end + 1;
    }
    return code;
}

std::string without(std::string text, const std::string &part) {
    const std::size_t where = text.find(part);
    return where == std::string::npos ? text : text.erase(where, part.size());
}

bool has_number_with_point(const std::string &text) {
    for (std::size_t k = 0; k + 1 < text.size(); ++k)
        if (text[k] == '.' && text[k + 1] >= '0' && text[k + 1] <= '9') return true;
    return false;
}

} // namespace

TEST_CASE("subsets of 64 columns can be counted, of 65 not") {
    for (const bool equal : {false, true})
        for (const std::int64_t n : {64, 65})
            for (const SubsetEngine engine : engines) {
                const Block block = block_of(families::banded(n, 2, 2, families::Entries::ones, 1));
                const Pattern at_ = transpose(block.pattern).pattern;
                CHECK(subsets_why_not(plan_subsets(engine, block.pattern, at_, equal)).empty() == (n == 64));
            }
}

TEST_CASE("another code has another key, equal keys are equal sources") {
    families::Random random(test_seed() + 7);
    std::vector<SubsetKernel> kernels;
    for (const SubsetEngine engine : engines)
        for (const std::int64_t n : {1, 3, 6}) {
            const Case c = any_case(engine, false, n, random);
            const SubsetKernel base = c.plan.kernel;
            kernels.insert(kernels.end(), {base, base}); // equal ones as well
            const auto changed = [&](const std::function<void(SubsetKernel &)> &change) {
                kernels.push_back(base);
                change(kernels.back());
            };
            changed([](SubsetKernel &k) { k.equal_chunks = true; });
            changed([](SubsetKernel &k) { ++k.threads; });
            changed([](SubsetKernel &k) { k.unrolled = k.unrolled > 0 ? 0 : std::min(1, k.segment_bits); });
            changed(
                [](SubsetKernel &k) { k.segment_bits = k.segment_bits > k.unrolled ? k.unrolled : k.n - 1; });
            if (engine == SubsetEngine::hybrid) {
                changed([](SubsetKernel &k) { k.k = k.k > 0 ? k.k - 1 : 1; });
                changed([](SubsetKernel &k) { k.c = k.c > 0 ? k.c - 1 : 1; });
            }
            if (engine == SubsetEngine::dense || n == 1) continue;
            const Pattern other = block_of(matrix_with(n, families::Entries::ones, random)).pattern;
            const SubsetPlan plan = plan_in_order(engine, other, any_order(other.rows, random));
            changed([&](SubsetKernel &k) {
                k.column_ptr = plan.kernel.column_ptr;
                k.row = plan.kernel.row;
            });
            for (const SubsetEngine as : {SubsetEngine::shared, SubsetEngine::purereg})
                changed([&](SubsetKernel &k) { k.engine = as; });
        }
    int equal = 0, different = 0;
    for (const SubsetKernel &x : kernels)
        for (const SubsetKernel &y : kernels) {
            const bool same_key = key_of(x) == key_of(y);
            CHECK(same_key == (source_of(x) == source_of(y)));
            if (without_comments(source_of(x)) != without_comments(source_of(y))) {
                CHECK(!same_key);
                ++different;
            }
            equal += same_key;
        }
    CHECK(equal > static_cast<int>(kernels.size()));
    CHECK(different > 2000);
    for (const SubsetKernel &kernel : kernels)
        CHECK(key_of(kernel).find(generator_digest) != std::string::npos);
}

TEST_CASE("no value is in a kernel's text") {
    families::Random random(test_seed() + 8);
    CHECK(has_number_with_point("x += 0.5;"));
    for (const SubsetEngine engine : engines)
        for (const bool equal_chunks : {false, true}) {
            const perm::Csr a = matrix_with(8, families::Entries::real, random);
            perm::Csr b = a;
            for (double &x : b.values) x = random.uniform(1, 2);
            std::string text[2], key[2];
            for (const int i : {0, 1}) {
                const Pattern p = block_of(i == 0 ? a : b).pattern;
                const SubsetKernel kernel =
                    plan_subsets(engine, p, transpose(p).pattern, equal_chunks).kernel;
                text[i] = source_of(kernel);
                key[i] = key_of(kernel);
            }
            CHECK(text[0] == text[1]);
            CHECK(key[0] == key[1]);
            std::string own = without(text[0], gray_walk_cuh);
            CHECK(own.size() < text[0].size());
            for (const char *part : {number_cuh, terms_cuh, rows_dense_cuh, rows_shared_cuh})
                own = without(own, part);
            own = without(
                own, "[[maybe_unused]] constexpr double accurate_share = 1.0 / "); // the same in every kernel
            if (!equal_chunks) own = without(own, accurate_cuh);
            CHECK(!has_number_with_point(own));
        }
}
