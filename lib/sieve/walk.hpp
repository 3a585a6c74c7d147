// The walk over signs on a CPU, depth first over blocks of prefixes, and the sum of what it meets.
//
// The next step is the last whose block fills vectors, so that memory is bounded and vectors are full until a
// walk comes to its end. Products are counted by their codes, +1 or -1 each, and are numbers only when all
// are counted: nothing overflows before 2^63 of one code. Beside rows of other numbers what is counted of a
// code are the products of their sums, modulo primes.
#pragma once

#include "jit/lanes/sieve_steps.hpp"
#include "jit/program/sieve.hpp"
#include "lib/sieve/other_rows.hpp"

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace libperm {

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
    std::vector<SieveLanes> steps_;
    std::vector<SieveBlock> blocks_; // by step
    SieveCounts counts_;
    double met_ = 0;
};

} // namespace libperm
