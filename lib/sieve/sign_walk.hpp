// The walk over signs, depth first over blocks of prefixes, on a CPU, and pieces of it on a GPU with the
// same sums; and the sums of what it meets.
#pragma once

#include "jit/driver/gpu_properties.hpp"
#include "jit/kernel/sieve_walk.hpp"
#include "jit/lanes/sieve_steps.hpp"
#include "jit/program/sieve.hpp"
#include "jit/queue/device_queue.hpp"
#include "lib/number/residues.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <gmpxx.h>
#include <optional>
#include <span>
#include <vector>

namespace libperm {

class OtherRows {
  public:
    OtherRows() = default; // there are none

    // value(matrix, row, k): of the k-th column whose sign prefixes tell, modulo the matrix' prime, as
    // Montgomery has numbers.
    OtherRows(const std::vector<std::uint64_t> &primes, std::size_t rows, std::size_t told,
              const std::function<std::uint64_t(std::size_t, std::size_t, std::size_t)> &value);

    bool are_none() const { return fields_.empty(); }
    std::size_t width() const { return are_none() ? 1 : fields_.size(); } // of a product: its residues
    static std::size_t bytes(std::size_t matrices, std::size_t rows, std::size_t told);
    static double seconds(double matrices, std::size_t rows, std::size_t told); // of a product

    // To each of width() sums modulo a prime, of numbers that stand for themselves times 2^-64, or subtracts
    // it. told: the first of the words of signs, each so many words from the one before.
    void add_product(const std::uint32_t *told, std::size_t stride, bool subtracts, std::int64_t *sums) const;

  private:
    std::vector<Montgomery> fields_;
    std::size_t rows_ = 0, octets_ = 0;
    std::vector<std::uint64_t> sums_; // by matrix, row, eight columns, their signs
};

// The walk over signs on a CPU, depth first over blocks of prefixes, and the sum of what it meets.
//
// The next step is the last whose block fills vectors, so that memory is bounded and vectors are full until a
// walk comes to its end. Products are counted by their codes, +1 or -1 each, and are numbers only when all
// are counted: nothing overflows before 2^63 of one code. Beside rows of other numbers what is counted of a
// code are the products of their sums, modulo primes.

// The products that codes tell of.
class SieveProducts {
  public:
    // The program outlives it.
    explicit SieveProducts(const SieveProgram &program);

    // `key`: the codes without the sign, the second in the upper half.
    mpz_class of(std::uint64_t key) const;

  private:
    const SieveProgram &program_;
    std::vector<std::vector<mpz_class>> powers_; // by exponent of the program, then by power
};

// Counts of codes, by the code itself where there are few, else in a table that is added up when it is full.
class SieveCounts {
  public:
    SieveCounts(const SieveProgram &program, const OtherRows &others);
    static bool are_direct(const SieveProgram &program);
    static std::size_t bytes(const SieveProgram &program, std::size_t width);

    void add(const SieveBlock &whole);
    std::vector<mpz_class> take_sums(); // of products, by residue; there are no counts then

  private:
    template <class Add> void add_each(const SieveBlock &whole, const Add &add_at);
    void add_up();
    std::size_t place_of(std::uint64_t key) const; // in the table
    void make_room();

    const SieveProgram &program_;
    const OtherRows &others_;
    const std::size_t width_; // of a count
    bool is_direct_;
    std::vector<std::int64_t> counts_;
    std::vector<std::uint64_t> keys_; // of the counts; no_key: there is none
    std::size_t known_ = 0;
    const SieveProducts products_;
    std::vector<mpz_class> sums_;
};

class SieveWalk {
  public:
    // Prefixes come after `first_step` steps. The program and the other rows outlive the walk.
    SieveWalk(const SieveProgram &program, std::size_t first_step, const OtherRows &others);
    static std::size_t bytes(const SieveProgram &program, std::size_t first_step, std::size_t width);
    static std::size_t most_at_once(const SieveProgram &program, std::size_t first_step); // prefixes

    // The sum of the products of all x that begin with these prefixes, as sieve_prefixes lists them: one
    // number, or residues times 2^64 beside other rows. met(prefixes) is told every some millions.
    template <class Met>
    std::vector<mpz_class> sums(std::span<const std::uint32_t> prefixes, const Met &met) {
        for (;;) {
            while (!has_full_block() && !prefixes.empty()) prefixes = prefixes.subspan(take(prefixes));
            if (!go_on()) break;
            if (met_ < between) continue;
            met(met_);
            met_ = 0;
        }
        met(met_);
        met_ = 0;
        return counts_.take_sums();
    }

  private:
    static constexpr double between = 1 << 20;

    bool has_full_block() const;
    std::size_t take(std::span<const std::uint32_t> prefixes);
    bool go_on(); // false: nothing is left

    const SieveProgram &program_;
    std::size_t first_;
    std::vector<SieveBlock> blocks_; // by step
    SieveCounts counts_;
    double met_ = 0;
};

// The walk over signs on a GPU: pieces of a CPU's, with the same sums.

class SieveOnDevice { // throws JitError
  public:
    // Prefixes are given after `first_step` steps; the device is to have so many of a piece, if there are,
    // for all of its warps. The program outlives it.
    static constexpr std::size_t for_all_warps = 1 << 19;
    SieveOnDevice(DeviceQueue &queue, const SieveProgram &program, std::size_t first_step,
                  std::size_t enough = for_all_warps);

    // Follows the prefixes of a first piece; from which step on the device goes.
    static std::size_t follow_first(const SieveProgram &program, std::size_t first_step,
                                    std::vector<std::uint32_t> &prefixes, std::size_t enough = for_all_warps);

    // What begins with these prefixes of a piece, in their order.
    std::vector<std::uint32_t> follow(std::span<const std::uint32_t> prefixes);

    void start(std::span<const std::uint32_t> followed);
    struct Sum {
        mpz_class products;
        double prefixes = 0;
    };
    Sum finish(); // waits

    std::int64_t peak_bytes() const;

  private:
    void load();

    DeviceQueue &queue_;
    const SieveProgram &program_;
    const std::size_t first_, enough_;
    std::optional<std::size_t> device_step_; // the first on the device
    unsigned blocks_ = 1;
    std::size_t followed_ = 0;
    const SieveProducts products_;
    std::vector<std::int64_t> counts_;
    DeviceArray prefixes_, room_, told_; // told: the next prefix, how many were met, counts
};

// Of a GPU that has as many blocks at work as it may have.
double sieve_bytes_on_gpu(const SieveProgram &program, std::size_t first_step, const GpuProperties &gpu);

} // namespace libperm
