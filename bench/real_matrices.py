"""What two builds of the command make of real matrices: a table of what is answered, predicted and taken.

    python bench/real_matrices.py FOLDER BEFORE AFTER

FOLDER holds Matrix Market files, BEFORE and AFTER are `perm` programs. Seconds are those of the processor
on one thread, of the whole command, reading the file and planning included; what takes longer than LIMIT is
cut off.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LIMIT = 60  # seconds
ON_ONE_THREAD = ["--device", "cpu", "--threads", "1", "--json"]


def run(arguments: list[str]) -> tuple[dict[str, Any], float]:
    """What it prints, and the processor's seconds."""
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return json.loads(text), usage.ru_utime + usage.ru_stime


def readable(seconds: float) -> str:
    for unit, length in (("years", 31557600), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            count = seconds / length
            return f"{count:.0f} {unit}" if count < 1e6 else f"10^{math.log10(count):.0f} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def readable_bytes(count: float) -> str:
    for unit, size in (("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9)):
        if count >= size:
            many = count / size
            if many >= 1000:
                return f"10^{math.log10(count):.0f} bytes"
            return f"{many:.0f} {unit}" if many >= 10 else f"{many:.1f} {unit}"
    return f"{count / 1e6:.2g} MB"


def branches_of(plan: dict[str, Any]) -> dict[str, Any] | None:
    return next((c["branches"] for c in plan.get("candidates", ()) if "branches" in c), None)


def refused(plan: dict[str, Any]) -> str:
    """By how much: the least time of all that was proposed, and its states."""
    known = [c for c in plan.get("candidates", ()) if c.get("seconds") and c.get("states")]
    if not known:
        return "refused"
    best = min(known, key=lambda c: float(c["seconds"]))
    states = math.log2(float(best["states"]))
    if states >= 99.9:
        return "refused, 2^100 states or more"
    time, memory = readable(float(best["seconds"])), readable_bytes(float(best["bytes"]))
    return f"refused: {time}, {memory}, 2^{states:.0f} states"


def answered(perm: str, file: Path, plan: dict[str, Any]) -> str:
    if plan["refused"]:
        return refused(plan)
    predicted = readable(float(plan["predicted_seconds"]))
    if float(plan["predicted_seconds"]) > LIMIT:
        return f"{predicted} predicted"
    answer, seconds = run([perm, "compute", str(file), *ON_ONE_THREAD, "--time-limit", str(LIMIT)])
    taken = "cut off" if "error" in answer else readable(seconds)
    form = "" if plan["engine"] != "frontier" else f" ({plan['form']})"
    return f"{taken}, {predicted} predicted{form}"


def main() -> None:
    folder, before, after = sys.argv[1:]
    shapes = "width; leaves: rows, columns, entries; joins"
    print(f"| matrix | n | entries | largest block | before | with branches | {shapes} |")
    print("|---|---|---|---|---|---|---|")
    for file in sorted(Path(folder).glob("*.mtx")):
        plans = [run([perm, "explain", str(file), *ON_ONE_THREAD])[0] for perm in (before, after)]
        if "n" not in plans[1]:
            continue  # no matrix that the command reads
        both = zip((before, after), plans, strict=True)
        times = [answered(perm, file, plan) for perm, plan in both]
        tree, shape = branches_of(plans[1]), "-"
        if tree:
            leaves = tree["leaves"]
            kinds = ", ".join(str(leaves[kind]) for kind in ("rows", "columns", "entries"))
            shape = f"{tree['width']}; {kinds}; {tree['joins']}"
        block = max((g.get("n", 0) for g in plans[1]["groups"]), default=0)
        row = (file.stem, plans[1]["n"], plans[1]["nnz"], block, *times, shape)
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
