"""`python -m benchmarks.load_ext EXTENSION [MAGIC CELL [LINE]]`: print the seconds to load it and run a first cell.

The clock starts once the interpreter and its IPython shell are up.
"""

from __future__ import annotations

import sys
import time

from IPython.core.interactiveshell import InteractiveShell

MARK = "seconds: "


def main() -> None:
    """Print the seconds on a separate line, after MARK: extensions print too, some at exit."""
    extension, *cell = sys.argv[1:]
    shell = InteractiveShell.instance()
    started = time.perf_counter()
    shell.run_line_magic("load_ext", extension)
    if cell:
        magic, text, line = (*cell, "")[:3]
        if shell.run_cell_magic(magic, line, text) is None:
            raise RuntimeError(f"%%{magic} returned nothing")
    took = time.perf_counter() - started
    print(f"\n{MARK}{took}")


if __name__ == "__main__":
    main()
