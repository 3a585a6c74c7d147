#include "lib/periodic/answers/lane_walk.hpp"

#include "lib/periodic/period/period_walk.hpp"
#include "preprocess/parallel.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace libperm {
namespace {

constexpr std::uint64_t whole = std::uint64_t{1} << residue_lane_bits;
constexpr auto lanes = static_cast<std::size_t>(residue_lanes);

LaneLevel lane_level(const PeriodLevel &level) {
    LaneLevel out{level.first, {}};
    out.source.reserve(level.moves.size());
    for (const TapeMove &move : level.moves) out.source.push_back(move.source);
    return out;
}

// Makes one level of two: it leads from the states before the first to those behind the second.
LaneLevel product(const LaneLevel &first, const LaneLevel &second) {
    LaneLevel out;
    for (std::size_t t = 0; t < second.states(); ++t) {
        for (std::uint32_t m = second.first[t]; m < second.first[t + 1]; ++m)
            out.source.insert(out.source.end(), first.source.begin() + first.first[second.source[m]],
                              first.source.begin() + first.first[second.source[m] + 1]);
        std::sort(out.source.begin() + out.first.back(), out.source.end());
        out.first.push_back(static_cast<std::uint32_t>(out.source.size()));
    }
    return out;
}

class LaneWalk {
  public:
    LaneWalk(MemoryAccount *account) : charge_(account) {}

    void take_prime(std::size_t lane, std::uint64_t p) { below_.lane[lane] = whole - p; }

    void begin(std::size_t states) { x_.assign(states, {}); }
    void set_one(std::size_t lane, std::size_t state) { x_[state].lane[lane] = 1; }

    void advance(const LaneLevels &levels) {
        for (const LaneLevel &level : levels) {
            y_.resize(level.states());
            charge_.resize(static_cast<std::int64_t>((x_.capacity() + y_.capacity()) * sizeof x_[0]));
            sum_states(level.states(), level.source.size() / moves_of_a_piece + 1, 3,
                       [&](std::size_t begin, std::size_t end) {
                           add_up_residues(level.first.data(), level.source.data(), begin, end, below_,
                                           x_.data(), y_.data());
                       });
            std::swap(x_, y_);
        }
    }

    std::uint64_t residue(std::size_t state, std::size_t lane) const {
        return x_.empty() ? 0 : x_[state].lane[lane] % (whole - below_.lane[lane]);
    }
    LaneWalk at_the_end(const LaneLevels &finish) const { // of open ends
        LaneWalk end = LaneWalk(nullptr);
        end.below_ = below_;
        end.x_ = x_;
        end.advance(finish);
        return end;
    }

  private:
    static constexpr std::size_t moves_of_a_piece = 1 << 14;

