#include "bench/blocks/many_vectors.hpp"

#include "bench/families.hpp"
#include "bench/kernels/row_product.hpp"
#include "bench/sparse/timing.hpp"
#include "bench/uploaded.hpp"
#include "jit/text/text.hpp"
#include "lib/number/residues.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bench {

using namespace libperm;

namespace {

__extension__ using Wide = __int128;

} // namespace

void load_products(DeviceQueue &queue) {
    const std::array<KernelRecipe, 3> kernels{block_product_kernels(), row_product_kernels(),
                                              factor_walk_kernels()};
    queue.load(kernels);
    for (const char *entry : {block_product_entry, block_residues_entry})
        queue.allow_shared(entry, block_product_bytes);
}

Factors::Factors(DeviceQueue &queue, const LaneLevels &levels) : queue_(queue) {
    for (const LaneLevel &level : levels) {
        lists_.push_back(uploaded(queue, level.first));
        lists_.push_back(uploaded(queue, level.source));
        FactorWalk out{};
        out.states = static_cast<std::uint32_t>(level.states());
        out.first = lists_[lists_.size() - 2].address();
        out.source = lists_.back().address();
        levels_.push_back(out);
    }
}

double Factors::seconds(std::uint32_t lanes, std::uint64_t prime, DeviceAddress x, DeviceAddress y, int cells,
                        int runs) const {
    const auto advance = [&] {
        for (FactorWalk level : levels_) {
            level.from = x;
            level.to = y;
            level.lanes = lanes;
            level.prime = static_cast<double>(prime);
            level.inverse = 1 / level.prime;
            constexpr std::uint32_t of_warp = walk_warp * walk_together, warps = walk_threads / walk_warp;
            const std::uint64_t items = std::uint64_t{level.states} * ((lanes + of_warp - 1) / of_warp);
            const std::array<void *, 1> arguments{&level};
            queue_.launch(factor_walk_entry, static_cast<unsigned>((items + warps - 1) / warps), walk_threads,
                          arguments);
            std::swap(x, y);
        }
    };
    return seconds_each(
        runs,
        [&] {
            for (int k = 0; k < cells; ++k) advance();
        },
        [&] { queue_.wait(); });
}

ManyVectors::ManyVectors(DeviceQueue &queue, CuSparseMany *peer, const Rows &a, const Blocked &blocked,
                         int runs)
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

ManyVectors::Times ManyVectors::measure(std::uint32_t lanes, std::uint64_t prime, int power) {
    std::size_t most = std::max(a_.columns, a_.rows());
    if (a_.factors)
        for (const LaneLevel &level : *a_.factors) most = std::max(most, level.states());
    std::vector<double> x(most * lanes);
    const double range = prime == 0 ? 1000 : static_cast<double>(prime), half = std::floor(range / 2);
    for (std::size_t k = 0; k < x.size(); ++k)
        x[k] = std::floor(0x1p-32 * static_cast<std::uint32_t>(k * 2654435761U) * range) - half;
    const DeviceArray from = uploaded(queue_, x), to = uploaded(queue_, x);
    const auto checked = [&](double seconds, const char *what) {
        check(x, to.address(), lanes, prime, what);
        queue_.copy_in(to.address(), x.data(), 8 * x.size());
        return seconds;
    };
    Times out;
    out.blocks = checked(by_blocks(lanes, prime, from.address(), to.address()), "blocks");
    out.rows = checked(by_rows(lanes, prime, from.address(), to.address()), "rows");
    if (prime == 0 && peer_) out.peer = by_peer(lanes, from.address(), to.address());
    if (out.peer > 0) checked(out.peer, "cuSPARSE");
    if (prime != 0 && a_.factors)
        out.factors =
            Factors(queue_, *a_.factors).seconds(lanes, prime, from.address(), to.address(), power, runs_);
    return out;
}

