"""Makes the class list of an engine: `python -m svc_jupyter.service.installs.merge_class_lists LIST... TO.classes.xz`.

The lists are what the engine's JVMs record of the classes they load, with
`JAVA_TOOL_OPTIONS=-XX:DumpLoadedClassList=FOLDER/%p.classes svc-jupyter serve` and a cluster that is started, used and
terminated. The result includes the classes of every JVM: one archive serves all of them.
"""

from __future__ import annotations

import lzma
import re
import sys
from collections.abc import Iterable
from pathlib import Path

_NUMBERS = re.compile(r"\s+(id|super|interfaces):.*")


def merge(texts: Iterable[str]) -> str:
    """Return the lines of all lists, each once, sorted: classes first, then those generated for lambdas.

    Omits classes of other loaders than the system's (`source:`), which an archive for all JVMs cannot hold, and hidden
    classes, which have no name.
    """
    lines: set[str] = set()
    for text in texts:
        for line in text.splitlines():
            if not line or line.startswith("#") or " source:" in line or "+0x" in line:
                continue
            lines.add(_NUMBERS.sub("", line) if not line.startswith("@") else line.rstrip())
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: (line.startswith("@"), line)))


if __name__ == "__main__":
    *_lists, _packed = map(Path, sys.argv[1:])
    _text = merge(file.read_text() for file in _lists)
    _packed.write_bytes(lzma.compress(_text.encode(), preset=9 | lzma.PRESET_EXTREME))