    ResidueLanes below_;
    std::vector<ResidueLanes> x_, y_;
    Charge charge_;
};

struct OpenLevels {
    LaneLevels start, period, finish;
};

// Walks with one prime in each lane.
void walk_open(const PeriodicPlan &plan, const OpenLevels &levels, std::span<const std::uint64_t> primes,
               std::int64_t first, std::int64_t count, std::span<std::vector<std::uint64_t>> terms) {
    const OpenOperator &op = plan.open;
    LaneWalk walk(&call().memory());
    for (std::size_t k = 0; k < lanes; ++k) walk.take_prime(k, primes[std::min(k, primes.size() - 1)]);
    const auto begin = [&] {
        walk.begin(1);
        for (std::size_t k = 0; k < lanes; ++k) walk.set_one(k, 0);
    };
    const auto tell = [&](const LaneWalk &end) {
        for (std::size_t k = 0; k < primes.size(); ++k) terms[k].push_back(end.residue(0, k));
    };
    for (; count > 0 && first < op.least; ++first, --count) {
        begin();
        walk.advance(lane_levels(write_few(plan.matrix, plan.program, first, &call().memory())));
        tell(walk);
    }
    if (count == 0) return;
    begin();
    walk.advance(levels.start);
    const double work = moves_of(op.period.levels);
    walk_lengths(
        op.least, first, count, [&](std::int64_t) { tell(walk.at_the_end(levels.finish)); },
        [&](std::int64_t) {
            walk.advance(levels.period);
            call().advance(work);
        });
}

// Walks through one block modulo one prime from eight starts, each for so many like it.
std::vector<std::uint64_t> walk_loops(const PeriodBlock &block, const LaneLevels &levels, std::uint64_t prime,
                                      std::span<const PeriodBlock::Start> starts, std::int64_t first,
                                      std::int64_t count) {
    __extension__ using Wide = unsigned __int128;
    LaneWalk walk(&call().memory());
    walk.begin(block.states);
    for (std::size_t k = 0; k < lanes; ++k) walk.take_prime(k, prime);
    for (std::size_t k = 0; k < starts.size(); ++k) walk.set_one(k, starts[k].state);
    std::vector<std::uint64_t> traces;
    const double work = moves_of(block.levels) * static_cast<double>(starts.size());
    for (std::int64_t m = 1; m < first + count; ++m) {
        walk.advance(levels);
        call().advance(work);
        if (m < first) continue;
        Wide sum = 0;
        for (std::size_t k = 0; k < starts.size(); ++k)
            sum += static_cast<Wide>(walk.residue(starts[k].state, k)) * starts[k].like_it;
        traces.push_back(static_cast<std::uint64_t>(sum % prime));
    }
    return traces;
}

// The traces of all blocks, `levels` theirs, modulo one prime.
std::vector<std::uint64_t> traces_modulo(const PeriodicPlan &plan, const std::vector<LaneLevels> &levels,
                                         std::uint64_t prime, std::int64_t first, std::int64_t count) {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(count), 0);
    for (std::size_t b = 0; b < levels.size(); ++b) {
        const std::span starts(plan.loops[b].starts_of(first, count));
        ResidueTerms walks((starts.size() + lanes - 1) / lanes);
        parallel_for(walks.size(), [&](std::uint64_t w) {
            call().begin_piece();
            const std::size_t begin = w * lanes;
            walks[w] =
                walk_loops(plan.loops[b], levels[b], prime,
                           starts.subspan(begin, std::min(lanes, starts.size() - begin)), first, count);
        });
        for (const std::vector<std::uint64_t> &walk : walks)
            for (std::size_t m = 0; m < sums.size(); ++m) sums[m] = (sums[m] + walk[m]) % prime; // below 2^59
    }
    return sums;
}

} // namespace

LaneLevels lane_levels(const PeriodLevels &levels) {
    constexpr std::size_t of_state = 1, most_moves = std::size_t{1} << 31;
    LaneLevels out;
    for (const PeriodLevel &level : levels) {
        poll();
        LaneLevel next = lane_level(level);
        if (!out.empty()) {
            const LaneLevel &before = out.back();
            std::size_t together = 0;
            for (const std::uint32_t s : next.source) together += before.first[s + 1] - before.first[s];
            if (together < most_moves &&
                together <= before.source.size() + next.source.size() + of_state * before.states()) {
                next = product(before, next);
                out.pop_back();
            }
        }
        out.push_back(std::move(next));
    }
    return out;
}

bool walks_in_lanes(const PeriodicPlan &plan, double primes) {
    constexpr double least_primes = 4; // of open ends, where each has a lane
    return plan.has_ones_alone() && (plan.joined() || primes >= least_primes);
}

void find_in_lanes(const PeriodicPlan &plan, const std::vector<std::uint64_t> &primes, std::int64_t first,
                   std::int64_t count, const TellTerms &tell) {
    if (plan.joined()) {
        std::vector<LaneLevels> levels;
        for (const PeriodBlock &block : plan.loops)
            levels.push_back(block.starts_of(first, count).empty() ? LaneLevels()
                                                                   : lane_levels(block.levels));
        parallel_for(primes.size(),
                     [&](std::uint64_t k) { tell(k, traces_modulo(plan, levels, primes[k], first, count)); });
        return;
    }
    const OpenLevels levels{lane_levels(plan.open.start), lane_levels(plan.open.period.levels),
                            lane_levels(plan.open.finish)};
    const NumberedPieces groups = NumberedPieces::of_length(primes.size(), lanes);
    parallel_for(groups.count(), [&](std::uint64_t g) {
        const std::size_t begin = groups[g].first, size = groups[g].last - begin;
        call().begin_piece();
        ResidueTerms terms(size);
        walk_open(plan, levels, std::span(primes).subspan(begin, size), first, count, terms);
        parallel_for(size, [&](std::uint64_t k) { tell(begin + k, std::move(terms[k])); });
    });
}

} // namespace libperm
