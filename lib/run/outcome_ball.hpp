// An outcome as the number that the sum of products is made of, by the kind of the matrix's values.
#pragma once

#include "lib/run/outcome.hpp"
#include "preprocess/block.hpp"

#include <type_traits>

namespace libperm {

template <class Value> struct BallOf;
template <> struct BallOf<Tracked> { using type = Ball; };
template <> struct BallOf<Gaussian> { using type = WideBall; };

template <class Value> typename BallOf<Value>::type ball_of_outcome(const Outcome &outcome) {
    if constexpr (std::is_same_v<Value, Tracked>)
        return {outcome.value, outcome.error};
    else
        return {outcome.wide.value_or(Gaussian()), outcome.error};
}

} // namespace libperm
