// Sparse matrices times many vectors on a GPU: rows brought together by 1-SA and multiplied in dense blocks
// by tensor cores, row by row, by cuSPARSE; of operators also by the factors that their rows are. Synthetic
// matrices A(Delta, theta, rho) of Sylos Labini et al., and powers of the operators of joined ends.
//
//     perm_block_products [--runs N] [--only TEXT] [--plan] [--chains]
#include "bench/cusparse_many.hpp"
#include "bench/families.hpp"
#include "bench/operators.hpp"
#include "jit/kernel/block_product.hpp"
#include "jit/kernel/period_walk.hpp"
#include "jit/queue/gpu_queue.hpp"
#include "lib/number/residues.hpp"
#include "lib/periodic/lane_levels.hpp"
#include "lib/run/gpu_device.hpp"
#include "preprocess/parallel.hpp"
#include "preprocess/similar_rows.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

using namespace libperm;
using bench::Rows;
using perm::families::Random;

namespace {

// Blocks of delta x delta, a share theta of them with entries, a share rho of theirs; rows in any order.
Rows synthetic(std::uint32_t n, std::uint32_t delta, double theta, double rho, Random &random) {
    const std::uint32_t side = n / delta;
    const auto some = [&](std::int64_t all, double share) { // the first of a permutation
        std::vector<std::int64_t> order = random.permutation(all);
        order.resize(static_cast<std::size_t>(std::lround(share * static_cast<double>(all))));
        std::sort(order.begin(), order.end());
        return order;
    };
    std::vector<std::vector<std::uint32_t>> lines(n);
    for (const std::int64_t block : some(std::int64_t{side} * side, theta)) {
        const auto row = static_cast<std::uint32_t>(block / side) * delta,
                   column = static_cast<std::uint32_t>(block % side) * delta;
        for (const std::int64_t k : some(std::int64_t{delta} * delta, rho))
            lines[row + static_cast<std::uint32_t>(k / delta)].push_back(
                column + static_cast<std::uint32_t>(k % delta));
    }
    Rows a{fmt::format("A({}, {}, {})", delta, theta, rho), n, {0}, {}, {}, {}};
    for (const std::int64_t i : random.permutation(n)) {
        for (const std::uint32_t j : lines[static_cast<std::size_t>(i)])
            a.add(j, static_cast<double>(random.integer(1, 3)));
        a.end_row();
    }
    return a;
}

// A strip's step costs about what 0.7 of its tiles do.
double cost_of(const RowBlocks &blocks) {
    return blocks.entries() / 256 + 0.7 * static_cast<double>(blocks.steps.size());
}

struct Blocked {
    RowBlocks blocks;
    std::string how;
    double seconds = 0; // to find it
};

// The best of some widths and thresholds, and of the rows as they are.
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
        for (std::uint32_t i = 0; i < a.rows(); ++i) order[i] = i;
        const Trial &t = trials[k];
        if (t.width > 0) order = similar_rows(a.first, a.column, a.columns, t.width, t.tau, no_poll).row;
        Blocked it{row_blocks(a.first, a.column, a.value, std::move(order)),
                   t.width == 0 ? "as it is" : fmt::format("{}, {}", t.width, t.tau), 0};
        it.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
        const std::lock_guard lock(mutex);
        if (!best || cost_of(it.blocks) < cost_of(best->blocks)) best = std::move(it);
    });
    return std::move(*best);
}

__extension__ using Wide = __int128;

constexpr const char *row_product_entry = "row_product", *row_residues_entry = "row_residues";

constexpr std::uint64_t of_residues = 16777213; // below 2^24

struct RowProduct {
    std::uint64_t first, column, value, x, y;
    std::uint32_t rows, lanes, products;
    double prime, inverse;
};

