#!/usr/bin/env python3
"""What the choice of an engine costs: the default call's time against the best single engine's.

Each of 60 random matrices is given to `perm compute`, by default and with each engine of the device, in a
process of its own each time. Seconds are `seconds.total`, from the file to the answer, with kernels on disk;
the median where they are few. An engine counts if its bound meets the default tolerance.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import host
from matrices import Matrix, regret_matrices

SHORT = 6.0  # seconds; what takes longer is run once
LEAST_LIMIT = 1.0  # seconds that each engine has at least
PATIENCE = 2.5  # times the best so far, that each has at most
NEARLY_BEST = 1.5  # times the best: what is slower is not run again
FAR_OFF = 20.0  # times the best: what a GPU is predicted to take longer for is not compiled


@dataclass
class Way:
    """To compute a matrix: by the default call on a device, or by one engine."""

    engine: str
    device: str
    seconds: list[float] = field(default_factory=list)
    chosen: str = ""  # by auto
    meets: bool = False
    why_not: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else math.inf

    def ask(self, perm: str, verb: str, file: Path, limit: float) -> dict[str, Any]:
        """What perm answers; where it does not, why_not is set."""
        command = [perm, verb, str(file), "--json", "--engine", self.engine, "--device", self.device]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            self.why_not = f"more than {limit:.3g} s"
            return {}
        answer: dict[str, Any] = json.loads(done.stdout)
        self.why_not = answer["error"]["status"] if "error" in answer else ""
        return answer

    def compile(self, perm: str, file: Path, most: float, limit: float) -> None:
        """Leaves the kernels on disk, unless the plan is predicted to take too long."""
        plan = self.ask(perm, "explain", file, limit)
        if not self.why_not and plan["refused"]:
            self.why_not = "refused"
        elif not self.why_not and plan["predicted_seconds"] > most:
            self.why_not = f"predicted to take {plan['predicted_seconds']:.3g} s"
        if not self.why_not:
            self.ask(perm, "compute", file, limit)

    def time(self, perm: str, file: Path, limit: float) -> None:
        answer = self.ask(perm, "compute", file, limit)
        if self.why_not:
            return
        self.seconds.append(answer["seconds"]["total"])
        self.meets = answer["tolerance_met"]
        self.chosen = answer["engine"] + ("/gpu" if answer["device"] != "cpu" else "")


def measure(matrix: Matrix, args: argparse.Namespace, engines: list[str], folder: Path) -> dict[str, Any]:
    file = folder / f"{matrix.name}.mtx"
    entries = matrix.write(file, args.seed)
    devices = ["cpu", "gpu"] if args.device == "gpu" else ["cpu"]
    default = Way("auto", "auto" if args.device == "gpu" else "cpu")
    single = [Way(engine, device) for engine in engines for device in devices]
    best = math.inf
    for _ in range(args.runs):
        for way in [default, *single]:
            enough = SHORT if way is default else min(SHORT, NEARLY_BEST * best)
            if way.why_not or (way.seconds and way.median > enough):
                continue
            if not way.seconds and way.device != "cpu":
                way.compile(args.perm, file, FAR_OFF * max(LEAST_LIMIT, best), args.limit)
            if not way.why_not:
                way.time(args.perm, file, args.limit if way is default else max(LEAST_LIMIT, PATIENCE * best))
            if way.meets:
                best = min(best, way.median)
    winner = min((way for way in single if way.meets), key=lambda way: way.median, default=None)
    return {
        "matrix": matrix.name,
        "n": matrix.n,
        "entries": entries,
        "kind": matrix.kind,
        "auto": default.chosen if default.meets else default.why_not or "tolerance missed",
        "auto_seconds": default.median if default.meets else None,
        "best": winner.chosen if winner else "none",
        "best_seconds": winner.median if winner else None,
        "ratio": default.median / winner.median if winner and default.meets else None,
        "ways": {f"{w.engine}/{w.device}": w.median if w.seconds else w.why_not for w in [default, *single]},
    }


def cells(row: dict[str, Any]) -> list[str]:
    def number(x: float | None, digits: str) -> str:
        return "" if x is None else format(x, digits)

    return [
        row["matrix"],
        str(row["n"]),
        str(row["entries"]),
        row["kind"],
        row["auto"],
        number(row["auto_seconds"], ".4f"),
        row["best"],
        number(row["best_seconds"], ".4f"),
        number(row["ratio"], ".2f"),
    ]


def print_row(texts: list[str]) -> None:
    print("| " + " | ".join(texts) + " |", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--device",
        choices=["cpu", "gpu"],
        default="cpu",
        help="gpu: every other matrix, also by the processor",
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="matrices with this in their name")
    parser.add_argument("--seed", type=int, default=1, help="of the matrices (default: 1)")
    parser.add_argument(
        "--runs", type=int, default=3, help="of what is short, to take the median of (default: 3)"
    )
    parser.add_argument(
        "--limit", type=float, default=100.0, help="seconds for the default call (default: 100)"
    )
    parser.add_argument("--perm", help="the command (default: the one built here, else that in PATH)")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="keep all times here; what is in it is not run again"
    )
    args = parser.parse_args()
    args.perm = args.perm or host.perm_command()
    return args


def main() -> None:
    args = arguments()
    info = host.this_machine(args.perm)
    kept = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    rows = []
    print_row(["matrix", "n", "entries", "values", "auto", "s", "best engine", "s", "ratio"])
    print("|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for matrix in regret_matrices(every_other=args.device == "gpu"):
            if args.only not in matrix.name:
                continue
            if matrix.name not in kept:
                kept[matrix.name] = measure(matrix, args, info["engines"], Path(folder))
                if args.json:
                    args.json.write_text(json.dumps(kept, indent=1) + "\n")
            rows.append(kept[matrix.name])
            print_row(cells(rows[-1]))
    compared = [row for row in rows if row["ratio"] is not None]
    if not compared:
        raise SystemExit("nothing was compared")
    worst = max(compared, key=lambda row: row["ratio"])
    mean = math.exp(statistics.fmean(math.log(row["ratio"]) for row in compared))
    above = sum(row["ratio"] > 1.3 for row in compared)
    print(
        f"\n{len(compared)} of {len(rows)} compared: worst {worst['ratio']:.2f} ({worst['matrix']}), ", end=""
    )
    print(f"geometric mean {mean:.3f}, {above} above 1.3; seed {args.seed}")
    host.print_foot(host.about(info))


if __name__ == "__main__":
    main()
