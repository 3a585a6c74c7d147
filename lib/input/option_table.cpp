#include "lib/input/option_table.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/json.hpp"
#include "lib/input/input_pattern.hpp"
#include "lib/input/machine.hpp"

#include <cmath>
#include <iterator>
#include <string_view>

namespace libperm {
namespace {

constexpr const char *call_names[] = {"perm_compute",
                                      "perm_compute_product",
                                      "perm_permanents",
                                      "perm_plan_create",
                                      "perm_plan_load",
                                      "perm_plan_execute",
                                      "perm_plan_execute_batch",
                                      "perm_plan_gradient",
                                      "perm_plan_gradient_batch",
                                      "perm_plan_hessian_product",
                                      "perm_plan_marginals",
                                      "shards of perm_task_plan",
                                      "perm_matchings",
                                      "perm_polynomial",
                                      "perm_sub_permanents",
                                      "perm_gradients",
                                      "perm_sample_photons",
                                      "perm_bounds",
                                      "perm_estimate",
                                      "shards of perm_task_estimate",
                                      "perm_sample",
                                      "perm_sampler_create",
                                      "perm_periodic_create",
                                      "perm_periodic_execute",
                                      "perm_periodic_generating_function",
                                      "perm_periodic_growth",
                                      "perm compute --or-estimate"};
static_assert(std::size(call_names) == static_cast<std::size_t>(ApiCall::or_estimate) + 1);

// A rule names options that do not count for some calls, but with these values, or that are accepted and have
// nothing to do.
struct Rule {
    EnumSet<ApiCall> calls;
    EnumSet<Option> options;
    const char *values;                   // by commas; "": but its default
    const char *why;                      // and what to do instead
    perm_status status = PERM_BAD_OPTION; // PERM_OK: accepted, so that one perm_opts may serve several calls
};

namespace option_rules {
using enum Option;

using Calls = EnumSet<ApiCall>;
constexpr Calls derivatives{ApiCall::plan_gradient, ApiCall::plan_gradient_batch,
                            ApiCall::plan_hessian_product};
constexpr Calls of_plans = derivatives | Calls{ApiCall::plan_marginals};
constexpr Calls full_sums{ApiCall::sub_permanents, ApiCall::gradients, ApiCall::sample_photons};
constexpr Calls estimates{ApiCall::estimate, ApiCall::estimate_shards};
constexpr Calls far_periods{ApiCall::periodic_generating_function, ApiCall::periodic_growth};
constexpr Calls periods = far_periods | Calls{ApiCall::periodic_create, ApiCall::periodic_execute};

constexpr Rule rules[] = {
    {~Calls{ApiCall::plan_create, ApiCall::plan_load, ApiCall::or_estimate},
     {machine},
     "",
     "what is planned for another machine is not to be executed here: save the plan and load it there, "
     "or leave out the option machine"},

    {Calls{ApiCall::compute_product, ApiCall::permanents, ApiCall::plan_hessian_product, ApiCall::bounds,
           ApiCall::or_estimate} |
         full_sums | estimates | periods,
     {function},
     "",
     "this is known of permanents alone: hafnians are computed, planned, executed in batches and in shards, "
     "they have derivatives, probabilities, polynomials, matchings and samples of these",
     PERM_UNSUPPORTED},
    {{ApiCall::matchings},
     {function},
     "hafnian",
     "matchings of a graph are counted with function hafnian: lines that stay single count 1 each",
     PERM_UNSUPPORTED},

    {{ApiCall::plan_gradient_batch, ApiCall::plan_hessian_product, ApiCall::plan_marginals},
     {checkpoint, checkpoint_seconds},
     "",
     "executions of a plan are kept in it, or one gradient, not several, second derivatives or "
     "probabilities: leave it out"},
    {{ApiCall::plan_shards, ApiCall::estimate_shards},
     {checkpoint, checkpoint_seconds},
     "",
     "what a shard comes to is the caller's to keep, and to combine again: leave it out"},
    {{ApiCall::plan_shards},
     {chunks},
     "",
     "chunks that are equal are not the same on every machine, so they cannot be shared out: use chunks "
     "ceg",
     PERM_UNSUPPORTED},
    {of_plans,
     {engine},
     "auto, frontier, planar, bjorklund, hermite",
     "derivatives and probabilities go along the frontier, by an inverse, or over sums and sets of their "
     "own: make the plan with engine auto, frontier or planar; of a hafnian also with bjorklund or hermite"},
    {of_plans,
     {precision},
     "auto, double, exact",
     "derivatives and probabilities are computed in doubles, with certain bounds: make the plan without a "
     "precision, or with \"double\"",
     PERM_UNSUPPORTED},
    {of_plans,
     {decompose, chunks},
     "",
     "nothing is expanded for derivatives and probabilities, nor divided into chunks: make the plan "
     "without it"},

    {{ApiCall::compute_product},
     {engine},
     "auto, low_rank",
     "factors are computed with by engine low_rank alone: leave the engine at auto, or compute the matrix "
     "and take its permanent (perm_compute)"},
    {{ApiCall::compute_product},
     {precision},
     "auto, exact",
     "the permanent of a product is exact, and rounded once: use precision auto or exact"},
    {{ApiCall::compute_product},
     {device},
     "auto, cpu",
     "polynomials are multiplied on the processor: use device auto or cpu"},
    {{ApiCall::compute_product},
     {seed, without, decompose, chunks, gpus},
     "",
     "the permanent of a product is computed from its factors, without a search or reductions: leave it out"},

    {{ApiCall::matchings},
     {precision},
     "auto, exact",
     "the numbers of matchings are exact: leave the precision at auto"},
    {{ApiCall::polynomial},
     {precision},
     "auto, double, dd, exact, mod:P",
     "coefficients are computed with precision auto, double, dd, exact or mod:P"},

    {full_sums,
     {engine, tolerance, seed, without, decompose, chunks, gpus},
     "",
     "these are sums over signs of full matrices, without a plan, in doubles with their bounds: leave it "
     "out; perm_compute and perm_plan_gradient know it"},
    {full_sums,
     {precision},
     "auto, double",
     "these are computed in doubles, with certain bounds: use precision auto or double"},
    {{ApiCall::sample_photons},
     {device},
     "auto, cpu",
     "photons are drawn on the processor: use device auto or cpu"},

    {{ApiCall::bounds},
     {engine, precision, tolerance, seed, decompose, chunks, checkpoint, checkpoint_seconds, gpus},
     "",
     "bounds are certain, and as close as they come at once, in doubles, in one way: leave it out; the "
     "permanent itself (perm_compute) and an estimate to a precision (perm_estimate) have such options"},
    {{ApiCall::bounds},
     {device},
     "auto, cpu",
     "bounds are computed on the processor: use device auto or cpu"},
    {{ApiCall::compute_product, ApiCall::bounds},
     {cache_dir, cache_limit_bytes},
     "",
     "no kernels are compiled, so none are kept: leave it out",
     PERM_OK},

    {estimates,
     {engine, precision, tolerance, decompose, chunks, gpus},
     "",
     "an estimate is drawn from samples: what it is to come to is told by epsilon, delta, method and "
     "samples; leave it out, or compute the permanent (perm_compute)"},

    {{ApiCall::sample, ApiCall::sampler_create},
     {engine, precision, tolerance, without, decompose, chunks, gpus},
     "",
     "matchings are drawn with their exact probabilities, along the frontier, line by line or by rejection: "
     "leave it out"},
    {{ApiCall::sampler_create},
     {checkpoint, checkpoint_seconds},
     "",
     "what a sampler draws, or a shard, is the caller's to keep: leave it out, or draw all at once "
     "(perm_sample)"},

    {periods,
     {engine},
     "auto, frontier",
     "a periodic matrix is computed by the frontier of one cell: use engine auto or frontier",
     PERM_UNSUPPORTED},
    {far_periods,
     {checkpoint, checkpoint_seconds},
     "",
     "terms of a periodic matrix are kept in it, neither a generating function nor the growth: leave it "
     "out, or ask for terms",
     PERM_UNSUPPORTED},
    {periods,
     {seed, without, decompose, chunks, gpus},
     "",
     "a periodic matrix is computed by the operator of one cell, without a search or reductions: leave "
     "it out"},
    {{ApiCall::periodic_execute},
     {precision},
     "auto, double, dd, exact, mod:P",
     "a periodic matrix is computed with precision auto, double, dd, exact or mod:P",
     PERM_UNSUPPORTED},
    {{ApiCall::periodic_generating_function},
     {precision},
     "auto, exact",
     "a generating function is exact: use precision auto or exact; the terms are had in others"},
    {{ApiCall::periodic_growth},
     {precision},
     "auto, double, exact",
     "the growth is a certain bracket in doubles: leave the precision at auto; the terms are had in "
     "others"},
    {far_periods,
     {tolerance},
     "",
     "a generating function is exact, and the growth a bracket as narrow as doubles are: leave it out, "
     "or ask for terms"},

    {{ApiCall::or_estimate},
     {precision},
     "auto, double, kahan, dq, dd, mpfr:BITS",
     "an estimate has neither a residue nor exact numbers: leave out the one or the other"},
};

} // namespace option_rules

using option_rules::rules;

std::string precision_of(const Options &o) {
    if (o.modulus != 0) return "mod:P";
    if (o.precision == Precision::mpfr) return "mpfr:BITS";
    return o.precision == Precision::automatic ? "" : precision_name(o.precision);
}

// Returns an option's value as the table names it; "" for its default.
std::string given(const Options &o, Option option) {
    const Options none;
    switch (option) {
    case Option::engine:
        return o.names_engine() ? engine_name(o.engine) : "";
    case Option::device: // which a number of GPUs sets, too
        return o.device == Device::cpu ? "cpu" : o.device == Device::gpu && o.reckoned_gpus == 0 ? "gpu" : "";
    case Option::precision:
        return precision_of(o);
    case Option::tolerance:
        return o.tolerance == none.tolerance ? "" : formatted("{:g}", o.tolerance);
    case Option::seed:
        return o.seed == 0 ? "" : std::to_string(o.seed);
    case Option::without: {
        const Passes &p = o.passes;
        const bool all = p.matching && p.dulmage_mendelsohn && p.degree_1 && p.degree_2 && p.forbert_marx &&
                         p.merging && p.scaling && p.periodic;
        return all ? "" : "some";
    }
    case Option::decompose:
        return o.decompose_as_published ? "paper" : "";
    case Option::chunks:
        return o.equal_chunks ? "equal" : "";
    case Option::checkpoint:
        return o.checkpoint;
    case Option::checkpoint_seconds:
        return o.checkpoint_seconds == none.checkpoint_seconds ? "" : formatted("{:g}", o.checkpoint_seconds);
    case Option::gpus:
        return o.reckoned_gpus == 0 ? "" : std::to_string(o.reckoned_gpus);
    case Option::function:
        return o.function == MatrixFunction::permanent ? "" : function_name(o.function);
    case Option::machine:
        return o.machine ? "another machine (" + name_of(*o.machine) + ")" : "";
    default:
        break;
    }
    return ""; // of others, which no call refuses
}

bool is_among(std::string_view values, const std::string &value) {
    return (", " + std::string(values) + ", ").find(", " + value + ", ") != std::string::npos;
}

} // namespace

void require_counting(const Options &options, ApiCall call) {
    for (const Rule &rule : rules) {
        if (rule.status == PERM_OK || !rule.calls.contains(call)) continue;
        for (const OptionFacts &option : all_options()) {
            const std::string value = rule.options.contains(option.id) ? given(options, option.id) : "";
            if (!value.empty() && !is_among(rule.values, value))
                throw Error(rule.status, formatted("{} {}: {}", option.name, value, rule.why));
        }
    }
}

Options read_options(const perm_opts *opts, ApiCall call) {
    Options options = read_options(opts);
    require_counting(options, call);
    return options;
}

std::string option_table_json() {
    const auto options_of = [](const auto &is_listed) {
        Json names = Json::Array();
        for (const OptionFacts &one : all_options())
            if (is_listed(one.id)) names.push_back(one.name);
        return names;
    };
    const auto calls_of = [](const auto &is_listed) {
        Json names = Json::Array();
        for (std::size_t k = 0; k < std::size(call_names); ++k)
            if (is_listed(static_cast<ApiCall>(k))) names.push_back(call_names[k]);
        return names;
    };
    const auto all = [](auto) { return true; };
    Json facts = Json::Object(), refusals = Json::Array();
    for (const OptionFacts &one : all_options())
        facts[one.name] = {{"type", one.type},
                           {"unit", one.unit},
                           {"most", one.most > 0 && std::isfinite(one.most) ? Json(one.most) : Json()},
                           {"values", values_of(one)},
                           {"otherwise", one.otherwise}};
    for (const Rule &rule : rules)
        refusals.push_back(
            Json{{"calls", calls_of([&](ApiCall call) { return rule.calls.contains(call); })},
                 {"options", options_of([&](Option one) { return rule.options.contains(one); })},
                 {"values", rule.values},
                 {"status", static_cast<int>(rule.status)},
                 {"why", rule.why}});
    return Json{{"calls", calls_of(all)},
                {"options", options_of(all)},
                {"facts", std::move(facts)},
                {"rules", std::move(refusals)}}
        .written();
}

} // namespace libperm
