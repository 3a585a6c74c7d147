#include "lib/report/report.hpp"

#include "jit/text/text.hpp"
#include "lib/base/system.hpp"
#include "lib/execute/plan_task.hpp"
#include "lib/glynn/calls/request.hpp"
#include "lib/input/machine.hpp"
#include "lib/plan/engines.hpp"
#include "lib/structure/find_structure.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace libperm {
namespace {

// Of the block that takes longest, where it was looked for.
std::vector<std::string> structure_of_values(const Plan &plan) {
    const Options &options = plan.options;
    const bool is_looked_for =
        options.passes.structure && options.device != Device::gpu && !options.names_engine();
    if (!plan.main_block() || !plan.values_known || !is_looked_for) return {};
    const BlockLines &lines = plan.block_plans[plan.costliest].lines;
    return in_words(lines.structure, lines.pattern);
}

// docs/benchmarks/choice.md, "How well times are predicted".
constexpr const char *model_error = "on one GPU, tree and dense took 0.9 to 1.1 times what is "
                                    "predicted for matrices at least 30 % full, tree up to 2.6 times for "
                                    "emptier ones, and 7 times where that was hundredths of a second";

constexpr std::size_t most_groups = 20; // shown; the rest in one line

const char *status_of(const BlockPlan &block, std::size_t k) {
    if (static_cast<int>(k) == block.chosen) return "chosen";
    if (block.candidates[k].lacks_gpu) return "no GPU";
    return block.candidates[k].refusal == PERM_OK ? "possible" : "refused";
}

double average(double sum, std::int64_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); }

// Multiplying row sums out for each subset takes as many, and the average degree for changing them.
double naive_operations(const BlockPlan &block) {
    return block.n + average(static_cast<double>(block.nnz), block.n);
}

void put_form(Json &j, const Candidate &c) {
    if (const EngineForm *form = form_facts(c)) j["form"] = form->name;
    if (c.cut) j["slices"] = pieces_of(c);
}

Json candidate_json(const BlockPlan &block, std::size_t k) {
    const Candidate &c = block.candidates[k];
    Json j;
    j["engine"] = engine_name(c.engine);
    put_form(j, c);
    j["device"] = c.on_gpu ? "gpu" : "cpu";
    j["status"] = status_of(block, k);
    j["transposed"] = c.transposed;
    if (sums_subsets(c.engine)) {
        j["subsets"] = c.cost.subsets;
        if (facts_of(c.engine).distributes && c.cost.subsets > 0) {
            j["operations_per_subset"] = c.cost.operations / c.cost.subsets;
            j["naive_operations_per_subset"] = naive_operations(block);
        }
    } else {
        j["states"] = c.cost.states;
        j["peak_states"] = c.cost.peak_states;
        j["bytes_per_state"] = c.cost.bytes_per_state;
    }
    if (const auto put_shape = info_of(c.engine).put_shape) put_shape(j, c);
    j["operations"] = c.cost.operations;
    j["bytes"] = std::ceil(c.cost.bytes);
    j["seconds"] = c.at_least ? Json(nullptr) : Json(c.seconds);
    if (c.cost.compile_seconds > 0) j["compile_seconds"] = c.cost.compile_seconds; // of these
    if (c.at_least) j["lower_bound"] = true;
    if (!c.why_not.empty()) j["why_not"] = c.why_not;
    return j;
}

// The groups that take longest come first, and there are not too many.
std::vector<std::pair<BlockGroup, BlockCount>> main_groups(const Plan &plan, BlockCount &others) {
    std::vector<std::pair<BlockGroup, BlockCount>> groups(plan.groups.begin(), plan.groups.end());
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto &x, const auto &y) { return x.second.seconds > y.second.seconds; });
    groups.resize(std::min(groups.size(), most_groups));
    others = {plan.blocks, plan.sum_nnz, 0, plan.serial_seconds};
    for (const auto &[group, count] : groups) {
        others.blocks -= count.blocks;
        others.nnz -= count.nnz;
        others.seconds -= count.seconds;
    }
    others.seconds = std::max(0.0, others.seconds);
    return groups;
}

