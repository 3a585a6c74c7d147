#include "lib/planar/plan.hpp"

#include "jit/text/text.hpp"
#include "lib/base/archive.hpp"
#include "lib/planar/drawing.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/branch_decomposition.hpp"
#include "preprocess/index.hpp"
#include "preprocess/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>

namespace libperm {
namespace {

std::vector<std::int32_t> lines_by_breadth(const PatternGraph &graph, std::int32_t first) {
    std::vector<char> is_met(at(graph.lines()), 0);
    std::vector<std::int32_t> lines{first};
    is_met[at(first)] = 1;
    for (std::size_t k = 0; k < lines.size(); ++k)
        for (const Dart d : graph.around(lines[k])) {
            const std::int32_t other = graph.line_of(across(d));
            if (is_met[at(other)]) continue;
            is_met[at(other)] = 1;
            lines.push_back(other);
        }
    return lines;
}

// What a block takes along a frontier, at a first look: whether it is worth to look for drawings.
// Multiply-adds, rows being taken by breadth from a far one: a search finds fewer, mostly. O(n + nnz).
double operations_by_breadth(const Pattern &a) {
    if (a.rows == 0) return 0;
    const PatternGraph graph(a);
    const std::int32_t far = lines_by_breadth(graph, 0).back();
    std::vector<std::int32_t> left(at(graph.lines())); // entries of a column that are still to come
    for (std::int32_t line = 0; line < graph.lines(); ++line)
        left[at(line)] = static_cast<std::int32_t>(graph.around(line).size());
    std::int32_t open = 0;
    double operations = 0;
    for (const std::int32_t line : lines_by_breadth(graph, far)) {
        if (line >= a.rows) continue;
        for (const Dart d : graph.around(line)) {
            std::int32_t &of = left[at(graph.line_of(across(d)))];
            const auto all = static_cast<std::int32_t>(graph.around(graph.line_of(across(d))).size());
            if (of == all) ++open;
            if (--of == 0) --open;
        }
        // C(w, w/2), nearly.
        const double sets = std::exp2(open) / std::sqrt(std::max(1.0, std::numbers::pi / 2 * open));
        operations += sets * static_cast<double>(graph.around(line).size());
    }
    return operations;
}

// The entries of a few lines without which a pattern is planar: of the longest, at most three, ascending, as
// many as it takes. Empty: that is not enough.
std::vector<std::int32_t> entries_of_crossing_lines(const Pattern &a) {
    constexpr std::size_t most_lines = 3;
    const PatternGraph graph(a);
    std::vector<std::int32_t> lines(at(graph.lines()));
    std::iota(lines.begin(), lines.end(), 0);
    std::stable_sort(lines.begin(), lines.end(), [&](std::int32_t x, std::int32_t y) {
        return graph.around(x).size() > graph.around(y).size();
    });
    std::vector<char> is_kept(at(graph.entries()), 1);
    for (std::size_t k = 0; k < std::min(lines.size(), most_lines); ++k) {
        poll();
        for (const Dart d : graph.around(lines[k])) is_kept[at(entry_of(d))] = 0;
        if (!planar_rotation(with_entries(a, is_kept))) continue;
        std::vector<std::int32_t> out;
        for (std::int32_t e = 0; e < graph.entries(); ++e)
            if (!is_kept[at(e)]) out.push_back(e);
        return out;
    }
    return {};
}

// Along a frontier smaller ones take milliseconds at most, graphs less.
constexpr std::int32_t least_order = 64;
constexpr std::int32_t most_genus = 3, most_crossings = 10;
constexpr std::size_t most_terms = 4096;

struct Price {
    double products, of_product; // seconds
    double determinants;
    double of_pivot = 0; // seconds
};

// Products of a Pfaffian come in longer sums, so that its inverses count beside them.
Price by_residues(const Proposals &task, const PlanarPlan &plan) {
    const double matrices = task.matrices();
    const Price price{matrices * plan.matrix_products(), 2e-9, matrices * plan.determinants()};
    return plan.fronts.are_of_graph() ? Price{price.products, 1.6e-9, price.determinants, 3e-7} : price;
}

Price by_balls(const PlanarPlan &plan) {
    return {plan.matrix_products(), plan.fronts.are_of_graph() ? 1.2e-7 : 2.5e-7, plan.determinants()};
}

double seconds_of(const Price &price, const PlanarPlan &plan) {
    constexpr double of_entry = 2e-8, of_front = 3e-7; // seconds
    return price.of_product * price.products +
           price.determinants * (of_entry * static_cast<double>(plan.sum.is_negative.size()) +
                                 of_front * static_cast<double>(plan.fronts.all().size()) +
                                 price.of_pivot * static_cast<double>(plan.fronts.pairs()));
}

// Sets which way is the cheaper one.
Cost planar_cost(const Proposals &task, PlanarPlan &plan) {
    constexpr double ball_bytes = 112;
    Price price = by_residues(task, plan);
    double bytes_of_number = bytes_of_residue;
    const bool may_round = task.values.numbers.are_tracked() && task.values.may_be_long;
    if (const Price balls = by_balls(plan); may_round && seconds_of(balls, plan) < seconds_of(price, plan)) {
        plan.by_residues = false;
        price = balls;
        bytes_of_number = ball_bytes;
    }
    Cost cost;
    cost.operations = price.products;
    cost.serial_seconds = call_seconds + seconds_of(price, plan);
    const double matrices = plan.by_residues ? task.matrices() : 1;
    const double at_once = plan.by_residues ? 1 : std::min<double>(plan.determinants(), task.options.threads);
    if (plan.by_residues) cost.bytes_of_matrix = bytes_of_number * plan.fronts.peak();
    cost.bytes =
        static_cast<double>(plan.bytes()) +
        bytes_of_number * (plan.fronts.peak() * at_once + matrices * static_cast<double>(task.a.nnz()));
    return cost;
}

// The only one that may be asked for: what else it takes is said where it takes nothing.
constexpr const char *why_none =
    "takes graphs that can be drawn without crossings in the plane or on a surface of 1 to 3 handles with "
    "short "
    "faces, or in the plane but for 10 entries or 3 lines: no such drawing of this one was found";
constexpr const char *why_none_of_graph = "takes hafnians of graphs without loops that can be drawn without "
                                          "crossings in the plane: this one is none";

void add_planned(Proposals &task, Engine self, PlanarPlan plan) {
    Candidate c;
    c.engine = self;
    c.cost = planar_cost(task, plan);
    c.plan = std::make_shared<const PlanarPlan>(std::move(plan));
    task.add(std::move(c), {});
}

bool is_proposed(const Proposals &task, Engine self) {
    return std::any_of(task.candidates.begin(), task.candidates.end(),
                       [&](const Candidate &c) { return c.engine == self; });
}

std::optional<PlanarPlan> plan_with_lines(const Pattern &a) {
    const std::vector<std::int32_t> crossings = entries_of_crossing_lines(a);
    if (crossings.empty()) return {};
    return plan_with_crossings(a, crossings);
}

std::optional<PlanarPlan> plan_drawn(const Pattern &a, const PatternGraph &graph, const Rotation &rotation) {
    const std::optional<Matching> matching = perfect_matching(a);
    if (!matching) return {};
    PlanarPlan plan;
    plan.sum = sum_on_surface(graph, rotation, *matching);
    poll();
    plan.fronts = Fronts(a, *matching);
    return plan;
}

// So many crossings may be looked for where others may take so long that looking is not noticed.
std::size_t crossings_worth_a_look(const Pattern &a) {
    constexpr double of_operation = 5e-9, worth = 50; // seconds; times
    constexpr double of_few = 4e-6, of_most = 1e-4;   // seconds for an entry
    constexpr std::size_t few = 3;
    const double seconds = of_operation * operations_by_breadth(a) / static_cast<double>(a.nnz());
    return seconds > worth * of_most ? most_crossings : seconds > worth * of_few ? few : 0;
}

// Where there is the memory for it.
std::optional<PlanarPlan> looked_beyond_plane(Proposals &task, std::size_t most) {
    constexpr double of_entry = 800; // bytes
    const double bytes = of_entry * static_cast<double>(task.a.nnz());
    if (bytes > task.machine.memory_limit(false)) return {};
    const Charge held(&call().memory(), static_cast<std::int64_t>(bytes));
    return plan_beyond_plane(task.a, most);
}

} // namespace

void pair_lines(PlanarPlan &plan, const Pattern &a, const Matching &matching) {
    bool &is_odd = plan.sum.terms.front().is_odd;
    is_odd = false;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        const auto row = a.row(i);
        const auto place = std::lower_bound(row.begin(), row.end(), matching.col_of_row[at(i)]);
        is_odd ^= plan.sum.is_negative[at(a.row_begin(i) + (place - row.begin()))] != 0;
    }
    plan.fronts = Fronts(a, matching);
}

