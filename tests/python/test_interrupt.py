"""Ctrl-C during a call of minutes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import libperm

PRELUDE = """
import random, sys, libperm
r = random.Random(1)
dense = [[r.random() for _ in range(36)] for _ in range(36)]
plan = libperm.Plan(dense, engine="ryser")
small = libperm.Plan([[1.0, 2.0], [3.0, 4.0]])
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("stopped", flush=True)
print("after", small.permanent(), flush=True)
"""

CALLS = [
    "libperm.permanent(dense, engine='ryser')",
    "plan.permanent()",
    "plan.permanents([sum(dense, [])] * 3)",
    "import numpy; plan.permanents(numpy.array([dense] * 3))",
    "libperm.permanent(dense, engine='ryser', progress=lambda *x: None)",
    "libperm.Periodic([[1] * 19], joined=True, time_limit=float('inf')).permanent(100)",
]


@pytest.mark.parametrize("call", CALLS)
def test_interrupted(call):
    folder = Path(libperm.__file__).parents[1]
    environment = dict(os.environ, PYTHONPATH=f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    child = subprocess.Popen(
        [sys.executable, "-c", PRELUDE.format(call=call)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        # What a shell runs beside other things ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.7)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)  # the call itself would take minutes
    finally:
        child.kill()
    assert out == "stopped\nafter 10.0\n"
    assert child.returncode == 0
