// Sparse matrices times many vectors on a GPU: rows brought together by 1-SA and multiplied in dense blocks
// by tensor cores, row by row, by cuSPARSE; of operators also by the factors that their rows are. Synthetic
// matrices of Sylos Labini et al., and powers of the operators of joined ends.
//
//     perm_block_products [--runs N] [--only TEXT] [--plan] [--chains] [--bits] [--size N] [--small]
#include "bench/blocks/many_vectors.hpp"
#include "bench/device.hpp"
#include "jit/driver/jit_error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

using namespace libperm;
using bench::Rows;
using perm::families::Random;

namespace {

void describe(const Rows &a, const bench::Blocked &b) {
    const double tiles = b.blocks.entries() / 256;
    fmt::print("{:<26}{:>7}{:>10}{:>8.1f}{:>9}{:>8.3f}{:>6.2f}  {:<10}{:>6.2f}", a.name, a.rows(),
               a.first.back(), static_cast<double>(a.first.back()) / a.rows(), tiles,
               static_cast<double>(a.first.back()) / std::max(1.0, b.blocks.entries()),
               tiles / std::max<double>(1, static_cast<double>(b.blocks.steps.size())), b.how, b.seconds);
}

struct Bench {
    DeviceQueue *queue = nullptr; // none: the blocks alone
    bench::CuSparseMany *peer = nullptr;
    int runs = 50;
    bool bits = false, small = false;
    std::string only;

    bool wants(const std::string &name) const { return name.find(only) != std::string::npos; }
    std::vector<std::string> lattices() const {
        if (small) return {"grid:6"};
        return {bench::joined_lattices.begin(), bench::joined_lattices.end()};
    }

    void chain(const std::string &lattice) const {
        const Rows t = bench::operator_of(lattice);
        const bench::Chain chain = bench::chain_of(lattice);
        double tiles = 0, steps = 0, longest = 0;
        for (const bench::Blocked &b : chain.blocks) {
            tiles += b.blocks.entries() / 256;
            steps += static_cast<double>(b.blocks.steps.size());
            longest += b.blocks.strips.front().steps;
        }
        std::size_t most = 0;
        double moves = 0;
        for (const Rows &piece : chain.pieces)
            most = std::max<std::size_t>({most, piece.columns, piece.rows()});
        for (const LaneLevel &level : *t.factors) {
            most = std::max(most, level.states());
            moves += static_cast<double>(level.source.size());
        }
        fmt::print("{}: {} states, {} moves; {} pieces, {} tiles, {} steps, the longest {}\n", lattice,
                   t.rows(), moves, chain.pieces.size(), tiles, steps, longest);
        for (const std::uint32_t lanes : {128U, 256U, 512U, 1024U, 2048U, 4096U})
            if (queue && (lanes == 128 || !small)) factors_beside(t, chain, most, lanes);
        std::fflush(stdout);
    }

    void matrix(const Rows &a, std::uint32_t width, int power) const {
        if (!wants(a.name)) return;
        const bench::Blocked b = bench::blocked(a, width);
        if (!queue) {
            describe(a, b);
            double moves = 0;
            if (a.factors)
                for (const LaneLevel &level : *a.factors) moves += static_cast<double>(level.source.size());
            fmt::print("  moves {:.0f} tiles/moves {:.4f}\n", power * moves,
                       b.blocks.entries() / 256 / std::max(1.0, power * moves));
            std::fflush(stdout);
            return;
        }
        bench::ManyVectors products(*queue, peer, a, b, runs);
        if (bits) fmt::print("{}: {:.4f} of all in order\n", a.name, products.share_in_order());
        for (const std::uint32_t lanes : {128U, 1024U}) {
            if (lanes > 128 && small) break;
            for (const std::uint64_t prime :
                 {std::uint64_t{0}, bench::of_residues, products.prime_for_counts()}) {
                if (prime > bench::of_residues && !a.factors) continue;
                try {
                    print(a, b, products.measure(lanes, prime, power), lanes, prime);
                } catch (const JitError &error) {
                    if (error.failure() != JitFailure::out_of_memory) throw;
                    fmt::print("{}: {}\n", a.name, error.what());
                }
            }
        }
    }

    void operators() const {
        for (const std::string &lattice : lattices()) {
            if (!wants("T^4 of " + lattice + " T^2 of " + lattice + " T of " + lattice)) continue;
            Rows power = bench::operator_of(lattice);
            matrix(power, 4, 1);
            for (const int exponent : {2, 4}) {
                if (!wants("T^2 of " + lattice + " T^4 of " + lattice)) break;
                power = bench::square_of(power, 20000000);
                if (power.rows() == 0) break;
                power.name = fmt::format("T^{} of {}", exponent, lattice);
                matrix(power, 4, exponent);
            }
        }
    }

