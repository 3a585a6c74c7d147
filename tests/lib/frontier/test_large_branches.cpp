// Trees of 10^5 leaves on a small stack: nothing in them recurs as deep as they are.
#include "lib/frontier/forms.hpp"
#include "lib/frontier/plan.hpp"
#include "lib/input/options.hpp"
#include "lib/run/results.hpp"
#include "lib/structure/structure.hpp"
#include "preprocess/branch_decomposition.hpp"
#include "preprocess/branch_program.hpp"
#include "tests/support/exactly.hpp"

#include <doctest/doctest.h>

#include <pthread.h>

#include <functional>

using namespace libperm;

namespace {

constexpr std::int32_t rows = 50000;
constexpr double few_bits[] = {1.5, 0.75, 1.25, 1}; // so that exact products stay short

// Entries (i, i) and (i, i + 1), the last row's second in the first column: a permanent of two products.
Block ring() {
    Block block;
    Pattern &a = block.pattern;
    a.rows = a.cols = rows;
    for (std::int32_t i = 0; i < rows; ++i) {
        const bool is_last = i + 1 == rows;
        for (const std::int32_t j : {is_last ? 0 : i, is_last ? i : i + 1}) {
            a.col.push_back(j);
            block.values.push_back(tracked(few_bits[(i + j / 3) % 4]));
        }
        a.row_ptr.push_back(std::ssize(a.col));
    }
    return block;
}

oracle::Exact permanent_of_ring(const Block &block) {
    oracle::Exact diagonal = 1, other = 1;
    for (std::int32_t i = 0; i < rows; ++i) {
        const auto k = static_cast<std::size_t>(block.pattern.row_begin(i));
        const bool is_last = i + 1 == rows;
        diagonal *= exactly(block.values[is_last ? k + 1 : k]);
        other *= exactly(block.values[is_last ? k : k + 1]);
    }
    return diagonal + other;
}

std::vector<BranchLeaf> entries_of(const Block &block) {
    std::vector<BranchLeaf> leaves;
    for (std::int64_t k = 0; k < block.pattern.nnz(); ++k) leaves.push_back({BranchLeaf::Kind::entry, -1, k});
    return leaves;
}

// As deep as it has leaves.
BranchDecomposition path(const Block &block) {
    BranchDecomposition tree{entries_of(block), {}};
    const auto leaves = static_cast<std::int32_t>(tree.leaves.size());
    for (std::int32_t k = 1; k < leaves; ++k) tree.joins.push_back({k == 1 ? 0 : leaves + k - 2, k});
    return tree;
}

// Branches of three leaves along a line of joins: as deep as a third of them.
BranchDecomposition comb(const Block &block) {
    BranchDecomposition tree{entries_of(block), {}};
    const auto leaves = static_cast<std::int32_t>(tree.leaves.size());
    const auto join = [&](std::int32_t x, std::int32_t y) {
        tree.joins.push_back({x, y});
        return leaves + static_cast<std::int32_t>(tree.joins.size()) - 1;
    };
    std::int32_t spine = -1;
    for (std::int32_t k = 0; k < leaves; k += 3) {
        std::int32_t tooth = k;
        for (std::int32_t next = k + 1; next < std::min(leaves, k + 3); ++next) tooth = join(tooth, next);
        spine = spine < 0 ? tooth : join(tooth, spine);
    }
    return tree;
}

void on_a_small_stack(std::function<void()> work) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    REQUIRE(pthread_attr_setstacksize(&attributes, 256 << 10) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(
                &thread, &attributes,
                [](void *what) -> void * {
                    (*static_cast<std::function<void()> *>(what))();
                    return nullptr;
                },
                &work) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

} // namespace

TEST_CASE("branches: 10^5 entries in a row, and along a line of joins, on a stack of 256 KB") {
    const Block block = ring();
    const oracle::Exact truth = permanent_of_ring(block);
    for (const bool is_path : {true, false}) {
        CAPTURE(is_path);
        bool fits = false;
        FrontierProgram program;
        Outcome outcome;
        std::shared_ptr<const EnginePlan> restored;
        on_a_small_stack([&] {
            const BranchDecomposition tree = is_path ? path(block) : comb(block);
            fits = is_decomposition(block.pattern, tree);
            program = build_branch_program(block.pattern, tree).program;
            MemoryBudget memory(std::int64_t{1} << 32);
            outcome = outcome_of(run_frontier(FrontierForm::branches, {block, program, memory, 1}));
            const std::string bytes = saved_frontier(FrontierPlan(program), true);
            const Pattern at = transpose(block.pattern).pattern;
            const Options options;
            restored = restored_frontier(bytes, number_of(FrontierForm::branches),
                                         {block.pattern, at, LineClasses{}, Structure{}, Numbers{}, options});
        });
        CHECK(fits);
        CHECK((program.branches.size() > 1) == !is_path);
        CHECK(abs(exactly(outcome.value) - truth) <= exactly(outcome.error));
        CHECK(exactly(outcome.error) < truth / 1000000);
        const auto *plan = dynamic_cast<const FrontierPlan *>(restored.get());
        REQUIRE(plan);
        CHECK(plan->program.steps.size() == program.steps.size());
        CHECK(plan->program.branches.size() == program.branches.size());
    }
}
