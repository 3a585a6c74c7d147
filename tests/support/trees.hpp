// Plans of the tree engine whose order and shape are not the planner's, and matrices for them.
#pragma once

#include "bench/families.hpp"
#include "jit/program/tree.hpp"
#include "lib/input/matrix.hpp"
#include "lib/subsets/plan.hpp"
#include "lib/subsets/tree_plan.hpp"
#include "preprocess/block.hpp"
#include "preprocess/matching.hpp"
#include "tests/support/random_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

namespace trees {

using libperm::Pattern;
using libperm::SubsetPlan;
using libperm::TreePart;
using perm::families::Random;

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

inline libperm::Block block_of(const perm::Csr &matrix) {
    const perm_csr view = matrix.view();
    const libperm::InputPattern input = libperm::read_pattern(&view);
    libperm::Block block{input.pattern, {}};
    for (const double x : libperm::read_values(input, view.values).real)
        block.values.push_back(libperm::tracked(x));
    return block;
}

// Of every kind, with a perfect matching: also some that fall apart once few columns are fixed.
inline perm::Csr matrix(std::int64_t n, perm::families::Entries entries, Random &random) {
    namespace families = perm::families;
    for (;;) {
        const std::uint64_t seed = random.bits();
        perm::Csr a;
        switch (random.integer(0, 6)) {
        case 0:
            a = families::erdos_renyi(n, random.uniform(0.15, 0.9), entries, seed);
            break;
        case 1:
            a = families::erdos_renyi(n, 1, entries, seed);
            break;
        case 2:
            a = families::banded(n, random.integer(0, 2), random.integer(0, 2), entries, seed);
            break;
        case 3:
            a = families::arrow(n, entries, seed);
            break;
        case 4:
            a = n % 2 == 0 && n > 2 ? families::mesh2d(2, n / 2, entries, seed)
                                    : families::permutation_plus(n, random.integer(0, 3), entries, seed);
            break;
        case 5: { // parts that only the last columns join
            const std::int64_t half = n / 2;
            const perm::Csr low = families::erdos_renyi(half, 0.7, entries, seed),
                            high = families::erdos_renyi(n - half, 0.7, entries, seed + 1);
            families::Dense rows(at(n), std::vector<double>(at(n)));
            const families::Dense x = families::to_dense(low), y = families::to_dense(high);
            for (std::size_t i = 0; i < at(n); ++i)
                for (std::size_t j = 0; j < at(n); ++j) {
                    const std::size_t h = at(half);
                    if (i < h && j < h) rows[i][j] = x[i][j];
                    if (i >= h && j >= h) rows[i][j] = y[i - h][j - h];
                    if (j + 2 >= at(n) && random.chance(0.5))
                        rows[i][j] = families::random_entry(entries, random);
                }
            a = families::from_dense(rows);
            break;
        }
        default:
            a = random_matrix(n, random); // stored zeros too
        }
        a = families::permute(a, random.permutation(n), random.permutation(n));
        if (libperm::maximum_matching(block_of(a).pattern).size == n) return a;
    }
}

// Any shape of these columns (in their order at first): which are looped over, which are parts, which code.
class Shaper {
  public:
    Shaper(const Pattern &columns, std::int32_t most_code, Random &random)
        : columns_(columns), most_code_(most_code), random_(random) {}

    // Places columns from place.size() on.
    TreePart shape(std::vector<std::int32_t> set, std::vector<std::int32_t> &place) {
        TreePart part;
        part.begin = static_cast<std::int32_t>(place.size());
        std::vector<std::int32_t> looped;
        const auto loops = std::min<std::int64_t>(random_.integer(0, 3), std::ssize(set));
        for (std::int64_t k = 0; k < loops; ++k) take(set, looped);
        auto groups = components(set);
        while (std::ssize(set) > most_code_ && groups.size() < 2) {
            take(set, looped);
            groups = components(set);
        }
        const bool code = std::ssize(set) <= most_code_ && (groups.size() < 2 || random_.chance(0.3));
        if (code || set.empty()) {
            place.insert(place.end(), set.begin(), set.end());
        } else {
            if (groups.size() > 2 && random_.chance(0.3)) { // what falls apart again
                groups[0].insert(groups[0].end(), groups[1].begin(), groups[1].end());
                groups.erase(groups.begin() + 1);
            }
            for (const auto &group : groups) part.parts.push_back(shape(group, place));
        }
        part.loop = static_cast<std::int32_t>(place.size());
        place.insert(place.end(), looped.rbegin(), looped.rend());
        part.end = static_cast<std::int32_t>(place.size());
        return part;
    }

