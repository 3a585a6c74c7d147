// A matrix that is taken apart with its values, and not expanded: its permanent is a product.
#pragma once

#include "lib/plan/block_walk.hpp"
#include "lib/plan/plan.hpp"
#include "lib/run/call.hpp"
#include "lib/run/results.hpp"
#include "preprocess/block.hpp"

#include <gmpxx.h>

#include <type_traits>
#include <utility>

namespace libperm {

// An outcome as the number that the sum of products is made of, by the kind of the matrix's values.
template <class Value> struct BallOf;
template <> struct BallOf<Tracked> { using type = Ball; };
template <> struct BallOf<Gaussian> { using type = WideBall; };

template <class Value> typename BallOf<Value>::type ball_of_outcome(const Outcome &outcome) {
    if constexpr (std::is_same_v<Value, Tracked>)
        return {outcome.value, outcome.error};
    else
        return {outcome.wide.value_or(Gaussian()), outcome.error};
}

// The ways in which the free lines can be taken by those that stay unmatched: all are counted.
inline mpz_class ways_of_free_lines(const InputPattern &input) {
    mpz_class ways;
    mpz_fac_ui(ways.get_mpz_t(), static_cast<unsigned long>(input.free_lines()));
    return ways;
}

// What is known of the blocks of a matrix that is taken apart with its values.
template <class Value> BlockValues block_values_of(const Values &values, const Options &options) {
    BlockValues known;
    known.numbers = numbers_of(options, !std::is_same_v<Value, Tracked>);
    known.nonnegative = !some_negative(values);
    known.may_be_long = some_long(values);
    return known;
}

// Its permanent is the product of all that comes. `algebra` has
//     void block(LeafOf<Value>), void zero_block()    of values that are 0 for certain
//     void number(const Value &), void divide(const mpz_class &)
template <class Value, class Algebra>
void multiply_blocks(const InputPattern &input, const Values &values, const Passes &passes,
                     Algebra &algebra) {
    DecompositionRule<Value> rule;
    rule.passes = passes;
    if (!std::is_same_v<Value, Tracked>) rule.passes.degree_2 = false; // sums of fractions grow
    rule.account = &call().memory();
    struct Product {
        Algebra &to;
        bool block(LeafOf<Value> leaf) {
            if (zeros_leave_no_matching(leaf.block))
                to.zero_block();
            else
                to.block(std::move(leaf));
            return true;
        }
        void number(const Value &x) { to.number(x); }
        void multiply(std::size_t) {}
        void add(std::size_t) {}
    };
    Decomposition<Value> decomposition(root_block<Value>(input, values), std::move(rule));
    walk_blocks(decomposition, Product{algebra});
    if (input.free_lines() > 0) algebra.divide(ways_of_free_lines(input));
}

} // namespace libperm