std::optional<PlanarPlan> plan_planar(const Pattern &a) {
    if (sides_of(a) == BranchSides::one_with_loops) return {};
    const std::optional<Rotation> rotation = planar_rotation(a);
    poll();
    if (!rotation) return {};
    return plan_drawn(a, PatternGraph(a), *rotation);
}

std::optional<PlanarPlan> plan_beyond_plane(const Pattern &a, std::size_t most) {
    if (a.one_sided) return {};
    if (a.nnz() > 4 * std::int64_t{a.rows} - 4 + std::max(4 * most_genus, most_crossings)) return {};
    const PatternGraph graph(a);
    const std::optional<Rotation> rotation = rotation_by_short_cycles(graph, most_crossings);
    if (!rotation) return {};
    const std::vector<std::int32_t> crossings = entries_on_handles(graph, *rotation, most);
    if (!crossings.empty()) return plan_with_crossings(a, crossings);
    if (genus_of(*rotation, faces_of(*rotation)) > most_genus) return {};
    return plan_drawn(a, graph, *rotation);
}

std::optional<PlanarPlan> plan_with_crossings(const Pattern &a, const std::vector<std::int32_t> &crossings) {
    const Matching matching = maximum_matching(a);
    if (matching.size < a.rows) return {};
    std::optional<SignedSum> sum = sum_over_crossings(a, crossings, matching, most_terms);
    if (!sum) return {};
    PlanarPlan plan;
    plan.sum = *std::move(sum);
    plan.fronts = Fronts(a, matching);
    return plan;
}

