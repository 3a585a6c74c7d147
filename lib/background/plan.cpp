#include "lib/background/counted_matchings.hpp"

#include "lib/base/archive.hpp"
#include "lib/run/proposals.hpp"
#include "preprocess/index.hpp"
#include "preprocess/search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace libperm {
namespace {

// The order of the lines of a sparse matrix, rows and columns, in which few are open at once, and what one
// goes through then.
//
// The lines with an entry: row i is line i, column j line n + j.
class LinesBeside {
  public:
    struct Neighbour {
        std::int32_t line;
        std::int64_t entry;
    };

    explicit LinesBeside(const Pattern &square) : neighbours_(at(2 * square.rows)), entries_(square.nnz()) {
        std::int64_t entry = 0;
        for (std::int32_t i = 0; i < square.rows; ++i)
            for (const std::int32_t j : square.row(i)) {
                neighbours_[at(i)].push_back({square.rows + j, entry});
                neighbours_[at(square.rows + j)].push_back({i, entry++});
            }
    }

    std::int32_t count() const { return static_cast<std::int32_t>(neighbours_.size()); } // 2 n
    const std::vector<Neighbour> &of(std::int32_t line) const {
        return neighbours_[static_cast<std::size_t>(line)];
    }
    std::int64_t entries() const { return entries_; }

    std::vector<std::int32_t> with_entries() const {
        std::vector<std::int32_t> lines;
        for (std::int32_t i = 0; i < count(); ++i)
            if (!of(i).empty()) lines.push_back(i);
        return lines;
    }

  private:
    std::vector<std::vector<Neighbour>> neighbours_;
    std::int64_t entries_;
};

// A line is open from its own place to that of the last line that it shares an entry with.
class OpenLines {
  public:
    explicit OpenLines(const LinesBeside &lines) : lines_(lines), place_(at(lines.count())) {}

    // 2^open, summed over the steps.
    double sets(const std::vector<std::int32_t> &order) {
        for (std::size_t k = 0; k < order.size(); ++k) place_[at(order[k])] = k;
        change_.assign(order.size() + 1, 0);
        for (std::size_t k = 0; k < order.size(); ++k) {
            std::size_t last = k;
            for (const auto &neighbour : lines_.of(order[k]))
                last = std::max(last, place_[at(neighbour.line)]);
            ++change_[k];
            --change_[last + 1];
        }
        double sum = 0;
        std::int32_t open = 0;
        for (std::size_t k = 0; k < order.size(); ++k) sum += std::exp2(open += change_[k]);
        return sum;
    }

