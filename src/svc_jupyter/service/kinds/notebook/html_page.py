"""A notebook as an HTML page, made in its own process: nbconvert costs a second and 100 MB.

python -m svc_jupyter.service.kinds.notebook.html_page NOTEBOOK PAGE

The page loads nothing external: it is shown in a sandbox without a network (`pages.py`).
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from nbconvert.exporters.html import HTMLExporter

_CPU_SECONDS = 120
_MEMORY_BYTES = 4 * 2**30


def main(notebook: Path, page: Path) -> None:
    """Write the page of a notebook."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    exporter = HTMLExporter()  # type: ignore[no-untyped-call]
    body, _ = exporter.from_filename(str(notebook))
    page.write_text(body, "utf-8", errors="xmlcharrefreplace")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
