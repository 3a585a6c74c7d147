// What a picture of a plan shows beyond its explanation: patterns, orders, and the frontier's width.
#include "lib/report/report.hpp"

#include "lib/frontier/cost.hpp"
#include "lib/frontier/plan.hpp"
#include "preprocess/dulmage_mendelsohn.hpp"
#include "preprocess/index.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

namespace libperm {
namespace {

using Lines = std::vector<std::int32_t>;

Lines as_given(std::int32_t n) {
    Lines lines(at(n));
    std::iota(lines.begin(), lines.end(), 0);
    return lines;
}

struct Order {
    Lines rows, cols;
};

// The matrix in lower block triangular form.
struct Triangular {
    Order order;
    Lines sizes, begins;
};

// The lines by their blocks, in each as they were given.
Lines by_block(const Lines &block, const Lines &begins) {
    Lines next = begins, lines(block.size());
    for (std::int32_t i = 0; i < std::ssize(block); ++i) lines[at(next[at(block[at(i)])]++)] = i;
    return lines;
}

// Nothing without a perfect matching.
std::optional<Triangular> triangular_form(const Pattern &a, const Passes &passes) {
    const Matching matching = maximum_matching(a);
    if (matching.size < a.rows) return {};
    const Lines of_row = passes.dulmage_mendelsohn ? triangular_blocks(a, matching) : Lines(at(a.rows), 0);
    Lines of_col(at(a.cols));
    for (std::int32_t j = 0; j < a.cols; ++j) of_col[at(j)] = of_row[at(matching.row_of_col[at(j)])];
    Triangular form;
    form.sizes.resize(of_row.empty() ? 0 : at(*std::max_element(of_row.begin(), of_row.end()) + 1));
    for (const std::int32_t b : of_row) ++form.sizes[at(b)];
    form.begins.resize(form.sizes.size());
    std::exclusive_scan(form.sizes.begin(), form.sizes.end(), form.begins.begin(), 0);
    form.order = {by_block(of_row, form.begins), by_block(of_col, form.begins)};
    return form;
}

// The block of a triangular form, its lines in the order they have there.
Pattern block_pattern(const Pattern &a, const Triangular &form, const Lines &place_of_col, std::size_t b) {
    Pattern block;
    const std::int32_t begin = form.begins[b];
    block.rows = block.cols = form.sizes[b];
    for (std::int32_t i = begin; i < begin + block.rows; ++i) {
        for (const std::int32_t j : a.row(form.order.rows[at(i)])) {
            const std::int32_t place = place_of_col[at(j)] - begin;
            if (place >= 0 && place < block.cols) block.col.push_back(place);
        }
        block.row_ptr.push_back(static_cast<std::int64_t>(block.col.size()));
    }
    return block;
}

// Which block of the form has this pattern, if other reductions have left it as it was.
std::optional<std::size_t> find_block(const Pattern &a, const Triangular &form, const Pattern &wanted) {
    Lines place(at(a.cols));
    for (std::int32_t k = 0; k < a.cols; ++k) place[at(form.order.cols[at(k)])] = k;
    for (std::size_t b = 0; b < form.sizes.size(); ++b) {
        if (form.sizes[b] != wanted.rows) continue;
        const Pattern block = block_pattern(a, form, place, b);
        if (block.row_ptr == wanted.row_ptr && block.col == wanted.col) return b;
    }
    return {};
}

// The columns by the first of these rows that holds them, and then by the last.
Lines as_met(const Pattern &a, const Lines &rows) {
    const auto n = static_cast<std::int32_t>(rows.size());
    Lines first(at(a.cols), n), last(at(a.cols), n);
    for (std::int32_t t = 0; t < n; ++t)
        for (const std::int32_t j : a.row(rows[at(t)])) {
            first[at(j)] = std::min(first[at(j)], t);
            last[at(j)] = t;
        }
    Lines cols = as_given(a.cols);
    std::sort(cols.begin(), cols.end(), [&](std::int32_t x, std::int32_t y) {
        return std::tuple(first[at(x)], last[at(x)], x) < std::tuple(first[at(y)], last[at(y)], y);
    });
    return cols;
}

// This is the order in which the frontier runs through its block: the lines come as their entries are met.
Order order_of(const FrontierProgram &program, const Pattern &block) {
    if (program.steps.empty()) return {as_given(block.rows), as_given(block.cols)};
    Lines lines;
    std::vector<bool> met(at(block.rows), false); // the block is square
    for (const FrontierStep &step : program.steps)
        for (const FrontierTerm &t : step.terms) {
            if (t.entry < 0) continue;
            const auto end = std::upper_bound(block.row_ptr.begin(), block.row_ptr.end(), t.entry);
            const std::int32_t line = program.transposed
                                          ? block.col[at(t.entry)]
                                          : static_cast<std::int32_t>(end - block.row_ptr.begin()) - 1;
            if (!met[at(line)]) lines.push_back(line);
            met[at(line)] = true;
        }
    Lines others = as_met(program.transposed ? transpose(block).pattern : block, lines);
    if (program.transposed) return {std::move(others), std::move(lines)};
    return {std::move(lines), std::move(others)};
}

// The form of the fastest frontier, among those whose order is there.
FrontierForm shown_form(const BlockPlan &block) {
    const auto frontier =
        std::find_if(block.candidates.begin(), block.candidates.end(),
                     [](const Candidate &c) { return c.plan && facts_of(c.engine).transfers_states; });
    return frontier == block.candidates.end() ? FrontierForm::sparse : form_of(*frontier);
}

void put_pattern(Json &j, const Pattern &a) {
    j["row_ptr"] = a.row_ptr;
    j["col"] = a.col;
}

// The lists of a program with branches, in the order of the walk.
Json branches_json(const FrontierProgram &program) {
    if (program.branches.empty()) return nullptr;
    Json::Array left, right, steps, width, states;
    for (const FrontierBranch &branch : program.branches) {
        const bool is_join = branch.joined[0] >= 0;
        std::int32_t widest = is_join ? branch.join.slots() : 0;
        double most = is_join ? branch.join.states_bound : 1;
        for (std::int32_t s = branch.first; s < branch.last; ++s) {
            widest = std::max(widest, program.steps[at(s)].width_after);
            most = std::max(most, program.steps[at(s)].states_bound);
        }
        left.push_back(branch.joined[0]);
        right.push_back(branch.joined[1]);
        steps.push_back(branch.last - branch.first);
        width.push_back(widest);
        states.push_back(most);
    }
    return {{"left", left}, {"right", right}, {"steps", steps}, {"width", width}, {"states", states}};
}

// Lines begin .. of a form, reordered.
void reorder(Lines &lines, std::int32_t begin, const Lines &order) {
    const Lines old(lines.begin() + begin, lines.begin() + begin + std::ssize(order));
    for (std::size_t k = 0; k < order.size(); ++k) lines[at(begin) + k] = old[at(order[k])];
}

Json costliest_json(const Plan &plan, std::optional<Triangular> &form) {
    const BlockPlan *block = plan.main_block();
    if (!block) return nullptr;
    const Pattern &pattern = plan.block_plans[plan.costliest].lines.pattern;
    const FrontierForm frontier = shown_form(*block);
    const FrontierProgram *known = program_of(block->candidates, frontier);
    const FrontierProgram program = known ? *known : FrontierProgram{};
    const Order order = order_of(program, pattern);
    Json j;
    put_pattern(j, pattern);
    j["rows"] = order.rows;
    j["cols"] = order.cols;
    j["transposed"] = program.transposed;
    j["block"] = nullptr;
    if (const auto b = form ? find_block(plan.input.pattern, *form, pattern) : std::nullopt) {
        j["block"] = *b;
        reorder(form->order.rows, form->begins[*b], order.rows);
        reorder(form->order.cols, form->begins[*b], order.cols);
    }
    j["open"] = j["states"] = Json::Array();
    j["branches"] = branches_json(program);
    if (!program.branches.empty()) return j; // rows and columns are open, in lists side by side
    for (const FrontierStep &step : program.steps) {
        j["open"].push_back(step.width_after);
        j["states"].push_back(states_after(step, frontier));
    }
    return j;
}

} // namespace

Json picture_of(const Plan &plan) {
    std::optional<Triangular> form = triangular_form(plan.input.pattern, plan.options.passes);
    const Json costliest = costliest_json(plan, form);
    Json j;
    put_pattern(j, plan.input.pattern);
    j["blocks"] = nullptr;
    if (form) j["blocks"] = {{"sizes", form->sizes}, {"rows", form->order.rows}, {"cols", form->order.cols}};
    j["costliest"] = costliest;
    return j;
}

} // namespace libperm