// The same row by row: a warp for a row and 128 lanes.
KernelRecipe row_product_kernels() {
    KernelRecipe recipe;
    recipe.key = "benchmark: row products, 2\n";
    recipe.source = [] {
        return std::string(R"(
typedef unsigned int u32;
typedef unsigned long long u64;
struct RowProduct {
    const u32 *first, *column;
    const double *value, *x;
    double *y;
    u32 rows, lanes, products;
    double prime, inverse;
};
template <bool residues> __device__ __forceinline__ void multiply(const RowProduct &m) {
    constexpr u32 together = 4;
    const u32 item = (blockIdx.x * blockDim.x + threadIdx.x) / 32, shares = (m.lanes + 127) / 128;
    const u32 row = item / shares, lane = item % shares * 128 + threadIdx.x % 32;
    if (row >= m.rows) return;
    double sum[together] = {};
    const u32 end = m.first[row + 1];
    u32 unreduced = 0;
    for (u32 begin = m.first[row]; begin < end; begin += 32) { // a warp reads 32 entries, and hands them round
        const u32 mine = begin + threadIdx.x % 32;
        const u32 my_column = mine < end ? m.column[mine] : 0;
        const double my_value = mine < end ? m.value[mine] : 0;
        const u32 count = end - begin < 32 ? (end - begin + 7) / 8 * 8 : 32;
        for (u32 k = 0; k < count; k += 8)
#pragma unroll
            for (u32 j = 0; j < 8; ++j) {
                const double value = __shfl_sync(0xffffffff, my_value, k + j);
                const u32 column = __shfl_sync(0xffffffff, my_column, k + j);
                const double *const from = m.x + static_cast<u64>(column) * m.lanes + lane;
#pragma unroll
                for (u32 i = 0; i < together; ++i)
                    if (lane + i * 32 < m.lanes) sum[i] = fma(value, from[i * 32], sum[i]);
            }
        if (residues && ((unreduced += 32) + 32 > m.products || begin + 32 >= end)) {
            unreduced = 0;
            for (u32 i = 0; i < together; ++i) {
                const double magic = 0x1.8p52;
                sum[i] = fma(-(fma(sum[i], m.inverse, magic) - magic), m.prime, sum[i]);
            }
        }
    }
    for (u32 i = 0; i < together; ++i)
        if (lane + i * 32 < m.lanes) m.y[static_cast<u64>(row) * m.lanes + lane + i * 32] = sum[i];
}
extern "C" __global__ void __launch_bounds__(256) row_product(const __grid_constant__ RowProduct m) {
    multiply<false>(m);
}
extern "C" __global__ void __launch_bounds__(256) row_residues(const __grid_constant__ RowProduct m) {
    multiply<true>(m);
}
)");
    };
    recipe.flags = kernel_flags();
    recipe.entries = {row_product_entry, row_residues_entry};
    return recipe;
}

template <class T> DeviceArray uploaded(DeviceQueue &queue, const std::vector<T> &list) {
    DeviceArray array(queue);
    array.reserve(std::max<std::size_t>(list.size(), 1) * sizeof(T));
    queue.copy_in(array.address(), list.data(), list.size() * sizeof(T));
    return array;
}

// Seconds of one of many, the best of three rows of them, each of some milliseconds.
template <class Work, class Wait> double seconds_each(int runs, const Work &work, const Wait &wait) {
    using Clock = std::chrono::steady_clock;
    double best = 1e9;
    for (int k = 0; k < 4; ++k) { // the first warms up
        wait();
        const Clock::time_point begun = Clock::now();
        for (int r = 0; r < runs; ++r) work();
        wait();
        const double each = std::chrono::duration<double>(Clock::now() - begun).count() / runs;
        if (k > 0) best = std::min(best, each);
        runs = std::max(1, std::min(runs, static_cast<int>(0.02 / each)));
    }
    return best;
}

// The product of many vectors with one cell's factors.
struct Factors {
    std::vector<DeviceArray> lists;
    std::vector<WalkLevel> levels;
    std::size_t most_states = 0;

    Factors(DeviceQueue &queue, const LaneLevels &of) {
        for (const LaneLevel &level : of) {
            lists.push_back(uploaded(queue, level.first));
            lists.push_back(uploaded(queue, level.source));
            WalkLevel out{};
            out.states = static_cast<std::uint32_t>(level.states());
            out.first = lists[lists.size() - 2].address();
            out.moves = out.sources = lists.back().address();
            levels.push_back(out);
            most_states = std::max(most_states, level.states());
        }
    }
    void advance(DeviceQueue &queue, DeviceAddress &from, DeviceAddress &to, std::uint32_t lanes,
                 double prime) {
        for (WalkLevel level : levels) {
            level.from = from;
            level.to = to;
            level.lanes = lanes;
            level.prime = prime;
            level.inverse = 1 / prime;
            constexpr std::uint32_t of_warp = walk_warp * walk_together, warps = walk_threads / walk_warp;
            const std::uint64_t items = std::uint64_t{level.states} * ((lanes + of_warp - 1) / of_warp);
            const std::array<void *, 1> arguments{&level};
            queue.launch(walk_ones_entry, static_cast<unsigned>((items + warps - 1) / warps), walk_threads,
                         arguments);
            std::swap(from, to);
        }
    }
};

