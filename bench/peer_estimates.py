"""Estimates beside the programs of the papers on rejection and importance sampling, in one run, each on one
thread: seconds to a relative error of epsilon with probability 1 - delta, on their families of matrices.

    git clone https://github.com/Kalakuh/deepar https://github.com/hjuha/nesting ...
    g++ -O3 -march=native DeepAR/deepar.cpp -o adapart    # TASSA 1, DOUBLY_STOCHASTIC 1; "hl": BOUND 1, too
    g++ -O3 -march=native nesting/deepar.cpp -o exthuber  # MAX_N 210, MAX_J 16
    g++ -O3 -march=native nesting-importance-sampling/deepnis.cpp -o deepnis
    python bench/peer_estimates.py --adapart ./adapart --hl ./hl --exthuber ./exthuber --deepnis ./deepnis \
        --edges permanent_adaptive/networkrepository_data/edge_defined

with the package as it stands here (PYTHONPATH=capi/python, PERM_LIBRARY). They need Boost. A program that
takes longer than --limit is stopped, and its time is that; so is that of one that fails. Depth: 16."""

import argparse
import math
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import libperm

DEPTH = 16
Matrix = np.ndarray


def has_matching(a: Matrix) -> bool:
    of_column: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j in np.flatnonzero(a[i]).tolist():
            if j not in seen:
                seen.add(j)
                if j not in of_column or place(of_column[j], seen):
                    of_column[j] = i
                    return True
        return False

    return all(place(i, set()) for i in range(len(a)))


def bernoulli(n: int, p: float) -> Matrix:
    rng = random.Random(f"{n} {p}")
    while True:
        a = np.array([[float(rng.random() < p) for _ in range(n)] for _ in range(n)])
        if has_matching(a):
            return a


def uniform(n: int) -> Matrix:
    random.seed(n)
    return np.array([[random.random() for _ in range(n)] for _ in range(n)])


def block_diagonal(n: int) -> Matrix:
    random.seed(n)
    return np.array([[random.random() if y // 5 == x // 5 else 0.0 for x in range(n)] for y in range(n)])


def staircase(n: int) -> Matrix:
    return np.array([[float(x <= y + 1) for x in range(n)] for y in range(n)])


def permutations(n: int) -> Matrix:
    random.seed(n + 1337)
    a = np.zeros((n, n))
    for _ in range(1 + int(math.log2(n))):
        p = list(range(n))
        random.shuffle(p)
        for j in range(n):
            a[j, p[j]] = random.random()
    return a


def edges(file: Path) -> Matrix:
    """The adjacency matrix of a graph, of those vertices that it names."""
    pairs = [tuple(line.split()[:2]) for line in file.read_text().splitlines() if line[:1].isdigit()]
    names = {name: k for k, name in enumerate(sorted({x for pair in pairs for x in pair}, key=int))}
    a = np.zeros((len(names), len(names)))
    for x, y in pairs:
        a[names[x], names[y]] = a[names[y], names[x]] = 1
    return a


def matrices(sizes: list[int], folder: Path | None) -> Iterator[tuple[str, Matrix]]:
    for n in sizes:
        for p in (0.1, 0.2, 0.5):
            yield f"Bernoulli({p}) {n}", bernoulli(n, p)
        yield f"uniform {n}", uniform(n)
        yield f"block diagonal {n}", block_diagonal(n)
        yield f"staircase {n}", staircase(n)
        yield f"permutations {n}", permutations(n)
    for file in sorted(folder.glob("ENZYMES*.edges")) if folder else []:
        yield file.stem, edges(file)


def rows(a: Matrix) -> str:
    return "\n".join(" ".join(repr(float(x)) for x in row) for row in a)


def run_peer(name: str, program: str, a: Matrix, args: argparse.Namespace) -> tuple[float, float]:
    """Its seconds and the natural logarithm of its estimate; NaN where it has none."""
    n = len(a)
    if name == "deepnis":
        words, text = [program, str(args.epsilon), str(args.delta)], f"{n} {args.limit}\n{rows(a)}\n"
    else:
        depth = min(DEPTH, n - 1)
        words, text = [program], f"{args.epsilon} {args.delta} {depth} {args.limit}\n{n}\n{rows(a)}\n"
    start = time.perf_counter()
    try:
        done = subprocess.run(
            words, input=text, capture_output=True, text=True, timeout=args.limit, check=False
        )
        taken = time.perf_counter() - start
        estimate = float(done.stdout.split()[0])
        failed = done.returncode != 0 or not math.isfinite(estimate)
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        failed = True
    return (args.limit, math.nan) if failed else (taken, estimate)


def run_ours(a: Matrix, args: argparse.Namespace) -> tuple[float, libperm.Estimate | None]:
    start = time.perf_counter()
    try:
        found = libperm.estimate(
            a, epsilon=args.epsilon, delta=args.delta, rng=1, threads=1, time_limit=args.limit
        )
    except libperm.RefusedError:
        return args.limit, None
    return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("adapart", "hl", "exthuber", "deepnis"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--edges", type=Path)
    parser.add_argument("--sizes", default="30,40,60,80,100")
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--limit", type=float, default=60)
    args = parser.parse_args()
    given = {name: getattr(args, name) for name in ("adapart", "hl", "exthuber", "deepnis")}
    peers = {name: program for name, program in given.items() if program}
    print(f"| matrix | {' | '.join(peers)} | libperm | samples | log10 | ratio |")
    print("|" + "---|" * (len(peers) + 5))
    for name, a in matrices([int(n) for n in args.sizes.split(",")], args.edges):
        ours, found = run_ours(a, args)
        times = {peer: run_peer(peer, program, a, args) for peer, program in peers.items()}
        best = min((taken for taken, _ in times.values()), default=math.nan)
        cells = [f"{taken:.2f}" if taken < args.limit else f"> {args.limit:g}" for taken, _ in times.values()]
        if found is None:
            print(f"| {name} | {' | '.join(cells)} | > {args.limit:g} | | | |", flush=True)
            continue
        for peer, (taken, estimate) in times.items():
            far = abs(estimate / math.log(10) - found.value.log10)
            if taken < args.limit and found.value.mantissa and far > 3 * math.log10(1 + args.epsilon):
                print(f"  ({peer}: 10^{estimate / math.log(10):.4f})")
        how = "exact" if found.exact else f"{found.samples}"
        cells += [f"{ours:.3f}", how, f"{found.value.log10:.4f}", f"{best / ours:.0f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
