// Residues whose matrices are computed one by one: a piece each.
#pragma once

#include "lib/number/residues.hpp"
#include "lib/run/engine_result.hpp"
#include "lib/run/pieces.hpp"

#include <cstdint>

namespace libperm {

// of(matrix) is its permanent modulo its prime, in about so many products and bytes.
template <class Of>
EngineResult matrix_by_matrix(const Residues &residues, double products, double bytes, const Of &of) {
    EngineResult result;
    result.value =
        parts_of_pieces(residues.primes.size(), products, std::uint64_t{0}, each_on_its_thread(of, bytes));
    result.counts.operations = products * static_cast<double>(residues.primes.size());
    return result;
}

} // namespace libperm
