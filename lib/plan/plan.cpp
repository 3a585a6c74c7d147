#include "lib/plan/plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/error.hpp"
#include "lib/base/log.hpp"
#include "lib/base/system.hpp"
#include "lib/number/wide_value.hpp"
#include "lib/plan/block_walk.hpp"
#include "lib/plan/engines.hpp"
#include "lib/run/call.hpp"
#include "lib/run/escalation.hpp"
#include "lib/run/gpu_device.hpp"
#include "lib/run/placement.hpp"
#include "lib/structure/find_structure.hpp"
#include "lib/structure/integers.hpp"
#include "preprocess/compression.hpp"
#include "preprocess/limits.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

namespace libperm {
namespace {

constexpr std::int64_t most_block_plans = 1000;   // kept; of more blocks the costs are extrapolated
constexpr std::int64_t most_blocks = 4000000;     // that are counted through
constexpr double worth_expanding = 0.5;           // seconds of one thread: below, looking for it takes longer
constexpr double may_come_down = 8;               // times the memory limit that expansions are tried from
constexpr std::int64_t most_key_entries = 100000; // of blocks that are looked for a second time
constexpr int most_trials = 200;                  // of expansions, in all
constexpr int most_trials_in_vain = 8;            // of what will be refused for its time

// What it takes to take a matrix apart, values included, and to plan blocks when they come.
double reduction_seconds(std::int64_t nnz, std::int64_t blocks, std::int64_t unplanned) {
    return 5e-8 * static_cast<double>(nnz) + 3e-5 * static_cast<double>(blocks) +
           3e-4 * static_cast<double>(unplanned);
}

// Bytes of a value as a Value, about: exact ones with the digits they are made of.
template <class Value> std::int64_t value_bytes(double x) {
    if constexpr (std::is_same_v<Value, Tracked>) return std::int64_t{sizeof(Tracked)};
    constexpr std::int64_t short_one = sizeof(Gaussian) + 3 * 32;
    int exponent = 0;
    std::frexp(x, &exponent);
    return short_one + std::max(0, std::abs(exponent) - 64) / 8;
}
template <class Value> std::int64_t value_bytes(const Gaussian &x) {
    return std::is_same_v<Value, Tracked> ? std::int64_t{sizeof(Tracked)} : number_bytes(x);
}

// Times itself, what taking a matrix apart comes to: a pass has it and what it makes of it. Where every line
// has three entries or more nothing is compressed.
double in_passes(const Pattern &pattern) { return has_light_line(pattern) ? 3.5 : 2; }

// About what the input takes as the reductions are given it, in doubles (Tracked) or exact numbers
// (Gaussian).
template <class Value> std::int64_t root_bytes(const InputPattern &input, const Values &values) {
    std::int64_t bytes = bytes_of(input.pattern);
    for (const double x : values.real) bytes += value_bytes<Value>(x);
    for (const Gaussian &x : values.wide) bytes += value_bytes<Value>(x);
    return values.empty() ? bytes + input.pattern.nnz() * value_bytes<Value>(1.0) : bytes;
}

// What reducing it comes to at its peak.
template <class Value> std::int64_t reduction_bytes(const InputPattern &input, const Values &values) {
    return static_cast<std::int64_t>(in_passes(input.pattern) *
                                     static_cast<double>(root_bytes<Value>(input, values)));
}

template <class Number> void append(BlockKey &key, const std::vector<Number> &numbers) {
    const std::size_t size = numbers.size();
    key.append(reinterpret_cast<const char *>(&size), sizeof size);
    key.append(reinterpret_cast<const char *>(numbers.data()), size * sizeof(Number));
}

// Builds the plan along the decomposition that it describes.
template <class Value> class Planner {
    using Block = BlockOf<Value>;
    using Leaf = LeafOf<Value>;
    using Decomposition = libperm::Decomposition<Value>;

  public:
    Planner(Plan &plan) : plan_(plan), options_(options_of_blocks(plan)), keys_(&call().memory()) {}

    void run(const Values &values) {
        DecompositionRule<Value> rule = rule_of<Value>(plan_);
        rule.expand = [this](const Block &block) { return decide_expansion(block); };
        Decomposition decomposition(root_block<Value>(plan_.input, values), std::move(rule));
        std::set<BlockKey> seen; // with values, while there are not too many
        const bool complete = walk_leaves(decomposition, [&](const Leaf &leaf) {
            const Charge charge(&call().memory(), libperm::bytes_of(leaf.block));
            add(leaf, seen);
            return plan_.blocks < most_blocks;
        });
        plan_.reductions = decomposition.reductions();
        predict_bytes(values);
        finish(complete);
    }

  private:
    // The number of the block's plan, made if there is none and room for one.
    std::optional<std::size_t> plan_of(const Block &block, const LineClasses &kinds) {
        Structure structure;
        if (plan_.values_known) structure = structure_for(plan_, block);
        if (const auto known = plan_.block_plans.find(block.pattern, kinds, structure)) return known;
        if (std::ssize(plan_.block_plans) >= most_block_plans) return {};
        BlockPlan plan = plan_block(block.pattern, kinds, plan_.block_values(structure), options_);
        BlockLines lines{block.pattern, kinds, std::move(structure)};
        keys_.grow(bytes_of(lines) + bytes_of(plan));
        return plan_.block_plans.add(std::move(lines), std::move(plan));
    }

    void add(const Leaf &leaf, std::set<BlockKey> &seen) {
        ++plan_.blocks;
        plan_.sum_n += leaf.block.n();
        plan_.sum_nnz += static_cast<double>(leaf.block.pattern.nnz());
        bool is_new = true;
        if (plan_.values_known && std::ssize(seen) < most_block_plans && may_come_again(leaf)) {
            const auto [key, inserted] = seen.insert(key_of(leaf));
            is_new = inserted;
            if (is_new) keys_.grow(bytes_of(*key));
        }
        plan_.distinct += is_new;
        const std::optional<std::size_t> number = plan_of(leaf.block, leaf.kinds);
        if (!number) return;
        used_.insert(*number);
        const BlockPlan *block = &plan_.block_plans[*number].content;
        const Candidate &c = block->best();
        BlockCount &group = plan_.groups[{leaf.block.n(), c.engine, c.form}];
        ++group.blocks;
        group.nnz += static_cast<double>(leaf.block.pattern.nnz());
        group.work += sums_subsets(c.engine) ? c.cost.subsets : c.cost.states;
        ++planned_;
        if (is_new) {
            const bool has_kernel =
                facts_of(c.engine).kernel_by_order && !orders_with_kernel_.insert(leaf.block.n()).second;
            const double seconds = c.cost.serial_seconds - (has_kernel ? c.cost.compile_seconds : 0);
            group.seconds += seconds;
            plan_.serial_seconds += seconds;
            if (c.on_gpu) plan_.gpu_seconds += seconds;
        }
        plan_.bytes = std::max(plan_.bytes, c.cost.bytes);
        if (c.cost.serial_seconds > costliest_seconds_) {
            costliest_seconds_ = c.cost.serial_seconds;
            plan_.costliest = *number;
        }
        if (block->refusal != PERM_OK && plan_.refusal == PERM_OK) {
            plan_.refusal = block->refusal;
            plan_.refusal_text =
                (leaf.block.n() < plan_.n() ? "of a block that the reductions leave: " : "") +
                block->refusal_text;
        }
    }

    void finish(bool complete) {
        const double more = planned_ > 0 ? static_cast<double>(plan_.blocks) / planned_ : 1;
        plan_.serial_seconds *= more;
        plan_.gpu_seconds *= more;
        plan_.seconds = predicted_seconds(plan_);
        const auto refuse = [this](const std::string &why) {
            if (plan_.refusal != PERM_OK) return;
            plan_.refusal = PERM_REFUSED_TIME;
            plan_.refusal_text = formatted("too large for the limits (n = {}, {} entries): {}", plan_.n(),
                                           plan_.input.pattern.nnz(), why);
        };
        if (!complete)
            refuse(
                formatted("the decomposition has more than {} blocks; use decompose auto", most_blocks - 1));
        else if (plan_.seconds > plan_.options.refuse_seconds)
            refuse(refused_for_time(plan_.blocks == 0 ? "reducing it is"
                                                      : formatted("computing {} blocks is", plan_.blocks),
                                    plan_.seconds, plan_.options)
                       .what());
        drop_trials();
    }

    // Plans of blocks that were expanded go, and the others get numbers without gaps.
    void drop_trials() {
        if (used_.size() == plan_.block_plans.size()) return;
        BlocksByLines<BlockPlan> kept;
        std::size_t costliest = 0;
        for (const std::size_t number : used_) {
            if (number == plan_.costliest) costliest = kept.size();
            kept.add(plan_.block_plans[number].lines, std::move(plan_.block_plans.content(number)));
        }
        plan_.block_plans = std::move(kept);
        plan_.costliest = costliest;
    }

    static bool may_come_again(const Leaf &leaf) { return leaf.block.pattern.nnz() <= most_key_entries; }

    // The reductions need the most, or the tables do, beside what is left of the matrix.
    void predict_bytes(const Values &values) {
        const std::int64_t reductions = libperm::bytes_of(plan_.input.pattern) + libperm::bytes_of(values) +
                                        reduction_bytes<Value>(plan_.input, values) -
                                        MemoryBudget::unnoticed_bytes;
        const std::int64_t beside = plan_.options.memory_limit - options_.memory_limit;
        plan_.bytes =
            std::max({0.0, static_cast<double>(reductions), plan_.bytes + static_cast<double>(beside)});
    }

    struct Estimate {
        double seconds = 0, bytes = 0;
        bool refused = false;
    };

    static Estimate estimate_of(const BlockPlan &plan) {
        const Candidate &c = plan.best();
        // A GPU that is not here is no reason to plan otherwise than with it.
        return {c.cost.serial_seconds, c.cost.bytes, plan.refusal != PERM_OK && !c.lacks_gpu};
    }

    LineClasses merged_kinds(Block &block) const {
        const DecompositionRule<Value> rule = rule_of<Value>(plan_);
        return rule.passes.merging ? merge_repeated_lines(block, rule.account).kinds : LineClasses{};
    }

    // Sums over all blocks that a part comes to, after a short search for good orders.
    Estimate rough_estimate(Block part) {
        constexpr double effort = 0.1;
        Estimate sum;
        Decomposition decomposition(std::move(part), rule_of<Value>(plan_));
        walk_leaves(decomposition, [&](const Leaf &leaf) {
            Structure structure;
            if (plan_.values_known) structure = structure_for(plan_, leaf.block);
            const Estimate one = estimate_of(
                plan_block(leaf.block.pattern, leaf.kinds, plan_.block_values(structure), options_, effort));
            sum.seconds += one.seconds;
            sum.bytes = std::max(sum.bytes, one.bytes);
            return true;
        });
        return sum;
    }

    // Is the block cheaper as the sum of what expanding along its lightest line makes of it?
    bool decide_expansion(const Block &block) {
        LineClasses kinds;
        {
            const Charge charge(&call().memory(), libperm::bytes_of(block));
            Block merged{block.pattern, {}};
            merged.values.reserve(block.values.size());
            PolledSteps steps;
            for (const Value &x : block.values) {
                steps.take(8);
                merged.values.push_back(x);
            }
            kinds = merged_kinds(merged);
        }
        const std::optional<std::size_t> number = plan_of(block, kinds); // merging changes values alone
        if (!number) return false;
        const Estimate whole = estimate_of(plan_.block_plans[*number].content);
        const bool is_near = whole.bytes < may_come_down * static_cast<double>(plan_.options.memory_limit);
        if (whole.refused ? !is_near : whole.seconds < worth_expanding) return false;
        if (plan_.expanded.contains(block.pattern)) return true;
        const bool is_late = whole.seconds > usual_threads * plan_.options.refuse_seconds;
        if (trials_ >= (is_late ? most_trials_in_vain : most_trials)) return false;
        ++trials_;
        const Charge charge(&call().memory(), 3 * libperm::bytes_of(block));
        Estimate parts;
        for (PartOf<Value> &part : expand(block, lightest_line(block.pattern))) {
            const Estimate one = rough_estimate(std::move(part.block));
            parts.seconds += one.seconds;
            parts.bytes = std::max(parts.bytes, one.bytes);
        }
        // What does not fit may take longer if in the end it fits.
        const bool better = parts.seconds < 0.8 * whole.seconds ||
                            (whole.refused && parts.bytes < 0.7 * whole.bytes &&
                             parts.seconds < plan_.options.refuse_seconds * plan_.options.threads);
        if (better) plan_.expanded.add({block.pattern, {}, {}}, {});
        return better;
    }

    static std::int64_t bytes_of(const BlockKey &key) { return static_cast<std::int64_t>(key.size()) + 64; }
    static std::int64_t bytes_of(const BlockPlan &plan) { return libperm::bytes_of(plan); }
    static std::int64_t bytes_of(const BlockLines &lines) { return libperm::bytes_of(lines); }

    Plan &plan_;
    const Options options_;      // of blocks
    Charge keys_;                // of the plans made, and what they are of
    std::set<std::size_t> used_; // of the plans made: the others were trials
    double planned_ = 0;         // blocks whose costs are in the sums
    double costliest_seconds_ = -1;
    std::set<std::int32_t> orders_with_kernel_;
    int trials_ = 0;
};

// Why there is nothing to compute, in words.
std::string structure_of(const Plan &plan) {
    const char *const name = in_words(plan.options.function);
    if (plan.n() == 0) return formatted("the empty matrix: its {} is 1", name);
    if (plan.input.pattern.one_sided) {
        if (!has_perfect_matching(plan.input.pattern))
            return formatted("no perfect matching: the {} is 0", name);
        return formatted("the reductions alone give the {}", name);
    }
    const std::int32_t rank = maximum_matching(plan.input.pattern).size;
    if (rank < plan.n())
        return formatted("no perfect matching (structural rank {} of {}): the permanent is 0", rank,
                         plan.n());
    return "the reductions alone give the permanent";
}

BlockKey key_of(const Pattern &a, const LineClasses &kinds) {
    BlockKey key;
    key.reserve(4 * sizeof(std::size_t) + a.row_ptr.size() * sizeof a.row_ptr[0] +
                (a.col.size() + kinds.of_row.size() + kinds.of_col.size()) * sizeof a.col[0]);
    append(key, a.row_ptr);
    append(key, a.col);
    key.push_back(a.one_sided ? 1 : 0);
    append(key, kinds.of_row);
    append(key, kinds.of_col);
    return key;
}

template <class Number> void put(BlockKey &key, const Number &number) {
    key.append(reinterpret_cast<const char *>(&number), sizeof number);
}
void append(BlockKey &key, const Tracked &x) {
    put(key, x.value);
    put(key, x.magnitude);
    put(key, x.exp2);
    put(key, x.roundings);
}
void append(BlockKey &key, const mpz_class &x) {
    put(key, mpz_sgn(x.get_mpz_t()));
    put(key, mpz_size(x.get_mpz_t()));
    key.append(reinterpret_cast<const char *>(mpz_limbs_read(x.get_mpz_t())),
               mpz_size(x.get_mpz_t()) * sizeof(mp_limb_t));
}
void append(BlockKey &key, const Gaussian &x) {
    for (const mpq_class *q : {&x.re, &x.im}) {
        append(key, q->get_num());
        append(key, q->get_den());
    }
}

} // namespace

template <class Value> BlockKey key_of(const LeafOf<Value> &leaf) {
    BlockKey key = key_of(leaf.block.pattern, leaf.kinds);
    PolledSteps steps;
    for (const Value &x : leaf.block.values) {
        steps.take(8);
        append(key, x);
    }
    return key;
}
template BlockKey key_of(const LeafOf<Tracked> &leaf);
template BlockKey key_of(const LeafOf<Gaussian> &leaf);

namespace {

template <class Value> Value value_as(double x) {
    if constexpr (std::is_same_v<Value, Tracked>)
        return tracked(x);
    else
        return {mpq_class(x), 0};
}
template <class Value> Value value_as(const Gaussian &x) {
    if constexpr (std::is_same_v<Value, Tracked>)
        return tracked_of(x.re);
    else
        return x;
}

} // namespace

template <class Value> BlockOf<Value> root_block(const InputPattern &input, const Values &values) {
    call().memory().require(reduction_bytes<Value>(input, values),
                            formatted("reducing the matrix (n = {}, {} entries{})", input.pattern.rows,
                                      input.pattern.nnz(),
                                      std::is_same_v<Value, Tracked> ? "" : ", in exact numbers"));
    const Charge charge(&call().memory(), root_bytes<Value>(input, values));
    PolledSteps steps;
    BlockOf<Value> block{input.pattern, {}};
    const std::size_t nnz = input.pattern.col.size();
    block.values.reserve(nnz);
    const auto add = [&](Value x) {
        steps.take(8);
        block.values.push_back(std::move(x));
    };
    for (const double x : values.real) add(value_as<Value>(x));
    for (const Gaussian &x : values.wide) add(value_as<Value>(x));
    if (!values.empty()) return block;
    for (std::size_t k = 0; k < nnz; ++k) // another number for each of the caller's entries
        add(value_as<Value>(input.repeats && !input.source.empty()
                                ? std::fma(static_cast<double>(input.source[k] + 1), 0x1p-30, 1)
                                : 1));
    return block;
}
template Block root_block(const InputPattern &input, const Values &values);
template ExactBlock root_block(const InputPattern &input, const Values &values);

template <class Value> DecompositionRule<Value> rule_of(const Plan &plan) {
    DecompositionRule<Value> rule{
        plan.options.passes, plan.options.decompose_as_published, {}, &call().memory()};
    rule.passes.merging = rule.passes.merging && (plan.values_known || plan.input.repeats);
    if (!plan.expanded.empty())
        rule.expand = [&plan](const BlockOf<Value> &block) { return plan.expanded.contains(block.pattern); };
    return rule;
}
template DecompositionRule<Tracked> rule_of(const Plan &plan);
template DecompositionRule<Gaussian> rule_of(const Plan &plan);

template <class Value> Structure structure_for(const Plan &plan, const BlockOf<Value> &block) {
    const Options &options = plan.options;
    if (block.pattern.one_sided) return {};
    const EngineInfo *named = options.names_engine() ? &info_of(options.engine) : nullptr;
    const bool is_read = options.passes.structure && (!named || named->by_structure);
    if (!is_read && !(named && named->reads_structure)) return {};
    if (options.device == Device::gpu) { // what its engines can make use of
        Structure structure;
        structure.integers = find_integers(block);
        return structure;
    }
    try {
        return structure_of(block, &call().memory());
    } catch (const Error &error) {
        if (error.status() != PERM_REFUSED_MEMORY) throw;
        return {}; // other engines may do with less
    }
}
template Structure structure_for(const Plan &plan, const Block &block);
template Structure structure_for(const Plan &plan, const ExactBlock &block);

std::int64_t held_bytes(const Plan &plan) {
    std::int64_t bytes =
        bytes_of(plan.input.pattern) + static_cast<std::int64_t>(8 * plan.input.source.size());
    if (plan.input.written) bytes += bytes_of(plan.input.written->pattern);
    if (plan.repeated) bytes += static_cast<std::int64_t>(plan.repeated->bytes());
    for (const auto &[lines, block] : plan.block_plans) bytes += bytes_of(lines) + bytes_of(block);
    for (const auto &block : plan.expanded) bytes += bytes_of(block.lines);
    return bytes;
}

Options options_of_blocks(const Plan &plan) {
    // The caller's entry, that of the reductions, and of the plan its key and its terms; exact numbers twice.
    constexpr std::int64_t in_doubles = 100, in_exact = 400;
    const std::int64_t bytes =
        (plan.numbers.are_tracked() ? in_doubles : in_exact) * plan.input.pattern.nnz() -
        MemoryBudget::unnoticed_bytes;
    Options options = plan.options;
    options.memory_limit -= std::clamp<std::int64_t>(bytes, 0, options.memory_limit / 2);
    return options;
}

namespace {

// The bits of a row's entries, made integers by their common denominator, on average. Unknown ones are
// guessed.
double entry_bits_of(const InputPattern &input, const Values &values) {
    if (input.value_type == PERM_VALUE_PATTERN) return 0;
    if (values.empty()) return input.value_type == PERM_VALUE_I64 ? 8 : 60;
    const auto bits = [](const mpz_class &z) {
        return static_cast<double>(mpz_sizeinbase(z.get_mpz_t(), 2));
    };
    PolledSteps steps;
    double sum = 0;
    for (std::int32_t i = 0; i < input.pattern.rows; ++i) {
        steps.take();
        double most = 0, denominator = 0;
        for (std::int64_t k = input.pattern.row_begin(i);
             k < input.pattern.row_ptr[static_cast<std::size_t>(i) + 1]; ++k) {
            const auto entry = static_cast<std::size_t>(k);
            steps.take(8);
            const Gaussian value =
                values.wide.empty() ? Gaussian{mpq_class(values.real[entry]), 0} : values.wide[entry];
            for (const mpq_class *x : {&value.re, &value.im}) {
                if (*x == 0) continue;
                most = std::max(most, bits(x->get_num()) - bits(x->get_den()));
                denominator = std::max(denominator, bits(x->get_den()) - 1);
            }
        }
        sum += most + denominator;
    }
    return sum / std::max(1, input.pattern.rows);
}

} // namespace

Numbers numbers_of(const Options &options, bool complex) {
    if (options.precision == Precision::automatic) return {Precision::double_, complex};
    if (options.precision == Precision::mpfr) return {Precision::exact, complex}; // then rounded
    return {options.precision, complex};
}

double predicted_seconds(const Plan &plan) { return predicted_seconds(plan, plan.options.threads); }

double predicted_seconds(const Plan &plan, int threads) {
    std::int64_t unplanned = plan.blocks;
    for (const auto &[group, count] : plan.groups) unplanned -= count.blocks;
    double on_gpus = plan.gpu_seconds; // as the costliest block is shared out, so are all
    if (const BlockPlan *block = plan.main_block(); block && block->best().on_gpu)
        on_gpus *= block->best().seconds / std::max(block->best().cost.serial_seconds, 1e-9);
    return seconds_on(threads, plan.serial_seconds - plan.gpu_seconds) + on_gpus +
           reduction_seconds(plan.input.pattern.nnz(), plan.blocks, unplanned);
}

namespace {

// The plan holds what is known of it without a look at its structure.
Plan plan_begun(InputPattern input, const Options &options, const Values &values) {
    Plan plan;
    plan.input = std::move(input);
    plan.options = options;
    plan.numbers = numbers_of(options, plan.input.value_type == PERM_VALUE_C128 || some_complex(values));
    plan.values_known = !values.empty() || plan.input.value_type == PERM_VALUE_PATTERN;
    plan.nonnegative = plan.values_known && !some_negative(values);
    plan.may_be_long = plan.input.value_type != PERM_VALUE_PATTERN && (values.empty() || some_long(values));
    return plan;
}

Plan plan_as_seen(InputPattern input, const Options &options, const Values &values) {
    const Charge charge(&call().memory(), bytes_of(input.pattern) + bytes_of(values));
    Plan plan = plan_begun(std::move(input), options, values);
    if (plan.numbers.precision == Precision::exact) plan.entry_bits = entry_bits_of(plan.input, values);
    if (plan.numbers.are_tracked())
        Planner<Tracked>(plan).run(values);
    else
        Planner<Gaussian>(plan).run(values);
    if (plan.blocks == 0) plan.structure = structure_of(plan);
    return plan;
}

// Where numbers are counted, and what takes longest computes by residues, which gives all digits.
bool is_exact_anyway(const Plan &plan) {
    const BlockPlan *block = plan.main_block();
    const Candidate *choice = block ? block->choice() : nullptr;
    if (!choice || plan.options.precision != Precision::automatic || !counts(plan.input.value_type))
        return false;
    const auto by_residues = info_of(choice->engine).by_residues;
    return by_residues && by_residues(*choice);
}

} // namespace

bool is_for_gpu_here(const Plan &plan) {
    const auto is_on_gpu = [](const auto &block) {
        const Candidate *choice = block.content.choice();
        return choice && choice->on_gpu;
    };
    return !plan.options.machine && std::any_of(plan.block_plans.begin(), plan.block_plans.end(), is_on_gpu);
}

namespace {

Plan planned_in_blocks(InputPattern input, const Options &options, const Values &values, GpuStart start) {
    Plan plan = plan_as_seen(std::move(input), options, values);
    if (start == GpuStart::awaited && is_for_gpu_here(plan) && !first_gpu().gpu) {
        log_decision(formatted("planned again without a GPU: {}", first_gpu().why_not));
        plan = plan_as_seen(std::move(plan.input), options, values);
    }
    if (is_exact_anyway(plan)) {
        Options exactly = options;
        exactly.precision = Precision::exact;
        Plan exact = plan_as_seen(plan.input, exactly, values);
        if (exact.refusal == PERM_OK && exact.seconds <= 2 * plan.seconds) plan = std::move(exact);
    }
    if (const BlockPlan *block = plan.main_block()) {
        if (start == GpuStart::awaited && block->best().on_gpu) prepare_gpus(options);
        log_decision(formatted("{} block{}; {}", plan.blocks, plan.blocks == 1 ? "" : "s", block->why));
        for (const Candidate &c : block->candidates)
            log_detail(formatted("{}: {:.3g} operations, {}, {}", name_of(c), c.cost.operations,
                                 readable_bytes(c.cost.bytes), readable_seconds(c.seconds)));
    } else {
        log_decision(plan.structure);
    }
    return plan;
}

} // namespace

const Plan &plan_in_blocks(const Plan &plan) {
    if (!plan.repeated) return plan;
    return *plan.in_blocks->of([&] {
        Options options = plan.options;
        options.passes.periodic = false;
        return std::make_unique<const Plan>(make_plan(plan.input, options, {}));
    });
}

Plan make_plan(InputPattern input, const Options &options, const Values &values, GpuStart start) {
    std::optional<Plan> in_blocks;
    const auto others = [&] {
        in_blocks = planned_in_blocks(input, options, values, start);
        return in_blocks->refusal == PERM_OK ? in_blocks->seconds : std::numeric_limits<double>::infinity();
    };
    auto repeated = PlainAsPeriodic::of(input, values, options, others);
    if (!repeated) {
        if (in_blocks) return *std::move(in_blocks);
        return planned_in_blocks(std::move(input), options, values, start);
    }
    Plan plan = plan_begun(std::move(input), options, values);
    plan.structure = repeated->text();
    plan.serial_seconds = plan.seconds = repeated->seconds();
    plan.bytes = repeated->bytes();
    plan.repeated = std::move(repeated);
    plan.in_blocks = std::make_shared<Lazy<Plan>>();
    log_decision(plan.structure);
    return plan;
}

} // namespace libperm
