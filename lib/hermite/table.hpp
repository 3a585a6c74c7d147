// The hafnian of kinds of equal lines, by the recurrence of multidimensional Hermite polynomials (Dodonov,
// Man'ko and Man'ko, Phys. Rev. A 50, 813 (1994)). With c_ij an entry between lines of the kinds i and j, l_i
// a loop, (n)_j a count and e_i one line of a kind, for any i with (n)_i > 0
//
//   H(n) = l_i H(n - e_i) + sum over j of c_ij (n - e_i)_j H(n - e_i - e_j),     H(0) = 1.
//
// It is gone through from the end: T(u) is the sum over all ways to match the lines taken so far to each
// other and to u lines of the kinds behind. A line of kind i is taken by its loop, with one of the m_j - u_j
// lines of a kind behind that are left, or with one of its own kind:
//
//   T_s(u) = l_i T_s-1(u) + sum over j > i of c_ij (m_j - u_j + 1) T_s-1(u - e_j) + c_ii (m_i - s + 1)
//   T_s-2(u),
//
// where s lines of kind i are gone, and to which is added what those before have used s lines of kind i for.
// So the counts of the first kind are taken in two or three tables, in turn; those of the others where they
// are.
//
// A Trait is as the frontier's (lib/frontier/work.hpp): Number and Factor, begin_step, times(factor, copies),
// multiply(factor, number), add, zero, one, extent_of; with(work) around what does these; is_slow. Also
// holds(extent): the numbers are good for what has been met.
#pragma once

#include "lib/hermite/plan.hpp"
#include "lib/number/state_number.hpp"
#include "lib/run/call.hpp"
#include "lib/run/engine_result.hpp"
#include "lib/run/memory_budget.hpp"
#include "preprocess/frontier_program.hpp"
#include "preprocess/index.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace libperm {

