// What a state in MPFR's numbers is made of.
#pragma once

#include "lib/number/radius.hpp"

#include <gmp.h>

#include <array>
#include <cstdint>
#include <type_traits>

namespace libperm {

// Real, or complex in two halves of the limbs: plain values, so that lists move and count them as any others.
// A state is a sum of terms, the absolute values of which (|re| + |im|) add up to at most `size`; it is
// within
// ((1 + u)^roundings - 1) size of what it would be had nothing rounded, u = 2^-bits.
template <int Limbs> struct MpfrState {
    Radius size;
    std::int64_t roundings = 0;
    std::array<std::int64_t, 2> exp2{};
    std::array<std::int16_t, 2> sign{};
    std::array<mp_limb_t, Limbs> limbs{};
};

// States are compiled for limbs of two numbers, as many as the bits take at least.
constexpr std::array mpfr_state_limbs{16, 64};

// work(the least of `mpfr_state_limbs` that are enough, as a constant); false: none is.
template <class Work> bool with_mpfr_limbs(int limbs, const Work &work) {
    if (limbs <= mpfr_state_limbs[0])
        work(std::integral_constant<int, mpfr_state_limbs[0]>());
    else if (limbs <= mpfr_state_limbs[1])
        work(std::integral_constant<int, mpfr_state_limbs[1]>());
    else
        return false;
    return true;
}

} // namespace libperm
