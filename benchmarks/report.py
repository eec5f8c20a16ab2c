"""Tables in plain text, for a terminal or a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.contests import Results

Format = Callable[[float], str]


def milliseconds(seconds: float) -> str:
    """Return seconds as milliseconds."""
    return f"{seconds * 1000:.1f}"


def seconds(value: float) -> str:
    """Return seconds with two decimals."""
    return f"{value:.2f}"


def whole(value: float) -> str:
    """Return a rate or a count without decimals."""
    return f"{value:,.0f}"


def megabytes(size: float) -> str:
    """Return bytes as megabytes (10^6)."""
    return f"{size / 1e6:,.0f}"


def heading(name: str, text: str) -> None:
    """Print the heading of the next measurement."""
    print(f"\n{'=' * 100}\n{name}\n\n{text}")


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: the first column is aligned left, the others right."""
    widths = [max(len(row[place]) for row in (columns, *rows)) for place in range(len(columns))]
    print(f"\n{title}")
    for row in (columns, ["-" * width for width in widths], *rows):
        first, *others = row
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        print("  " + "  ".join(cells).rstrip())


def contest(title: str, unit: str, results: Results, reference: str, show: Format) -> None:
    """Print one row per contestant: its spread, and its ratio to the reference in the same rounds."""
    rows = []
    for name in results.values:
        spread, ratio = results.spread(name), results.ratios(name, reference)
        values = [show(value) for value in (spread.least, spread.median, spread.p95, spread.most)]
        rows.append([name, *values, f"{ratio.median:.2f}", f"{ratio.least:.2f} to {ratio.most:.2f}"])
    rounds = len(next(iter(results.values.values())))
    columns = [f"{unit}, {rounds} rounds", "min", "median", "p95", "max", f"× {reference}", "pair by pair"]
    table(title, columns, rows)