std::string engine_text(Engine engine, int form) {
    const auto &forms = facts_of(engine).forms;
    return forms.empty()
               ? engine_name(engine)
               : formatted("{} {}", engine_name(engine), forms[static_cast<std::size_t>(form)].name);
}

std::string numbers_text(const Numbers &numbers) {
    return precision_name(numbers.precision) + (numbers.complex ? ", complex" : "");
}

Json reductions_json(const Reductions &r) {
    return {{"dropped_entries", r.dropped}, {"irreducible_blocks", r.blocks}, {"degree_1", r.degree_1},
            {"degree_2", r.degree_2},       {"expansions", r.expansions},     {"zero_parts", r.zeros},
            {"merged_lines", r.merged}};
}

Json groups_json(const Plan &plan) {
    Json list = Json::Array();
    BlockCount others;
    for (const auto &[group, count] : main_groups(plan, others)) {
        Json j{{"n", group.n}, {"engine", engine_name(group.engine)}};
        if (const auto &forms = facts_of(group.engine).forms; !forms.empty())
            j["form"] = forms[static_cast<std::size_t>(group.form)].name;
        j["blocks"] = count.blocks;
        j["average_nnz"] = average(count.nnz, count.blocks);
        j[sums_subsets(group.engine) ? "subsets" : "states"] = count.work;
        j["seconds"] = count.seconds;
        list.push_back(std::move(j));
    }
    if (others.blocks > 0) list.push_back({{"blocks", others.blocks}, {"seconds", others.seconds}});
    return list;
}

