"""`make check-deep`: what takes minutes is tried here, and one table at the end says what each part tried."""

from collections.abc import Callable

import pytest

_PROPERTY = "deep"

Tried = Callable[[str, str], None]


@pytest.fixture
def tried(record_property: Callable[[str, object], None]) -> Tried:
    """Say what a test tried, for the table: the part, such as ``fuzz``, and a count, such as ``10,000 files``."""

    def record(part: str, what: str) -> None:
        record_property(_PROPERTY, (part, what))

    return record


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty table."""
    config.pluginmanager.register(_Table(), "deep-table")


class _Table:
    def __init__(self) -> None:
        self._rows: list[tuple[str, str, str, float]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a row for each deep test that ran, in whichever folder and process."""
        if report.when != "call" or "deep" not in report.keywords:
            return
        said = [value for name, value in report.user_properties if name == _PROPERTY]
        name = report.nodeid.rsplit("::", 1)[-1].removeprefix("test_").replace("_", " ")
        for part, what in said or [("", name)]:
            self._rows.append((part, what, report.outcome, report.duration))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table."""
        if not self._rows:
            return
        rows = [("part", "tried", "result", "seconds")]
        rows += [(part, what, result, f"{seconds:.1f}") for part, what, result, seconds in sorted(self._rows)]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        terminalreporter.section("check-deep")
        for row in rows:
            cells = [f"{cell:<{width}}" for cell, width in zip(row[:3], widths, strict=False)]
            terminalreporter.line(f"{'  '.join(cells)}  {row[3]:>{widths[3]}}".rstrip())