class Comparison {
  public:
    Comparison(DeviceQueue &queue, bench::CuSparseMany *peer, const Rows &a, const Blocked &blocked, int runs)
        : queue_(queue),
          peer_(peer),
          a_(a),
          blocks_(blocked.blocks),
          runs_(runs),
          first_(uploaded(queue, a.first)),
          column_(uploaded(queue, a.column)),
          value_(uploaded(queue, a.value)),
          strips_(uploaded(queue, blocks_.strips)),
          steps_(uploaded(queue, blocks_.steps)),
          columns_(uploaded(queue, blocks_.columns)),
          tiles_(uploaded(queue, blocks_.tiles)),
          rows_(uploaded(queue, blocks_.rows)) {}

    // Of doubles, or residues modulo a prime.
    struct Times {
        double blocks = 0, rows = 0, peer = 0, factors = 0;
    };
    Times measure(std::uint32_t lanes, std::uint64_t prime, const Rows *of_factors, int power) {
        const std::size_t most = std::max<std::size_t>(
            {a_.columns, a_.rows(),
             of_factors && of_factors->factors ? most_states(*of_factors->factors) : 0});
        std::vector<double> x(most * lanes);
        const double range = prime == 0 ? 1000 : static_cast<double>(prime), half = std::floor(range / 2);
        for (std::size_t k = 0; k < x.size(); ++k)
            x[k] = std::floor(0x1p-32 * static_cast<std::uint32_t>(k * 2654435761U) * range) - half;
        const DeviceArray from = uploaded(queue_, x), to = uploaded(queue_, x);
        Times out;
        out.blocks = by_blocks(lanes, prime, from.address(), to.address());
        check(x, to.address(), lanes, prime, "blocks");
        out.rows = by_rows(lanes, prime, from.address(), to.address());
        check(x, to.address(), lanes, prime, "rows");
        if (prime == 0 && peer_) {
            const bench::DeviceCsr there{a_.rows(),        a_.columns,        a_.first.back(),
                                         first_.address(), column_.address(), value_.address()};
            out.peer = 1e9;
            for (const auto algorithm :
                 {bench::CuSparseMany::Algorithm::usual, bench::CuSparseMany::Algorithm::csr_2,
                  bench::CuSparseMany::Algorithm::csr_3}) {
                peer_->prepare(there, from.address(), to.address(), lanes, algorithm);
                out.peer =
                    std::min(out.peer, seconds_each(
                                           runs_, [&] { peer_->multiply(); }, [&] { peer_->synchronize(); }));
            }
            check(x, to.address(), lanes, prime, "cuSPARSE");
            peer_->forget();
        }
        if (prime != 0 && of_factors && of_factors->factors) {
            Factors factors(queue_, *of_factors->factors);
            DeviceAddress here = from.address(), there = to.address();
            out.factors = seconds_each(
                runs_,
                [&] {
                    for (int k = 0; k < power; ++k)
                        factors.advance(queue_, here, there, lanes, static_cast<double>(prime));
                },
                [&] { queue_.wait(); });
        }
        return out;
    }

    // A prime for which a row is added up without being reduced, of at most 47 bits.
    std::uint64_t prime_for_counts() const {
        const auto sum = static_cast<double>(largest_and_sum(~std::uint64_t{0}).second);
        const int bits = std::min(47, static_cast<int>(std::floor(53.9 - std::log2(sum + 1))));
        return primes_below(bits, 1, false).front();
    }

    // Of doubles of any size, how many have the bits of sums in the order of the columns, one product after
    // the other.
    double share_in_order() {
        constexpr std::uint32_t lanes = 32;
        Random random(2);
        std::vector<double> x(std::size_t{a_.columns} * lanes);
        for (double &number : x) number = random.uniform() - 0.5;
        const DeviceArray from = uploaded(queue_, x),
                          to = uploaded(queue_, std::vector<double>(std::size_t{a_.rows()} * lanes));
        by_blocks(lanes, 0, from.address(), to.address());
        std::vector<double> y(std::size_t{a_.rows()} * lanes);
        queue_.copy_out(y.data(), to.address(), 8 * y.size());
        std::size_t same = 0;
        for (const BlockStrip &strip : blocks_.strips)
            for (std::uint32_t place = strip.row; place < std::min(strip.row + strip_rows, a_.rows());
                 ++place) {
                const std::uint32_t i = blocks_.rows[place];
                std::vector<double> value(a_.columns, 0);
                for (std::uint32_t k = a_.first[i]; k < a_.first[i + 1]; ++k)
                    value[a_.column[k]] = a_.value[k];
                for (std::uint32_t l = 0; l < lanes; ++l) {
                    double sum = 0;
                    for (std::uint32_t c = strip.step * step_columns;
                         c < (strip.step + strip.steps) * step_columns; ++c) {
                        const std::uint32_t j = blocks_.columns[c];
                        sum = std::fma(value[j], x[std::size_t{j} * lanes + l], sum);
                        if (value[j] != 0 && c + 1 < blocks_.columns.size() && blocks_.columns[c + 1] == j)
                            break;
                    }
                    same += sum == y[std::size_t{i} * lanes + l];
                }
            }
        return static_cast<double>(same) / static_cast<double>(y.size());
    }