  private:
    const LinesBeside &lines_;
    std::vector<std::size_t> place_;
    std::vector<std::int32_t> change_;
};

// Next is the line that leaves the fewest open, and of these the one with the most open neighbours.
std::vector<std::int32_t> greedy_order(const LinesBeside &lines) {
    std::vector<std::int32_t> order, todo = lines.with_entries(), left(at(lines.count()));
    std::vector<char> is_done(at(lines.count()));
    for (const std::int32_t i : todo) left[at(i)] = static_cast<std::int32_t>(lines.of(i).size());
    PolledSteps steps;
    while (!todo.empty()) {
        std::size_t best = todo.size();
        std::int32_t best_more = 0, best_open = 0;
        for (std::size_t k = 0; k < todo.size(); ++k) {
            std::int32_t open = 0, closed = 0;
            for (const auto &neighbour : lines.of(todo[k])) {
                open += is_done[at(neighbour.line)];
                closed += is_done[at(neighbour.line)] && left[at(neighbour.line)] == 1;
            }
            const std::int32_t more = (left[at(todo[k])] > 0 ? 1 : 0) - closed;
            steps.take(4 + std::ssize(lines.of(todo[k])));
            if (best == todo.size() || more < best_more || (more == best_more && open > best_open))
                best = k, best_more = more, best_open = open;
        }
        const std::int32_t line = todo[best];
        todo.erase(todo.begin() + static_cast<std::ptrdiff_t>(best));
        order.push_back(line);
        is_done[at(line)] = 1;
        for (const auto &neighbour : lines.of(line)) --left[at(neighbour.line)];
    }
    return order;
}

void move_line(std::vector<std::int32_t> &order, std::int32_t from, std::int32_t to) {
    const auto begin = order.begin();
    if (from < to)
        std::rotate(begin + from, begin + from + 1, begin + to + 1);
    else
        std::rotate(begin + to, begin + from, begin + from + 1);
}

// By a greedy start, then by moving single lines. Deterministic.
std::vector<std::int32_t> order_of_few_open(const LinesBeside &lines) {
    constexpr double of_a_set = 30, most_steps = 1e9, few = 0x1p12, first_heat = 0.5, cooling = 4;
    std::vector<std::int32_t> order = greedy_order(lines), best = order;
    const auto size = static_cast<std::int32_t>(order.size());
    if (size < 3) return order;
    OpenLines open(lines);
    double sets = open.sets(order), least = sets;
    SearchRandom random(1);
    const double step = 4.0 * static_cast<double>(2 * lines.entries() + size),
                 moves = std::min(of_a_set * sets, most_steps) / step;
    PolledSteps steps;
    double heat = first_heat;
    const auto last = static_cast<std::int64_t>(moves);
    for (std::int64_t move = 0; move < last && least > few; ++move, heat *= 1 - cooling / moves) {
        steps.take(static_cast<std::int64_t>(step));
        const std::int32_t from = random.below(size), to = random.below(size);
        if (from == to) continue;
        move_line(order, from, to);
        const double now = open.sets(order);
        if (now > sets && random.uniform() >= std::exp(std::log2(sets / now) / heat)) {
            move_line(order, to, from);
            continue;
        }
        sets = now;
        if (sets < least) least = sets, best = order;
    }
    return best;
}

std::vector<CountingStep> counting_steps(const LinesBeside &lines, const std::vector<std::int32_t> &order) {
    std::vector<std::int32_t> left(at(lines.count())), open; // open: by slot
    for (const std::int32_t i : order) left[at(i)] = static_cast<std::int32_t>(lines.of(i).size());
    std::vector<CountingStep> steps;
    for (const std::int32_t line : order) {
        CountingStep step;
        for (const auto &[other, entry] : lines.of(line)) {
            const auto slot = std::find(open.begin(), open.end(), other);
            if (slot == open.end()) continue;
            step.terms.push_back({static_cast<std::int32_t>(slot - open.begin()), entry});
            --left[at(line)];
            --left[at(other)];
        }
        open.push_back(line);
        for (auto slot = std::ssize(open); slot-- > 0;) {
            if (left[at(open[at(slot)])] > 0) continue;
            step.closings.push_back({static_cast<std::int32_t>(slot), open[at(slot)]});
            open.erase(open.begin() + slot);
        }
        steps.push_back(std::move(step));
    }
    return steps;
}

std::int32_t most_open(const std::vector<CountingStep> &steps) {
    std::int32_t open = 0, most = 0;
    for (const CountingStep &step : steps) {
        most = std::max(most, ++open);
        open -= static_cast<std::int32_t>(step.closings.size());
    }
    return most;
}

constexpr std::int32_t most_open_at_once = 30;
constexpr double product_seconds = 1.5e-9, entry_seconds = 2e-7; // of a matrix

EntriesRead entries_of(const Pattern &a, const Background &b) {
    std::vector<std::int64_t> entries;
    for (std::int32_t i = 0; i < a.rows; ++i) {
        if (const std::int32_t j = b.col_of_row[at(i)]; j >= 0) entries.push_back(entry_at(a, i, j));
        for (const std::int32_t j : b.beside.row(i)) entries.push_back(entry_at(a, i, j));
    }
    for (const std::int32_t i : b.base_rows)
        for (const std::int32_t j : b.base_cols) entries.push_back(entry_at(a, i, j));
    for (std::int32_t j = 0; j < a.cols; ++j)
        if (const std::int32_t i = b.row_of_col[at(j)]; i >= 0) entries.push_back(entry_at(a, i, j));
    return EntriesRead(std::move(entries));
}

// None: too many lines are open at once, or there are too many counts to keep apart.
std::optional<BackgroundPlan> planned_along(const Pattern &a, const Background &b, const LinesBeside &lines,
                                            std::vector<std::int32_t> order) {
    BackgroundPlan plan;
    plan.steps = counting_steps(lines, order);
    plan.order = std::move(order);
    plan.open = most_open(plan.steps);
    if (plan.open > most_open_at_once) return {};
    plan.counts = class_counts(b);
    if (plan.counts.rows.empty() || coefficients_of_rests(plan.counts) > most_counts) return {};
    plan.background = b;
    plan.products = sets_gone_through(plan.steps) * static_cast<double>(plan.counts.numbers) / 2 +
                    products_of_rests(plan.counts);
    plan.read = entries_of(a, b);
    return plan;
}

Cost background_cost(const Proposals &task, const BackgroundPlan &plan) {
    const double matrices = task.matrices();
    const auto entries = static_cast<double>(plan.read.all().size());
    Cost cost;
    cost.operations = matrices * plan.products;
    cost.serial_seconds =
        call_seconds + matrices * (product_seconds * plan.products + entry_seconds * entries);
    cost.bytes_of_matrix = plan.table_bytes();
    cost.bytes = cost.bytes_of_matrix + 8 * matrices * entries;
    return cost;
}

} // namespace

