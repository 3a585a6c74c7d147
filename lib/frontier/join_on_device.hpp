// Joins of two lists on a device (lib/frontier/sparse_join.hpp): the same sums in the same order as on the
// CPU.
#pragma once

#include "jit/kernel/frontier.hpp"
#include "lib/frontier/device_numbers.hpp"
#include "lib/number/state_number.hpp"

#include <array>
#include <vector>

namespace libperm {

// What a table of marks can be: bits that the sides share, that stay, that one has alone.
constexpr std::int32_t most_shared_on_device = 28, most_staying_on_device = 22, most_own_on_device = 30;
bool device_holds(const FrontierJoin &join);

class JoinOnDevice {
  public:
    // Its kernels are to be loaded.
    JoinOnDevice(DeviceQueue &queue, const JoinKernel &kernel, double room);

    // Looks at both lists, which are to stay as they are until run() is done. False: their states are so few
    // among the pairs of what they have alone that a CPU is faster.
    bool prepare(const DeviceList &left, const DeviceList &right, const FrontierJoin &join);

    // What is told of the products, as a step tells it.
    struct Joined {
        DeviceList list;
        double products = 0, additions = 0;
        Extent extent;
    };
    Joined run(const JoinScales &scales, double prime);

    // Copies the list into no more memory than it needs.
    DeviceList copy_of(const DeviceList &list);

    std::int64_t peak_bytes() const { return peak_bytes_; }

  private:
    struct Marks {
        DeviceArray marks, before, sets;
        std::size_t words = 0;
        std::uint64_t count = 0;
        explicit Marks(DeviceQueue &queue) : marks(queue), before(queue), sets(queue) {}
        JoinRanking where() const { return {marks.address(), before.address(), sets.address(), words}; }
    };
    struct Side {
        const DeviceList *list = nullptr;
        std::int32_t own_bits = 0;
        std::size_t run_count = 0;
        DeviceArray runs, bits, table, sizes;
        Marks patterns, own;
        explicit Side(DeviceQueue &queue)
            : runs(queue), bits(queue), table(queue), sizes(queue), patterns(queue), own(queue) {}
    };
    // Patterns of the lines that stay, whose sums are made at once; or left ranks of a single one.
    struct Chunk {
        std::size_t first, last; // patterns
        std::uint64_t first_rank, ranks;
    };

    JoinSideTables tables_of(const Side &side) const;
    void mark(Side &side, const FrontierJoin &join, std::size_t which);
    void rank(Marks &marks, DeviceAddress total);
    void count_sizes(Side &side);
    void choose_search();
    void count_pairs();
    bool is_worth_it() const;
    void spread(Side &side, int exp2);
    std::vector<Chunk> chunks() const;
    void multiply(const Chunk &chunk, DeviceList &to, double prime);
    JoinTargets list_pairs(const Chunk &chunk);

    void fill(const DeviceArray &array, std::size_t words, std::uint64_t value);
    void launch(const char *entry, std::uint64_t items, std::span<void *const> arguments);
    std::uint64_t right_ranks() const { return sides_[1].own.count; }
    std::uint64_t left_ranks() const { return sides_[0].own.count; }
    void note_bytes(const DeviceList &list);

    DeviceQueue &queue_;
    JoinKernel kernel_;
    const double room_;
    const unsigned threads_;
    std::array<Side, 2> sides_;
    DeviceChain chain_;
    DeviceArray counts_, begins_, patterns_, pairs_, of_weights_, sums_, report_, totals_;
    std::int32_t staying_ = 0;
    double states_bound_ = 0;
    double searches_ = 0; // candidates for pairs
    JoinSearch search_{};
    JoinReport reported_{};
    std::vector<std::uint32_t> found_;        // patterns that there are pairs of
    std::vector<std::uint64_t> begins_found_; // of each slice of these; and the end
    std::int64_t peak_bytes_ = 0;
};

} // namespace libperm
