#include "lib/explain.hpp"

#include "lib/system.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace libperm {
namespace {

using Json = nlohmann::ordered_json;

const char *status_of(const Plan &plan, std::size_t k) {
    if (static_cast<int>(k) == plan.chosen) return "chosen";
    return plan.candidates[k].refusal == PERM_OK ? "possible" : "refused";
}

// Bytes that a state of the sparse form takes in a list; of the dense form, in a table.
std::int64_t bytes_per_state(const Plan &plan, const Candidate &c) {
    if (c.engine != Engine::frontier) return 0;
    const std::int64_t number = number_bytes(plan.input.value_type == PERM_VALUE_PATTERN);
    return c.form == FrontierForm::dense ? number : number + 8 * sparse_key_words(plan.frontier);
}

Json candidate_json(const Plan &plan, std::size_t k) {
    const Candidate &c = plan.candidates[k];
    Json j;
    j["engine"] = engine_name(c.engine);
    if (c.engine == Engine::frontier) j["form"] = form_name(c.form);
    j["status"] = status_of(plan, k);
    j["transposed"] = c.transposed;
    if (c.engine == Engine::ryser) {
        j["subsets"] = c.cost.subsets;
    } else {
        j["states"] = c.cost.states;
        j["peak_states"] = c.cost.peak_states;
        j["bytes_per_state"] = bytes_per_state(plan, c);
    }
    j["operations"] = c.cost.operations;
    j["bytes"] = std::ceil(c.cost.bytes);
    j["seconds"] = c.seconds;
    if (!c.why_not.empty()) j["why_not"] = c.why_not;
    return j;
}

} // namespace

std::string explain_json(const Plan &plan) {
    const Candidate *choice = plan.choice();
    Json j;
    j["n"] = plan.n();
    j["nnz"] = plan.input.pattern.nnz();
    j["engine"] = choice ? engine_name(choice->engine) : "none";
    j["device"] = "cpu";
    if (choice && choice->engine == Engine::frontier) j["form"] = form_name(choice->form);
    j["threads"] = plan.options.threads;
    j["memory_limit_bytes"] = plan.options.memory_limit;
    j["refused"] = plan.refusal != PERM_OK;
    j["why"] = plan.structure.empty() ? plan.why : plan.structure;
    if (choice) {
        j["transposed"] = choice->transposed;
        j["predicted_seconds"] = choice->seconds;
        j["predicted_bytes"] = std::ceil(choice->cost.bytes);
        j["bytes_per_state"] = bytes_per_state(plan, *choice);
    } else {
        j["predicted_seconds"] = plan.structure.empty() ? Json(nullptr) : Json(0.0);
    }
    j["candidates"] = Json::array();
    for (std::size_t k = 0; k < plan.candidates.size(); ++k)
        j["candidates"].push_back(candidate_json(plan, k));
    return j.dump(2);
}

std::string explain_text(const Plan &plan) {
    std::string text =
        fmt::format("n = {}, {} entries, {} thread{}, memory limit {}\n", plan.n(), plan.input.pattern.nnz(),
                    plan.options.threads, plan.options.threads == 1 ? "" : "s",
                    readable_bytes(static_cast<double>(plan.options.memory_limit)));
    if (!plan.structure.empty()) return text + plan.structure + "\n";
    text += fmt::format("{:<20} {:<9} {:>15} {:>11} {:>11} {:>10} {:>13}\n", "engine", "", "states/subsets",
                        "at once", "operations", "memory", "time");
    for (std::size_t k = 0; k < plan.candidates.size(); ++k) {
        const Candidate &c = plan.candidates[k];
        const bool is_ryser = c.engine == Engine::ryser;
        const std::string name =
            is_ryser ? "ryser" : fmt::format("frontier {}{}", form_name(c.form), c.transposed ? " A^T" : "");
        text += fmt::format("{:<20} {:<9} {:>15.3g} {:>11} {:>11.3g} {:>10} {:>13}\n", name,
                            status_of(plan, k), is_ryser ? c.cost.subsets : c.cost.states,
                            is_ryser ? "-" : fmt::format("{:.3g}", c.cost.peak_states), c.cost.operations,
                            readable_bytes(c.cost.bytes), readable_seconds(c.seconds));
    }
    text += plan.why + "\n";
    if (plan.refusal != PERM_OK)
        for (const Candidate &c : plan.candidates) text += fmt::format("  {} {}\n", name_of(c), c.why_not);
    return text;
}

} // namespace libperm