double sets_of(const CountingStep &step, std::int32_t open) {
    double sum = std::exp2(open) * (0.5 + 0.25 * static_cast<double>(step.terms.size()));
    for (std::size_t k = 0; k < step.closings.size(); ++k) sum += std::exp2(--open);
    return sum;
}

double sets_gone_through(const std::vector<CountingStep> &steps) {
    double sum = 0;
    std::int32_t open = 0;
    for (const CountingStep &step : steps) {
        sum += sets_of(step, ++open);
        open -= static_cast<std::int32_t>(step.closings.size());
    }
    return sum;
}

std::int64_t BackgroundPlan::bytes() const {
    return bytes_of(background.beside) + 32 * std::ssize(background.beside.col) + 8 * std::ssize(read.all()) +
           64 * std::ssize(order);
}

double BackgroundPlan::table_bytes() const {
    constexpr double of_rests = 9 + 8 * (most_classes + 1); // a coefficient, in as many polynomials at once
    return std::exp2(open) * static_cast<double>(counts.numbers) * 8 +
           of_rests * coefficients_of_rests(counts);
}

void propose_background(Proposals &task, Engine self) {
    if (!task.wants_on_cpu(self)) return;
    const Structure *structure = task.values.structure;
    if (!structure || !structure->has_background())
        return refuse_block(task, self,
                            "takes matrices of which most entries are u_i v_j, or that times a number for "
                            "each pair of few classes of lines, of order 12 or more: this one is none");
    const Background &b = structure->background;
    const LinesBeside lines(b.beside);
    std::optional<BackgroundPlan> best = planned_along(task.a, b, lines, order_of_few_open(lines));
    if (!best)
        return refuse_block(
            task, self,
            "would keep more than 2^30 sets of lines apart, or 2^24 counts of lines of each class");
    Candidate c;
    c.engine = self;
    c.cost = background_cost(task, *best);
    c.plan = std::make_shared<const BackgroundPlan>(*std::move(best));
    task.add(std::move(c), {});
}

std::string saved_background(const EnginePlan &plan, bool) { // the rest follows from the structure
    return written(dynamic_cast<const BackgroundPlan &>(plan).order);
}

std::shared_ptr<const EnginePlan> restored_background(std::string_view bytes, const PlanSource &of) {
    const Background &b = of.structure.background;
    constexpr const char *what = "an order of lines beside a background";
    require(of.structure.has_background(), "a background");
    auto order = all_from<std::vector<std::int32_t>>(bytes, what);
    const LinesBeside lines(b.beside);
    std::vector<std::int32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    require(sorted == lines.with_entries(), what);
    auto plan = planned_along(of.a, b, lines, std::move(order));
    require(plan.has_value(), what);
    return std::make_shared<const BackgroundPlan>(*std::move(plan));
}

void check_background(const Candidate &c) {
    require(plan_as<BackgroundPlan>(c) && !c.on_gpu, "a background");
}

} // namespace libperm
