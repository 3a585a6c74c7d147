"""The progress option: a bar, or the caller's function."""

from __future__ import annotations

import sys
from typing import Any, Callable

from libperm._core import abi
from libperm._core.stop import Stop

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
        try:
            bar: _Bar | _Text = _Bar()
        except ImportError:
            bar = _Text()
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
    """tqdm's, from the first call to the end."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]

        self._tqdm = tqdm
        self._bar: Any = None

    def show(self, fraction: float, seconds_left: float | None) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=100, desc="permanent", unit="%", bar_format="{l_bar}{bar}{postfix}")
        self._bar.n = 100 * fraction
        self._bar.set_postfix_str("" if seconds_left is None else f"{seconds_left:.0f} s left")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Text:
    def __init__(self) -> None:
        self._shown = False

    def show(self, fraction: float, seconds_left: float | None) -> None:
        self._shown = True
        left = "" if seconds_left is None else f", {seconds_left:.0f} s left"
        print(f"\rpermanent: {100 * fraction:3.0f} %{left}   ", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._shown:
            print(file=sys.stderr)
            self._shown = False
