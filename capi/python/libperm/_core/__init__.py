"""What libperm and its public modules are made of. Nothing here is for use: names and modules may change.

The library        library loads it; abi is perm.h, as ctypes has it; errors, call, stop, progress
What callers give  matrix, values, scalars, sequences, quantities; options, seeds, limits
What they get      result, result_number, batch, intervals, partials
One matrix         functions, product, polynomials; quick, by the extension `compiled`; dense, by_rows,
                   exact_minors, hafnians
Many matrices      batches
Patterns           plan, handle, saving; periodic; picture, drawing
Matchings          matchings, unmatched, small_marginals, samples
Estimates          estimates
Photons            photons, fock, interference, dyadic, distribution, differentiable

sums adds duplicates. Each module imports others one way, and none of the
public ones.
"""
