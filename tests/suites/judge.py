"""What is made of a suite's tests: the listed ones differ, and what passes has asked for ours."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from suite import Asked, Suite

SEED = 20260101


class Judge:
    """A plugin of pytest. Random numbers are the same in each run: what differs by rounding always does."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.counts: Counter[str] = Counter()
        self.unmatched = {*suite.differences, *suite.left_out}
        self.silent = set(suite.files)
        self.before = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not self._whys(self.suite.left_out, item)]
        for item in items:
            for why in self._whys(self.suite.differences, item):
                item.add_marker(pytest.mark.xfail(reason=why, strict=True))

    def _whys(self, listed: dict[str, str], item: pytest.Item) -> list[str]:
        patterns = [pattern for pattern in listed if re.search(pattern, item.nodeid)]
        self.unmatched -= set(patterns)
        return [listed[pattern] for pattern in patterns]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.counts["skipped"] += 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        np.random.seed(SEED)
        self.before = Asked.count

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        asked = Asked.count > self.before
        if hasattr(report, "wasxfail"):
            self.counts["differ"] += 1
        elif report.failed or report.skipped:
            self.counts[report.outcome] += 1
        elif report.when == "call":
            self.counts["pass" if asked else "ask for nothing of ours"] += 1
        if asked:
            self.silent.discard(str(Path(report.fspath)))

    def complaints(self) -> list[str]:
        found = [f"{self.counts[what]} {what}" for what in ("failed", "skipped") if self.counts[what]]
        found += [f"listed, but no test has such a name: {pattern}" for pattern in sorted(self.unmatched)]
        found += [f"no test of it has asked for ours: {file}" for file in sorted(self.silent)]
        return found
