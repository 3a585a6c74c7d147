#include "lib/sieve/sieve.hpp"

#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/input/machine.hpp"
#include "lib/number/state_number.hpp"
#include "lib/run/proposals.hpp"
#include "lib/sieve/rows.hpp"
#include "lib/sieve/sign_walk.hpp"
#include "lib/structure/integers.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

namespace libperm {
namespace {

constexpr std::int32_t least_lines = 20; // below, others take less than it takes to look
constexpr double unnoticed = 5e-3;       // seconds that others may take before this one is thought of
constexpr double first_search = 1e-3, most_search = 1.0; // seconds
constexpr double optimism = 4;                           // prefixes, times those by independence
constexpr double prefix_seconds = 1.4e-9;
constexpr std::uint64_t most_prefixes = 1 << 16, most_pieces = 4096;
constexpr double piece_seconds = 0.02, launch_seconds = 0.5; // on a thread, on a GPU

SieveRows rows_of(const Pattern &a, const std::vector<std::int8_t> &integers) {
    SieveRows rows(at(a.rows));
    std::int64_t k = 0;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i))
            if (const std::int8_t value = integers[at(k++)]; value != 0) rows[at(i)].push_back({j, value});
    return rows;
}

std::int32_t other_rows(const SieveRows &rows) {
    return static_cast<std::int32_t>(std::ranges::count_if(rows, is_other));
}

// One of the ways to write the sum: rows or columns, all x or half of them.
struct Choice {
    bool transposed, is_halved;
    SieveRows rows;
    std::vector<SieveFactor> factors;
    SieveOrder order;

    double seconds() const { return optimism * prefix_seconds * order.predicted / (is_halved ? 2 : 1); }
};

std::vector<Choice> choices(const SieveRows &of_block) {
    std::vector<Choice> all;
    for (const bool transposes : {false, true}) {
        const SieveRows rows = transposes ? transposed(of_block) : of_block;
        if (other_rows(rows) > most_lines_of_others) continue;
        for (const bool halves : {true, false}) {
            std::vector<SieveFactor> factors = row_factors(rows, halves);
            const bool has_odd = std::any_of(factors.begin(), factors.end(),
                                             [](const SieveFactor &f) { return f.scale == 2; });
            all.push_back({transposes, halves, rows, std::move(factors), {}});
            if (halves && !has_odd) break; // nothing is gained by adding to even rows
        }
    }
    return all;
}

// The cheapest after a search of each; none: rows are too heavy.
std::optional<Choice> cheapest(std::vector<Choice> all, double seconds) {
    std::optional<Choice> best;
    for (Choice &choice : all) {
        choice.order = sieve_order(choice.rows, choice.factors, seconds / static_cast<double>(all.size()));
        if (!best || choice.seconds() < best->seconds()) best = std::move(choice);
    }
    return best;
}

Pattern pattern_of(const SieveRows &rows) {
    Pattern pattern;
    pattern.rows = pattern.cols = static_cast<std::int32_t>(rows.size());
    for (const std::vector<SieveEntry> &row : rows) {
        for (const SieveEntry &entry : row) pattern.col.push_back(entry.col);
        pattern.row_ptr.push_back(std::ssize(pattern.col));
    }
    return pattern;
}

// Each line that an entry ties to one before it.
template <class EntryAt> void find_scales(SievePlan &plan, const EntryAt &entry) {
    const SieveRows &rows = plan.way.rows, columns = transposed(rows);
    std::vector<char> row_is_known(rows.size()), col_is_known(rows.size());
    for (std::int32_t first = 0; first < std::ssize(rows); ++first) {
        if (std::exchange(col_is_known[at(first)], 1) != 0) continue;
        std::vector<std::int32_t> known{first};
        for (std::size_t k = 0; k < known.size(); ++k)
            for (const SieveEntry &of_col : columns[at(known[k])]) {
                const std::int32_t i = of_col.col;
                if (is_other(rows[at(i)]) || std::exchange(row_is_known[at(i)], 1) != 0) continue;
                plan.scales.push_back({entry(i, known[k]), i, known[k], true});
                for (const SieveEntry &of_row : rows[at(i)]) {
                    if (std::exchange(col_is_known[at(of_row.col)], 1) != 0) continue;
                    plan.scales.push_back({entry(i, of_row.col), i, of_row.col, false});
                    known.push_back(of_row.col);
                }
            }
    }
}

