"""Runs a Python program in the session's own names; returns the value of a last expression."""

from __future__ import annotations

import ast
import linecache
import sys
import traceback
from types import CodeType, ModuleType
from typing import Any

from .failure import CodeFailure, spark_text

FILE = "<program>"
_SHOWN_FRAMES = 20


class PythonNames:
    """The names of a session: the module `__main__` of everything that runs in it."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.module = ModuleType("__main__")
        self.module.__dict__.update(given, __builtins__=__builtins__)
        sys.modules["__main__"] = self.module

    def run(self, code: str, arguments: list[str]) -> Any:
        """Run code; return the value of its last line if that is an expression. Raises `CodeFailure`."""
        sys.argv = ["program", *arguments]
        body, last = _compiled(code)
        linecache.cache[FILE] = (len(code), None, code.splitlines(keepends=True), FILE)
        names = self.module.__dict__
        try:
            exec(body, names)  # noqa: S102  running users' code is what a session is for
            return None if last is None else eval(last, names)  # noqa: S307
        except SystemExit as end:
            if end.code not in (None, 0):
                raise CodeFailure(f"the program ended itself with {end.code!r}") from None
            return None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  whatever the program raises is its failure
            raise _failure(error) from None
        finally:
            sys.stdout.flush()
            sys.stderr.flush()


def _compiled(code: str) -> tuple[CodeType, CodeType | None]:
    try:
        tree = ast.parse(code, FILE)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        value = compile(ast.Expression(last.value), FILE, "eval") if isinstance(last, ast.Expr) else None
        return compile(tree, FILE, "exec"), value
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        text = "".join(traceback.format_exception_only(error)).strip()
        raise CodeFailure(text, line, may_retry=False) from None


def _failure(error: BaseException) -> CodeFailure:
    """Return the failure with the program's lines that led to it, without Spark's own frames."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    line = frames[-1].lineno if frames else None
    shown = "".join(traceback.format_list(frames[-_SHOWN_FRAMES:]))
    if type(error).__module__.startswith(("pyspark.", "py4j.")):
        message = f"{type(error).__name__}: {spark_text(error)}"
    else:
        message = "".join(traceback.format_exception_only(error)).strip()
    return CodeFailure(f"{message}\n{shown}".rstrip(), line)
