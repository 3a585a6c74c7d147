#include "lib/saved/plan.hpp"

#include "lib/number/residues.hpp"
#include "preprocess/index.hpp"
#include "preprocess/matching.hpp"
#include "preprocess/repeated_lines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace libperm {
namespace {

// What holds of every saved plan. Bytes with a checksum of their own may say anything.

constexpr std::int32_t most_lines = std::numeric_limits<std::int32_t>::max() - 1;
constexpr std::int64_t most_blocks = std::int64_t{1} << 32; // of a plan, far more than can be planned

void check_pattern(const Pattern &a) {
    require(0 <= a.rows && a.rows <= most_lines && 0 <= a.cols && a.cols <= most_lines &&
                a.row_ptr.size() == at(a.rows) + 1 && a.row_ptr.front() == 0 &&
                std::is_sorted(a.row_ptr.begin(), a.row_ptr.end()) && a.nnz() == std::ssize(a.col),
            "a pattern's rows");
    require(!a.one_sided || a.rows == a.cols, "a graph's lines");
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto row = a.row(i);
        require(row.empty() ||
                    (row.front() >= (a.one_sided ? i : 0) && row.back() < a.cols &&
                     std::adjacent_find(row.begin(), row.end(), std::greater_equal<>()) == row.end()),
                "a pattern's columns");
    }
}

void check_square(const Pattern &a) {
    check_pattern(a);
    require(a.rows == a.cols, "a block is not square");
}

// `most`: entries to take from; `least`: -1 where 1 stands for some.
void check_source(const InputPattern &input, std::int64_t least, std::int64_t most) {
    require(std::ssize(input.source) == value_count(input), "the entries' places");
    for (const std::int64_t k : input.source) require(least <= k && k < most, "an entry's place");
}

void check_input(const InputPattern &input) {
    check_square(input.pattern);
    const auto check_places = [](const InputPattern &w) {
        if (!w.source.empty()) check_source(w, 0, value_count(w));
    };
    const auto are_lines = [&](std::int32_t free) { return 0 <= free && free <= input.pattern.rows; };
    require(are_lines(input.free_rows) && are_lines(input.free_columns) &&
                (input.free_rows == 0 || input.free_columns == 0) && !input.row_weights && !input.col_weights,
            "the matrix as it was written");
    // Lines that were added may stand there all the same: of values that are known.
    if (!input.written) return check_places(input);
    const InputPattern &w = *input.written;
    check_pattern(w.pattern);
    check_source(input, -1, value_count(w));
    check_places(w);
    require(w.free_lines() == 0 && !w.repeats && w.value_type == input.value_type,
            "the matrix as it was written");
}

void check_options(const Options &o) {
    const bool has_bits = o.precision == Precision::mpfr;
    require(has_bits ? 2 <= o.mpfr_bits && o.mpfr_bits <= most_mpfr_bits : o.mpfr_bits == 0, "mpfr's bits");
    const bool is_modulus = 3 <= o.modulus && o.modulus < most_modulus && is_prime(o.modulus);
    require(o.modulus == 0 || (o.precision == Precision::exact && is_modulus), "the modulus");
    require(o.tolerance > 0 && std::isfinite(o.tolerance), "the tolerance");
    require(!why_incompatible(o), "options that exclude each other");
}

// Each line equal to the lowest of its kind, which is equal to itself.
void check_kinds(const std::vector<std::int32_t> &lowest, const Pattern &lines) {
    if (lowest.empty()) return;
    require(std::ssize(lowest) == lines.rows, "kinds of lines");
    for (std::int32_t i = 0; i < lines.rows; ++i) {
        const std::int32_t first = lowest[at(i)];
        require(0 <= first && first <= i && lowest[at(first)] == first &&
                    std::ranges::equal(lines.row(i), lines.row(first)),
                "lines of one kind");
    }
}