void propose_planar(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    if (!task.asks_for(self) && task.a.rows < least_order) return;
    std::optional<PlanarPlan> plan = plan_planar(task.a);
    if (!plan && !task.a.one_sided)
        if (const std::size_t most = task.asks_for(self) ? most_crossings : crossings_worth_a_look(task.a))
            plan = looked_beyond_plane(task, most);
    if (plan) add_planned(task, self, *std::move(plan));
}

void propose_crossings(Proposals &task, Engine self) {
    constexpr double worth = 50; // times what planning is expected to take
    const auto is_worth = [&](double of_entry) {
        return task.asks_for(self) ||
               task.least_seconds() > worth * of_entry * static_cast<double>(task.a.nnz());
    };
    if (!task.wants_on_cpu(self) || is_proposed(task, self)) return;
    if (!task.asks_for(self) && task.a.rows < least_order) return;
    std::optional<PlanarPlan> plan;
    if (!task.a.one_sided && is_worth(1e-4)) plan = looked_beyond_plane(task, most_crossings);
    if (!plan && !task.a.one_sided && is_worth(4e-4)) plan = plan_with_lines(task.a);
    if (plan) return add_planned(task, self, *std::move(plan));
    if (!task.asks_for(self)) return;
    Candidate c;
    c.engine = self;
    c.refusal = PERM_UNSUPPORTED;
    c.why_not = task.a.one_sided ? why_none_of_graph : why_none;
    task.add(std::move(c), {});
}

bool planar_by_residues(const Candidate &c) {
    const auto *plan = plan_as<PlanarPlan>(c);
    return plan && plan->by_residues;
}

// The rest follows from the pattern.
std::string saved_planar(const EnginePlan &plan, bool) {
    const auto &planar = dynamic_cast<const PlanarPlan &>(plan);
    const std::vector<std::int32_t> crossings = planar.sum.crossings();
    std::string bytes(1, planar.by_residues ? 'r' : 'b');
    if (!crossings.empty()) bytes.append(written(crossings));
    return bytes;
}

std::shared_ptr<const EnginePlan> restored_planar(std::string_view bytes, const PlanSource &of) {
    constexpr const char *what = "a planar block";
    require(!bytes.empty() && (bytes.front() == 'r' || bytes.front() == 'b'), what);
    const bool by_residues = bytes.front() == 'r';
    require(by_residues || of.numbers.are_tracked(), "a planar block's numbers");
    bytes.remove_prefix(1);
    std::optional<PlanarPlan> plan;
    if (bytes.empty()) {
        plan = plan_planar(of.a);
        if (!plan) plan = plan_beyond_plane(of.a, 0);
    } else {
        require(!of.a.one_sided, what);
        const auto crossings = all_from<std::vector<std::int32_t>>(bytes, what);
        require(!crossings.empty() && crossings.front() >= 0 && crossings.back() < of.a.nnz(), what);
        require(std::adjacent_find(crossings.begin(), crossings.end(), std::greater_equal<>()) ==
                    crossings.end(),
                what);
        plan = plan_with_crossings(of.a, crossings);
    }
    require(plan.has_value(), what);
    plan->by_residues = by_residues;
    return std::make_shared<const PlanarPlan>(*std::move(plan));
}

void check_planar(const Candidate &c) { require(plan_as<PlanarPlan>(c) && !c.on_gpu, "a planar block"); }

std::string drawing_text(const Candidate &c) {
    const auto *plan = plan_as<PlanarPlan>(c);
    if (!plan) return "";
    const std::size_t terms = plan->sum.terms.size(), crossings = plan->sum.crossings().size();
    std::string where = "in the plane";
    if (plan->sum.genus == 1) where = "on a torus";
    if (plan->sum.genus > 1) where = formatted("on a surface with {} handles", plan->sum.genus);
    if (crossings > 0) where += formatted(" but for {} {}", crossings, crossings == 1 ? "entry" : "entries");
    const char *const name = plan->fronts.are_of_graph() ? "Pfaffian" : "determinant";
    return formatted("planar: drawn {}, {} {}{}\n", where, terms, name, terms == 1 ? "" : "s");
}

void put_drawing(Json &json, const Candidate &c) {
    const auto *plan = plan_as<PlanarPlan>(c);
    if (!plan) return;
    json["drawing"] = {{"handles", plan->sum.genus},
                       {"crossing_entries", plan->sum.crossings().size()},
                       {plan->fronts.are_of_graph() ? "pfaffians" : "determinants", plan->sum.terms.size()}};
}

} // namespace libperm
