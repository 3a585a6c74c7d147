"""The rows of bench/peers.py: what is asked, and how long each takes to answer."""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import peer_calls
from peer_calls import Array, Call, Superman

import libperm

SLICE = 0.02  # seconds of calls that a time is taken over
WRONG = 1e-6


@dataclass
class Row:
    name: str
    matrix: Array
    ours: Callable[[Array], Any]
    theirs: dict[str, Call]
    count: int = 1  # matrices of our call; theirs are of one
    superman: bool = False
    growth: float = 1  # times what the row before took, about
    notes: list[str] = field(default_factory=list)
    wrong: dict[str, float] = field(default_factory=dict)


def rows(seed: int) -> Iterator[Row]:
    g = np.random.default_rng(seed)

    def complexes(*shape: int) -> Array:
        return g.uniform(-1, 1, shape) + 1j * g.uniform(-1, 1, shape)

    def unitary(n: int) -> Array:
        q, r = np.linalg.qr(complexes(n, n))
        return q * (np.diag(r) / abs(np.diag(r)))

    growth = 1.0
    for n in range(4, 26, 2):
        yield Row(f"complex, n = {n}", complexes(n, n), libperm.permanent, peer_calls.COMPLEX, growth=growth)
        growth = 5
    growth = 1
    for n in range(4, 26, 2):
        yield Row(
            f"real, n = {n}", g.uniform(-1, 1, (n, n)), libperm.permanent, peer_calls.REAL, growth=growth
        )
        growth = 5
    for n in (8, 12, 16):
        yield Row(f"integers, n = {n}", g.integers(-9, 10, (n, n)), libperm.permanent, peer_calls.INTEGER)
    for n, each in ((4, 2), (4, 3), (4, 5), (4, 10), (8, 2), (10, 2), (2, 50)):
        yield repeated(unitary(n), each)
    for n in (8, 12, 16, 20):
        yield Row(
            f"{n + 1} sub-permanents, n = {n}",
            complexes(n + 1, n),
            lambda a: complex(libperm.sub_permanents(a).sum()),
            peer_calls.SUB_PERMANENTS,
        )
    for n in (8, 10, 12):
        yield Row(
            f"10,000 complex, n = {n}",
            complexes(10_000, n, n),
            libperm.permanents,
            peer_calls.COMPLEX,
            10_000,
        )
    for sign, low in (("signed", -1), ("positive", 0)):
        for n in (24, 28):
            a = g.uniform(low, 1, (n, n))
            growth = 1 if n == 24 else 18
            yield Row(f"{sign}, n = {n}", a, libperm.permanent, peer_calls.REAL, superman=True, growth=growth)


def repeated(u: Array, each: int) -> Row:
    counts = np.full(len(u), each, dtype=np.int32)
    listed = counts.tolist()

    def ours(a: Array) -> complex:
        return complex(libperm.permanent(a, row_multiplicity=listed, col_multiplicity=listed))

    name = f"unitary {len(u)}x{len(u)}, each line {each} times"
    return Row(name, u, ours, {"piquasso": peer_calls.repeated_by_piquasso(counts)})


# ---------------------------------------------------------------- measuring


def each_of(batch: list[Array], call: Call) -> list[complex]:
    return [call(a) for a in batch]


class Timed:
    """Calls of one function, each time as many as fill a slice of time."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.value = call()  # the first may compile
        start = time.perf_counter()
        call()
        self.first = time.perf_counter() - start
        self.calls = max(1, math.ceil(SLICE / self.first))
        self.seconds: list[float] = []

    def take(self) -> None:
        if self.first > 1:  # long enough to be told by one
            self.seconds = [self.first]
            return
        start = time.perf_counter()
        for _ in range(self.calls):
            self.call()
        self.seconds.append((time.perf_counter() - start) / self.calls)


def times_of(row: Row, before: dict[str, float] | None, args: argparse.Namespace) -> dict[str, float]:
    """Seconds a matrix. Who would be too slow, by what the row before took (if any), is left out."""
    batch = list(row.matrix[:200]) if row.count > 1 else [row.matrix]
    timed = {"ours": Timed(lambda: row.ours(row.matrix))}
    values = {"ours": timed["ours"].value}
    for name, call in row.theirs.items():
        if row.growth > 1 and before is not None and before.get(name, math.inf) * row.growth > args.limit:
            row.notes.append(f"{name}: more than {args.limit:.0f} s")
            continue
        timed[name] = Timed(partial(each_of, batch, call))
        values[name] = timed[name].value
    for _ in range(args.rounds):
        for each in timed.values():
            each.take()
    counts = {"ours": row.count}
    seconds = {name: statistics.median(x.seconds) / counts.get(name, len(batch)) for name, x in timed.items()}
    if row.superman and args.superman:
        try:
            runs = [Superman(args.superman).run(row.matrix, 10 * args.limit) for _ in range(3)]
            values["SUPerman"], seconds["SUPerman"] = [runs[0][0]], statistics.median(s for _, s in runs)
        except (ValueError, subprocess.TimeoutExpired) as error:
            row.notes.append(str(error))
    ours = values.pop("ours")
    row.wrong = who_is_apart(np.asarray(ours).reshape(-1)[: len(batch)], values)
    return seconds


def who_is_apart(ours: Array, values: dict[str, list[complex]]) -> dict[str, float]:
    """From ours, and by how much, relatively."""
    found = {}
    for name, theirs in values.items():
        apart = max(abs(complex(y) - complex(x)) / abs(complex(x)) for x, y in zip(ours, theirs, strict=True))
        if not apart <= WRONG:
            found[name] = apart
    return found


def time_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def print_rows(args: argparse.Namespace) -> None:
    names = [*peer_calls.COMPLEX, *(["SUPerman"] if args.superman else [])]
    print(f"| | ours | {' | '.join(names)} | theirs/ours | |\n|{'---|' * (len(names) + 4)}", flush=True)
    before: dict[str, float] | None = None
    ahead = compared = 0
    for row in rows(args.seed):
        if args.only not in row.name:
            before = None
            continue
        before = took = times_of(row, before, args)
        right = {name: x for name, x in took.items() if name != "ours" and name not in row.wrong}
        times = [time_text(took[name]) if name in took else "" for name in names]
        notes = row.notes + [f"wrong: {name}, {apart:.1g} from ours" for name, apart in row.wrong.items()]
        ratio = ""
        if right:
            best = min(right, key=lambda name: right[name])
            ratio = f"{right[best] / took['ours']:.3g}"
            compared += 1
            if right[best] < took["ours"]:
                ahead += 1
                notes = [f"{best} is ahead", *notes]
        cells = [row.name, time_text(took["ours"]), *times, ratio, "; ".join(notes)]
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\n{compared} rows compared, in {ahead} a peer is ahead")