// What follows of the rest. False: products have too many different primes, or there is none but 0.
bool complete(SievePlan &plan, const Pattern &a) {
    const Matching matching = maximum_matching(pattern_of(rows_of(a, plan.integers)));
    if (matching.size < a.rows) return false;
    std::optional<SieveProgram> program = sieve_program(plan.way);
    if (!program) return false;
    plan.program = *std::move(program);
    const SieveRows &rows = plan.way.rows;
    const auto entry = [&](std::int32_t i, std::int32_t j) {
        return plan.transposed ? entry_at(a, j, i) : entry_at(a, i, j);
    };
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (!is_other(rows[at(i)])) continue;
        plan.others.emplace_back();
        for (const std::int32_t j : plan.program.told) plan.others.back().push_back(entry(i, j));
    }
    find_scales(plan, entry);
    std::vector<std::int64_t> read;
    for (const SievePlan::Scale &scale : plan.scales) read.push_back(scale.entry);
    for (const std::vector<std::int64_t> &row : plan.others) read.insert(read.end(), row.begin(), row.end());
    plan.read = EntriesRead(std::move(read));
    return true;
}

// Many more prefixes than pieces, as they are of different lengths.
std::uint64_t wanted_prefixes(const SievePlan &plan) {
    return std::clamp<std::uint64_t>(16 * plan.pieces_asked, 64, most_prefixes);
}

void cut(SievePlan &plan) {
    const std::uint64_t wanted = wanted_prefixes(plan);
    std::uint64_t prefixes = 1;
    while (plan.prefix_step + 1 < plan.program.steps.size() && prefixes < wanted)
        prefixes = sieve_prefixes(plan.program, ++plan.prefix_step).size() / plan.program.prefix_words();
    plan.pieces = std::clamp<std::uint64_t>(prefixes, 1, plan.pieces_asked);
}

struct SavedSieve {
    bool transposed = false, halved = false;
    std::vector<std::int32_t> order, steps;
    std::uint64_t pieces = 1;
    double spread = 0, peak = 0;

    template <class Archive> void serialize(Archive &ar) {
        flags(ar, transposed, halved);
        ar(pieces, order, steps);
        amounts(ar, spread, peak);
    }
};

// `matrices`: modulo so many primes, where there are other rows.
std::int64_t walk_bytes(const SievePlan &plan, std::size_t matrices) {
    const std::size_t others = plan.others.size();
    return static_cast<std::int64_t>(
        64 * wanted_prefixes(plan) * plan.program.prefix_words() +
        SieveWalk::bytes(plan.program, plan.prefix_step, others > 0 ? matrices : 1) +
        OtherRows::bytes(matrices, others, plan.program.told.size()));
}

// A way, column by column, and the prefixes that it meets.
struct Counted {
    bool transposed;
    SieveWay way;
    SieveProgram one_by_one;
    SieveProfile profile;
};

// None: products have too many different primes.
std::optional<Counted> counted(Choice choice, double seconds) {
    const auto n = choice.order.columns.size();
    SieveWay way{std::move(choice.rows), choice.is_halved, std::move(choice.order.columns),
                 std::vector<std::int32_t>(n, 1)};
    std::optional<SieveProgram> one_by_one = sieve_program(way);
    if (!one_by_one) return {};
    SieveProfile profile = sieve_profile(*one_by_one, seconds);
    return Counted{choice.transposed, std::move(way), *std::move(one_by_one), std::move(profile)};
}

// Modulo how many primes: where entries are not looked at, those of other rows alone are long.
double residues_beside(const Proposals &task, std::size_t others) {
    constexpr double guessed_bits = 56;
    const Numbers &numbers = task.values.numbers;
    if (numbers.precision == Precision::exact) return task.matrices();
    const double bits = task.bits + guessed_bits * static_cast<double>(others);
    return std::ceil(bits / residue_bits) * (numbers.complex ? 2 : 1);
}

// On a GPU where it is given, else on a thread.
std::optional<Candidate> candidate_of(const Proposals &task, Engine self, const Counted &of,
                                      const GpuProperties *gpu = nullptr) {
    SievePace pace = gpu ? sieve_pace(*gpu) : sieve_pace_of_thread;
    const std::size_t others = at(other_rows(of.way.rows));
    if (gpu && others > 0) return {};
    const double matrices = residues_beside(task, others),
                 product = OtherRows::seconds(matrices, others, of.one_by_one.told.size());
    pace.leaf += product;
    pace.far_leaf += product;
    const SieveProfile &profile = of.profile;
    SievePlan plan;
    plan.integers = task.values.structure->integers;
    plan.way = of.way;
    plan.way.steps = best_steps(of.one_by_one, profile, pace);
    plan.transposed = of.transposed;
    plan.spread = profile.spread;
    if (!complete(plan, task.a)) return {};
    if (gpu && sieve_cells(plan.program) == 0) return {};
    const SieveCost cost = sieve_cost(plan.program, plan.way, profile, pace);
    const double pieces = std::clamp(cost.seconds / (gpu ? launch_seconds : piece_seconds), 1.0,
                                     static_cast<double>(most_pieces));
    plan.peak = cost.peak;
    plan.pieces_asked = static_cast<std::uint64_t>(pieces);
    cut(plan);
    Candidate c;
    c.engine = self;
    c.transposed = plan.transposed;
    c.cost.states = c.cost.operations = cost.prefixes;
    c.cost.peak_states = static_cast<double>(SieveWalk::most_at_once(plan.program, plan.prefix_step));
    c.cost.bytes_per_state = static_cast<std::int64_t>(4 * plan.program.prefix_words());
    c.cost.bytes = static_cast<double>(walk_bytes(plan, static_cast<std::size_t>(matrices)));
    c.cost.serial_seconds = call_seconds + cost.seconds;
    if (gpu) {
        c.on_gpu = true;
        c.cost.bytes = sieve_bytes_on_gpu(plan.program, plan.prefix_step, *gpu);
        c.cost.compile_seconds = gpu_start::compile;
        c.cost.serial_seconds += c.cost.compile_seconds;
    }
    c.plan = std::make_shared<const SievePlan>(std::move(plan));
    return c;
}

