// The tree engine on a CPU: interprets the leaves' programs for many segments at once, one in each lane.
#pragma once

#include "jit/gray_kernel.hpp"
#include "jit/tree.hpp"

#include <functional>
#include <memory>
#include <span>

namespace libperm {

struct DecodedTree;

class TreeWalk {
  public:
    // `numbers`: n row sums at the empty set, the entries, the constants. All are kept by reference.
    TreeWalk(const Tree &tree, std::span<const double> numbers);

    // Segments that are summed in the time of one.
    static constexpr int lanes = 32;

    // Segments first .. first + partials.size() - 1, at most `lanes`. The same bits whatever the processor,
    // and as the kernel's (jit/tree_kernel.hpp). Threads may call it at the same time. `poll` is called now
    // and then, for a segment may take minutes; it may throw.
    void run(std::uint64_t first, std::span<Partial3> partials, const std::function<void()> &poll = {}) const;

  private:
    const Tree &tree_;
    std::span<const double> numbers_;
    std::shared_ptr<const DecodedTree> decoded_;
};

// The instruction set that is used here, for perm info.
const char *tree_walk_target();

} // namespace libperm
