"""A notebook as an HTML page, made in its own process: nbconvert costs a second and 100 MB.

python -m svc_jupyter.service.kinds.notebook.html_page NOTEBOOK PAGE

The page loads nothing external: it is shown in a sandbox without a network (`pages.py`).
"""

from __future__ import annotations

import html
import re
import resource
import sys
from collections.abc import Mapping
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from svc_jupyter.service.ground.imports import without_the_grammar_of_addresses

with without_the_grammar_of_addresses():
    from nbconvert.exporters.html import HTMLExporter

_CPU_SECONDS = 120
_MEMORY_BYTES = 4 * 2**30
_ATTACHED = re.compile(r"""(<img\b[^>]*?\ssrc\s*=\s*)(?:"attachment:([^"]*)"|'attachment:([^']*)')""", re.IGNORECASE)


class _Attachments(dict[str, Mapping[str, str]]):
    """A cell's attachments by their names, also quoted as in a URL; one that is missing is an image without data."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Mapping[str, str]:
        return self.get(unquote(name)) or {"image/png": ""}


class _Exporter(HTMLExporter):
    """nbconvert's, which fails at a missing attachment, and does not show that of `<img src="attachment:name">`."""

    @wraps(HTMLExporter.markdown2html)  # with its mark, by which the filter is given the context
    def markdown2html(self, context: Mapping[str, Any], source: str) -> str:
        """Return a markdown cell as HTML, with its attached images in it."""
        attachments = _Attachments(context.get("cell", {}).get("attachments", {}))

        def embedded(found: re.Match[str]) -> str:
            name = html.unescape(found[2] or found[3] or "")
            images = [item for item in attachments[name].items() if item[0].startswith("image/")]
            if not images:
                return found[0]
            media_type, data = images[0]
            return f'{found[1]}"data:{html.escape(media_type)};base64,{html.escape("".join(data.split()))}"'

        page: str = super().markdown2html(
            {"cell": {"attachments": attachments}, "resources": context.get("resources", {})}, source
        )
        return _ATTACHED.sub(embedded, page)


def main(notebook: Path, page: Path) -> None:
    """Write the page of a notebook."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    exporter = _Exporter()  # type: ignore[no-untyped-call]
    body, _ = exporter.from_filename(str(notebook))
    page.write_text(body, "utf-8", errors="xmlcharrefreplace")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