void check_plan(const SavedPlan &saved) {
    const Plan &plan = saved.plan;
    if (!plan.tape_rows.empty()) require_permutation(plan.tape_rows, plan.n(), "an order of rows");
    check_options(plan.options);
    check_input(plan.input);
    require(plan.input.pattern.one_sided == (plan.options.function != MatrixFunction::permanent),
            "a graph, or none");
    require(!plan.input.pattern.one_sided || plan.tape_rows.empty(), "a graph's order of rows");
    require(0 <= plan.blocks && plan.blocks <= most_blocks && 0 <= plan.distinct &&
                plan.distinct <= plan.blocks,
            "blocks");
    std::int64_t others = plan.blocks;
    for (const auto &[group, count] : plan.groups) {
        require(0 <= count.blocks && count.blocks <= others, "blocks of a group");
        others -= count.blocks;
    }
    require(plan.blocks == 0 ? saved.costliest == -1
                             : 0 <= saved.costliest && saved.costliest < std::ssize(saved.blocks),
            "the costliest block");
    for (const Pattern &a : saved.expanded) check_square(a);
}

// Each row and column comes once, and something at each step: beside a band a pair.
void check_separable(const Separable &x, std::size_t n) {
    const LineOrder &order = x.order;
    require(order.rows.size() == order.cols.size() && x.above <= most_kinds && x.below <= most_kinds,
            "an order of lines");
    const Band &band = x.band;
    require(band.is_none() || (band.above <= most_band && band.below <= most_band && order.rows.size() == n),
            "a band");
    for (const std::vector<std::size_t> &lines : {order.rows, order.cols}) {
        std::vector<char> is_there(n);
        std::size_t count = 0;
        for (const std::size_t line : lines) {
            if (line == no_line) continue;
            require(line < n && !is_there[line], "an order of lines");
            is_there[line] = 1;
            ++count;
        }
        require(count == n, "an order of lines");
    }
    for (std::size_t k = 0; k < order.rows.size(); ++k)
        require(order.rows[k] != no_line || order.cols[k] != no_line, "an order of lines");
}

// Each line is of a class, and the base of a class is of that class.
void check_background_of(std::int32_t n, const Background &b) {
    const auto are_lines = [n](const std::vector<std::int32_t> &lines) {
        return std::ssize(lines) == n &&
               std::all_of(lines.begin(), lines.end(), [n](std::int32_t i) { return -1 <= i && i < n; });
    };
    const auto are_classes = [n](const std::vector<std::int32_t> &of_line,
                                 const std::vector<std::int32_t> &bases) {
        const auto classes = static_cast<std::int32_t>(bases.size());
        bool are = std::ssize(of_line) == n && 0 < classes && classes <= most_classes;
        for (std::int32_t a = 0; are && a < classes; ++a)
            are = 0 <= bases[at(a)] && bases[at(a)] < n && of_line[at(bases[at(a)])] == a;
        return are && std::all_of(of_line.begin(), of_line.end(),
                                  [classes](std::int32_t a) { return 0 <= a && a < classes; });
    };
    check_square(b.beside);
    require(b.beside.rows == n && are_classes(b.row_class, b.base_rows) &&
                are_classes(b.col_class, b.base_cols) && are_lines(b.col_of_row) && are_lines(b.row_of_col),
            "a background");
}

void check_structure(const Structure &x, const Pattern &a) {
    const auto are_lines = [&a](const std::vector<std::int32_t> &lines, std::int32_t least) {
        return std::all_of(lines.begin(), lines.end(),
                           [&](std::int32_t i) { return least <= i && i < a.rows; });
    };
    if (x.has_background())
        check_background_of(a.rows, x.background);
    else
        require(x.background == Background(), "a background");
    const LowRank &low = x.low_rank;
    require(low.rows.size() == low.cols.size() && std::ssize(low.rows) <= most_rank &&
                are_lines(low.rows, 0) && are_lines(low.cols, 0) &&
                std::is_sorted(low.rows.begin(), low.rows.end()) &&
                std::is_sorted(low.cols.begin(), low.cols.end()),
            "a low rank");
    if (x.is_separable()) check_separable(x.separable, at(a.rows));
    require(x.integers.empty() || std::ssize(x.integers) == a.nnz(), "small integers");
    if (x.nested.empty()) return;
    require_permutation(x.nested, a.rows, "nested rows");
    require(std::ssize(a.row(x.nested.back())) == a.cols, "nested rows");
}

} // namespace

