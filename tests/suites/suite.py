"""What a suite is: another package's tests, and this package's functions under the names that they import."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fetching import Source


@dataclass(frozen=True)
class Suite:
    source: Source
    files: tuple[str, ...]  # that hold its tests; in each of them some have to ask for permanents
    replace: Callable[[], None]  # puts ours in the place of theirs, before a test is imported
    # Patterns of tests' names: why they all fail, or say nothing of permanents and are not run.
    differences: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


class Asked:
    """How often ours was called: a test that never does so says nothing of it."""

    count = 0


def asks(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counted(*args: Any, **options: Any) -> Any:
        Asked.count += 1
        return function(*args, **options)

    return counted
