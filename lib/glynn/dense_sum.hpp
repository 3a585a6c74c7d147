// A small dense matrix's permanent by Glynn's sum: in integers where these serve, else in doubles; and what
// any sum of terms in doubles answers, over signs or counts. What a graph's sum comes to has the same shape
// (lib/glynn/graphs).
#pragma once

#include "jit/lanes/grid_columns.hpp"
#include "lib/glynn/glynn_integers.hpp"
#include "lib/glynn/small_matrix.hpp"
#include "lib/input/call_watch.hpp"
#include "lib/input/engine.hpp"
#include "lib/number/precision.hpp"
#include "lib/tape/tape_run.hpp"

#include <gmpxx.h>
#include <optional>

namespace libperm {

struct DenseSum {
    TapeAnswer value;
    // Every digit of an integer, unless doubles were asked for.
    std::optional<Int128> integer;
    std::optional<mpz_class> mpz;  // instead
    bool is_by_definition = false; // over permutations rather than signs
    Engine engine = Engine::glynn;
    double operations = 0; // of another engine
};

// On so many threads at most, with the same bits for any number of them. False: this is not for it. What
// takes long asks the watch, and throws Error.
bool sum_dense(const SmallMatrix &a, Precision precision, int threads, const CallWatch &watch, DenseSum &out);

bool fits_double(Int128 x);

// Orders from which on threads are worth waking: integers modulo 2^128 take four times as long as doubles.
constexpr int least_parallel_order(bool is_integer) { return is_integer ? 16 : 18; }

// On so many threads at most, with the same bits for any number of them; the matrix not `is_integer`. False:
// it is not for this (put_on_grid).
bool glynn_double(const SmallMatrix &a, int threads, TapeAnswer &answer);

// How often a term of n row sums is rounded: where these are put together, and in their product.
double roundings_of_term(const GridColumns &columns, int n);

// Adds a piece's sum; what adding loses is kept.
void add(const TermSum &part, TermSum &sum);

double size_of(const TermSum &sum);

// The sum times 2^exp2, within its error times as much; exact if that is 0.
TapeAnswer answer_of(const TermSum &sum, double error, std::int64_t exp2);

} // namespace libperm
