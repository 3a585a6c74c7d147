"""Calls that may be long: Ctrl-C stops them, and what a callback raised is not lost."""

from __future__ import annotations

import threading
from typing import Any, Callable

from libperm._core.errors import CancelledError
from libperm._core.library import check
from libperm._core.options import Prepared
from libperm._core.stop import Stop


def call(options: Prepared, is_long: bool, function: Any, *arguments: Any) -> None:
    """Calls a function of the library and checks its status. What has an address, by `_as_parameter_`, is
    passed itself, and lives until the call has returned."""
    run(options, is_long, lambda: check(function(*arguments)))


def run(options: Prepared, is_long: bool, call: Callable[[], Any]) -> None:
    """Python handles signals in the main thread only, and not before a foreign call returns: a long one goes
    to another thread, and the main thread waits where it can be interrupted."""
    progress = options.progress
    if progress is None:
        if not is_long:
            call()
        elif threading.current_thread() is threading.main_thread():
            _interruptibly(options.stop, call)
        else:
            with options.stop.under_way(threading.Event()):
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
        with stop.under_way(returned):
            try:
                call()
            except BaseException as failure:
                failures.append(failure)

    threading.Thread(target=work, name="libperm", daemon=True).start()
    try:
        while not returned.wait(0.5):
            pass
    except BaseException:
        stop.stop_all(returned)
        raise
    if failures:
        raise failures[0]
