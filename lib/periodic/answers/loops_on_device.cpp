#include "lib/periodic/answers/loops_on_device.hpp"

#include "jit/kernel/period_walk.hpp"
#include "lib/periodic/answers/lane_levels.hpp"
#include "lib/periodic/period/period_walk.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace libperm {
namespace {

using DeviceTerms = std::vector<std::vector<std::uint64_t>>; // by prime

constexpr std::size_t alignment = 256;
std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// The levels of one block on the device, all of whose entries may be 1.
class DeviceLevels {
  public:
    DeviceLevels(DeviceQueue &queue, const PeriodLevels &levels, const Poll &poll) : lists_(queue) {
        ones_ =
            std::all_of(levels.begin(), levels.end(), [](const PeriodLevel &level) { return level.ones; });
        if (ones_)
            upload(
                queue, lane_levels(levels, poll),
                [](const LaneLevel &level) -> auto & { return level.source; });
        else
            upload(
                queue, levels, [](const PeriodLevel &level) -> auto & { return level.moves; });
    }

    bool ones() const { return ones_; }
    const std::vector<WalkLevel> &levels() const { return levels_; }
    std::uint32_t most_states() const {
        std::uint32_t most = 0;
        for (const WalkLevel &level : levels_) most = std::max(most, level.states);
        return most;
    }

  private:
    template <class Levels, class MovesOf>
    void upload(DeviceQueue &queue, const Levels &levels, const MovesOf &moves_of) {
        std::size_t bytes = 0;
        const auto first_bytes = [](const auto &level) {
            return rounded(level.first.size() * sizeof level.first[0]);
        };
        const auto bytes_of = [&](const auto &level) {
            const auto &moves = moves_of(level);
            return first_bytes(level) + rounded(moves.size() * sizeof moves[0]);
        };
        for (const auto &level : levels) bytes += bytes_of(level);
        lists_.reserve(bytes);
        DeviceAddress next = lists_.address();
        for (const auto &level : levels) {
            const auto &moves = moves_of(level);
            WalkLevel out{};
            out.states = static_cast<std::uint32_t>(level.states());
            out.first = next;
            out.moves = out.sources = next + first_bytes(level);
            queue.copy_in(out.first, level.first.data(), level.first.size() * sizeof level.first[0]);
            queue.copy_in(out.moves, moves.data(), moves.size() * sizeof moves[0]);
            next += bytes_of(level);
            levels_.push_back(out);
        }
    }

    DeviceArray lists_;
    std::vector<WalkLevel> levels_;
    bool ones_ = false;
};

class LoopsOnDevice {
  public:
    LoopsOnDevice(DeviceQueue &queue, const PeriodicPlan &plan, const Residues &residues, std::int64_t first,
                  std::int64_t count, RunControl &control)
        : queue_(queue),
          plan_(plan),
          residues_(residues),
          first_(first),
          count_(count),
          control_(control),
          from_(queue),
          to_(queue),
          starts_(queue),
          entries_(queue),
          picked_(queue) {
        queue.load(period_walk_kernels());
    }

    DeviceTerms traces() {
        DeviceTerms terms(residues_.primes.size(),
                          std::vector<std::uint64_t>(static_cast<std::size_t>(count_), 0));
        for (const PeriodBlock &block : plan_.loops) {
            const std::span<const PeriodBlock::Start> starts(block.starts_of(first_, count_));
            if (starts.empty()) continue;
            const DeviceLevels levels(queue_, block.levels, [this] { control_.poll(); });
            const std::size_t together = lanes_of(levels.most_states(), starts.size());
            for (std::size_t s = 0; s < starts.size(); s += together)
                for (std::size_t k = 0; k < terms.size(); ++k)
                    add_up(block, levels, starts.subspan(s, std::min(together, starts.size() - s)), k,
                           terms[k]);
        }
        return terms;
    }

  private:
    __extension__ using Wide = unsigned __int128;

    // As many as make use of the whole GPU, and of few states as many as leave both tables in its
    // second-level cache; if there is memory for them.
    std::size_t lanes_of(std::size_t states, std::size_t starts) {
        constexpr std::size_t cache = 36 << 20, usual = 1024, of_warp = walk_warp * walk_together;
        const std::size_t bytes = 16 * states,
                          fitting = static_cast<std::size_t>(queue_.free_bytes()) / 2 / bytes,
                          most = std::max(cache / bytes, std::min(usual, fitting));
        return std::min(std::max(most / of_warp, std::size_t{1}) * of_warp,
                        (starts + walk_warp - 1) / walk_warp * walk_warp);
    }

