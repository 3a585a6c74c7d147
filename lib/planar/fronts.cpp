#include "lib/planar/fronts.hpp"

#include "preprocess/index.hpp"

#include <Eigen/OrderingMethods>
#include <algorithm>
#include <numeric>
#include <utility>

namespace libperm {
namespace {

using Lists = std::vector<std::vector<std::int32_t>>;

// Of each row and each column the pair.
struct Pairs {
    std::vector<std::int32_t> of_row, of_col;
    std::int32_t count = 0;

    Pairs(const Pattern &a, const Matching &matching) : of_row(at(a.rows)), of_col(matching.row_of_col) {
        for (std::int32_t i = 0; i < a.rows; ++i) {
            const std::int32_t other = matching.col_of_row[at(i)];
            of_row[at(i)] = a.one_sided && other < i ? of_row[at(other)] : count++;
        }
        if (a.one_sided) of_col = of_row;
    }
};

// The pairs that an entry joins to another, by pair.
Lists neighbours_of(const Pattern &a, const Pairs &pairs) {
    Lists lists(at(pairs.count));
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i)) {
            const std::int32_t pair = pairs.of_row[at(i)], other = pairs.of_col[at(j)];
            if (other == pair) continue;
            lists[at(pair)].push_back(other);
            lists[at(other)].push_back(pair);
        }
    for (std::vector<std::int32_t> &list : lists) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return lists;
}

// By approximate minimum degree (Amestoy, Davis and Duff, SIAM J. Matrix Anal. Appl. 17, 1996): the pairs in
// their order.
std::vector<std::int32_t> minimum_degree(const Lists &neighbours) {
    const auto n = static_cast<std::int32_t>(neighbours.size());
    Eigen::SparseMatrix<char, Eigen::ColMajor, std::int32_t> graph(n, n);
    Eigen::VectorXi sizes(n);
    for (std::int32_t k = 0; k < n; ++k) sizes[k] = static_cast<std::int32_t>(neighbours[at(k)].size()) + 1;
    graph.reserve(sizes);
    for (std::int32_t k = 0; k < n; ++k) {
        graph.insert(k, k) = 1;
        for (const std::int32_t other : neighbours[at(k)]) graph.insert(other, k) = 1;
    }
    graph.makeCompressed();
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int32_t> places;
    Eigen::AMDOrdering<std::int32_t>()(graph.selfadjointView<Eigen::Lower>(), places);
    return {places.indices().data(), places.indices().data() + n};
}

std::vector<std::int32_t> inverse_of(const std::vector<std::int32_t> &order) {
    std::vector<std::int32_t> place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[at(order[k])] = static_cast<std::int32_t>(k);
    return place;
}

Lists renumbered(const Lists &lists, const std::vector<std::int32_t> &order) {
    const std::vector<std::int32_t> place = inverse_of(order);
    Lists out(lists.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        for (const std::int32_t other : lists[at(order[k])]) out[k].push_back(place[at(other)]);
        std::sort(out[k].begin(), out[k].end());
    }
    return out;
}

// The later pairs that each touches when its turn has come, ascending.
Lists touched_by(const Lists &neighbours) {
    const std::size_t n = neighbours.size();
    Lists touched(n), children(n);
    std::vector<std::size_t> met(n, n);
    for (std::size_t k = 0; k < n; ++k) {
        const auto meet = [&](std::int32_t other) {
            if (at(other) <= k || met[at(other)] == k) return;
            met[at(other)] = k;
            touched[k].push_back(other);
        };
        std::for_each(neighbours[k].begin(), neighbours[k].end(), meet);
        for (const std::int32_t child : children[k])
            std::for_each(touched[at(child)].begin(), touched[at(child)].end(), meet);
        std::sort(touched[k].begin(), touched[k].end());
        if (!touched[k].empty()) children[at(touched[k].front())].push_back(static_cast<std::int32_t>(k));
    }
    return touched;
}

// Of each pair the next that its elimination changes: its parent in the elimination tree (Liu, SIAM J. Matrix
// Anal. Appl. 11, 1990); -1: none.
std::vector<std::int32_t> parents_of(const Lists &touched) {
    std::vector<std::int32_t> parent;
    for (const std::vector<std::int32_t> &list : touched) parent.push_back(list.empty() ? -1 : list.front());
    return parent;
}

// Each pair behind all below it, and next to the last of these.
std::vector<std::int32_t> postorder(const std::vector<std::int32_t> &parent) {
    const std::size_t n = parent.size();
    Lists children(n + 1);
    for (std::size_t k = 0; k < n; ++k)
        children[parent[k] == -1 ? n : at(parent[k])].push_back(static_cast<std::int32_t>(k));
    std::vector<std::int32_t> order, stack(children[n].begin(), children[n].end());
    std::vector<char> is_open(n, 0);
    while (!stack.empty()) {
        const std::int32_t k = stack.back();
        if (is_open[at(k)]) {
            stack.pop_back();
            order.push_back(k);
            continue;
        }
        is_open[at(k)] = 1;
        stack.insert(stack.end(), children[at(k)].begin(), children[at(k)].end());
    }
    return order;
}

