"""The package perm: lists are enough, numpy and scipy are taken where they are."""

from fractions import Fraction

import perm

print(perm.permanent([[1, 2], [3, 4]]))
print(perm.permanent([[Fraction(1, 3), 2], [3, 4]]))
print(perm.permanent([[1] * 25] * 25))

plan = perm.Plan([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
print(plan.permanents([[1, 2, 3, 4, 5, 6], [1, 1, 1, 1, 1, 1]]))