    void synthetic(std::uint32_t size) const {
        Random random(1);
        for (const double theta : {0.01, 0.1, 0.4})
            for (const double rho : {0.01, 0.05, 0.1, 0.2, 0.5})
                if (wants(fmt::format("A(64, {}, {})", theta, rho)) &&
                    (!small || (theta == 0.4 && rho == 0.2)))
                    matrix(bench::synthetic(size, 64, theta, rho, random), 64, 1);
    }

  private:
    void factors_beside(const Rows &t, const bench::Chain &chain, std::size_t most,
                        std::uint32_t lanes) const {
        double by_blocks = 0;
        std::uint64_t prime = std::uint64_t{1} << 47;
        DeviceArray from(*queue), to(*queue);
        from.reserve(8 * most * lanes);
        to.reserve(8 * most * lanes);
        for (std::size_t k = 0; k < chain.pieces.size(); ++k) {
            bench::ManyVectors piece(*queue, nullptr, chain.pieces[k], chain.blocks[k], runs);
            prime = std::min(prime, piece.prime_for_counts());
            by_blocks += piece.by_blocks(lanes, piece.prime_for_counts(), from.address(), to.address());
        }
        const double by_factors =
            bench::Factors(*queue, *t.factors).seconds(lanes, prime, from.address(), to.address(), 1, runs);
        fmt::print("  {:>5} lanes, mod 2^{:.0f}: blocks {:.1f}, factors {:.1f}, {:.2f} times\n", lanes,
                   std::log2(static_cast<double>(prime)), 1e6 * by_blocks, 1e6 * by_factors,
                   by_factors / by_blocks);
    }

    static void print(const Rows &a, const bench::Blocked &b, const bench::ManyVectors::Times &t,
                      std::uint32_t lanes, std::uint64_t prime) {
        describe(a, b);
        fmt::print("{:>6} {:<9}{:>9.1f}{:>9.1f}{:>9.1f}{:>9.1f}{:>7.2f}{:>7.2f}{:>7.2f}\n", lanes,
                   prime == 0 ? "doubles"
                              : fmt::format("mod 2^{:.0f}", std::log2(static_cast<double>(prime))),
                   1e6 * t.blocks, 1e6 * t.rows, 1e6 * t.peer, 1e6 * t.factors, t.rows / t.blocks,
                   t.peer / t.blocks, t.factors / t.blocks);
        std::fflush(stdout);
    }
};

} // namespace

int main(int argc, char **argv) try {
    CLI::App app("Sparse matrices times many vectors on a GPU, in dense blocks and otherwise.");
    Bench products;
    app.add_option("--runs", products.runs, "products that are timed together");
    app.add_option("--only", products.only, "the matrices whose names have this in them");
    bool plan = false;
    app.add_flag("--plan", plan, "the blocks alone, without a GPU");
    bool chains = false;
    app.add_flag("--chains", chains, "operators alone, by a few blocked factors and by those of the rows");
    app.add_flag("--bits", products.bits, "how many doubles have the bits of sums in order");
    std::uint32_t size = 8192;
    app.add_option("--size", size, "rows of the synthetic matrices");
    app.add_flag("--small", products.small,
                 "one lattice, one synthetic matrix, 128 vectors: whether all runs");
    CLI11_PARSE(app, argc, argv);

    std::optional<bench::Device> device;
    std::optional<bench::CuSparseMany> peer;
    if (!plan) {
        device.emplace(bench::open_device());
        products.queue = device->queue.get();
        bench::load_products(*products.queue);
        try {
            if (device->is_gpu) products.peer = &peer.emplace();
        } catch (const std::exception &error) {
            fmt::print("without cuSPARSE: {}\n", error.what());
        }
    }
    fmt::print(
        "microseconds\n{:<26}{:>7}{:>10}{:>8}{:>9}{:>8}{:>6}  {:<10}{:>6}{:>6} {:<9}{:>9}{:>9}{:>9}{:>9}"
        "{:>7}{:>7}{:>7}\n",
        "", "rows", "entries", "a row", "tiles", "full", "/4", "width, tau", "s", "lanes", "numbers",
        "blocks", "rows", "cuSPARSE", "factors", "r/b", "c/b", "f/b");
    if (chains || products.small)
        for (const std::string &lattice : products.lattices())
            if (products.wants(lattice)) products.chain(lattice);
    if (chains) return 0;
    products.operators();
    products.synthetic(products.small ? 128 : size);
    return 0;
} catch (const std::exception &error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
