"""The flag that stops the calls under way that share it: executions of one plan do."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from libperm._core import abi

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
