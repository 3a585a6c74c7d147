"""The package libperm: lists are enough, numpy and scipy are taken where they are."""

from fractions import Fraction

import libperm

print(libperm.permanent([[1, 2], [3, 4]]))
print(libperm.permanent([[Fraction(1, 3), 2], [3, 4]]))
print(libperm.permanent([[1] * 25] * 25))

plan = libperm.Plan([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
print(plan.permanents([[1, 2, 3, 4, 5, 6], [1, 1, 1, 1, 1, 1]]))