  private:
    void take(std::vector<std::int32_t> &set, std::vector<std::int32_t> &looped) {
        auto which = set.begin() + random_.integer(0, std::ssize(set) - 1);
        if (random_.chance(0.7)) // what joins most
            which = std::max_element(set.begin(), set.end(), [&](std::int32_t x, std::int32_t y) {
                return columns_.row(x).size() < columns_.row(y).size();
            });
        looped.push_back(*which);
        set.erase(which);
    }

    std::vector<std::vector<std::int32_t>> components(const std::vector<std::int32_t> &set) const {
        std::vector<std::vector<std::int32_t>> groups;
        std::vector<std::uint64_t> rows;
        for (const std::int32_t c : set) {
            std::uint64_t of_column = 0;
            for (const std::int32_t i : columns_.row(c)) of_column |= std::uint64_t{1} << i;
            std::vector<std::int32_t> joined{c};
            for (std::size_t g = groups.size(); g-- > 0;) {
                if ((rows[g] & of_column) == 0) continue;
                of_column |= rows[g];
                joined.insert(joined.begin(), groups[g].begin(), groups[g].end());
                groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
                rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(g));
            }
            groups.push_back(joined);
            rows.push_back(of_column);
        }
        return groups;
    }

    const Pattern &columns_;
    const std::int32_t most_code_;
    Random &random_;
};

// A plan for A as it is, in this order of columns and shape.
inline SubsetPlan plan_with(const Pattern &a, const std::vector<std::int32_t> &place, const TreePart &root,
                            std::int32_t segment_bits) {
    SubsetPlan plan;
    plan.subsets = std::exp2(a.rows - 1.0);
    plan.order.rows.resize(at(a.rows));
    std::iota(plan.order.rows.begin(), plan.order.rows.end(), 0);
    plan.order.cols = place;
    const Pattern columns = libperm::transpose(libperm::reorder(a, plan.order).pattern).pattern;
    libperm::SubsetKernel &kernel = plan.kernel;
    kernel.engine = libperm::SubsetEngine::tree;
    kernel.n = a.rows;
    kernel.column_ptr = columns.row_ptr;
    kernel.row = columns.col;
    kernel.unrolled = root.loop;
    kernel.segment_bits = segment_bits;
    kernel.tree.n = a.rows;
    kernel.tree.column_ptr = kernel.column_ptr;
    kernel.tree.row = kernel.row;
    kernel.tree.segment_bits = segment_bits;
    kernel.tree.root = root;
    libperm::write_programs(kernel.tree);
    plan.tolerance = 0;
    return plan;
}

// With at most so many columns in a leaf.
inline SubsetPlan any_plan(const Pattern &a, std::int32_t most_code, Random &random) {
    std::vector<std::int32_t> set, place;
    for (const std::int64_t c : random.permutation(a.rows)) set.push_back(static_cast<std::int32_t>(c));
    const std::int32_t last = set.back();
    set.pop_back();
    const TreePart root = Shaper(libperm::transpose(a).pattern, most_code, random).shape(set, place);
    place.push_back(last);
    SubsetPlan plan =
        plan_with(a, place, root, static_cast<std::int32_t>(random.integer(root.loop, a.rows - 1)));
    if (random.chance(0.5)) {
        plan.tolerance = random.chance(0.5) ? 1e-13 : 1e-10;
        plan.most_refined = random.chance(0.5) ? 1 : 0.3;
    }
    return plan;
}

inline SubsetPlan planned(const Pattern &a, std::uint64_t seed) {
    return libperm::plan_tree(a, libperm::transpose(a).pattern, {seed, 1e-4});
}

} // namespace trees
