#include "preprocess/frontier_states.hpp"

#include "preprocess/index.hpp"

#include <cmath>
#include <iterator>
#include <numeric>

namespace libperm {
namespace {

// `source`: by entry of p, the entry of A.
FrontierSide merge_columns(const Pattern &p, const std::vector<std::int64_t> &source,
                           const std::vector<std::int32_t> &of_col, bool transposed) {
    PolledSteps steps;
    FrontierSide side;
    side.transposed = transposed;
    std::vector<std::int32_t> kind(at(p.cols), -1); // of a column that stands for its kind
    for (std::int32_t j = 0; j < p.cols; ++j) {
        const std::int32_t lowest = of_col.empty() ? j : of_col[at(j)];
        if (lowest == j) {
            kind[at(j)] = static_cast<std::int32_t>(side.multiplicity.size());
            side.multiplicity.push_back(0);
        }
        ++side.multiplicity[at(kind[at(lowest)])];
    }
    side.rows.rows = p.rows;
    side.rows.cols = static_cast<std::int32_t>(side.multiplicity.size());
    for (std::int32_t i = 0; i < p.rows; ++i) {
        steps.take(1 + std::ssize(p.row(i)));
        std::int64_t entry = p.row_begin(i);
        for (const std::int32_t j : p.row(i)) {
            if (kind[at(j)] >= 0) {
                side.rows.col.push_back(kind[at(j)]);
                side.entry.push_back(source[at(entry)]);
            }
            ++entry;
        }
        side.rows.row_ptr.push_back(static_cast<std::int64_t>(side.rows.col.size()));
    }
    side.columns = transpose(side.rows).pattern;
    return side;
}

} // namespace

std::array<FrontierSide, 2> frontier_sides(const Pattern &a, const LineClasses &kinds) {
    std::vector<std::int64_t> itself(a.col.size());
    std::iota(itself.begin(), itself.end(), 0);
    const Transposed t = transpose(a);
    return {merge_columns(a, itself, kinds.of_col, false),
            merge_columns(t.pattern, t.source, kinds.of_row, true)};
}

Log2Binomial::Log2Binomial(std::int32_t n) : log2_factorial_(at(n) + 2, 0.0) {
    for (std::size_t k = 2; k < log2_factorial_.size(); ++k)
        log2_factorial_[k] = log2_factorial_[k - 1] + std::log2(static_cast<double>(k));
}

FrontierState::FrontierState(const FrontierSide &side, const Log2Binomial &log2_binomial)
    : side_(side),
      log2_binomial_(log2_binomial),
      counted_(side.counted()),
      slot_(at(side.rows.cols), -1),
      stamp_(at(side.rows.cols), 0) {}

std::int32_t FrontierState::remaining(std::int32_t col) const {
    const std::int32_t slot = slot_[at(col)];
    return slot >= 0 ? open_[at(slot)].remaining : degree(col);
}

// Of the component in hand: the possibilities of all counts but the widest.
double FrontierState::log2_boxes() const {
    double sum = 0, widest = 0;
    for (const OpenColumn &o : open_) {
        if (stamp_[at(o.component)] != tick_) continue;
        const double one = log2_binomial_(std::max(0, range(o).width()) + 1, 1);
        sum += one;
        widest = std::max(widest, one);
    }
    return sum - widest;
}

// Closes the columns that have no entries left; those of the components that this row has met are in one now.
void FrontierState::close_and_merge(const Component &merged) {
    for (std::size_t s = 0; s < open_.size();) {
        OpenColumn &o = open_[s];
        if (o.remaining == 0) {
            slot_[at(o.col)] = -1;
            o = open_.back();
            open_.pop_back();
            if (s < open_.size()) slot_[at(open_[s].col)] = static_cast<std::int32_t>(s);
            continue;
        }
        if (stamp_[at(o.component)] == tick_) {
            o.component = merged.id;
            o.active = merged.active;
            o.used = merged.used;
            o.log2_states = merged.log2_states;
        }
        ++s;
    }
}

FrontierStepCost FrontierState::advance(std::int32_t row) {
    FrontierStepCost cost;
    cost.log2_states_before = log2_states_;
    ++tick_;

    std::int32_t active = 0, used = 1; // of the component that this row makes
    std::int32_t id = -1;
    double log2_merged = 0; // of the components it is made from
    double branches = 0;    // entries of the row whose column is free, on average over the states
    double subset_branches = 0;
    const double subsets_before = std::exp2(std::min(log2_binomial_(width_, used_), 1000.0));
    const double free_share = width_ == 0 ? 1.0 : 1.0 - static_cast<double>(used_) / width_;
    std::int32_t opened_columns = 0, closed_columns = 0;
    for (const std::int32_t col : side_.rows.row(row)) {
        const std::int32_t columns = side_.multiplicity[at(col)];
        subset_branches += columns * (slot_[at(col)] < 0 ? 1.0 : free_share);
        if (slot_[at(col)] < 0) {
            opened_columns += columns;
            slot_[at(col)] = static_cast<std::int32_t>(open_.size());
            open_.push_back({col, 0, degree(col), col, 0, 0, 0});
            ++cost.opened;
        }
        OpenColumn &o = open_[at(slot_[at(col)])];
        const CountRange before = range(o);
        double full = before.most < side_.multiplicity[at(col)] ? 0.0 : 1.0; // share of the states
        for (std::int32_t s = before.least; s < before.most; ++s)
            full *= static_cast<double>(o.used) / static_cast<double>(o.active);
        branches += 1.0 - full;
        ++o.met;
        if (--o.remaining == 0) {
            ++cost.closed;
            closed_columns += columns;
        }
        const CountRange after = range(o);
        active += after.width() - before.width();
        used -= after.least - before.least;
        if (stamp_[at(o.component)] == tick_) continue;
        stamp_[at(o.component)] = tick_;
        id = o.component;
        active += o.active;
        used += o.used;
        log2_merged += o.log2_states;
    }
    double log2_component = log2_binomial_(active, used);
    if (counted_) log2_component = std::min(log2_component, log2_boxes());
    log2_states_ += log2_component - log2_merged;

    close_and_merge({id, active, used, log2_component});
    width_ += opened_columns - closed_columns;
    used_ += 1 - closed_columns;
    cost.log2_subsets_after = log2_binomial_(width_, used_);
    cost.width_after = width_;
    cost.subset_expansions = subsets_before * subset_branches;
    cost.log2_states_after = log2_states_;
    cost.expansions = std::exp2(std::min(cost.log2_states_before, 1000.0)) * branches; // finite, to compare
    return cost;
}

void FrontierState::save(Snapshot &s) const {
    s.open = open_;
    s.log2_states = log2_states_;
    s.width = width_;
    s.used = used_;
}

void FrontierState::restore(const Snapshot &s) {
    for (const OpenColumn &o : open_) slot_[at(o.col)] = -1;
    open_ = s.open;
    for (std::size_t k = 0; k < open_.size(); ++k) slot_[at(open_[k].col)] = static_cast<std::int32_t>(k);
    log2_states_ = s.log2_states;
    width_ = s.width;
    used_ = s.used;
}

} // namespace libperm
