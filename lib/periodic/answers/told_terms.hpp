// Terms modulo primes, as they are found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace libperm {

// By prime, by term. Gaussian integers have each prime twice (lib/number/residues.hpp).
using ResidueTerms = std::vector<std::vector<std::uint64_t>>;

// Is told the terms modulo each prime, by its number, once, by any thread.
using TellTerms = std::function<void(std::size_t, std::vector<std::uint64_t>)>;

// find(tell), all of it.
template <class Find> ResidueTerms told_terms(std::size_t primes, const Find &find) {
    ResidueTerms all(primes);
    find([&all](std::size_t k, std::vector<std::uint64_t> terms) { all[k] = std::move(terms); });
    return all;
}

} // namespace libperm
