"""What the tests that were run again have to say: why their first try failed, and which they were."""

from __future__ import annotations

import pytest

_MOST_LINES = 200
"""Of one test: the end, where the failure stands."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print each failure that another try followed, then the flaky tests: run again and passed."""
    tries: list[pytest.TestReport] = terminalreporter.getreports("rerun")
    if not tries:
        return
    terminalreporter.section("FIRST TRIES THAT FAILED")
    for report in tries:
        terminalreporter.write_sep("_", report.nodeid)
        output = "".join(f"\n--- {name} ---\n{text}" for name, text in report.sections)
        lines = f"{report.longreprtext}{output}".splitlines()
        if len(lines) > _MOST_LINES:
            lines = [f"... {len(lines) - _MOST_LINES} lines before", *lines[-_MOST_LINES:]]
        for line in lines:
            terminalreporter.write_line(line)
    failed = {report.nodeid for report in terminalreporter.getreports("failed")}
    terminalreporter.section("FLAKY TESTS")
    for name in sorted({report.nodeid for report in tries} - failed) or ["none: what was run again failed again"]:
        terminalreporter.write_line(name)