std::string reductions_text(const Plan &plan) {
    const Reductions &r = plan.reductions;
    std::string text;
    const auto say = [&text](std::int64_t count, const char *one, const char *many) {
        if (count > 0) text += formatted("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : many);
    };
    say(r.dropped, "entry in no perfect matching", "entries in no perfect matching");
    say(r.blocks, "irreducible block", "irreducible blocks");
    say(r.degree_1, "line of degree 1", "lines of degree 1");
    say(r.degree_2, "line of degree 2", "lines of degree 2");
    say(r.expansions, "expansion", "expansions");
    say(r.zeros, "part that is 0", "parts that are 0");
    say(r.merged, "line equal to another", "lines equal to others");
    return text.empty() ? "" : "reduced: " + text;
}

std::string blocks_text(const Plan &plan) {
    if (plan.blocks == 1)
        return formatted("1 block to compute: n = {:.0f}, {:.0f} entries\n", plan.sum_n, plan.sum_nnz);
    std::string text =
        formatted("{} blocks to compute, {} different, in {}; on average n = {:.2f}, {:.2f} entries\n",
                  plan.blocks, plan.distinct, readable_seconds(plan.seconds),
                  average(plan.sum_n, plan.blocks), average(plan.sum_nnz, plan.blocks));
    text += formatted("{:>10} {:>5} {:>9}  {:<16} {:>15} {:>13}\n", "blocks", "n", "entries", "engine",
                      "states/subsets", "thread or GPU");
    BlockCount others;
    for (const auto &[group, count] : main_groups(plan, others))
        text += formatted("{:>10} {:>5} {:>9.1f}  {:<16} {:>15.3g} {:>13}\n", count.blocks, group.n,
                          average(count.nnz, count.blocks), engine_text(group.engine, group.form), count.work,
                          readable_seconds(count.seconds));
    if (others.blocks > 0)
        text += formatted("{:>10} not listed {:>52}\n", others.blocks, readable_seconds(others.seconds));
    return text + "the block that takes longest:\n";
}

// An order of the tree is looked for only where that could pay.
std::string without_tree_text(const BlockPlan &block, const Options &options) {
    const bool is_wanted = !options.names_engine() && !options.equal_chunks;
    const bool is_listed = std::any_of(block.candidates.begin(), block.candidates.end(),
                                       [](const Candidate &c) { return facts_of(c.engine).distributes; });
    if (!is_wanted || is_listed) return "";
    std::string text;
    for (const EngineInfo &engine : engine_table()) {
        if (!facts_of(engine.id).distributes) continue;
        const std::string why_not = engine.why_never ? engine.why_never(block.n) : "";
        text += formatted("{}: not planned, {}\n", engine_name(engine.id),
                          why_not.empty() ? "looking for its order would not pay" : "it " + why_not);
    }
    return text;
}

std::string tree_text(const BlockPlan &block, const Options &options) {
    const auto tree = std::find_if(block.candidates.begin(), block.candidates.end(), [](const Candidate &c) {
        return facts_of(c.engine).distributes && c.cost.subsets > 0;
    });
    if (tree == block.candidates.end()) return without_tree_text(block, options);
    return formatted("{}: {:.3g} instructions per subset, where n + average degree = {:.3g}\n",
                     engine_name(tree->engine), tree->cost.operations / tree->cost.subsets,
                     naive_operations(block));
}

// The form is named where it is not the one that is mostly cut.
std::string sliced_name(const Candidate &c) {
    const EngineForm *form = form_facts(c);
    return (form && form->mostly_cut ? engine_name(c.engine) : engine_text(c.engine, c.form)) + " sliced";
}

std::string slices_text(const BlockPlan &block) {
    std::string text;
    for (const Candidate &c : block.candidates)
        if (c.cut)
            text += formatted("{}{}: {} slice{} of up to {}, one after the other\n", sliced_name(c),
                              c.on_gpu ? " GPU" : "", pieces_of(c), pieces_of(c) == 1 ? "" : "s",
                              readable_bytes(c.cost.bytes));
    return text;
}

std::string shapes_text(const BlockPlan &block) {
    std::string text;
    for (const Candidate &c : block.candidates)
        if (const auto shape_text = info_of(c.engine).shape_text) text += shape_text(c);
    return text;
}

std::string shown_name(const Candidate &c) {
    return (c.cut ? sliced_name(c) : engine_text(c.engine, c.form)) +
           (c.on_gpu && !needs_gpu(c.engine) ? " GPU" : "") +
           (c.transposed && (has_kernel(c.engine) || facts_of(c.engine).transfers_states) ? " A^T" : "");
}

std::string shown_time(const Candidate &c) { return c.at_least ? "-" : readable_seconds(c.seconds); }

// Where executions begin with Glynn's sum it is the first row: with the name that results give.
std::string glynn_row(const Plan &plan, std::size_t width) {
    const std::optional<StraightRoad> road = executed_straight(plan);
    if (!road) return "";
    return formatted("{:<{}} {:<9} {:>15.3g} {:>11}\n", engine_name(road->engine), width, "first",
                     road->terms, "-");
}

std::string candidates_text(const Plan &plan, const BlockPlan &block) {
    std::size_t width = 20;
    for (const Candidate &c : block.candidates) width = std::max(width, shown_name(c).size());
    std::string text = formatted("{:<{}} {:<9} {:>15} {:>11} {:>11} {:>10} {:>13}\n", "engine", width, "",
                                 "states/subsets", "at once", "operations", "memory", "time") +
                       glynn_row(plan, width);
    for (std::size_t k = 0; k < block.candidates.size(); ++k) {
        const Candidate &c = block.candidates[k];
        const bool by_subsets = sums_subsets(c.engine);
        text += formatted("{:<{}} {:<9} {:>15.3g} {:>11} {:>11.3g} {:>10} {:>13}\n", shown_name(c), width,
                          status_of(block, k), by_subsets ? c.cost.subsets : c.cost.states,
                          by_subsets ? "-" : formatted("{:.3g}", c.cost.peak_states), c.cost.operations,
                          (c.at_least ? "> " : "") + readable_bytes(c.cost.bytes), shown_time(c));
    }
    return text + slices_text(block) + shapes_text(block) + tree_text(block, plan.options);
}

Json plan_json(const Plan &plan, const GradientForecast &gradient, const TapePlan *tape) {
    const BlockPlan *block = plan.main_block();
    const Candidate *choice = block ? block->choice() : nullptr;
    Json j;
    if (plan.options.machine) j["machine"] = name_of(*plan.options.machine);
    j["function"] = function_name(plan.options.function);
    j["n"] = plan.n();
    j["nnz"] = plan.input.pattern.nnz();
    j["engine"] = choice          ? Json(engine_name(choice->engine))
                  : block         ? Json(nullptr)
                  : plan.repeated ? Json(engine_name(engine_for(Goal::cells)))
                                  : Json(engine_name(Engine::none));
    j["device"] = block && block->best().on_gpu ? "gpu" : "cpu";
    if (choice) put_form(j, *choice);
    j["precision"] = precision_name(plan.numbers.precision);
    j["complex"] = plan.numbers.complex;
    j["threads"] = plan.options.threads;
    j["memory_limit_bytes"] = plan.options.memory_limit;
    j["refused"] = plan.refusal != PERM_OK;
    if (plan.refusal != PERM_OK) j["refusal"] = plan.refusal_text.substr(0, plan.refusal_text.find('\n'));
    j["why"] = block ? block->why : plan.structure;
    if (!plan.once.empty()) j["once"] = plan.once;
    j["reductions"] = reductions_json(plan.reductions);
    Json structure = Json::Array();
    for (const std::string &line : structure_of_values(plan)) structure.push_back(line);
    j["structure"] = std::move(structure);
    j["blocks"] = plan.blocks;
    j["different_blocks"] = plan.distinct;
    j["average_n"] = average(plan.sum_n, plan.blocks);
    j["average_nnz"] = average(plan.sum_nnz, plan.blocks);
    j["predicted_seconds"] = plan.refusal == PERM_OK ? Json(plan.seconds) : Json(nullptr);
    if (choice) {
        j["transposed"] = choice->transposed;
        j["predicted_bytes"] = std::ceil(plan.bytes);
        j["bytes_per_state"] = choice->cost.bytes_per_state;
    }
    if (plan.repeated) {
        const PeriodicPlan &cells = plan.repeated->cells();
        j["cells"] = {{"count", plan.repeated->length()},
                      {"rows", cells.matrix.rows},
                      {"joined", cells.joined()},
                      {"states", static_cast<std::int64_t>(cells.states())},
                      {"moves", cells.moves()}};
        j["predicted_bytes"] = std::ceil(plan.bytes);
    }
    const ShardCount shards = shards_of(plan);
    j["shards"] = shards.count;
    j["shard_seconds"] = shards.seconds;
    if (plan.options.reckoned_gpus > 0) {
        j["gpus"] = plan.options.reckoned_gpus;
        j["predicted_seconds"] = plan.seconds; // also where there is no GPU to execute it
        j["gpu_hours"] = plan.serial_seconds / 3600;
        j["model_error"] = model_error;
    }
    const std::optional<StraightRoad> road = straight_road(plan);
    j["straight_road"] = road.has_value();
    j["straight_engine"] = road ? Json(engine_name(road->engine)) : Json(nullptr);
    j["executes_straight"] = executed_straight(plan).has_value();
    j["executes_tape"] = tape != nullptr;
    j["gradient_engine"] = engine_name(gradient.engine);
    j["gradient_device"] = gradient.on_gpu ? "gpu" : "cpu";
    j["groups"] = groups_json(plan);
    j["candidates"] = Json::Array();
    for (std::size_t k = 0; block && k < block->candidates.size(); ++k)
        j["candidates"].push_back(candidate_json(*block, k));
    return j;
}

// What it would take on others' machines, for those who plan a run of days.
std::string scale_text(const Plan &plan) {
    const ShardCount shards = shards_of(plan);
    std::string text;
    if (plan.options.reckoned_gpus > 0 && plan.main_block()->best().on_gpu)
        text += formatted("on {} GPUs: predicted to take {}, {:.1f} hours of GPUs; {}\n",
                          plan.options.reckoned_gpus, readable_seconds(plan.seconds),
                          plan.serial_seconds / 3600, model_error);
    if (shards.count > 1)
        text += formatted("{} shards of {} each, on one {}\n", shards.count, readable_seconds(shards.seconds),
                          plan.main_block()->best().on_gpu ? "GPU" : "thread");
    return text;
}

// Says what perm_compute does, which may answer without the plan, and what executing it does.
std::string glynn_text(const Plan &plan) {
    const std::optional<StraightRoad> computed = straight_road(plan), executed = executed_straight(plan),
                                      &road = computed ? computed : executed;
    if (!road) return "";
    return formatted("{} the straight road: engine {}, {:.0f} {} in one sum, where its bound meets the "
                     "tolerance\n",
                     !executed   ? "perm_compute takes"
                     : !computed ? "executions of the plan take, on the processor,"
                                 : "perm_compute and executions of the plan take",
                     engine_name(road->engine), road->terms, road->what);
}

// perm_compute runs the engine that is chosen: a tape takes longer to be written down than that takes once.
std::string tape_text(const Plan &plan, const TapePlan *tape) {
    if (!tape) return "";
    return formatted(
        "{}executions of the plan go along its tape: engine {}, {} states and {} moves, where its "
        "bound meets the tolerance\n",
        executed_straight(plan) ? "then " : "", engine_name(engine_for(Goal::repeated)),
        tape->tape().states(), tape->tape().moves.size());
}

} // namespace

