// The walk of engine `sieve` as data: a sum over signs of the columns of a matrix of small integers B, of
// which all prefixes that a row makes vanish are left out (docs/sieve.md).
//
//     2^n_halved perm(B) = (2 if is_halved) sum over x in {1,-1}^n of prod_j x_j prod_i f_i(x),
//     f_i(x) = scale_i c_i(x) - offset_i,   c_i(x) = sum over j with b_ij x_j > 0 of |b_ij|,
//
// so that each row is a count that only grows, in some bits of a word of 32. A step gives signs to one column
// or several: each of its branches adds constants to the words. Rows whose last column is among them are
// finished: where their count is the one at which f_i is 0 the prefix is dropped, elsewhere f_i is added to
// the prefix's code, which tells the product of all finished rows by its sign and its exponents of primes.
// A prefix is its words, then its codes; after the last step its codes are all there is, and are counted.
//
// Rows of other numbers stand for themselves: f_i(x) = sum over j of a_ij x_j. They are no part of the
// program, but that prefixes tell the signs of their columns, a bit each, 1 for +, in words that never
// finish.
//
// It knows nothing of how, or on which device, it is walked. On a CPU: jit/lanes/sieve_steps. A device's walk
// takes prefixes from the same list (sieve_prefixes) and hands back the same sums of codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libperm {

constexpr std::size_t most_sieve_codes = 2, least_sieve_table = 32;
constexpr std::uint32_t sieve_sign = std::uint32_t{1} << 31; // of the first code: the product is negative

struct SieveProgram {
    // A row that its last column is given a sign of.
    struct Finish {
        std::uint32_t word, shift, mask;   // count = (word >> shift) & mask
        std::uint32_t vanishes;            // the count at which the factor is 0; above the mask: none
        std::vector<std::int32_t> factors; // by count, 0 to mask
        // What each code grows by, the same; least_sieve_table numbers at least, for vectors.
        std::array<std::vector<std::uint32_t>, most_sieve_codes> codes;
    };
    struct Branch {                      // signs of the step's columns
        std::vector<std::uint32_t> adds; // by word
        std::uint32_t sign; // sieve_sign, or 0: the product of the columns' signs; added to the first code
    };
    struct Step {
        std::uint32_t first_word; // of those that later steps read; words before it are finished
        std::vector<Branch> branches;
        std::vector<Finish> finishes;
    };
    // Exponents of a prime in a code: (code / stride) % radix, once the sign is taken off.
    struct Exponent {
        std::uint32_t prime, code, stride, radix;
    };

    std::uint32_t words = 0,
                  codes = 1; // of a prefix; rows lie in the words in the order in which they finish
    std::vector<Step> steps;
    std::vector<Exponent> exponents;
    std::uint32_t first_told = 0;   // word; before it are counts
    std::vector<std::int32_t> told; // columns of other rows, by bit
    std::uint32_t n_halved = 0;     // rows of odd sums that are counted in halves, and rows of other numbers
    bool is_halved = false; // the first column's sign is +: half of all x, and the others sum to the same

    std::size_t prefix_words() const { return words + codes; }
    std::uint32_t first_word(std::size_t step) const { // that the step reads
        return step == 0 ? 0 : steps[step - 1].first_word;
    }
    std::uint64_t values(std::uint32_t code) const { // that a code can have, its sign taken off
        std::uint64_t all = 1;
        for (const Exponent &e : exponents)
            if (e.code == code) all *= e.radix;
        return all;
    }
};

// Whether a prefix is left after a branch of a step; `to` is what it becomes.
bool sieve_goes_on(const SieveProgram &program, const SieveProgram::Step &step,
                   const SieveProgram::Branch &branch, const std::uint32_t *from, std::uint32_t *to);

// All prefixes after `steps` steps that are not dropped, each prefix_words() long, in the order of the walk:
// that of their branches.
std::vector<std::uint32_t> sieve_prefixes(const SieveProgram &program, std::size_t steps);

// What prefixes after `first` steps become by those before `last`.
std::vector<std::uint32_t> sieve_prefixes(const SieveProgram &program, std::size_t first, std::size_t last,
                                          std::vector<std::uint32_t> prefixes);

// From one of so many prefixes to the next, so that all are met, and any run of them has of all: a golden
// section of their number.
std::uint64_t golden_stride(std::uint64_t count);

} // namespace libperm
