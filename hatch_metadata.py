"""Metadata hook: the project's address, for the package index.

A build reads the address from `PROJECT_URL`, which the release workflow sets to the repository's own. With it the
package has `project.urls`, and the README's links and pictures, which are relative in the repository, become absolute.
Without it the package has no address.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?!https?://|#)(?P<target>[^)\s]+)\)")


class ProjectAddress(MetadataHookInterface):
    """Adds the project's address to the package's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme`, and `urls` if the address is known."""
        url = os.environ.get("PROJECT_URL", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(text, url, self.root) if url else text,
        }
        metadata["urls"] = urls(url) if url else {}


def urls(url: str) -> dict[str, str]:
    """Return the addresses of a project whose repository is at `url`."""
    return {
        "Repository": url,
        "Documentation": f"{url}/tree/HEAD/docs",
        "Changelog": f"{url}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }


def with_absolute_links(text: str, url: str, root: str) -> str:
    """Return a Markdown text of the folder `root` with its relative links as links to the repository at `url`."""

    def absolute(link: re.Match[str]) -> str:
        is_folder = Path(root, link["target"].partition("#")[0]).is_dir()
        kind = "raw" if link["image"] else "tree" if is_folder else "blob"
        return f"{link['image']}[{link['text']}]({url}/{kind}/HEAD/{link['target']})"

    return _LINK.sub(absolute, text)
