// What is shown of a frontier's plan: the kernel that its GPU runs, and the tree that its branches follow.
#include "jit/kernel/frontier_join.hpp"
#include "jit/kernel/frontier_sparse.hpp"
#include "jit/text/text.hpp"
#include "lib/frontier/cube_kernels.hpp"
#include "lib/frontier/frontier.hpp"
#include "lib/frontier/layout.hpp"
#include "lib/frontier/plan.hpp"
#include "preprocess/branch_program.hpp"

#include <algorithm>

namespace libperm {
namespace {

KernelRecipe kernel_of(FrontierForm form, const FrontierProgram &program, const StateNumbers &numbers) {
    if (form == FrontierForm::sparse)
        return sparse_frontier_kernels({sparse_device_words(program), numbers, program.counts});
    if (form == FrontierForm::branches)
        return frontier_join_kernels({std::max(1, branch_key_words(program)), numbers});
    const std::vector<CubeKernel> kernels = cube_kernels(program, numbers);
    std::size_t widest = 0;
    double most = 0;
    for (std::size_t t = 0; t < kernels.size(); ++t) {
        const FrontierStep &step = program.steps[t];
        const double states = dense_states(step);
        if (states > most) widest = t;
        most = std::max(most, states);
    }
    return dense_frontier_kernel(numbers, kernels[widest]);
}

// Null: the frontier follows no tree, or its tree is not there.
const FrontierPlan *branches_of(const Candidate &c) {
    return form_of(c) == FrontierForm::branches ? plan_as<FrontierPlan>(c) : nullptr;
}

BranchShape shape_of(const FrontierPlan &plan) {
    return libperm::shape_of(plan.program, plan.program.source->tree);
}

} // namespace

KernelSource frontier_source(const Candidate &c, const Numbers &numbers, bool nonnegative) {
    const FrontierProgram &program = plan_as<FrontierPlan>(c)->program;
    return {kernel_of(form_of(c), program, StateNumbers(numbers.arithmetic(), nonnegative)).source(), ""};
}

std::string tree_text(const Candidate &c) {
    const FrontierPlan *plan = branches_of(c);
    if (!plan) return "";
    const auto count = [](std::int32_t number, const char *one, const char *many) {
        return formatted("{} {}", number, number == 1 ? one : many);
    };
    const BranchShape x = shape_of(*plan);
    return formatted(
        "frontier branches: middle sets of up to {}; leaves: {}, {}, {}; {} of {:.3g} products\n",
        count(x.width, "line", "lines"), count(x.rows, "row", "rows"), count(x.columns, "column", "columns"),
        count(x.entries, "entry", "entries"), count(x.joins, "join", "joins"), x.products);
}

void put_tree(Json &json, const Candidate &c) {
    const FrontierPlan *plan = branches_of(c);
    if (!plan) return;
    const BranchShape x = shape_of(*plan);
    json["branches"] = {{"width", x.width},
                        {"leaves", {{"rows", x.rows}, {"columns", x.columns}, {"entries", x.entries}}},
                        {"joins", x.joins},
                        {"products", x.products}};
}

} // namespace libperm
