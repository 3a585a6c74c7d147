"""The flag that stops a call under way."""

from __future__ import annotations

import ctypes

from libperm._core import abi

_atoi = ctypes.cast(ctypes.CDLL(None).atoi, abi.CANCEL_FN)


class Stop:
    """A text, "0" or "1", and C's atoi as the cancel callback that reads it: polling it needs no GIL."""

    function = _atoi

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(b"0")
        self.address = ctypes.addressof(self._text)

    def set(self) -> None:
        self._text[0] = b"1"

    def clear(self) -> None:
        self._text[0] = b"0"