double ManyVectors::by_peer(std::uint32_t lanes, DeviceAddress x, DeviceAddress y) {
    const DeviceCsr there{a_.rows(),        a_.columns,        a_.first.back(),
                          first_.address(), column_.address(), value_.address()};
    double best = std::numeric_limits<double>::infinity();
    try {
        for (const auto algorithm : {CuSparseMany::Algorithm::usual, CuSparseMany::Algorithm::csr_2,
                                     CuSparseMany::Algorithm::csr_3}) {
            peer_->prepare(there, x, y, lanes, algorithm);
            best = std::min(best, seconds_each(
                                      runs_, [&] { peer_->multiply(); }, [&] { peer_->synchronize(); }));
        }
    } catch (const std::exception &) { // memory that is not there
        best = 0;
    }
    peer_->forget();
    return best;
}

std::uint64_t ManyVectors::prime_for_counts() const {
    const auto sum = static_cast<double>(largest_and_sum(~std::uint64_t{0}).second);
    const int bits = std::min(47, static_cast<int>(std::floor(53.9 - std::log2(sum + 1))));
    return primes_below(bits, 1, false).front();
}

double ManyVectors::share_in_order() {
    constexpr std::uint32_t lanes = 32;
    perm::families::Random random(2);
    std::vector<double> x(std::size_t{a_.columns} * lanes);
    for (double &number : x) number = random.uniform() - 0.5;
    const DeviceArray from = uploaded(queue_, x),
                      to = uploaded(queue_, std::vector<double>(std::size_t{a_.rows()} * lanes));
    by_blocks(lanes, 0, from.address(), to.address());
    std::vector<double> y(std::size_t{a_.rows()} * lanes);
    queue_.copy_out(y.data(), to.address(), 8 * y.size());
    std::size_t same = 0;
    for (const BlockStrip &strip : blocks_.strips)
        for (std::uint32_t place = strip.row; place < std::min(strip.row + strip_rows, a_.rows()); ++place) {
            const std::uint32_t i = blocks_.rows[place];
            std::vector<double> value(a_.columns, 0);
            for (std::uint32_t k = a_.first[i]; k < a_.first[i + 1]; ++k) value[a_.column[k]] = a_.value[k];
            for (std::uint32_t l = 0; l < lanes; ++l) {
                double sum = 0;
                for (std::uint32_t c = strip.step * step_columns;
                     c < (strip.step + strip.steps) * step_columns; ++c) {
                    const std::uint32_t j = blocks_.columns[c];
                    sum = std::fma(value[j], x[std::size_t{j} * lanes + l], sum);
                    if (value[j] != 0 && c + 1 < blocks_.columns.size() && blocks_.columns[c + 1] == j) break;
                }
                same += sum == y[std::size_t{i} * lanes + l];
            }
        }
    return static_cast<double>(same) / static_cast<double>(y.size());
}

std::pair<std::uint64_t, std::uint64_t> ManyVectors::largest_and_sum(std::uint64_t prime) const {
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

double ManyVectors::by_blocks(std::uint32_t lanes, std::uint64_t prime, DeviceAddress x, DeviceAddress y) {
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

double ManyVectors::by_rows(std::uint32_t lanes, std::uint64_t prime, DeviceAddress x, DeviceAddress y) {
    const auto [largest, sum] = largest_and_sum(prime);
    const auto p = static_cast<double>(prime);
    RowProduct m{first_.address(),      column_.address(), value_.address(), x, y, a_.rows(), lanes, 0, p,
                 prime == 0 ? 0 : 1 / p};
    if (prime != 0) {
        const std::uint32_t steps = steps_before_reducing(largest, sum, prime);
        m.products = steps > 1 << 20 ? 1 << 24 : steps * step_columns;
    }
    const unsigned threads = queue_.block_threads(row_product_threads), rows = threads / 32,
                   blocks = (a_.rows() * ((lanes + 127) / 128) + rows - 1) / rows;
    const std::array<void *, 1> arguments{&m};
    return seconds_each(
        runs_,
        [&] {
            queue_.launch(prime == 0 ? row_product_entry : row_residues_entry, blocks, threads, arguments, 0);
        },
        [&] { queue_.wait(); });
}

// Some rows, whole numbers: exactly.
void ManyVectors::check(const std::vector<double> &x, DeviceAddress to, std::uint32_t lanes,
                        std::uint64_t prime, const char *what) {
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
            if (sum != 0) throw std::runtime_error(formatted("{}, {}: row {} is wrong", a_.name, what, i));
        }
}

} // namespace bench
