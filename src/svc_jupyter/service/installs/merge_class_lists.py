"""Makes the class list of an engine: `python -m svc_jupyter.service.installs.merge_class_lists LIST... TO.classes.xz`.

The lists are what the engine's JVMs record of the classes they load, with
`JAVA_TOOL_OPTIONS=-XX:DumpLoadedClassList=FOLDER/%p.classes svc-jupyter serve` and a cluster that is started, used and
terminated. One archive serves all of them. `--common N` leaves out classes that fewer than N of the JVMs loaded, where
JVMs differ much: an archive of all classes takes longer to make and more space than the rare ones are worth.
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

_NUMBERS = re.compile(r"\s+(id|super|interfaces):.*")


def merge(texts: Iterable[str], common: int = 1) -> str:
    """Return the lines that at least `common` lists have, sorted: classes first, then those generated for lambdas.

    Omits classes of other loaders than the system's (`source:`), which an archive for all JVMs cannot hold, and hidden
    classes, which have no name.
    """
    counts = Counter(line for text in texts for line in set(_lines(text)))
    lines = [line for line, count in counts.items() if count >= common]
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: (line.startswith("@"), line)))


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line and not line.startswith("#") and " source:" not in line and "+0x" not in line:
            yield line.rstrip() if line.startswith("@") else _NUMBERS.sub("", line)


if __name__ == "__main__":
    _parser = argparse.ArgumentParser()
    _parser.add_argument("lists", nargs="+", type=Path)
    _parser.add_argument("packed", type=Path)
    _parser.add_argument("--common", type=int, default=1)
    _arguments = _parser.parse_args()
    _text = merge((file.read_text() for file in _arguments.lists), _arguments.common)
    _arguments.packed.write_bytes(lzma.compress(_text.encode(), preset=9 | lzma.PRESET_EXTREME))