// A GPU's pace, by a step of the middle of a walk.
double times_a_thread(const GpuProperties &gpu) {
    const auto middle = [](const SievePace &pace) { return pace.of_step(2, 4, 3, 1); };
    return middle(sieve_pace_of_thread) / middle(sieve_pace(gpu));
}

// What is known of the block; none: it is not for this engine.
std::optional<SieveRows> block_rows(const Proposals &task, Engine self) {
    const Structure *structure = task.values.structure;
    if (!structure || structure->integers.empty()) return {};
    if (task.options.names_engine() && !task.asks_for(self)) return {};
    if (task.a.rows < least_lines && !task.asks_for(self)) return {};
    return rows_of(task.a, structure->integers);
}

std::size_t place_of(const Proposals &task, Engine self) {
    return at(std::find_if(task.candidates.begin(), task.candidates.end(),
                           [self](const Candidate &c) { return c.engine == self; }) -
              task.candidates.begin());
}

} // namespace

std::int64_t SievePlan::bytes() const {
    std::int64_t bytes = std::ssize(integers) * (1 + static_cast<std::int64_t>(sizeof(SieveEntry)));
    for (const SieveProgram::Step &step : program.steps) {
        bytes += std::ssize(step.branches) * (4 * program.words + 32);
        for (const SieveProgram::Finish &row : step.finishes) bytes += 12 * std::ssize(row.factors) + 64;
    }
    return bytes;
}

void propose_sieve(Proposals &task, Engine self) {
    if (task.asks_for(self) || !task.wants_on_cpu(self)) return; // at last
    const std::optional<SieveRows> rows = block_rows(task, self);
    if (!rows || task.least_seconds() < unnoticed) return;
    std::optional<Choice> first = cheapest(choices(*rows), 0);
    if (!first || first->seconds() < unnoticed) return;
    if (first->seconds() > task.search_budget(false).limit) return;
    first->order = sieve_order(first->rows, first->factors, first_search);
    const std::optional<Counted> of = counted(*std::move(first), 0);
    if (std::optional<Candidate> c = of ? candidate_of(task, self, *of) : std::nullopt)
        task.add(*std::move(c), {});
}

void propose_sieve_at_last(Proposals &task, Engine self) {
    std::optional<SieveRows> rows = block_rows(task, self);
    if (!rows)
        return refuse_block(
            task, self,
            "takes matrices of up to 128 lines whose entries are small integers, or of equal "
            "magnitudes, but for a factor of each line, or multiples of one number by small "
            "integers but for a few rows or columns: this one is none, or was planned without values");
    const std::size_t known = place_of(task, self);
    double others = std::numeric_limits<double>::infinity();
    for (const Candidate &c : task.candidates)
        if (c.engine != self && c.refusal != PERM_UNSUPPORTED)
            others = std::min(others, c.cost.serial_seconds);
    const std::vector<Choice> all = choices(*rows);
    if (all.empty())
        return refuse_block(
            task, self,
            formatted("takes rows whose absolute values sum to {} at most, once made integers, "
                      "but for {} or less",
                      most_row_weight, most_lines_of_others));
    if (!task.asks_for(self) && others < unnoticed) return;
    std::optional<Choice> first = cheapest(all, 0);
    const bool may_use_gpu = task.may_use_gpu() && other_rows(*rows) == 0;
    const double faster = may_use_gpu ? times_a_thread(task.machine.gpu()) : 1;
    if (!task.asks_for(self) && first->seconds() / optimism / faster > SearchBudget::far * others) return;
    const double own =
        (known < task.candidates.size() ? task.candidates[known].cost.serial_seconds : first->seconds()) /
        faster;
    const SearchBudget budget = task.search_budget(may_use_gpu);
    const double seconds =
        std::min({budget.of(own), budget.most(std::min(own, others)), most_search * task.effort});
    first = cheapest(all, seconds * 2 / 3);
    const std::optional<Counted> of = counted(*std::move(first), seconds / 3);
    constexpr const char *primes = "takes rows whose sums have fewer different primes than these, and on "
                                   "a GPU none of other numbers";
    if (task.wants_on_cpu(self) && task.options.device != Device::gpu) {
        std::optional<Candidate> c = of ? candidate_of(task, self, *of) : std::nullopt;
        if (!c) return refuse_block(task, self, primes);
        const Candidate judged = task.judged(*std::move(c), {});
        if (known == task.candidates.size())
            task.candidates.push_back(judged);
        else
            task.candidates[known] = judged;
    }
    if (!task.may_use_gpu()) return;
    const GpuProperties gpu = task.machine.gpu();
    std::optional<Candidate> c = of ? candidate_of(task, self, *of, &gpu) : std::nullopt;
    if (!c) return task.options.device == Device::gpu ? refuse_block(task, self, primes) : void();
    task.require_gpu(*c);
    task.add(*std::move(c), {});
}

