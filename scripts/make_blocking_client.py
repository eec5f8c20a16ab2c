"""Make the client that blocks from the one for asyncio: `python -m scripts.make_blocking_client [--check]`.

The common code is written once, in `client/asynchronous`. Each module there, unless its counterpart is written by hand,
is converted to a module of the same name in `client/blocking`: without `async` and `await`, with the names of blocking
code.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_CLIENT = Path(__file__).parents[1] / "src" / "svc_jupyter" / "client"
_SOURCE, _MADE = _CLIENT / "asynchronous", _CLIENT / "blocking"
WRITTEN_BY_HAND = {"__init__.py", "client.py", "reading_ahead.py", "results.py"}
"""Modules whose two forms differ: threads in one, tasks in the other."""
_NOTE = "# Made from asynchronous/{name} by scripts/make_blocking_client.py: change it there.\n"
_REPLACEMENTS = [
    (r"await asyncio\.to_thread\(([\w.]+), ", r"\1("),
    (r"await asyncio\.to_thread\(([\w.]+)\)", r"\1()"),
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"\bclient\.asynchronous\b", "client.blocking"),
    (r"\bCoroutine\[Any, Any, (\w+)\]", r"\1"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\baclosing\b", "closing"),
    (r"\.a(close|read|iter_bytes|iter_sse)\(", r".\1("),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bimport asyncio\b", "import time"),
    (r"  # noqa: ASYNC\d+.*", ""),
]
_TIDY = ["check", "--fix", "--unsafe-fixes", "--exit-zero", "--quiet", "--select", "C416,F401,I,UP028"]


def made_from(name: str, text: str) -> str:
    """Return the formatted blocking module for an asyncio module's text."""
    for pattern, replacement in _REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    end_of_docstring = text.index('"""', 3) + 4
    text = text[:end_of_docstring] + _NOTE.format(name=name) + text[end_of_docstring:]
    place = str(_MADE / name)
    for step in (_TIDY, ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *step, "--stdin-filename", place, "-"]
        text = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    return text


def outdated() -> dict[Path, str]:
    """Return the outdated modules with their new text."""
    wanted = {
        _MADE / source.name: made_from(source.name, source.read_text())
        for source in sorted(_SOURCE.glob("*.py"))
        if source.name not in WRITTEN_BY_HAND
    }
    return {path: text for path, text in wanted.items() if not path.is_file() or path.read_text() != text}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the outdated modules, or with `--check` only list them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when something is outdated")
    check = parser.parse_args(arguments).check
    found = outdated()
    for path, text in found.items():
        print(f"{'outdated' if check else 'made'}: {path.relative_to(_CLIENT)}")  # noqa: T201
        if not check:
            path.write_text(text)
    return 1 if check and found else 0


if __name__ == "__main__":
    sys.exit(main())
