#include "jit/program/sieve.hpp"

#include <algorithm>
#include <numeric>

namespace libperm {

bool sieve_goes_on(const SieveProgram &program, const SieveProgram::Step &step,
                   const SieveProgram::Branch &branch, const std::uint32_t *from, std::uint32_t *to) {
    for (std::size_t w = 0; w < program.words; ++w) to[w] = from[w] + branch.adds[w];
    std::uint32_t *const codes = to + program.words;
    for (std::size_t c = 0; c < program.codes; ++c) codes[c] = from[program.words + c];
    codes[0] += branch.sign;
    for (const SieveProgram::Finish &row : step.finishes) {
        const std::uint32_t count = (to[row.word] >> row.shift) & row.mask;
        if (count == row.vanishes) return false;
        for (std::size_t c = 0; c < program.codes; ++c) codes[c] += row.codes[c][count];
    }
    return true;
}

std::vector<std::uint32_t> sieve_prefixes(const SieveProgram &program, std::size_t steps) {
    return sieve_prefixes(program, 0, steps, std::vector<std::uint32_t>(program.prefix_words()));
}

std::vector<std::uint32_t> sieve_prefixes(const SieveProgram &program, std::size_t first, std::size_t last,
                                          std::vector<std::uint32_t> prefixes) {
    const std::size_t size = program.prefix_words();
    std::vector<std::uint32_t> next, one(size);
    for (std::size_t k = first; k < last; ++k) {
        next.clear();
        for (std::size_t from = 0; from < prefixes.size(); from += size)
            for (const SieveProgram::Branch &branch : program.steps[k].branches)
                if (sieve_goes_on(program, program.steps[k], branch, &prefixes[from], one.data()))
                    next.insert(next.end(), one.begin(), one.end());
        prefixes.swap(next);
    }
    return prefixes;
}

std::uint64_t golden_stride(std::uint64_t count) {
    auto stride = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(0.618 * static_cast<double>(count)));
    while (std::gcd(stride, count) != 1) ++stride;
    return stride;
}

} // namespace libperm
