"""The Walrus' tests of hafnians, and of states of light and their moments, by libperm.thewalrus. Theirs stay
what ours is compared with: a sum over signs, a recursion, low ranks, batches by recurrence, and all of
permanents."""

from __future__ import annotations

from of_thewalrus import OF_HAFNIANS, SOURCE
from suite import Suite, asks

from libperm import thewalrus as ours

NAMES = ("hafnian", "hafnian_repeated", "hafnian_sparse", "hafnian_banded", "loop_hafnian")


def replace() -> None:
    import thewalrus
    from thewalrus import _hafnian, reference
    from thewalrus.quantum import fock_tensors, means_and_variances

    for module in (thewalrus, _hafnian, fock_tensors, means_and_variances, reference):
        for name in NAMES:
            if hasattr(module, name):
                setattr(module, name, asks(getattr(ours, name)))


SUITE = Suite(
    SOURCE,
    OF_HAFNIANS,
    replace,
    left_out={
        r"::test_update_with_loss_two_mode_squeezed\[True": "it starts processes, where nothing is replaced"
    },
)
