// What holds of every saved plan. Bytes with a checksum of their own may say anything.
#include "lib/saved/plan.hpp"

#include "lib/base/fields.hpp"
#include "lib/frontier/on_device.hpp"
#include "preprocess/matching.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace libperm {
namespace {

constexpr std::int32_t most_lines = std::numeric_limits<std::int32_t>::max() - 1;
constexpr std::int64_t most_blocks = std::int64_t{1} << 32; // of a plan, far more than can be planned

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void check_pattern(const Pattern &a) {
    require(0 <= a.rows && a.rows <= most_lines && 0 <= a.cols && a.cols <= most_lines &&
                a.row_ptr.size() == at(a.rows) + 1 && a.row_ptr.front() == 0 &&
                std::is_sorted(a.row_ptr.begin(), a.row_ptr.end()) && a.nnz() == std::ssize(a.col),
            "a pattern's rows");
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto row = a.row(i);
        require(row.empty() ||
                    (row.front() >= 0 && row.back() < a.cols &&
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
    require(input.source.size() == input.pattern.col.size(), "the entries' places");
    for (const std::int64_t k : input.source) require(least <= k && k < most, "an entry's place");
}

void check_input(const InputPattern &input, const std::vector<InputPattern> &written) {
    check_square(input.pattern);
    const auto is_as_written = [](const InputPattern &w) {
        if (!w.source.empty()) check_source(w, 0, w.pattern.nnz());
        return w.rows_of_ones == 0 && !w.repeats;
    };
    require(written.size() <= 1 && 0 <= input.rows_of_ones && input.rows_of_ones <= input.pattern.rows,
            "the matrix as it was written");
    if (written.empty()) {
        require(is_as_written(input), "the matrix");
        return;
    }
    const InputPattern &w = written.front();
    check_pattern(w.pattern);
    check_source(input, -1, w.pattern.nnz());
    require(is_as_written(w) && w.value_type == input.value_type, "the matrix as it was written");
}

void check_options(const Options &o) {
    const bool has_bits = o.precision == Precision::mpfr;
    require(has_bits ? 2 <= o.mpfr_bits && o.mpfr_bits <= most_mpfr_bits : o.mpfr_bits == 0, "mpfr's bits");
    require(o.tolerance > 0 && std::isfinite(o.tolerance), "the tolerance");
    require(o.engine != Engine::none && !(needs_gpu(o.engine) && o.device == Device::cpu) &&
                !(o.engine == Engine::ryser && o.device == Device::gpu) &&
                !(o.equal_chunks && o.engine == Engine::tree),
            "options that exclude each other");
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

bool is_permutation(const std::vector<std::int32_t> &order, std::int32_t n) {
    std::vector<bool> seen(order.size());
    for (const std::int32_t i : order) {
        if (i < 0 || i >= std::ssize(order) || seen[at(i)]) return false;
        seen[at(i)] = true;
    }
    return std::ssize(order) == n;
}

TreeShape shape_from(const std::vector<SavedPart> &parts, std::size_t &next, int depth) {
    require(next < parts.size() && depth <= most_tree_columns, "parts of a tree");
    const SavedPart &part = parts[next++];
    TreeShape shape{part.begin, part.loop, part.end, {}};
    for (std::int32_t k = 0; k < part.parts; ++k) shape.parts.push_back(shape_from(parts, next, depth + 1));
    return shape;
}

// Of columns that are in range. Returns the rows that they touch.
LineSet check_shape(const TreeShape &shape, const std::vector<LineSet> &columns) {
    constexpr std::int32_t most_in_leaf = 16;
    constexpr double most_instructions = 1 << 16;
    require(shape.begin <= shape.loop && shape.loop <= shape.end, "columns of a tree");
    LineSet rows = 0;
    std::int32_t next = shape.begin;
    for (const TreeShape &part : shape.parts) {
        require(part.begin == next && part.begin < part.end && part.end <= shape.loop, "parts of a tree");
        const LineSet own = check_shape(part, columns);
        require((rows & own) == 0, "rows in two parts of a tree");
        rows |= own;
        next = part.end;
    }
    const std::vector<LineSet> leaf(columns.begin() + next, columns.begin() + shape.loop);
    require(leaf.empty() || (shape.parts.empty() && std::ssize(leaf) <= most_in_leaf &&
                             leaf_work(leaf).operations <= most_instructions),
            "a leaf of a tree");
    for (std::int32_t c = next; c < shape.end; ++c) rows |= columns[at(c)];
    return rows;
}

// What a candidate is run with.
void check_engine(const BlockPlan &block, const Candidate &c) {
    if (c.engine == Engine::frontier) {
        const FrontierProgram &program = block.program(c.form);
        require(!program.steps.empty() && program.transposed == c.transposed,
                "no order of the frontier's rows");
        require(c.slices.empty() || c.form == FrontierForm::dense, "slices of a list");
        require(!c.on_gpu || c.form == FrontierForm::sparse || !dense_device_why_not(program),
                "a frontier that no GPU can hold");
        for (const FrontierSlice &slice : c.slices) require(has_slice(program, slice), "slices");
    } else if (c.engine == Engine::ryser) {
        require((!block.ryser.columns.empty() || block.ryser.counted()) &&
                    block.ryser.transposed == c.transposed && block.ryser.terms <= ryser_most_subsets &&
                    !c.on_gpu,
                "no columns for engine ryser");
    } else {
        const GrayPlan &gray = block.gray;
        require(gray.kernel.n > 0 &&
                    std::string_view(engine_name(c.engine)) == gray_engine_name(gray.kernel.engine) &&
                    gray.transposed == c.transposed &&
                    (c.on_gpu ? gray_why_not(gray).empty() : !needs_gpu(c.engine)),
                "no kernel for an engine");
    }
}

} // namespace

void check_plan(const SavedPlan &saved) {
    if (!saved.plan.tape_rows.empty())
        require(is_permutation(saved.plan.tape_rows, saved.plan.n()), "an order of rows");
    const Plan &plan = saved.plan;
    check_options(plan.options);
    check_input(plan.input, saved.written);
    require(0 <= plan.blocks && plan.blocks <= most_blocks && 0 <= plan.distinct &&
                plan.distinct <= plan.blocks,
            "blocks");
    std::int64_t others = plan.blocks;
    for (const SavedGroup &g : saved.groups) {
        require(0 <= g.count.blocks && g.count.blocks <= others, "blocks of a group");
        others -= g.count.blocks;
    }
    require(plan.blocks == 0 ? saved.costliest == -1
                             : 0 <= saved.costliest && saved.costliest < std::ssize(saved.blocks),
            "the costliest block");
    for (const Pattern &a : saved.expanded) check_square(a);
}

void check_lines(const BlockLines &lines) {
    check_square(lines.pattern);
    require(lines.pattern.rows > 0 && maximum_matching(lines.pattern).size == lines.pattern.rows,
            "a block that is 0");
    check_kinds(lines.kinds.of_row, lines.pattern);
    check_kinds(lines.kinds.of_col, transpose(lines.pattern).pattern);
}

void check_order(const SavedOrder &order, std::int32_t n) {
    require(is_permutation(order.rows, n), "an order of rows");
    for (const std::vector<double> *of_steps :
         {&order.states_bound, &order.expansions_bound, &order.reachable})
        require(std::ssize(*of_steps) == n, "an order of rows");
    for (const double share : order.reachable) require(0 <= share && share <= 1, "a share of states");
}

TreeShape checked_shape(const SavedTree &tree, const Pattern &columns) {
    const std::int32_t n = columns.rows;
    require(n <= most_tree_columns && is_permutation(tree.columns, n), "columns of a tree");
    std::vector<LineSet> sets;
    for (const std::int32_t c : tree.columns) {
        sets.push_back(0);
        for (const std::int32_t i : columns.row(c)) sets.back() |= LineSet{1} << i;
    }
    for (const SavedPart &part : tree.parts)
        require(0 <= part.begin && part.end < n && part.parts >= 0, "columns of a tree");
    std::size_t next = 0;
    TreeShape root = shape_from(tree.parts, next, 0);
    require(next == tree.parts.size() && root.begin == 0 && root.end == n - 1, "the root of a tree");
    check_shape(root, sets);
    require(root.loop <= tree.segment_bits && tree.segment_bits < n, "segments of a tree");
    return root;
}

void check_choice(const BlockPlan &block) {
    require(!block.candidates.empty() && -1 <= block.chosen && block.chosen < std::ssize(block.candidates),
            "the engine chosen");
    require((block.chosen < 0) == (block.refusal != PERM_OK), "a block refused");
    for (const Candidate &c : block.candidates)
        require(c.engine != Engine::automatic && c.engine != Engine::none &&
                    (!c.second || c.refusal == PERM_OK),
                "an engine");
    constexpr std::int32_t most_slots = 64; // of a set
    require(block.dense.slots <= most_slots, "a table of the frontier");
    require(block.sparse.steps.empty() || sparse_key_words(block.sparse) > 0, "states of the frontier");
    const Candidate *choice = block.choice();
    if (choice) {
        require(choice->refusal == PERM_OK, "an engine that is refused");
        check_engine(block, *choice);
        if (has_kernel(choice->engine)) // it may be followed by a second one
            for (const Candidate &c : block.candidates)
                if (c.second && (c.engine == Engine::frontier || c.engine == Engine::ryser))
                    check_engine(block, c);
    } else if (block.best().engine == Engine::frontier && block.best().on_gpu) { // its kernel can be shown
        const FrontierProgram &program = block.program(block.best().form);
        require(program.steps.empty() || block.best().form == FrontierForm::sparse ||
                    !dense_device_why_not(program),
                "a frontier that no GPU can hold");
    }
}

} // namespace libperm
