"""Making the class list of an engine: `python -m svc_jupyter.service.engines.merge_class_lists LIST... > NAME`.

The lists are those that the JVMs of an engine write of the classes they load, which Java does when told:
`JAVA_TOOL_OPTIONS=-XX:DumpLoadedClassList=FOLDER/%p.classes svc-jupyter serve`, then a cluster that is started, used
and terminated. What only one JVM loads is in the result, too: one archive serves all of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

_NUMBERS = re.compile(r"\s+(id|super|interfaces):.*")


def merge(texts: Iterable[str]) -> str:
    """Return the lines of all lists, each once, sorted: classes first, then what is made for lambdas.

    Classes of other loaders than the system's (`source:`) are left out, since an archive for all JVMs cannot hold them;
    so are hidden classes, which have no name to be found by.
    """
    lines: set[str] = set()
    for text in texts:
        for line in text.splitlines():
            if not line or line.startswith("#") or " source:" in line or "+0x" in line:
                continue
            lines.add(_NUMBERS.sub("", line) if not line.startswith("@") else line.rstrip())
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: (line.startswith("@"), line)))


if __name__ == "__main__":
    sys.stdout.write(merge(Path(name).read_text() for name in sys.argv[1:]))
