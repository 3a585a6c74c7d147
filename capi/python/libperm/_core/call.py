"""Calls that may be long: Ctrl-C stops them, and what a callback raised is not lost."""

from __future__ import annotations

import threading
from typing import Any, Callable

from libperm._core.errors import CancelledError
from libperm._core.options import Prepared
from libperm._core.stop import Stop


def run(options: Prepared, is_long: bool, call: Callable[[], Any]) -> None:
    """Python handles signals in the main thread only, and not before a foreign call returns: a long one goes
    to another thread, and the main thread waits where it can be interrupted."""
    progress = options.progress
    if progress is None:
        if is_long and threading.current_thread() is threading.main_thread():
            _interruptibly(options.stop, call)
        else:
            call()
        return
    try:
        _interruptibly(options.stop, call)
    except CancelledError:
        progress.raise_what_was_raised()
        raise
    finally:
        progress.close()
    progress.raise_what_was_raised()


def _interruptibly(stop: Stop, call: Callable[[], Any]) -> None:
    failures: list[BaseException] = []
    returned = threading.Event()

    def work() -> None:
        try:
            call()
        except BaseException as failure:
            failures.append(failure)
        finally:
            returned.set()

    threading.Thread(target=work, name="libperm", daemon=True).start()
    try:
        while not returned.wait(0.5):
            pass
    except BaseException:
        stop.set()
        _wait_for(returned)
        stop.clear()
        raise
    if failures:
        raise failures[0]


def _wait_for(returned: threading.Event) -> None:
    """The library stops within a second; an impatient second Ctrl-C must not leave its flag set or unset."""
    while True:
        try:
            returned.wait()
            return
        except KeyboardInterrupt:
            continue