    // Adds the traces of some starts modulo one prime, each for so many like it.
    void add_up(const PeriodBlock &block, const DeviceLevels &levels,
                std::span<const PeriodBlock::Start> starts, std::size_t which,
                std::vector<std::uint64_t> &terms) {
        const std::uint64_t p = residues_.primes[which];
        const auto lanes =
            static_cast<std::uint32_t>((starts.size() + walk_warp - 1) / walk_warp * walk_warp);
        std::vector<std::uint32_t> state(lanes, ~std::uint32_t{0});
        for (std::size_t k = 0; k < starts.size(); ++k) state[k] = starts[k].state;
        starts_.reserve(state.size() * sizeof state[0]);
        queue_.copy_in(starts_.address(), state.data(), state.size() * sizeof state[0]);
        take_entries(which);
        const std::size_t numbers =
            std::size_t{std::max(levels.most_states(), static_cast<std::uint32_t>(block.states))} * lanes;
        from_.reserve(8 * numbers);
        to_.reserve(8 * numbers);
        picked_.reserve(8 * static_cast<std::size_t>(count_) * lanes);
        begin(static_cast<std::uint32_t>(block.states), lanes);
        const double work = moves_of(block.levels) * static_cast<double>(starts.size());
        for (std::int64_t m = 1; m < first_ + count_; ++m) {
            for (WalkLevel level : levels.levels()) {
                level.lanes = lanes;
                level.prime = static_cast<double>(p);
                level.inverse = 1 / level.prime;
                advance(levels.ones(), level);
            }
            control_.advance(work);
            if (m >= first_)
                pick(static_cast<std::uint32_t>(block.states), lanes,
                     picked_.address() + 8 * static_cast<std::size_t>(m - first_) * lanes);
        }
        std::vector<double> picked(static_cast<std::size_t>(count_) * lanes);
        queue_.copy_out(picked.data(), picked_.address(), 8 * picked.size());
        for (std::size_t m = 0; m < terms.size(); ++m) {
            Wide sum = terms[m];
            for (std::size_t k = 0; k < starts.size(); ++k) {
                sum += static_cast<Wide>(residue_of(picked[m * lanes + k], p)) * starts[k].like_it;
            }
            terms[m] = static_cast<std::uint64_t>(sum % p);
        }
    }

    void take_entries(std::size_t which) {
        const std::uint64_t p = residues_.primes[which];
        std::vector<double> entries;
        for (const std::uint64_t a : residues_.values[which]) entries.push_back(next_to_zero(a, p));
        entries_.reserve(8 * entries.size());
        queue_.copy_in(entries_.address(), entries.data(), 8 * entries.size());
    }

    void advance(bool ones, WalkLevel level) {
        level.from = from_.address();
        level.to = to_.address();
        level.entries = entries_.address();
        const char *entry = ones ? walk_ones_entry : walk_moves_entry;
        const unsigned threads = queue_.block_threads(walk_threads), warps = threads / walk_warp;
        constexpr std::uint32_t of_warp = walk_warp * walk_together;
        const std::uint64_t items = std::uint64_t{level.states} * ((level.lanes + of_warp - 1) / of_warp);
        const std::array<void *, 1> arguments{&level};
        if (items > 0)
            queue_.launch(entry, static_cast<unsigned>((items + warps - 1) / warps), threads, arguments);
        std::swap(from_, to_);
    }
    void begin(std::uint32_t states, std::uint32_t lanes) {
        DeviceAddress to = from_.address(), start = starts_.address();
        const std::array<void *, 4> arguments{&to, &start, &states, &lanes};
        const unsigned threads = queue_.block_threads(walk_threads);
        const std::uint64_t needed = (std::uint64_t{states} * lanes + threads - 1) / threads,
                            at_once = queue_.blocks_at_once(walk_begin_entry, threads);
        queue_.launch(walk_begin_entry, static_cast<unsigned>(std::min(needed, at_once)), threads, arguments);
    }
    void pick(std::uint32_t states, std::uint32_t lanes, DeviceAddress to) {
        DeviceAddress from = from_.address(), start = starts_.address();
        const std::array<void *, 5> arguments{&from, &start, &states, &lanes, &to};
        const unsigned threads = queue_.block_threads(walk_threads);
        queue_.launch(walk_pick_entry, (lanes + threads - 1) / threads, threads, arguments);
    }

    DeviceQueue &queue_;
    const PeriodicPlan &plan_;
    const Residues &residues_;
    std::int64_t first_, count_;
    RunControl &control_;
    DeviceArray from_, to_, starts_, entries_, picked_; // numbers of states, by state
};

} // namespace

DeviceTerms traces_on_device(DeviceQueue &queue, const PeriodicPlan &plan, const Residues &residues,
                             std::int64_t first, std::int64_t count, RunControl &control) {
    return LoopsOnDevice(queue, plan, residues, first, count, control).traces();
}

} // namespace libperm
