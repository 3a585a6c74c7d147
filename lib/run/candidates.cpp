#include "lib/run/candidates.hpp"

#include "jit/text/text.hpp"
#include "lib/input/machine.hpp"
#include "lib/input/options.hpp"
#include "lib/run/gpu_device.hpp"

#include <algorithm>
#include <cmath>

namespace libperm {

double seconds_on(int threads, double serial_seconds) {
    constexpr double worth_a_thread = 2e-4; // shorter work is done by one
    constexpr double efficiency = 0.85;     // of each further thread
    if (serial_seconds < worth_a_thread) return serial_seconds;
    return serial_seconds / (1 + efficiency * (threads - 1));
}

double Pace::of(Arithmetic a) const {
    switch (a) {
    case Arithmetic::complex:
    case Arithmetic::complex_two_grids:
        return complex;
    case Arithmetic::dd:
    case Arithmetic::split:
        return dd;
    case Arithmetic::complex_dd:
    case Arithmetic::complex_split:
        return complex_dd;
    case Arithmetic::modular:
        return residues;
    case Arithmetic::two_grids: // a plan counts them
    case Arithmetic::pair:      // of segments alone: a plan counts them
    case Arithmetic::real:
        break;
    }
    return 1;
}

double Pace::matrices(const Numbers &numbers, double bits) const {
    return std::ceil((bits + 2) / prime_bits) * (numbers.complex ? 2 : 1);
}

Slowdown Pace::slowdown(const Numbers &numbers, double bits) const {
    Slowdown slowdown{of(numbers.arithmetic())};
    if (numbers.precision == Precision::exact) slowdown.time *= matrices(numbers, bits);
    return slowdown;
}

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
