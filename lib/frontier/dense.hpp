// The dense form of the frontier engine: a number for every subset of the right size of the open columns.
//
// All states after a row use equally many open columns, so of the 2^w subsets only C(w, k) can be live. They
// are stored ranked (dense_layout.hpp), without the dead ones: two tables of C(w, k) take a fraction
// of the memory, and of the traffic, of one table of 2^w in place (docs/frontier.md has the measurement).
#pragma once

#include "lib/frontier/dense_layout.hpp"
#include "lib/frontier/numbers.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <array>

namespace libperm {

// Where the numbers are no doubles (lib/frontier/sparse_wide.cpp).
EngineResult run_wide_dense_frontier(const FrontierRun &run);

constexpr std::int64_t serial_states = 8192; // below this a row is done by one thread

template <class Trait> class DenseFrontier {
    using Number = typename Trait::Number;
    using Factor = typename Trait::Factor;

    // A pair of places in a target block and in the source block it takes from.
    struct Move {
        std::uint16_t target, source;
    };
    // By weight of the low target set. `aligned`: target and source are equal all through the block.
    struct Moves {
        std::vector<std::vector<Move>> of_weight;
        std::vector<char> aligned;
    };
    struct Term {
        SlotSet bit;
        Factor factor;
        Moves moves; // of a low term; a high term uses the step's common ones
    };

  public:
    DenseFrontier(const FrontierWork &work, Trait &numbers)
        : work_(work),
          numbers_(numbers),
          old_layout_(work.memory),
          new_layout_(work.memory),
          old_(work.memory),
          new_(work.memory) {}

    // The last state's number.
    Number compute(Counts &counts) {
        const std::array<double, 2> tables = largest_tables(work_.program);
        new_.grow(static_cast<std::size_t>(tables[0])); // the first row's, and every other
        old_.grow(static_cast<std::size_t>(tables[1]));
        old_.data()[0] = numbers_.one();
        SlotSet open = 0;
        for (const FrontierStep &step : work_.program.steps) {
            open = advance(step, open);
            counts.operations += step.expansions_bound;
            counts.states += static_cast<double>(old_layout_.size());
            counts.peak_states = std::max(counts.peak_states, static_cast<double>(old_layout_.size()));
        }
        return old_.data()[0];
    }

  private:
    SlotSet advance(const FrontierStep &step, SlotSet open_before) {
        const std::vector<Factor> &entries = numbers_.begin_step(step);
        opening_ = closing_ = 0;
        terms_.clear();
        for (std::size_t k = 0; k < step.terms.size(); ++k) {
            const SlotSet bit = SlotSet{1} << step.terms[k].slot;
            if (step.terms[k].opens) opening_ |= bit;
            if (step.terms[k].closes) closing_ |= bit;
            terms_.push_back({bit, entries[k], {}});
        }
        const SlotSet open_after = (open_before | opening_) & ~closing_;
        new_layout_.assign(open_after, step.used_after);
        common_ = low_moves(0);
        for (Term &term : terms_)
            if (term.bit & low_mask) term.moves = low_moves(term.bit);

        const std::int64_t blocks = new_layout_.high_sets();
        Extent extent;
        if (new_layout_.size() <= serial_states && blocks <= serial_states) {
            extent = fill_blocks(0, blocks);
            call().advance(step.expansions_bound);
        } else {
            const std::int64_t grain =
                std::max<std::int64_t>(1, blocks / (1 + (new_layout_.size() + blocks) / serial_states));
            extent = parallel_reduce(blocks, grain, [&](std::int64_t begin, std::int64_t end) {
                const Extent here = fill_blocks(begin, end);
                call().advance(step.expansions_bound * static_cast<double>(end - begin) /
                               static_cast<double>(blocks));
                return here;
            });
        }
        std::swap(old_, new_);
        std::swap(old_layout_, new_layout_);
        numbers_.end_step(static_cast<double>(terms_.size()) - 1, step.expansions_bound, extent);
        return open_after;
    }

    // For each low target set, with the closing columns put back, the low source set that lacks `bit` (0:
    // that is the same set). A source holds no column that opens with this row.
    Moves low_moves(SlotSet bit) const {
        Moves moves;
        for (const std::vector<SlotSet> &sets : new_layout_.low.of_weight) {
            auto &list = moves.of_weight.emplace_back();
            bool aligned = true;
            for (std::size_t target = 0; target < sets.size(); ++target) {
                const SlotSet full = sets[target] | (closing_ & low_mask);
                if (bit != 0 && !(full & bit)) continue;
                const SlotSet source = full ^ bit;
                if (source & opening_) continue;
                list.push_back({static_cast<std::uint16_t>(target), old_layout_.low.rank[source]});
                aligned = aligned && list.back().target == list.back().source && list.size() == target + 1;
            }
            moves.aligned.push_back(aligned && list.size() == sets.size());
        }
        return moves;
    }

    // Target blocks begin .. end - 1.
    Extent fill_blocks(std::int64_t begin, std::int64_t end) {
        Extent extent;
        for (std::int64_t block = begin; block < end; ++block) {
            const std::int64_t first = new_layout_.begin(block);
            const std::int64_t count = new_layout_.begin(block + 1) - first;
            if (count == 0) continue;
            Number *target = new_.data() + first;
            std::fill_n(target, count, Trait::zero());
            Trait::with([&] { fill_block(static_cast<SlotSet>(block), target); });
            extent = join(extent, Trait::extent_of(target, static_cast<std::size_t>(count)));
        }
        return extent;
    }

    void fill_block(SlotSet block, Number *__restrict target) {
        const int low_weight = new_layout_.weight - std::popcount(block);
        const SlotSet high = spread_bits(block, new_layout_.high) | (closing_ & ~low_mask);
        const SlotSet opened = high & opening_;
        if (std::popcount(opened) > 1) return; // one row cannot use two columns
        for (const Term &term : terms_) {
            if (opened != 0 && term.bit != opened) continue;
            const bool is_low = (term.bit & low_mask) != 0;
            if (!is_low && !(high & term.bit)) continue;
            const SlotSet source_high = is_low ? high : high ^ term.bit;
            const Number *__restrict source =
                old_.data() +
                old_layout_.begin(static_cast<std::int64_t>(pack_bits(source_high, old_layout_.high)));
            const Moves &moves = is_low ? term.moves : common_;
            const std::vector<Move> &list = moves.of_weight[static_cast<std::size_t>(low_weight)];
            if (moves.aligned[static_cast<std::size_t>(low_weight)])
                for (std::size_t k = 0; k < list.size(); ++k)
                    target[k] = numbers_.add(target[k], numbers_.multiply(term.factor, source[k]));
            else
                for (const Move &m : list)
                    target[m.target] =
                        numbers_.add(target[m.target], numbers_.multiply(term.factor, source[m.source]));
        }
    }

    const FrontierWork work_;
    Trait &numbers_;
    FrontierLayout old_layout_, new_layout_;
    Buffer<Number> old_, new_;
    SlotSet opening_ = 0, closing_ = 0;
    std::vector<Term> terms_;
    Moves common_;
};

} // namespace libperm