void check_lines(const BlockLines &lines) {
    check_square(lines.pattern);
    require(lines.pattern.rows > 0 && has_perfect_matching(lines.pattern), "a block that is 0");
    if (lines.pattern.one_sided) {
        require(are_kinds_of_lines(lines.pattern, lines.kinds.of_row) && lines.kinds.of_col.empty() &&
                    lines.structure == Structure() && lines.structure.integers.empty(),
                "a block of a graph");
        return;
    }
    check_kinds(lines.kinds.of_row, lines.pattern);
    check_kinds(lines.kinds.of_col, transpose(lines.pattern).pattern);
    check_structure(lines.structure, lines.pattern);
}

namespace {

// As C reads it.
bool says_something(const std::string &text) { return *text.c_str() != '\0'; }

void check_choice(const BlockPlan &block) {
    require(!block.candidates.empty() && -1 <= block.chosen && block.chosen < std::ssize(block.candidates),
            "the engine chosen");
    require((block.chosen < 0) == (block.refusal != PERM_OK), "a block refused");
    require(block.refusal == PERM_OK || says_something(block.refusal_text), "why a block is refused");
    for (const Candidate &c : block.candidates) require(!c.second || c.refusal == PERM_OK, "an engine");
    const auto check = [](const Candidate &c) { info_of(c.engine).check(c); };
    const Candidate *choice = block.choice();
    if (!choice) { // its kernel can be shown
        if (block.best().plan && !has_kernel(block.best().engine)) check(block.best());
        return;
    }
    require(choice->refusal == PERM_OK, "an engine that is refused");
    check(*choice);
    if (has_kernel(choice->engine)) // it may be followed by a second one
        for (const Candidate &c : block.candidates)
            if (c.second && !has_kernel(c.engine)) check(c);
}

SavedBlock saved_block(const BlockLines &lines, const BlockPlan &plan, bool with_predictions) {
    SavedBlock block{lines, plan, {}, {}};
    std::map<const EnginePlan *, std::int32_t> known;
    bool are_integers_used = false;
    for (Candidate &c : block.plan.candidates) {
        block.plan_of.push_back(-1);
        if (!c.plan) continue;
        const auto [at, is_new] =
            known.try_emplace(c.plan.get(), static_cast<std::int32_t>(block.plans.size()));
        if (is_new)
            block.plans.push_back({c.engine, c.form, info_of(c.engine).saved(*c.plan, with_predictions)});
        block.plan_of.back() = at->second;
        are_integers_used = are_integers_used || !c.plan->is_for(Structure());
        c.plan = nullptr;
    }
    if (!are_integers_used) block.lines.structure.integers.clear();
    return block;
}

// The candidates that an execution may come to, the chosen one first.
void keep_of_use(SavedBlock &block) {
    BlockPlan &plan = block.plan;
    std::vector<Candidate> of_use;
    std::vector<std::int32_t> plan_of;
    for (std::size_t k = 0; k < plan.candidates.size(); ++k) {
        Candidate &c = plan.candidates[k];
        const bool is_chosen = static_cast<int>(k) == plan.chosen;
        if (!is_chosen && !c.second) continue;
        c.cost = {};
        of_use.insert(is_chosen ? of_use.begin() : of_use.end(), std::move(c));
        plan_of.insert(is_chosen ? plan_of.begin() : plan_of.end(), block.plan_of[k]);
    }
    plan.candidates = std::move(of_use);
    block.plan_of = std::move(plan_of);
    plan.chosen = std::min(plan.chosen, 0);
    plan.why.clear();
    plan.refusal_text.clear();
}

auto order_of(const Pattern &a) { return std::tie(a.row_ptr, a.col, a.one_sided); }
auto order_of(const SavedBlock &b) {
    const Structure &s =
        b.lines.structure; // which comes without a background where its rows are not told apart
    return std::tuple_cat(order_of(b.lines.pattern),
                          std::tie(b.lines.kinds.of_row, b.lines.kinds.of_col, s.low_rank.rows,
                                   s.low_rank.cols, s.nearly_rank_one, s.nested),
                          s.background.as_tuple(),
                          std::tie(s.separable.order.rows, s.separable.order.cols, s.separable.band.above,
                                   s.separable.band.below));
}
constexpr auto in_order = [](const auto &x, const auto &y) { return order_of(x) < order_of(y); };

BlockPlan restored_block(SavedBlock &saved, const Plan &plan) {
    check_lines(saved.lines);
    const auto &[a, kinds, structure] = saved.lines;
    const Pattern at = transpose(a).pattern;
    BlockPlan block = std::move(saved.plan);
    block.n = a.rows;
    block.nnz = a.nnz();
    block.nonnegative = plan.nonnegative;
    block.numbers = plan.numbers;
    std::vector<std::shared_ptr<const EnginePlan>> plans;
    for (const SavedEnginePlan &p : saved.plans)
        plans.push_back(info_of(p.engine).restored(p.bytes, p.form,
                                                   {a, at, kinds, structure, plan.numbers, plan.options}));
    require(saved.plan_of.size() == block.candidates.size(), "engines without a plan");
    for (std::size_t k = 0; k < block.candidates.size(); ++k) {
        Candidate &c = block.candidates[k];
        const std::int32_t place = saved.plan_of[k];
        const bool is_refused_for_its_goal = c.refusal == PERM_UNSUPPORTED && place == -1;
        require(serves(c.engine, a) || is_refused_for_its_goal, "an engine");
        c.seconds = predicted_seconds(c, plan.options);
        if (place == -1) continue;
        require(0 <= place && place < std::ssize(plans), "an engine's plan");
        const SavedEnginePlan &own = saved.plans[static_cast<std::size_t>(place)];
        require(own.engine == c.engine && own.form == c.form, "an engine's plan");
        c.plan = plans[static_cast<std::size_t>(place)];
    }
    check_choice(block);
    return block;
}

} // namespace

