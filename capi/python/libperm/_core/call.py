"""Calls that may be long: Ctrl-C stops them, they show progress, and what a callback raised is not lost."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Callable, Protocol

from libperm._core import abi
from libperm._core.errors import CancelledError
from libperm._core.library import check

# ----------------------------------------------------------------
# The flag that stops the calls under way that share it: executions of one plan do.

_atoi = ctypes.cast(ctypes.CDLL(None).atoi, abi.CANCEL_FN)


class Stop:
    """A text, "0" or "1", and C's atoi as the cancel callback that reads it: polling it needs no GIL."""

    function = _atoi

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(b"0")
        self.address = ctypes.addressof(self._text)
        self._lock = threading.Lock()
        self._running: set[threading.Event] = set()  # each is set when its call has returned
        self._stopping: set[object] = set()  # who waits for them

    @contextmanager
    def under_way(self, returned: threading.Event) -> Iterator[None]:
        with self._lock:
            self._running.add(returned)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(returned)
            returned.set()

    def set(self) -> None:
        self._text[0] = b"1"

    def stop_all(self, *calls: threading.Event) -> None:
        """Stops what is under way, and these calls, and unsets the flag when all have returned: each has met
        it then. They do within a second; an impatient Ctrl-C in the meantime changes nothing."""
        mine = object()
        while True:
            try:
                with self._lock:
                    self._stopping.add(mine)
                    self.set()
                    waited_for = {*self._running, *calls}
                for returned in waited_for:
                    returned.wait()
                with self._lock:
                    self._stopping.discard(mine)
                    if not self._stopping:
                        self._text[0] = b"0"
                return
            except KeyboardInterrupt:
                continue


# ----------------------------------------------------------------
# The progress option: a bar, or the caller's function.

Function = Callable[[float, "float | None"], object]


class Progress:
    """Called from one of the library's threads. What it raises stops the call and is raised there."""

    def __init__(self, show: Function, close: Callable[[], object], stop: Stop) -> None:
        self._show, self.close, self._stop = show, close, stop
        self._raised: BaseException | None = None
        self.function = abi.PROGRESS_FN(self._called)

    @classmethod
    def of(cls, option: Any, stop: Stop) -> Progress | None:
        if option is None or option is False:
            return None
        if not isinstance(option, bool) and not callable(option):
            raise TypeError(f"progress is {option!r}: True, False or a function is expected")
        if option is not True:
            return cls(option, lambda: None, stop)
        bar = _Bar()
        return cls(bar.show, bar.close, stop)

    def _called(self, fraction: float, seconds_left: float, _user: object) -> None:
        try:
            if self._raised is None:
                self._show(fraction, seconds_left if seconds_left >= 0 else None)
        except BaseException as error:
            self._raised = error
        if self._raised is not None:  # again each time: another call's end may have unset it
            self._stop.set()

    def raise_what_was_raised(self) -> None:
        error, self._raised = self._raised, None
        if error is not None:
            self._stop.stop_all()
            raise error


class _Bar:
    """From the first call to the end: tqdm's, or where that is not installed a line of text."""

    def __init__(self) -> None:
        self._make: Any = _Line
        self._bar: Any = None
        with suppress(ImportError):
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]

            self._make = partial(
                tqdm, total=100, desc="permanent", unit="%", bar_format="{l_bar}{bar}{postfix}"
            )

    def show(self, fraction: float, seconds_left: float | None) -> None:
        if self._bar is None:
            self._bar = self._make()
        self._bar.n = 100 * fraction
        self._bar.set_postfix_str("" if seconds_left is None else f"{seconds_left:.0f} s left")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Line:
    n = 0.0

    def set_postfix_str(self, left: str) -> None:
        print(f"\rpermanent: {self.n:3.0f} % {left}   ", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)


# ----------------------------------------------------------------
# Calls of the library's functions.


class Stoppable(Protocol):
    """Options of a call."""

    stop: Stop
    progress: Progress | None


def call(options: Stoppable, is_long: bool, function: Any, *arguments: Any) -> None:
    """Calls a function of the library and checks its status. What has an address, by `_as_parameter_`, is
    passed itself, and lives until the call has returned."""
    run(options, is_long, lambda: check(function(*arguments)))


def run(options: Stoppable, is_long: bool, call: Callable[[], Any]) -> Any:
    """Returns what it returns. Python handles signals in the main thread only, and not before a foreign call
    returns: a long one goes to another thread, and the main thread waits where it can be interrupted."""
    progress = options.progress
    if progress is None:
        if not is_long:
            return call()
        if threading.current_thread() is threading.main_thread():
            return _interruptibly(options.stop, call)
        with options.stop.under_way(threading.Event()):
            return call()
    try:
        found = _interruptibly(options.stop, call)
    except CancelledError:
        progress.raise_what_was_raised()
        raise
    finally:
        progress.close()
    progress.raise_what_was_raised()
    return found


def _interruptibly(stop: Stop, call: Callable[[], Any]) -> Any:
    results: list[Any] = []
    failures: list[BaseException] = []
    returned = threading.Event()

    def work() -> None:
        with stop.under_way(returned):
            try:
                results.append(call())
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
    return results[0]
