#include "preprocess/tree_order.hpp"

#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"
#include "preprocess/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace libperm {
namespace {

using Order = std::vector<std::int32_t>;

std::vector<LineSet> columns_of(const Pattern &transposed) {
    std::vector<LineSet> columns(at(transposed.rows), 0);
    for (std::int32_t j = 0; j < transposed.rows; ++j)
        for (const std::int32_t i : transposed.row(j)) columns[at(j)] |= LineSet{1} << i;
    return columns;
}

// One side of the matrix: A or A^T.
class Side {
  public:
    Side(const Pattern &transposed, const TreeLimits &limits, std::uint64_t seed)
        : columns_(columns_of(transposed)), limits_(limits), random_(seed) {}

    // Each cheaper than those before.
    struct Met {
        Order order;
        double cost;
    };
    const std::vector<Met> &met() const { return met_; }

    std::vector<LineSet> in(const Order &order) const {
        std::vector<LineSet> columns(order.size());
        for (std::size_t k = 0; k < order.size(); ++k) columns[k] = columns_[at(order[k])];
        return columns;
    }

    void start() {
        try_order(by_new_rows(0.1));
        try_order(by_new_rows(1));
        try_order(by_elimination());
    }

    // Worse orders are taken now and then at the beginning.
    void improve(double seconds) {
        poll();
        const auto n = static_cast<std::int32_t>(columns_.size());
        const bool all_alike =
            std::ranges::all_of(columns_, [this](LineSet c) { return c == columns_.front(); });
        if (n < 2 || all_alike) return;
        Order now = met_.back().order;
        const double start = spent_;
        int moves = 0;
        for (TreeCost cost = cost_of(now); spent_ - start < seconds;) {
            if (++moves % 16 == 0) poll();
            Order next = now;
            if (!move_one(next, n - cost.looped)) continue;
            const TreeCost next_cost = cost_of(next);
            const double temperature = 0.05 * (1 - (spent_ - start) / seconds);
            if (next_cost.cost > cost.cost * (1 - temperature * std::log(1 - random_.uniform()))) continue;
            now = std::move(next);
            cost = next_cost;
            keep(now, cost.cost);
        }
    }

  private:
    // A column into or out of the lowest `low` ones, or one for another: in which order the others are looped
    // over hardly matters. Whether that is another order.
    bool move_one(Order &order, std::int32_t low) {
        std::int32_t from = random_.below(static_cast<std::int32_t>(order.size())), to = random_.below(low);
        if (random_.uniform() < 0.5) std::swap(from, to);
        if (from == to) return false;
        if (random_.uniform() < 0.5) {
            std::swap(order[at(from)], order[at(to)]);
        } else {
            const std::int32_t column = order[at(from)];
            order.erase(order.begin() + from);
            order.insert(order.begin() + to, column);
        }
        return true;
    }

    void keep(const Order &order, double cost) {
        if (met_.empty() || cost < met_.back().cost) met_.push_back({order, cost});
    }
    TreeCost cost_of(const Order &order) {
        const TreeCost cost = tree_cost(in(order), limits_);
        spent_ += cost.seconds + 1e-6;
        return cost;
    }
    void try_order(const Order &order) { keep(order, cost_of(order).cost); }

    // Next comes the column with the fewest new rows; its degree counts for so much of that.
    Order by_new_rows(double of_degree) const {
        Order order(columns_.size());
        std::iota(order.begin(), order.end(), 0);
        LineSet seen = 0;
        for (auto place = order.begin(); place != order.end(); ++place) {
            const auto score = [&](std::int32_t j) {
                return std::popcount(columns_[at(j)] & ~seen) + of_degree * std::popcount(columns_[at(j)]);
            };
            const auto least = std::min_element(
                place, order.end(), [&](std::int32_t x, std::int32_t y) { return score(x) < score(y); });
            std::rotate(place, least, least + 1);
            seen |= columns_[at(*place)];
        }
        return order;
    }