SavedPlan saved(const Plan &plan, bool with_predictions) {
    SavedPlan out{plan, {}, {}, -1};
    Plan &rest = out.plan;
    for (const auto &[lines, block] : rest.block_plans)
        out.blocks.push_back(saved_block(lines, block, with_predictions));
    for (const auto &block : rest.expanded) out.expanded.push_back(block.lines.pattern);
    std::sort(out.blocks.begin(), out.blocks.end(), in_order);
    std::sort(out.expanded.begin(), out.expanded.end(), in_order);
    if (with_predictions && rest.blocks > 0) {
        SavedBlock costliest;
        costliest.lines = rest.block_plans[rest.costliest].lines;
        out.costliest =
            std::lower_bound(out.blocks.begin(), out.blocks.end(), costliest, in_order) - out.blocks.begin();
    }
    if (!with_predictions) {
        rest.groups.clear();
        rest.serial_seconds = rest.gpu_seconds = rest.bytes = rest.entry_bits = 0;
        rest.options.device = Device::automatic; // the candidates tell
        rest.structure.clear();
        rest.refusal_text.clear();
        for (SavedBlock &block : out.blocks) keep_of_use(block);
    }
    rest.block_plans.clear();
    rest.costliest = 0;
    return out;
}

Plan restored(SavedPlan saved, const Options &options) {
    check_plan(saved);
    Plan plan = std::move(saved.plan);
    require(plan.refusal == PERM_OK || says_something(plan.refusal_text), "why a plan is refused");
    plan.options = options;
    plan.numbers = numbers_of(options, plan.numbers.complex);
    for (const Pattern &a : saved.expanded)
        if (!plan.expanded.contains(a)) plan.expanded.add({a, {}, {}}, {});
    plan.costliest = static_cast<std::size_t>(std::max<std::int64_t>(0, saved.costliest));
    for (SavedBlock &block : saved.blocks) {
        require(!plan.block_plans.find(block.lines.pattern, block.lines.kinds, block.lines.structure),
                "a block comes twice");
        BlockPlan planned = restored_block(block, plan);
        plan.block_plans.add(std::move(block.lines), std::move(planned));
    }
    plan.seconds = predicted_seconds(plan);
    return plan;
}

} // namespace libperm
