#include "bench/blocks/blockings.hpp"

#include "bench/kernels/similar_rows.hpp"
#include "jit/text/text.hpp"
#include "preprocess/parallel.hpp"

#include <chrono>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

namespace bench {
namespace {

using namespace libperm;

// A strip's step costs about what 0.7 of its tiles do.
double cost_of(const RowBlocks &blocks) {
    return blocks.entries() / 256 + 0.7 * static_cast<double>(blocks.steps.size());
}

} // namespace

Blocked blocked(const Rows &a, std::uint32_t width) {
    struct Trial {
        std::uint32_t width;
        double tau;
    };
    std::vector<Trial> trials{{0, 0}};
    for (const std::uint32_t w : {1U, width})
        for (const double tau : {0.1, 0.25, 0.5}) trials.push_back({w, tau});
    std::vector<std::optional<Blocked>> found(trials.size());
    std::mutex mutex;
    std::optional<Blocked> best;
    parallel_for(trials.size(), [&](std::uint64_t k) {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point begun = Clock::now();
        std::vector<std::uint32_t> order(a.rows());
        std::iota(order.begin(), order.end(), std::uint32_t{0});
        const Trial &t = trials[k];
        if (t.width > 0) order = similar_rows(a.first, a.column, a.columns, t.width, t.tau).row;
        Blocked it{row_blocks(a.first, a.column, a.value, std::move(order)),
                   t.width == 0 ? "as it is" : formatted("{}, {}", t.width, t.tau), 0};
        it.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
        const std::lock_guard lock(mutex);
        if (!best || cost_of(it.blocks) < cost_of(best->blocks)) best = std::move(it);
    });
    return std::move(*best);
}

Chain chain_of(const std::string &lattice) {
    const std::vector<Rows> levels = levels_of(lattice);
    constexpr std::size_t most_entries = 3000000;
    constexpr double of_strip = 3; // its rows are written, and read again
    struct Best {
        double cost = 0;
        std::size_t from = 0;
        Rows piece;
        Blocked blocks;
    };
    std::vector<Best> best(levels.size() + 1);
    for (std::size_t k = 0; k < levels.size(); ++k) {
        Rows product = levels[k];
        for (std::size_t end = k + 1; end <= levels.size(); ++end) {
            if (end > k + 1) product = product_of(levels[end - 1], product);
            if (product.column.size() > most_entries) break;
            Blocked b = blocked(product, 4);
            const double cost =
                best[k].cost + cost_of(b.blocks) + of_strip * static_cast<double>(b.blocks.strips.size());
            if (best[end].cost == 0 || cost < best[end].cost) best[end] = {cost, k, product, std::move(b)};
        }
    }
    Chain out;
    for (std::size_t end = levels.size(); end > 0; end = best[end].from) {
        out.pieces.push_back(std::move(best[end].piece));
        out.blocks.push_back(std::move(best[end].blocks));
    }
    return out;
}

} // namespace bench