  private:
    static std::size_t most_states(const LaneLevels &levels) {
        std::size_t most = 0;
        for (const LaneLevel &level : levels) most = std::max(most, level.states());
        return most;
    }
    // A small prime's A is taken for one of any residues.
    std::pair<std::uint64_t, std::uint64_t> largest_and_sum(std::uint64_t prime) const {
        if (prime == of_residues) return {prime / 2, prime * 1000};
        double largest = 0, most = 0;
        for (std::uint32_t i = 0; i < a_.rows(); ++i) {
            double sum = 0;
            for (std::uint32_t k = a_.first[i]; k < a_.first[i + 1]; ++k) {
                largest = std::max(largest, a_.value[k]);
                sum += a_.value[k];
            }
            most = std::max(most, sum);
        }
        return {static_cast<std::uint64_t>(largest), static_cast<std::uint64_t>(most)};
    }

  public:
    double by_blocks(std::uint32_t lanes, std::uint64_t prime, DeviceAddress x, DeviceAddress y) {
        const auto [largest, sum] = largest_and_sum(prime);
        const auto p = static_cast<double>(prime);
        BlockProduct m{strips_.address(),
                       steps_.address(),
                       columns_.address(),
                       tiles_.address(),
                       rows_.address(),
                       x,
                       y,
                       lanes,
                       a_.rows(),
                       prime == 0 ? 0 : steps_before_reducing(largest, sum, prime),
                       p,
                       prime == 0 ? 0 : 1 / p};
        if (prime != 0 && m.steps_before_reducing == 0) throw std::runtime_error("the prime is too large");
        const auto blocks = static_cast<unsigned>(blocks_.strips.size()) *
                            ((lanes + block_product_lanes - 1) / block_product_lanes);
        const std::array<void *, 1> arguments{&m};
        return seconds_each(
            runs_,
            [&] {
                queue_.launch(prime == 0 ? block_product_entry : block_residues_entry, blocks,
                              block_product_threads, arguments, block_product_bytes);
            },
            [&] { queue_.wait(); });
    }

  private:
    double by_rows(std::uint32_t lanes, std::uint64_t prime, DeviceAddress x, DeviceAddress y) {
        const auto [largest, sum] = largest_and_sum(prime);
        const auto p = static_cast<double>(prime);
        RowProduct m{first_.address(),      column_.address(), value_.address(), x, y, a_.rows(), lanes, 0, p,
                     prime == 0 ? 0 : 1 / p};
        if (prime != 0) {
            const std::uint32_t steps = steps_before_reducing(largest, sum, prime);
            m.products = steps > 1 << 20 ? 1 << 24 : steps * step_columns;
        }
        const unsigned blocks = (a_.rows() * ((lanes + 127) / 128) + 7) / 8;
        const std::array<void *, 1> arguments{&m};
        return seconds_each(
            runs_,
            [&] {
                queue_.launch(prime == 0 ? row_product_entry : row_residues_entry, blocks, 256, arguments, 0);
            },
            [&] { queue_.wait(); });
    }
    // Some rows, whole numbers: exactly.
    void check(const std::vector<double> &x, DeviceAddress to, std::uint32_t lanes, std::uint64_t prime,
               const char *what) {
        std::vector<double> y(std::size_t{a_.rows()} * lanes);
        queue_.copy_out(y.data(), to, 8 * y.size());
        for (std::uint32_t i = 0; i < a_.rows(); i += std::max(1U, a_.rows() / 64))
            for (std::uint32_t l = 0; l < lanes; l += 37) {
                Wide sum = 0;
                for (std::uint32_t k = a_.first[i]; k < a_.first[i + 1]; ++k)
                    sum += static_cast<Wide>(a_.value[k]) *
                           static_cast<Wide>(x[std::size_t{a_.column[k]} * lanes + l]);
                sum -= static_cast<Wide>(y[std::size_t{i} * lanes + l]);
                if (prime != 0) sum %= static_cast<Wide>(prime);
                if (sum != 0)
                    throw std::runtime_error(fmt::format("{}, {}: row {} is wrong", a_.name, what, i));
            }
    }

