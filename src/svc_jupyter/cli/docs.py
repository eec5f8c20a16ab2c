"""`svc-jupyter docs`: open the documentation, which is readable without a network."""

from __future__ import annotations

import argparse
import sys
import sysconfig
import webbrowser
from pathlib import Path

IN_WHEEL = Path("share", "doc", "svc-jupyter", "html")
"""Where a wheel that was built with the site installs it, below the environment's folder for data."""
_CLONE = Path(__file__).parents[3]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `docs`."""
    parser.add_argument("--no-browser", action="store_true", help="print the address, open nothing")


def run(arguments: argparse.Namespace) -> int:
    """Print the address of the site's first page and open it; return 1 when it is not on this machine."""
    pages = [
        folder / "index.html" for folder in (_CLONE / "build" / "docs", Path(sysconfig.get_path("data")) / IN_WHEEL)
    ]
    page = next((page for page in pages if page.is_file()), None)
    if page is None:
        print(f"svc-jupyter docs: {how_to_get_it(_CLONE)}", file=sys.stderr)
        return 1
    print(page.as_uri())
    if not arguments.no_browser:
        webbrowser.open(page.as_uri())
    return 0


def how_to_get_it(clone: Path) -> str:
    """Return the command that builds the site; `clone` is the folder above `src`, if the package runs from there."""
    script = clone / "scripts" / "docs.sh"
    if script.is_file():
        return f"the documentation is not built yet: bash {script}"
    return "this package was built without the documentation: in a clone of its source, run bash scripts/docs.sh"