double pieces_of_sieve(const Candidate &c) {
    const auto *plan = plan_as<SievePlan>(c);
    return plan ? static_cast<double>(plan->pieces) : 1;
}

std::string saved_sieve(const EnginePlan &of, bool with_predictions) {
    const auto &plan = dynamic_cast<const SievePlan &>(of);
    return written(SavedSieve{plan.transposed, plan.way.is_halved, plan.way.order, plan.way.steps,
                              plan.pieces_asked, with_predictions ? plan.spread : 0,
                              with_predictions ? plan.peak : 0});
}

std::shared_ptr<const EnginePlan> restored_sieve(std::string_view bytes, const PlanSource &of) {
    constexpr const char *what = "a walk over signs";
    auto saved = all_from<SavedSieve>(bytes, what);
    const std::vector<std::int8_t> &integers = of.structure.integers;
    require(!integers.empty() && of.a.rows <= most_integer_lines, what);
    require_permutation(saved.order, of.a.rows, what);
    std::int64_t columns = 0;
    for (const std::int32_t step : saved.steps) {
        require(0 < step && step <= most_columns_at_once, what);
        columns += step;
    }
    require(columns == of.a.rows, what);
    SievePlan plan;
    plan.integers = integers;
    plan.transposed = saved.transposed;
    plan.spread = saved.spread;
    plan.peak = saved.peak;
    const SieveRows rows = rows_of(of.a, integers);
    plan.way = {saved.transposed ? transposed(rows) : rows, saved.halved, std::move(saved.order),
                std::move(saved.steps)};
    require(other_rows(plan.way.rows) <= most_lines_of_others && complete(plan, of.a), what);
    plan.pieces_asked = saved.pieces;
    require(1 <= saved.pieces && saved.pieces <= most_pieces, what);
    cut(plan);
    return std::make_shared<const SievePlan>(std::move(plan));
}

void check_sieve(const Candidate &c) {
    const auto *plan = plan_as<SievePlan>(c);
    require(plan && plan->transposed == c.transposed &&
                (!c.on_gpu || (plan->others.empty() && sieve_cells(plan->program) > 0)),
            "a walk over signs");
}

std::string sieve_text(const Candidate &c) {
    const auto *plan = plan_as<SievePlan>(c);
    if (!plan) return "";
    const double subsets =
        std::exp2(static_cast<double>(plan->way.order.size()) - (plan->way.is_halved ? 1 : 0));
    return formatted("engine {}: of 2^{:.0f} signs of the {} 1 in {:.3g} prefixes is met, {:.3g} of them "
                     "(+-{:.0f} %), {:.3g} after the worst of {} steps; {}{}\n",
                     engine_name(c.engine), std::log2(subsets), plan->transposed ? "rows" : "columns",
                     std::max(1.0, 2 * subsets / c.cost.states), c.cost.states, 100 * plan->spread,
                     plan->peak, plan->program.steps.size(),
                     plan->way.is_halved ? "half of the signs are enough"
                                         : "rows of odd sums are shifted by one",
                     plan->others.empty() ? ""
                                          : formatted("; {} {} of other numbers", plan->others.size(),
                                                      plan->transposed ? "columns" : "rows"));
}

void put_sieve(Json &json, const Candidate &c) {
    const auto *plan = plan_as<SievePlan>(c);
    if (!plan) return;
    json["spread"] = plan->spread;
    json["peak_prefixes"] = plan->peak;
    json["steps"] = plan->program.steps.size();
    json["halved"] = plan->way.is_halved;
    json["other_lines"] = plan->others.size();
}

} // namespace libperm
