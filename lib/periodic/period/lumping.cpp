#include "lib/periodic/period/period_operator.hpp"

#include <boost/container_hash/hash.hpp>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace libperm {
namespace {

using Partition = std::vector<std::uint32_t>; // a block for each state

// Numbers blocks in the order in which they are met.
class Blocks {
  public:
    std::uint32_t of(const std::vector<std::uint64_t> &signature) {
        return known_.try_emplace(signature, static_cast<std::uint32_t>(known_.size())).first->second;
    }
    std::size_t count() const { return known_.size(); }

  private:
    std::unordered_map<std::vector<std::uint64_t>, std::uint32_t, boost::hash<std::vector<std::uint64_t>>>
        known_;
};

std::size_t count(const Partition &partition) {
    return partition.empty() ? 0 : *std::max_element(partition.begin(), partition.end()) + std::size_t{1};
}

PeriodLevel level_of(const std::vector<std::vector<TapeMove>> &moves) { // by the state that they lead to
    PeriodLevel out;
    for (const auto &some : moves) {
        out.moves.insert(out.moves.end(), some.begin(), some.end());
        out.first.push_back(static_cast<std::uint32_t>(out.moves.size()));
    }
    return out;
}

// Lists by source what the moves of a level lead to.
struct Outward {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> target, entry;

    Outward(const PeriodLevel &level, std::size_t sources)
        : first(sources + 1, 0), target(level.moves.size()), entry(level.moves.size()) {
        for (const TapeMove &move : level.moves) ++first[move.source + std::size_t{1}];
        for (std::size_t s = 0; s < sources; ++s) first[s + 1] += first[s];
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for (std::uint32_t t = 0; t < level.states(); ++t)
            for (std::uint32_t m = level.first[t]; m < level.first[t + 1]; ++m) {
                const std::uint32_t place = next[level.moves[m].source]++;
                target[place] = t;
                entry[place] = level.moves[m].entry;
            }
    }
};

class Quotient {
  public:
    Quotient(PeriodLevels &levels, std::size_t sources, const std::vector<std::uint32_t> &kinds)
        : levels_(&levels), kinds_(&kinds) {
        for (const PeriodLevel &level : levels) {
            outward_.emplace_back(level, sources);
            sources = level.states();
        }
        behind_.resize(levels.size());
    }

    // Refines the states before the levels, given the partition of those behind them.
    Partition refined(Partition behind) {
        PolledSteps steps;
        std::vector<std::uint64_t> signature;
        for (std::size_t l = levels_->size(); l-- > 0;) {
            const Outward &moves = outward_[l];
            Blocks blocks;
            Partition before(moves.first.size() - 1);
            for (std::size_t s = 0; s < before.size(); ++s) {
                signature.clear();
                for (std::uint32_t m = moves.first[s]; m < moves.first[s + 1]; ++m)
                    signature.push_back(std::uint64_t{behind[moves.target[m]]} << 32 |
                                        (*kinds_)[moves.entry[m]]);
                steps.take(16 + 16 * static_cast<std::int64_t>(signature.size()));
                std::sort(signature.begin(), signature.end());
                before[s] = blocks.of(signature);
            }
            behind_[l] = std::exchange(behind, std::move(before));
        }
        return behind;
    }

    // The levels between blocks: of each, one of its states speaks for all.
    void write(Partition before) {
        for (std::size_t l = 0; l < levels_->size(); ++l) {
            const Partition &behind = behind_[l];
            std::vector<std::vector<TapeMove>> moves(count(behind));
            std::vector<bool> spoken(count(before), false);
            for (std::size_t s = 0; s < before.size(); ++s) {
                if (spoken[before[s]]) continue;
                spoken[before[s]] = true;
                for (std::uint32_t m = outward_[l].first[s]; m < outward_[l].first[s + 1]; ++m)
                    moves[behind[outward_[l].target[m]]].push_back({before[s], outward_[l].entry[m]});
            }
            before = behind;
            (*levels_)[l] = level_of(moves);
        }
    }

  private:
    PeriodLevels *levels_;
    const std::vector<std::uint32_t> *kinds_;
    std::vector<Outward> outward_;
    std::vector<Partition> behind_;
};

// Blocks that agree in both.
Partition common(const Partition &x, const Partition &y) {
    Blocks blocks;
    Partition out(x.size());
    for (std::size_t s = 0; s < x.size(); ++s) out[s] = blocks.of({x[s], y[s]});
    return out;
}

void join_targets(PeriodLevel &level, const Partition &partition) {
    std::vector<std::vector<TapeMove>> moves(count(partition));
    for (std::size_t s = 0; s < level.states(); ++s)
        moves[partition[s]].insert(moves[partition[s]].end(), level.moves.begin() + level.first[s],
                                   level.moves.begin() + level.first[s + 1]);
    level = level_of(moves);
}

} // namespace

void lump(OpenOperator &op, const std::vector<Gaussian> &values) {
    if (op.period.states < 2) return;
    const std::vector<std::uint32_t> kinds = kinds_of(values);
    Quotient finish(op.finish, op.period.states, kinds), period(op.period.levels, op.period.states, kinds);
    Partition partition = finish.refined(Partition(op.finish.back().states(), 0));
    for (;;) {
        const Partition finer = common(partition, period.refined(partition));
        if (count(finer) == count(partition)) break;
        partition = finer;
    }
    if (count(partition) == op.period.states) return;
    join_targets(op.start.back(), partition);
    period.write(partition);
    finish.write(partition);
    op.period.states = count(partition);
}

} // namespace libperm
