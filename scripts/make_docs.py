"""Build the documentation site: `python -m scripts.make_docs [OUT]`, by default into `build/docs`.

zensical builds it from a copy of the documents, laid out as in this repository so that their links stay valid, with the
pages of `scripts/reference_pages.py` and the notebooks beside them. The navigation is in `docs/site/zensical.toml`.
Errors are a dead link, a missing anchor, a page that the navigation does not name, and anything that a page would load
from the network.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

from hatch_build import vendor
from nbconvert import MarkdownExporter
from scripts import reference_pages

_ROOT = Path(__file__).parents[1]
_DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "deploy", "notebooks")
_LOCK = "docs/site/javascript.lock.json"
"""Search in pages that are opened as files needs this package."""
_CONFIGURATION = _ROOT / "docs" / "site" / "zensical.toml"
_MARK = "objects.inv"
"""A file of every site that this module has built: a folder with other files in it is not replaced."""

_LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="?(https?://[^">\s]+)|<link\b[^>]*\bhref="?(https?://[^">\s]+)"""
)


def stage(folder: Path) -> None:
    """Copy the documents into the folder, convert the notebooks, and make the pages of the code."""
    vendor(_ROOT, _LOCK)
    for name in _DOCUMENTS:
        copy = shutil.copytree if (_ROOT / name).is_dir() else shutil.copy2
        copy(_ROOT / name, folder / name)
    for notebook in (folder / "notebooks").glob("*.ipynb"):
        text, resources = MarkdownExporter().from_filename(str(notebook))
        notebook.with_suffix(".md").write_text(text, encoding="utf-8")
        for name, content in resources["outputs"].items():
            (notebook.parent / name).write_bytes(content)
    (folder / "reference").mkdir()
    for name, make in reference_pages.pages().items():
        (folder / "reference" / name).write_text(make(), encoding="utf-8")


def orphans(pages: Set[str], navigation: Any) -> list[str]:
    """Return the pages that the navigation does not name, sorted."""
    return sorted(pages - set(_named(navigation)))


def loaded_from_elsewhere(site: Path) -> list[str]:
    """Return what the pages of a site load from other hosts, each after the name of its page."""
    return [
        f"{page.name}: {address}"
        for page in sorted(site.rglob("*.html"))
        for found in _LOADED.finditer(page.read_text("utf-8"))
        for address in found.groups()
        if address
    ]


def build(out: Path) -> int:
    """Build the site into `out`; return 0, or 1 after what is wrong was printed."""
    if out.exists() and any(out.iterdir()) and not (out / _MARK).exists():
        print(f"{out} holds other files: name a new folder, or one with an earlier site", file=sys.stderr)  # noqa: T201
        return 1
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        (scratch / "pages").mkdir()
        stage(scratch / "pages")
        shutil.copy2(_CONFIGURATION, scratch)
        navigation = tomllib.loads(_CONFIGURATION.read_text("utf-8"))["project"]["nav"]
        pages = {path.relative_to(scratch / "pages").as_posix() for path in scratch.rglob("*.md")}
        if found := orphans(pages, navigation):
            print(f"pages without a place in {_CONFIGURATION.name}: {', '.join(found)}", file=sys.stderr)  # noqa: T201
            return 1
        environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(_ROOT / "src")}
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        if subprocess.run(command, cwd=scratch, env=environment, check=False).returncode:
            return 1
        if elsewhere := loaded_from_elsewhere(scratch / "site"):
            print("loaded from the network:", *elsewhere, sep="\n", file=sys.stderr)  # noqa: T201
            return 1
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(scratch / "site", out)
    print(f"{out / 'index.html'}")  # noqa: T201
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("out", nargs="?", type=Path, default=_ROOT / "build" / "docs", help="folder of the site")
    return build(parser.parse_args(arguments).out)


def _named(navigation: Any) -> Iterator[str]:
    if isinstance(navigation, str):
        yield navigation
    else:
        for entry in navigation.values() if isinstance(navigation, dict) else navigation:
            yield from _named(entry)


if __name__ == "__main__":
    sys.exit(main())
