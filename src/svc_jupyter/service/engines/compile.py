"""Compiling Java source of ours with the Eclipse compiler: a Java without `javac` is enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from svc_jupyter.service.engines.failures import CompilationFailed
from svc_jupyter.service.engines.java import JavaHome
from svc_jupyter.service.engines.process import run

_COMPILER = "org.eclipse.jdt.internal.compiler.batch.Main"
_SECONDS = 120.0


async def compile_java(
    java: JavaHome, compiler: Path, sources: Sequence[Path], jars: Sequence[Path], folder: Path, *, release: int = 17
) -> None:
    """Compile the sources against jars into a folder of classes; raises `CompilationFailed` with the compiler's words.

    Warnings are not told: the libraries are not ours. `release` is the Java that the classes run on at least.
    """
    names = ", ".join(source.name for source in sources)
    arguments = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", str(compiler), _COMPILER]
    arguments += ["-source", str(release), "-target", str(release), "-nowarn", "-proc:none", "-encoding", "UTF-8"]
    arguments += ["-classpath", ":".join(map(str, jars)), "-d", str(folder), *map(str, sources)]
    try:
        ended = await run([java.java, *arguments], seconds=_SECONDS)
    except TimeoutError as error:
        raise CompilationFailed(f"compiling {names} took longer than {_SECONDS:.0f} s: try again") from error
    if ended.code:
        raise CompilationFailed(f"{names} did not compile:\n{ended.output.strip()}")