std::string explain_json(const Plan &plan, const GradientForecast &gradient, const TapePlan *tape) {
    return plan_json(plan, gradient, tape).written();
}

std::string picture_json(const Plan &plan, const GradientForecast &gradient, const TapePlan *tape) {
    Json j = plan_json(plan, gradient, tape);
    Json &picture = j["picture"] = picture_of(plan);
    picture["reduced"] = reductions_text(plan);
    picture["time"] = readable_seconds(plan.seconds);
    picture["engines"] = Json::Array();
    if (const BlockPlan *block = plan.main_block())
        for (const Candidate &c : block->candidates)
            picture["engines"].push_back({{"name", shown_name(c)}, {"time", shown_time(c)}});
    return j.written(-1);
}

std::string explain_text(const Plan &plan, const GradientForecast &gradient, const TapePlan *tape) {
    const Options &options = plan.options;
    std::string text = options.machine ? formatted("for: {}\n", name_of(*options.machine)) : "";
    text +=
        formatted("n = {}, {} entries, {}, {} thread{}, memory limit {}\n", plan.n(),
                  plan.input.pattern.nnz(), numbers_text(plan.numbers), options.threads,
                  options.threads == 1 ? "" : "s", readable_bytes(static_cast<double>(options.memory_limit)));
    if (const std::string reduced = reductions_text(plan); !reduced.empty()) text += reduced + "\n";
    const BlockPlan *block = plan.main_block();
    if (!block) return text + plan.structure + "\n" + glynn_text(plan) + tape_text(plan, tape);
    text += blocks_text(plan) + candidates_text(plan, *block) + block->why + "\n";
    for (const std::string &line : structure_of_values(plan)) text += line + "\n";
    text += scale_text(plan) + glynn_text(plan) + tape_text(plan, tape);
    if (sums_subsets(gradient.engine))
        text += formatted("derivatives: engine {}, by 2^{} sums over signs{}\n", engine_name(gradient.engine),
                          plan.n() - 1, gradient.on_gpu ? ", on the GPU" : "");
    if (gradient.engine == engine_for(Goal::inverse))
        text +=
            formatted("derivatives: engine {}, by an inverse at the entries\n", engine_name(gradient.engine));
    if (!plan.values_known && plan.options.passes.merging)
        text += "values unknown: all rows and columns are taken to be different\n";
    if (plan.refusal != PERM_OK) text += plan.refusal_text + "\n";
    if (!plan.once.empty()) text += plan.once + "\n";
    return text;
}

} // namespace libperm