    DeviceQueue &queue_;
    bench::CuSparseMany *peer_;
    const Rows &a_;
    const RowBlocks &blocks_;
    int runs_;
    DeviceArray first_, column_, value_, strips_, steps_, columns_, tiles_, rows_;
};

// The cell's factors multiplied out in groups, so that their blocks cost least.
struct Chain {
    std::vector<Rows> pieces;
    std::vector<Blocked> blocks;
};
Chain chain_of(const std::string &lattice) {
    const std::vector<Rows> levels = bench::levels_of(lattice);
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
            if (end > k + 1) product = bench::product_of(levels[end - 1], product);
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

void compare_chain(DeviceQueue *queue, const std::string &lattice, int runs) {
    const Rows t = bench::operator_of(lattice);
    const Chain chain = chain_of(lattice);
    double tiles = 0, steps = 0, longest = 0;
    for (const Blocked &b : chain.blocks) {
        tiles += b.blocks.entries() / 256;
        steps += static_cast<double>(b.blocks.steps.size());
        longest += b.blocks.strips.front().steps;
    }
    std::size_t most = 0;
    double moves = 0;
    for (const Rows &piece : chain.pieces) most = std::max<std::size_t>({most, piece.columns, piece.rows()});
    for (const LaneLevel &level : *t.factors) {
        most = std::max(most, level.states());
        moves += static_cast<double>(level.source.size());
    }
    fmt::print("{}: {} states, {} moves; {} pieces, {} tiles, {} steps, the longest {}\n", lattice, t.rows(),
               moves, chain.pieces.size(), tiles, steps, longest);
    for (const std::uint32_t lanes : {128U, 256U, 512U, 1024U, 2048U, 4096U}) {
        if (!queue) break;
        double by_blocks = 0;
        std::uint64_t prime = std::uint64_t{1} << 47;
        DeviceArray from(*queue), to(*queue);
        from.reserve(8 * most * lanes);
        to.reserve(8 * most * lanes);
        for (std::size_t k = 0; k < chain.pieces.size(); ++k) {
            Comparison piece(*queue, nullptr, chain.pieces[k], chain.blocks[k], runs);
            prime = std::min(prime, piece.prime_for_counts());
            by_blocks += piece.by_blocks(lanes, piece.prime_for_counts(), from.address(), to.address());
        }
        Factors factors(*queue, *t.factors);
        DeviceAddress here = from.address(), there = to.address();
        const double by_factors = seconds_each(
            runs, [&] { factors.advance(*queue, here, there, lanes, static_cast<double>(prime)); },
            [&] { queue->wait(); });
        fmt::print("  {:>5} lanes, mod 2^{:.0f}: blocks {:.1f}, factors {:.1f}, {:.2f} times\n", lanes,
                   std::log2(static_cast<double>(prime)), 1e6 * by_blocks, 1e6 * by_factors,
                   by_factors / by_blocks);
    }
    std::fflush(stdout);
}

void describe(const Rows &a, const Blocked &b) {
    const double tiles = b.blocks.entries() / 256;
    fmt::print("{:<26}{:>7}{:>10}{:>8.1f}{:>9}{:>8.3f}{:>6.2f}  {:<10}{:>6.2f}", a.name, a.rows(),
               a.first.back(), static_cast<double>(a.first.back()) / a.rows(), tiles,
               static_cast<double>(a.first.back()) / std::max(1.0, b.blocks.entries()),
               tiles / std::max<double>(1, static_cast<double>(b.blocks.steps.size())), b.how, b.seconds);
}

} // namespace

