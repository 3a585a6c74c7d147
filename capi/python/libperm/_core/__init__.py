"""What libperm and its public modules are made of. Nothing here is for use: names and modules may change.

The library        library loads it; abi is perm.h, as ctypes has it; errors, call; lazy has numpy
What callers give  values, scalars, matrix, inputs; options
What they get      result, batch; handle has plans and tasks
One matrix         functions, polynomials; quick, by the extension `compiled`; dense, minors
Many matrices      batches
Patterns           plan; periodic; picture
Matchings          matchings
Estimates          estimates
Photons            photons, fock, distribution, differentiable

Each module imports others one way, and none of the public ones.
"""
