"""Names the tests that are too slow for the gate, at the end of a run."""

from __future__ import annotations

import pytest

MOST_SECONDS = 10
"""Of a test in the gate, without its fixtures; a real path of a part may take longer.

It is reported and fails nothing: on a busy machine every test is slow.
"""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print each test without the marker `all` or `gate` that took longer."""
    slow = [
        report
        for report in terminalreporter.getreports("passed")
        if report.when == "call" and report.duration > MOST_SECONDS and not {"all", "gate"} & set(report.keywords)
    ]
    if slow:
        terminalreporter.section(f"SLOWER THAN {MOST_SECONDS} S: faster, or marked `all` with the reason")
        for report in sorted(slow, key=lambda report: -report.duration):
            terminalreporter.write_line(f"{report.duration:.1f} s {report.nodeid}")
