#include "lib/plan/engines.hpp"

#include "jit/text/text.hpp"
#include "lib/background/counted_matchings.hpp"
#include "lib/base/error.hpp"
#include "lib/bjorklund/bjorklund.hpp"
#include "lib/bjorklund/plan.hpp"
#include "lib/frontier/plan.hpp"
#include "lib/hermite/hermite.hpp"
#include "lib/low_rank/low_rank.hpp"
#include "lib/number/state_number.hpp"
#include "lib/planar/plan.hpp"
#include "lib/planar/planar.hpp"
#include "lib/ryser/engine.hpp"
#include "lib/sieve/sieve.hpp"
#include "lib/subsets/propose.hpp"
#include "lib/subsets/subset_sum.hpp"
#include "lib/subsets/tree_plan.hpp"

#include <algorithm>
#include <array>

namespace libperm {
namespace {

template <SubsetEngine kernel> void propose_by_kernel(Proposals &task, Engine self) {
    propose_kernel(task, self, kernel);
}

double pieces_of_frontier(const Candidate &c) { return static_cast<double>(pieces_of(c)); }

double one_piece(const Candidate &) { return 1; }

double pieces_of_matrices(const Candidate &c) {
    return c.plan ? std::max(1.0, c.cost.operations / std::max(1.0, c.plan->matrix_products())) : 1;
}

double pieces_of_milliseconds(const Candidate &c) { // at least
    return std::clamp(c.cost.serial_seconds / 1e-3, 1.0, 0x1p16);
}

double pieces_of_subsets(const Candidate &c) {
    const auto *plan = plan_as<SubsetPlan>(c);
    return plan && plan->kernel.n > 0 ? static_cast<double>(piece_count(plan->kernel)) : 1; // 1: refused
}

bool always_by_residues(const Candidate &c) { return c.plan != nullptr; }

using Restored = std::shared_ptr<const EnginePlan>;

// Of an engine without forms.
template <Restored (*restore)(std::string_view, const PlanSource &)>
Restored restored(std::string_view bytes, int, const PlanSource &of) {
    return restore(bytes, of);
}

template <SubsetEngine kernel>
Restored restored_by_kernel(std::string_view bytes, int, const PlanSource &of) {
    return restored_kernel(bytes, kernel, of);
}

template <SubsetEngine kernel> constexpr EngineInfo kernel_row(Engine id) {
    return {.id = id,
            .propose = propose_by_kernel<kernel>,
            .run = run_subsets,
            .pieces = pieces_of_subsets,
            .prime_bits = modular_bits,
            .saved = saved_subsets,
            .restored = restored_by_kernel<kernel>,
            .check = check_subsets,
            .source = subsets_source};
}

constexpr std::array table{
    EngineInfo{.id = Engine::ferrers,
               .propose = propose_ferrers,
               .run = run_ferrers,
               .by_residues = always_by_residues,
               .by_structure = true,
               .pieces = pieces_of_matrices,
               .prime_bits = residue_bits,
               .saved = saved_ferrers,
               .restored = restored<restored_ferrers>,
               .check = check_ferrers},
    EngineInfo{.id = Engine::background,
               .propose = propose_background,
               .run = run_background,
               .by_residues = always_by_residues,
               .by_structure = true,
               .pieces = pieces_of_matrices,
               .prime_bits = residue_bits,
               .saved = saved_background,
               .restored = restored<restored_background>,
               .check = check_background},
    EngineInfo{.id = Engine::separable,
               .propose = propose_separable,
               .run = run_separable,
               .by_residues = always_by_residues,
               .by_structure = true,
               .pieces = pieces_of_matrices,
               .prime_bits = residue_bits,
               .saved = saved_separable,
               .restored = restored<restored_separable>,
               .check = check_separable},
    EngineInfo{.id = Engine::low_rank,
               .propose = propose_low_rank,
               .run = run_low_rank,
               .by_residues = low_rank_by_residues,
               .by_structure = true,
               .pieces = pieces_of_matrices,
               .prime_bits = residue_bits,
               .saved = saved_low_rank,
               .restored = restored<restored_low_rank>,
               .check = check_low_rank},
    EngineInfo{.id = Engine::planar,
               .propose = propose_planar,
               .propose_at_last = propose_crossings,
               .run = run_planar,
               .by_residues = planar_by_residues,
               .pieces = pieces_of_matrices,
               .prime_bits = residue_bits,
               .saved = saved_planar,
               .restored = restored<restored_planar>,
               .check = check_planar,
               .shape_text = drawing_text,
               .put_shape = put_drawing},
    EngineInfo{.id = Engine::ryser,
               .propose = propose_ryser,
               .run = run_ryser,
               .pieces = pieces_of_milliseconds,
               .prime_bits = residue_bits,
               .saved = saved_ryser,
               .restored = restored<restored_ryser>,
               .check = check_ryser},
    EngineInfo{.id = Engine::bjorklund,
               .propose = propose_bjorklund,
               .run = run_bjorklund,
               .pieces = pieces_of_milliseconds,
               .prime_bits = modular_bits,
               .saved = saved_bjorklund,
               .restored = restored<restored_bjorklund>,
               .check = check_bjorklund,
               .source = bjorklund_source},
    EngineInfo{.id = Engine::hermite,
               .propose = propose_hermite,
               .run = run_hermite,
               .pieces = one_piece,
               .prime_bits = residue_bits,
               .saved = saved_hermite,
               .restored = restored<restored_hermite>,
               .check = check_hermite},
    EngineInfo{.id = Engine::sieve,
               .propose = propose_sieve,
               .propose_at_last = propose_sieve_at_last,
               .run = run_sieve,
               .by_residues = always_by_residues,
               .reads_structure = true,
               .pieces = pieces_of_sieve,
               .prime_bits = residue_bits,
               .saved = saved_sieve,
               .restored = restored<restored_sieve>,
               .check = check_sieve,
               .source = sieve_source,
               .shape_text = sieve_text,
               .put_shape = put_sieve},
    EngineInfo{.id = Engine::frontier,
               .propose = propose_frontier,
               .propose_at_last = propose_slices,
               .run = run_frontier_engine,
               .pieces = pieces_of_frontier,
               .prime_bits = residue_bits,
               .saved = saved_frontier,
               .restored = restored_frontier,
               .check = check_frontier,
               .save_cut = save_slices,
               .load_cut = load_slices,
               .source = frontier_source,
               .shape_text = tree_text,
               .put_shape = put_tree},
    EngineInfo{.id = Engine::tree,
               .propose = propose_tree,
               .outlook = tree_outlook,
               .run = run_subsets,
               .in_wider = tree_in_wider,
               .pieces = pieces_of_subsets,
               .prime_bits = modular_bits,
               .saved = saved_subsets,
               .restored = restored<restored_tree>,
               .check = check_subsets,
               .source = subsets_source,
               .why_never = tree_why_not},
    kernel_row<SubsetEngine::hybrid>(Engine::hybrid),
    kernel_row<SubsetEngine::purereg>(Engine::purereg),
    kernel_row<SubsetEngine::dense>(Engine::dense),
    kernel_row<SubsetEngine::shared>(Engine::shared),
};

} // namespace

bool serves(Engine engine, const Pattern &a) {
    return facts_of(engine).goals.contains(a.one_sided ? Goal::hafnian : Goal::block);
}

const EngineInfo &info_of(Engine engine) {
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const EngineInfo &e) { return e.id == engine; });
    if (row == table.end())
        throw Error(PERM_INTERNAL, formatted("engine {} computes no blocks", engine_name(engine)));
    return *row;
}

std::span<const EngineInfo> engine_table() { return table; }

} // namespace libperm