template <class Trait> class HermiteTable {
  public:
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;

    HermiteTable(const HermitePlan &plan, Trait &numbers)
        : plan_(plan), kinds_(plan.kinds), numbers_(numbers), table_(call().memory()) {
        stride_.assign(kinds_.size(), 1);
        for (std::size_t k = kinds_.size() - 1; k > 0; --k)
            stride_[k - 1] = stride_[k] * (at(kinds_[k].count) + 1);
        find_factors();
    }

    // None: the numbers are not good for it.
    std::optional<Number> compute(Counts &counts) {
        const std::size_t tables = at(hermite_tables(plan_)), size = stride_[0];
        counts.peak_states = std::max(counts.peak_states, static_cast<double>(tables * size));
        counts.peak_bytes =
            std::max(counts.peak_bytes, static_cast<std::int64_t>(tables * size * sizeof(Number)));
        table_.grow(tables * size); // what no line can have used is never touched
        std::fill_n(table_.data(), stride_[first_of_block(kinds_, 0) - 1], numbers_.zero());
        table_.data()[0] = numbers_.one();
        Number *from = nullptr;
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            const Kind kind(*this, i);
            // A table for each count, of all kinds behind: of the first those that are needed, in turn.
            const auto of_count = [&](std::int32_t s) {
                return i == 0 ? table_.data() + at(s) % tables * size : from + at(s) * stride_[i];
            };
            for (std::int32_t s = 1; s <= kinds_[i].count; ++s)
                if (!take_line(kind, {s, of_count(s), of_count(s - 1), s > 1 ? of_count(s - 2) : nullptr, {}},
                               counts))
                    return {};
            taken_ += kinds_[i].count;
            from = of_count(kinds_[i].count);
        }
        return *from;
    }

  private:
    // What a line of one kind is taken with.
    struct Kind {
        std::size_t number, first_of_block, block, blocks;
        std::vector<std::vector<Factor>> before;   // by kind and count
        std::vector<std::vector<Factor>> in_block; // by kind and place
        std::int64_t terms = 1;

        Kind(const HermiteTable &table, std::size_t i)
            : number(i),
              first_of_block(libperm::first_of_block(table.kinds_, i)),
              block(table.stride_[first_of_block - 1]),
              blocks(table.stride_[i] / block),
              before(table.kinds_.size()),
              in_block(table.kinds_.size()) {
            terms += table.loops_[i].has_value() + (table.edge(i, i) != nullptr);
            for (std::size_t j = i + 1; j < table.kinds_.size(); ++j) {
                const Factor *factor = table.edge(i, j);
                if (!factor) continue;
                ++terms;
                const std::int32_t m = table.kinds_[j].count;
                std::vector<Factor> by_count(1, table.numbers_.times(*factor, 0));
                for (std::int32_t u = 1; u <= m; ++u)
                    by_count.push_back(table.numbers_.times(*factor, m - u + 1));
                if (j >= first_of_block)
                    for (std::size_t x = 0; x < block; ++x)
                        in_block[j].push_back(by_count[x / table.stride_[j] % (at(m) + 1)]);
                else
                    before[j] = std::move(by_count);
            }
        }
    };

    struct Step {
        std::int32_t gone; // lines of the kind
        Number *to;
        const Number *before, *before_that;
        std::optional<Factor> pair;
    };

    void find_factors() {
        FrontierStep step;
        const auto add = [&step](std::int64_t entry) {
            if (entry < 0) return;
            FrontierTerm term{};
            term.entry = entry;
            term.multiplicity = 1;
            step.terms.push_back(term);
        };
        for (const std::int64_t entry : plan_.loops) add(entry);
        for (const std::int64_t entry : plan_.edges) add(entry);
        const std::vector<Factor> &factors = numbers_.begin_step(step);
        std::size_t next = 0;
        for (const std::int64_t entry : plan_.loops)
            loops_.push_back(entry < 0 ? std::nullopt : std::optional<Factor>(factors[next++]));
        for (const std::int64_t entry : plan_.edges)
            edges_.push_back(entry < 0 ? std::nullopt : std::optional<Factor>(factors[next++]));
    }
    const Factor *edge(std::size_t i, std::size_t j) const {
        const std::optional<Factor> &factor = edges_[i * kinds_.size() + j];
        return factor ? &*factor : nullptr;
    }

    // Counts of the kinds before the block: those of block number `number`.
    struct Place {
        std::vector<std::int32_t> counts;
        std::int64_t sum = 0;
    };
    Place place_of(const Kind &kind, std::size_t number) const {
        Place place{std::vector<std::int32_t>(kinds_.size(), 0)};
        for (std::size_t j = kind.first_of_block; j-- > kind.number + 1;) {
            const std::size_t states = at(kinds_[j].count) + 1;
            place.counts[j] = static_cast<std::int32_t>(number % states);
            place.sum += place.counts[j];
            number /= states;
        }
        return place;
    }
    void next(const Kind &kind, Place &place) const {
        for (std::size_t j = kind.first_of_block; j-- > kind.number + 1;) {
            if (place.counts[j] < kinds_[j].count) {
                ++place.counts[j];
                ++place.sum;
                return;
            }
            place.sum -= place.counts[j];
            place.counts[j] = 0;
        }
    }

    bool take_line(const Kind &kind, Step step, Counts &counts) {
        const std::int64_t operations = static_cast<std::int64_t>(kind.block) * kind.terms;
        constexpr std::int64_t of_a_piece = 1 << 17;
        const std::int64_t grain =
            std::max<std::int64_t>(1, of_a_piece / (Trait::is_slow ? 64 : 1) / operations);
        if (const Factor *of_two = edge(kind.number, kind.number); of_two && step.gone > 1)
            step.pair = numbers_.times(*of_two, kinds_[kind.number].count - step.gone + 1);
        const auto run = [&](std::int64_t begin, std::int64_t end) {
            Reached reached;
            Trait::with([&] {
                Place place = place_of(kind, static_cast<std::size_t>(begin));
                for (std::int64_t b = begin; b < end; ++b, next(kind, place)) {
                    if (place.sum > taken_ + step.gone) continue;
                    const std::size_t first = static_cast<std::size_t>(b) * kind.block;
                    fill_block(kind, place, step, first);
                    reached = join(reached, {Trait::extent_of(step.to + first, kind.block), 1});
                }
            });
            call().advance(reached.blocks * static_cast<double>(operations));
            return reached;
        };
        const auto blocks = static_cast<std::int64_t>(kind.blocks);
        const Reached reached = blocks <= grain ? run(0, blocks) : parallel_reduce(blocks, grain, run);
        counts.operations += reached.blocks * static_cast<double>(operations);
        counts.states += reached.blocks * static_cast<double>(kind.block);
        return numbers_.holds(reached.extent);
    }

    struct Reached {
        Extent extent;
        double blocks = 0;

        friend Reached join(const Reached &x, const Reached &y) {
            return {join(x.extent, y.extent), x.blocks + y.blocks};
        }
    };

    // Of fewer lines fewer can have been used: what has not been filled before is 0.
    void fill_block(const Kind &kind, const Place &place, const Step &step, std::size_t first) const {
        Number *const to = step.to + first;
        const Number *const before = step.before + first;
        const std::int64_t lines = taken_ + step.gone - place.sum;
        if (2 * step.gone > lines) std::fill_n(to, kind.block, numbers_.zero());
        const auto add = [&](const Factor &factor, const Number *from) {
            for (std::size_t x = 0; x < kind.block; ++x)
                to[x] = numbers_.add(to[x], numbers_.multiply(factor, from[x]));
        };
        if (loops_[kind.number] && lines >= 1) add(*loops_[kind.number], before);
        if (step.pair && lines >= 2) add(*step.pair, step.before_that + first);
        for (std::size_t j = kind.number + 1; j < kind.first_of_block; ++j)
            if (!kind.before[j].empty() && place.counts[j] > 0)
                add(kind.before[j][at(place.counts[j])], before - stride_[j]);
        for (std::size_t j = kind.first_of_block; j < kinds_.size(); ++j) {
            if (kind.in_block[j].empty() || lines < 1) continue;
            const Factor *const factors = kind.in_block[j].data(); // 0 where none is used
            const std::size_t apart = stride_[j];
            for (std::size_t x = apart; x < kind.block; ++x)
                to[x] = numbers_.add(to[x], numbers_.multiply(factors[x], before[x - apart]));
        }
    }

    const HermitePlan &plan_;
    const std::vector<EqualLines> &kinds_;
    Trait &numbers_;
    std::vector<std::size_t> stride_; // of each kind's count; all that is behind it
    std::vector<std::optional<Factor>> loops_, edges_;
    Buffer<Number> table_;
    std::int64_t taken_ = 0; // lines of the kinds before
};

} // namespace libperm