    // Next comes the column that shares rows, or rows of columns already taken, with the fewest others: what
    // is left for last separates the rest.
    Order by_elimination() const {
        const std::size_t n = columns_.size();
        std::vector<LineSet> near(n, 0);
        for (std::size_t x = 0; x < n; ++x)
            for (std::size_t y = 0; y < n; ++y)
                if (x != y && (columns_[x] & columns_[y]) != 0) near[x] |= LineSet{1} << y;
        Order order;
        LineSet left = n == 64 ? ~LineSet{0} : (LineSet{1} << n) - 1;
        while (left != 0) {
            int least = std::countr_zero(left);
            for (LineSet rest = left; rest != 0; rest &= rest - 1) {
                const int j = std::countr_zero(rest);
                if (std::popcount(near[at(j)]) < std::popcount(near[at(least)])) least = j;
            }
            order.push_back(least);
            left &= ~(LineSet{1} << least);
            const LineSet joined = near[at(least)];
            for (LineSet rest = joined; rest != 0; rest &= rest - 1) {
                LineSet &of = near[at(std::countr_zero(rest))];
                of = (of | joined) & left & ~(rest & (~rest + 1));
            }
        }
        return order;
    }

    std::vector<LineSet> columns_;
    const TreeLimits &limits_;
    SearchRandom random_;
    std::vector<Met> met_;
    double spent_ = 0; // seconds, as counted
};

} // namespace

TreeOrder find_tree_order(const Pattern &a, const Pattern &transposed, const TreeOrderOptions &options) {
    return find_tree_orders(a, transposed, options, 1).front();
}

std::vector<TreeOrder> find_tree_orders(const Pattern &a, const Pattern &transposed,
                                        const TreeOrderOptions &options, std::size_t most) {
    // What a search finds differs more by its seed than by its length: some short ones of each side.
    constexpr double worth_several = 0.02; // seconds
    const std::size_t of_side = options.seconds < worth_several ? 1 : 4;
    std::vector<Side> searches;
    for (std::size_t k = 0; k < 2 * of_side; ++k)
        searches.emplace_back(k % 2 == 0 ? transposed : a, options.limits,
                              2 * options.seed + k % 2 + (std::uint64_t{k / 2} << 56));
    parallel_for(searches.size(), [&](std::size_t k) {
        searches[k].start();
        searches[k].improve(options.seconds / static_cast<double>(of_side));
    });
    struct Found {
        const Side::Met *met;
        bool transposed;
        bool operator==(const Found &other) const {
            return transposed == other.transposed && met->order == other.met->order;
        }
    };
    std::vector<Found> found;
    for (std::size_t k = 0; k < searches.size(); ++k)
        for (const Side::Met &met : searches[k].met()) found.push_back({&met, k % 2 == 1});
    std::ranges::stable_sort(found, {}, [](const Found &f) { return f.met->cost; });
    std::vector<Found> taken;
    std::vector<TreeOrder> orders;
    for (const Found &f : found) {
        if (orders.size() == most) break;
        if (std::ranges::find(taken, f) != taken.end()) continue; // all begin with the same orders
        taken.push_back(f);
        const TreeOrder order{.transposed = f.transposed, .columns = f.met->order, .root = {}};
        orders.push_back(shaped_within(options.limits, order, a, transposed));
    }
    return orders;
}

TreeOrder shaped_within(const TreeLimits &limits, const TreeOrder &order, const Pattern &a,
                        const Pattern &transposed) {
    const std::vector<LineSet> all = columns_of(order.transposed ? a : transposed);
    std::vector<LineSet> columns;
    for (const std::int32_t c : order.columns) columns.push_back(all[at(c)]);
    const ShapedOrder shaped = shape_of(columns, limits);
    TreeOrder other;
    other.transposed = order.transposed;
    other.root = shaped.root;
    other.operations = shaped.operations;
    for (const std::int32_t p : shaped.place) other.columns.push_back(order.columns[at(p)]);
    return other;
}

} // namespace libperm
