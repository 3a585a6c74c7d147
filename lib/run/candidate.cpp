#include "lib/run/candidate.hpp"

#include "jit/text/text.hpp"
#include "lib/input/machine.hpp"
#include "lib/input/options.hpp"
#include "lib/run/plan_machine.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {

double seconds_per_step(const Candidate &c) {
    return c.cost.serial_seconds / (sums_subsets(c.engine) ? c.cost.subsets : c.cost.operations);
}

const EngineForm *form_facts(const Candidate &c) {
    const auto &forms = facts_of(c.engine).forms;
    return forms.empty() ? nullptr : &forms[static_cast<std::size_t>(c.form)];
}

std::string name_of(const Candidate &c) {
    const EngineFacts &engine = facts_of(c.engine);
    const EngineForm *form = form_facts(c);
    if (!form) return c.on_gpu && engine.on_cpu ? formatted("{} (GPU)", engine.name) : engine.name;
    std::string name = formatted("{} ({}", engine.name, form->name);
    if (c.cut) name += formatted(", {} slice{}", pieces_of(c), pieces_of(c) == 1 ? "" : "s");
    return name + (c.on_gpu ? ", GPU)" : ")");
}

double predicted_seconds(const Candidate &c, const Options &options) {
    if (!c.on_gpu) return seconds_on(options.threads, c.cost.serial_seconds);
    const int gpus = PlanMachine(options).gpu_count();
    // Whole slices, or of the 2^16 pieces at most that sums over subsets have; each compiles for itself.
    const double pieces = sums_subsets(c.engine) ? 65536 : static_cast<double>(pieces_of(c));
    const double share = std::ceil(pieces / gpus) / pieces;
    return c.cost.compile_seconds + (c.cost.serial_seconds - c.cost.compile_seconds) * share;
}

double weight(const Candidate &c) {
    constexpr double unnoticed = 0.02;
    const double seconds = c.expected_runs * (c.cost.serial_seconds - c.cost.compile_seconds) +
                           gpu_start::of_compiling * c.cost.compile_seconds;
    return sums_subsets(c.engine) ? 1.2 * seconds + unnoticed : seconds;
}

} // namespace libperm
