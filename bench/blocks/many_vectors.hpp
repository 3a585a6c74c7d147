// The time that a matrix takes times many vectors on a GPU: in blocks, row by row, by cuSPARSE, by factors.
#pragma once

#include "bench/blocks/blockings.hpp"
#include "bench/blocks/cusparse_many.hpp"
#include "bench/kernels/factor_walk.hpp"
#include "jit/queue/device_queue.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

constexpr std::uint64_t of_residues = 16777213; // below 2^24: A is taken for one of any residues

void load_products(libperm::DeviceQueue &queue); // the kernels

// An operator's product by the factors that its rows are.
class Factors {
  public:
    Factors(libperm::DeviceQueue &queue, const libperm::LaneLevels &levels);
    // Seconds of so many cells.
    double seconds(std::uint32_t lanes, std::uint64_t prime, libperm::DeviceAddress x,
                   libperm::DeviceAddress y, int cells, int runs) const;

  private:
    libperm::DeviceQueue &queue_;
    std::vector<libperm::DeviceArray> lists_;
    std::vector<FactorWalk> levels_;
};

class ManyVectors {
  public:
    ManyVectors(libperm::DeviceQueue &queue, CuSparseMany *peer, const Rows &a, const Blocked &blocked,
                int runs);

    // Seconds; 0: not measured. Of doubles, or residues modulo a prime; a power of the operator.
    struct Times {
        double blocks = 0, rows = 0, peer = 0, factors = 0;
    };
    Times measure(std::uint32_t lanes, std::uint64_t prime, int power);
    double by_blocks(std::uint32_t lanes, std::uint64_t prime, libperm::DeviceAddress x,
                     libperm::DeviceAddress y);

    // A prime for which a row is added up without being reduced, of at most 47 bits.
    std::uint64_t prime_for_counts() const;
    // Of doubles of any size, how many have the bits of sums in the order of the columns, one product after
    // the other.
    double share_in_order();

  private:
    std::pair<std::uint64_t, std::uint64_t> largest_and_sum(std::uint64_t prime) const;
    double by_rows(std::uint32_t lanes, std::uint64_t prime, libperm::DeviceAddress x,
                   libperm::DeviceAddress y);
    double by_peer(std::uint32_t lanes, libperm::DeviceAddress x, libperm::DeviceAddress y);
    void check(const std::vector<double> &x, libperm::DeviceAddress y, std::uint32_t lanes,
               std::uint64_t prime, const char *what);

    libperm::DeviceQueue &queue_;
    CuSparseMany *peer_;
    const Rows &a_;
    const RowBlocks &blocks_;
    int runs_;
    libperm::DeviceArray first_, column_, value_, strips_, steps_, columns_, tiles_, rows_;
};

} // namespace bench
