// The tree engine on a CPU: interprets the leaves' programs for many segments at once, one in each lane.
#pragma once

#include "jit/number/partial.hpp"
#include "jit/program/tree.hpp"

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <span>

namespace libperm {

struct DecodedTree;

class TreeWalk {
  public:
    // `values`: n row sums at the empty set, the entries, the constants, and what the arithmetic itself holds
    // (jit/kernel/subsets.hpp). All are kept by reference.
    TreeWalk(const Tree &tree, std::span<const double> values, Arithmetic arithmetic = Arithmetic::real);

    // Segments that are summed in the time of one: as many as eight of the widest vectors hold, so that a
    // product of them need not wait for the one before.
    static constexpr int lanes = 64;

    // These segments, at most `lanes`. The same bits whatever the processor, and as the kernel's
    // (jit/kernel/tree.hpp). Threads may call it at the same time. `poll` is called now and then, for a
    // segment may take minutes; it may throw.
    template <class Partial>
    void run(std::span<const std::uint64_t> segments, Partial *partials,
             const std::function<void()> &poll = {}) const {
        walk(segments, partials, poll);
    }
    // Segments first .. first + partials.size() - 1.
    template <class Partial>
    void run(std::uint64_t first, std::span<Partial> partials, const std::function<void()> &poll = {}) const {
        std::array<std::uint64_t, lanes> segments{};
        std::iota(segments.begin(), segments.end(), first);
        walk({segments.data(), partials.size()}, partials.data(), poll);
    }

  private:
    // `partials`: an array of the arithmetic's PartialOf.
    void walk(std::span<const std::uint64_t> segments, void *partials,
              const std::function<void()> &poll) const;

    const Tree &tree_;
    std::span<const double> values_;
    Arithmetic arithmetic_;
    std::shared_ptr<const DecodedTree> decoded_;
};

// The instruction set that is used here, for perm info.
const char *tree_walk_target();

} // namespace libperm