// Pairs in a row whose fronts are nearly the same are one front: dense work is quicker than many small ones.
std::vector<Front> fronts_of(Lists touched) {
    const std::vector<std::int32_t> parent = parents_of(touched);
    constexpr double few = 8, share = 0.1; // zeros that a front may gain by it, all in all; of its entries
    double zeros = 0;
    std::vector<Front> fronts;
    std::vector<std::int32_t> front_of(parent.size());
    for (std::size_t k = 0; k < parent.size(); ++k) {
        bool goes_on = k > 0 && parent[k - 1] == static_cast<std::int32_t>(k);
        if (goes_on) {
            const Front &front = fronts.back();
            const auto pivots = static_cast<double>(front.pivots()),
                       size = pivots + 1 + static_cast<double>(touched[k].size());
            zeros += pivots * (size - static_cast<double>(front.size()));
            goes_on = zeros <= few + share * size * size;
        }
        if (!goes_on) {
            fronts.push_back({static_cast<std::int32_t>(k), 0, {}, -1, 0});
            zeros = 0;
        }
        Front &front = fronts.back();
        front.last = static_cast<std::int32_t>(k) + 1;
        front.rest = std::move(touched[k]);
        front.parent = parent[k];
        front_of[k] = static_cast<std::int32_t>(fronts.size()) - 1;
    }
    for (Front &front : fronts) {
        if (front.parent == -1) continue;
        front.parent = front_of[at(front.parent)];
        ++fronts[at(front.parent)].children;
    }
    return fronts;
}

} // namespace

Fronts::Fronts(const Pattern &a, const Matching &matching) : lines_of_pair_(a.one_sided ? 2 : 1) {
    const Pairs pairs(a, matching);
    const Lists neighbours = neighbours_of(a, pairs);
    const std::vector<std::int32_t> order = minimum_degree(neighbours);
    const Lists touched = touched_by(renumbered(neighbours, order));
    const std::vector<std::int32_t> last = postorder(parents_of(touched));
    fronts_ = fronts_of(renumbered(touched, last));
    std::vector<std::int32_t> sorted;
    for (const std::int32_t k : last) sorted.push_back(order[at(k)]);

    const std::vector<std::int32_t> place = inverse_of(sorted);
    const auto line = [&](std::int32_t pair, bool is_second) {
        return lines_of_pair_ * place[at(pair)] + (a.one_sided && is_second ? 1 : 0);
    };
    std::int64_t entry = 0;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (const std::int32_t j : a.row(i))
            entries_.push_back({entry++, line(pairs.of_row[at(i)], matching.col_of_row[at(i)] < i),
                                line(pairs.of_col[at(j)], matching.row_of_col[at(j)] < j)});
    sort_entries();
    count();
}

void Fronts::sort_entries() {
    std::vector<std::size_t> front_of; // by pair
    for (std::size_t f = 0; f < fronts_.size(); ++f) front_of.resize(at(fronts_[f].last), f);
    const auto front = [&](const Entry &e) { return front_of[at(std::min(e.row, e.col) / lines_of_pair_)]; };
    std::stable_sort(entries_.begin(), entries_.end(),
                     [&](const Entry &x, const Entry &y) { return front(x) < front(y); });
    first_entry_.assign(fronts_.size() + 1, 0);
    for (const Entry &e : entries_) ++first_entry_[front(e) + 1];
    std::partial_sum(first_entry_.begin(), first_entry_.end(), first_entry_.begin());
}

void Fronts::count() {
    const auto lines = [this](std::size_t pairs) { return static_cast<double>(pairs) * lines_of_pair_; };
    const auto numbers = [&](std::size_t pairs) { // of a graph half of a square
        return lines(pairs) * (are_of_graph() ? (lines(pairs) + 1) / 2 : lines(pairs));
    };
    const auto columns = [&](const Front &front) { // of its pivots, beside these
        return are_of_graph() ? lines(front.size()) * lines(front.pivots()) : 0;
    };
    double held = 0;
    std::vector<double> left(fronts_.size(), 0); // for a front by its children
    for (std::size_t f = 0; f < fronts_.size(); ++f) {
        const double rest = numbers(fronts_[f].rest.size());
        products_ += fronts_[f].products() * lines_of_pair_ * lines_of_pair_;
        peak_ = std::max(peak_, held + numbers(fronts_[f].size()) + columns(fronts_[f]));
        held += rest - left[f];
        if (fronts_[f].parent != -1) left[at(fronts_[f].parent)] += rest;
    }
}

std::int64_t Fronts::bytes() const {
    std::int64_t bytes = static_cast<std::int64_t>(entries_.size() * sizeof(Entry));
    for (const Front &front : fronts_)
        bytes += static_cast<std::int64_t>(sizeof front + 4 * front.rest.capacity());
    return bytes;
}

} // namespace libperm