int main(int argc, char **argv) try {
    CLI::App app("Sparse matrices times many vectors on a GPU, in dense blocks and otherwise.");
    int runs = 50;
    app.add_option("--runs", runs, "products that are timed together");
    std::string only;
    app.add_option("--only", only, "the matrices whose names have this in them");
    bool plan = false;
    app.add_flag("--plan", plan, "the blocks alone, without a GPU");
    bool chains = false;
    app.add_flag("--chains", chains, "operators alone, by a few blocked factors and by those of the rows");
    bool bits = false;
    app.add_flag("--bits", bits, "how many doubles have the bits of sums in order");
    std::uint32_t size = 8192;
    app.add_option("--size", size, "rows of the synthetic matrices");
    CLI11_PARSE(app, argc, argv);

    std::optional<GpuQueue> queue;
    std::optional<Gpu::Current> current;
    std::optional<bench::CuSparseMany> peer;
    if (!plan) {
        const GpuChoice choice = first_gpu();
        if (!choice.gpu) throw std::runtime_error(choice.why_not);
        current.emplace(*choice.gpu);
        queue.emplace(choice.gpu, CacheSettings{});
        const std::array<KernelRecipe, 3> kernels{block_product_kernels(), row_product_kernels(),
                                                  period_walk_kernels()};
        queue->load(kernels);
        for (const char *entry : {block_product_entry, block_residues_entry})
            queue->allow_shared(entry, block_product_bytes);
        try {
            peer.emplace();
        } catch (const std::exception &error) {
            fmt::print("without cuSPARSE: {}\n", error.what());
        }
    }
    fmt::print(
        "microseconds\n{:<26}{:>7}{:>10}{:>8}{:>9}{:>8}{:>6}  {:<10}{:>6}{:>6} {:<9}{:>9}{:>9}{:>9}{:>9}"
        "{:>7}{:>7}{:>7}\n",
        "", "rows", "entries", "a row", "tiles", "full", "/4", "width, tau", "s", "lanes", "numbers",
        "blocks", "rows", "cuSPARSE", "factors", "r/b", "c/b", "f/b");
    const auto compare = [&](const Rows &a, std::uint32_t width, int power) {
        if (a.name.find(only) == std::string::npos) return;
        const Blocked b = blocked(a, width);
        if (plan) {
            describe(a, b);
            double moves = 0;
            if (a.factors)
                for (const LaneLevel &level : *a.factors) moves += static_cast<double>(level.source.size());
            fmt::print("  moves {:.0f} tiles/moves {:.4f}\n", power * moves,
                       b.blocks.entries() / 256 / std::max(1.0, power * moves));
            std::fflush(stdout);
            return;
        }
        Comparison comparison(*queue, peer ? &*peer : nullptr, a, b, runs);
        if (bits) fmt::print("{}: {:.4f} of all in order\n", a.name, comparison.share_in_order());
        for (const std::uint32_t lanes : {128U, 1024U})
            for (const std::uint64_t prime : {std::uint64_t{0}, of_residues, comparison.prime_for_counts()}) {
                if (prime > of_residues && !a.factors) continue;
                Comparison::Times t;
                try {
                    t = comparison.measure(lanes, prime, &a, power);
                } catch (const std::runtime_error &error) {
                    fmt::print("{}: {}\n", a.name, error.what());
                    continue;
                }
                describe(a, b);
                fmt::print("{:>6} {:<9}{:>9.1f}{:>9.1f}{:>9.1f}{:>9.1f}{:>7.2f}{:>7.2f}{:>7.2f}\n", lanes,
                           prime == 0 ? "doubles"
                                      : fmt::format("mod 2^{:.0f}", std::log2(static_cast<double>(prime))),
                           1e6 * t.blocks, 1e6 * t.rows, 1e6 * t.peer, 1e6 * t.factors, t.rows / t.blocks,
                           t.peer / t.blocks, t.factors / t.blocks);
                std::fflush(stdout);
            }
    };
    Random random(1);
    for (const char *lattice : bench::joined_lattices)
        if (chains && std::string(lattice).find(only) != std::string::npos)
            compare_chain(queue ? &*queue : nullptr, lattice, runs);
    if (chains) return 0;
    for (const std::string lattice : bench::joined_lattices) {
        if (("T^4 of " + lattice + " T^2 of " + lattice + " T of " + lattice).find(only) == std::string::npos)
            continue;
        Rows t = bench::operator_of(lattice);
        compare(t, 4, 1);
        Rows power = t;
        for (const int exponent : {2, 4}) {
            power = bench::square_of(power, 20000000);
            if (power.rows() == 0) break;
            power.name = fmt::format("T^{} of {}", exponent, lattice);
            compare(power, 4, exponent);
        }
    }
    for (const double theta : {0.01, 0.1, 0.4})
        for (const double rho : {0.01, 0.05, 0.1, 0.2, 0.5})
            if (fmt::format("A(64, {}, {})", theta, rho).find(only) != std::string::npos)
                compare(synthetic(size, 64, theta, rho, random), 64, 1);
    return 0;
} catch (const std::exception &error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
