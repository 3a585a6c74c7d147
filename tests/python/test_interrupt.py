"""Ctrl-C during a call of minutes."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import libperm
from libperm._core.call import run
from libperm._core.options import Prepared

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


@pytest.fixture(autouse=True)
def _interrupts():
    """Here, too: what a shell runs beside other things ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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


def polled(stop, seconds):
    """Of a call that looks at the flag once in so many seconds."""

    def call():
        for _ in range(100):
            time.sleep(seconds)
            if stop.function(stop.address):
                raise libperm.CancelledError("stopped")
        pytest.fail("it was not stopped")

    return call


def caught(what, started):
    started.set()
    try:
        what()
    except BaseException as error:
        return error


def beside(what):
    """Runs it in a thread; returns what ends that, and tells what it raised."""
    started, raised = threading.Event(), []
    thread = threading.Thread(target=lambda: raised.append(caught(what, started)))
    thread.start()
    started.wait()

    def end():
        thread.join()
        return raised[0]

    return end


def test_an_interrupt_stops_all_that_run_with_the_same_options():
    """One looks at the flag seldom, and has not yet when the other has returned."""
    options = Prepared({}, None)
    other = beside(lambda: run(options, True, polled(options.stop, 0.5)))
    threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        run(options, True, polled(options.stop, 0.01))
    assert isinstance(other(), libperm.CancelledError)
    assert not options.stop.function(options.stop.address)
    run(options, True, lambda: None)


def test_what_a_callback_raises_stops_all_that_run_with_the_same_options():
    def stop(*_):
        raise ZeroDivisionError

    options = Prepared({"progress": stop}, None)
    other = beside(lambda: run(options, True, polled(options.stop, 0.5)))

    def call():
        options.progress.function(0.5, 1.0, None)
        polled(options.stop, 0.01)()

    with pytest.raises(ZeroDivisionError):
        run(options, True, call)
    assert isinstance(other(), libperm.CancelledError)
    assert not options.stop.function(options.stop.address)


def test_an_interrupt_of_one_execution_stops_all_of_its_plan():
    r = random.Random(1)
    dense = [[r.random() for _ in range(33)] for _ in range(33)]
    plan = libperm.Plan(dense, engine="ryser", threads=1)
    other = beside(plan.permanent)
    threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        plan.permanent()
    assert isinstance(other(), libperm.CancelledError)
