"""Renews the locks: `python -m svc_jupyter.service.installs.relock LOCK...`, with the paths of lock files.

A `.lock` with `root` lines is resolved from those, with all their dependencies, and sorted by path. One without keeps
its paths and their order; a new line with only a path gets its checksum and size. Comments and keywords stay. Each file
is checked against the checksum beside it in the repository. A `.txt` is resolved from the requirements in its first
lines, such as `# from pyspark[sql]==4.3.0`. The same input gives the same text.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import httpx

from svc_jupyter.service.installs import maven
from svc_jupyter.service.installs.download import CONNECTIONS
from svc_jupyter.service.installs.failures import EngineFailure, RepositoryFailed, WrongChecksum
from svc_jupyter.service.installs.lock import Artifact

_WORDS = ("requires", "root", "without")
_SOURCE = "# from "
_SECONDS = 120.0


def relocked(text: str, repository: str) -> str:
    """Return the text of a `.lock`, resolved and with checksums; raises `EngineFailure`, `httpx.HTTPError`."""
    kept = [line for line in text.splitlines() if line.startswith("#") or line.partition(" ")[0] in _WORDS]
    roots = _values(kept, "root")
    if roots:
        paths = resolve(roots, set(_values(kept, "without")), repository)
    else:
        paths = [line.split()[0] for line in text.splitlines() if line.strip() and line not in kept]
    artifacts = asyncio.run(describe(paths, repository))
    return "\n".join([*kept, *map(str, artifacts)]) + "\n"


def resolve(roots: Sequence[str], without: set[str], repository: str) -> list[str]:
    """Return the sorted paths of the roots (`group:artifact:version`) and all their runtime dependencies."""
    from jgo.maven import Dependency, MavenContext

    with tempfile.TemporaryDirectory(prefix="svc-relock-") as cache:
        maven_context = MavenContext(
            repo_cache=Path(cache), local_repos=[], remote_repos={"repository": repository.rstrip("/")}
        )
        inputs = []
        for root in roots:
            group, artifact, version = root.split(":")
            component = maven_context.project(group, artifact).at_version(version)
            inputs.append(Dependency(component.artifact(), scope="compile", raw=True))
        _, needed = maven_context.resolver.resolve(inputs)
        found = [dependency.artifact for dependency in (*inputs, *needed)]
        return sorted(
            {
                (artifact.component.path_prefix / artifact.filename).as_posix()
                for artifact in found
                if f"{artifact.groupId}:{artifact.artifactId}" not in without
            }
        )


async def describe(paths: Sequence[str], repository: str) -> list[Artifact]:
    """Return the files with checksums and sizes, in the same order."""
    places = asyncio.Semaphore(CONNECTIONS)
    async with httpx.AsyncClient(timeout=_SECONDS, follow_redirects=True) as client:

        async def one(path: str) -> Artifact:
            async with places:
                return await _describe(client, path, repository)

        return list(await asyncio.gather(*map(one, paths)))


async def _describe(client: httpx.AsyncClient, path: str, repository: str) -> Artifact:
    url = httpx.URL(repository).join(path)
    content, beside = await client.get(url), await client.get(f"{url}.sha1")
    for answer in (content, beside):
        if answer.status_code != httpx.codes.OK:
            raise RepositoryFailed(f"{path}: the repository answers {answer.status_code}")
    expected = beside.text.split()[0].lower()
    if hashlib.sha1(content.content).hexdigest() != expected:  # noqa: S324  what repositories have beside every file
        raise WrongChecksum(f"{path}: the content is not what the repository's own checksum says")
    return Artifact(path, hashlib.sha256(content.content).hexdigest(), len(content.content))


def relocked_packages(text: str) -> str:
    """Return the text of a `.txt`, resolved from the requirements in its first lines."""
    from uv import find_uv_bin

    sources = list(takewhile(lambda line: line.startswith(_SOURCE), text.splitlines()))
    wanted = "\n".join(line.removeprefix(_SOURCE) for line in sources)
    command = [find_uv_bin(), "pip", "compile", "-", "--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
    command += ["--universal", "--python-version", "3.11"]
    ended = subprocess.run(command, input=wanted, capture_output=True, text=True, check=True)
    return "\n".join([*sources, ended.stdout])


def main(arguments: Sequence[str]) -> int:
    """Rewrite the given lock files; return 0, or 1 with the reason when one failed."""
    parser = argparse.ArgumentParser(prog="relock", description="Make lock files of engines anew.")
    parser.add_argument("lock", nargs="+", type=Path)
    for file in parser.parse_args(arguments).lock:
        try:
            text = file.read_text()
            repository = maven.repository(os.environ.get("SVC_MAVEN_REPOSITORY"), Path.home())
            new = relocked_packages(text) if file.suffix == ".txt" else relocked(text, repository)
        except (EngineFailure, httpx.HTTPError, OSError, subprocess.CalledProcessError) as error:
            reason = error.stderr if isinstance(error, subprocess.CalledProcessError) else error
            sys.stderr.write(f"{file}: {reason}\n")
            return 1
        sys.stdout.write(f"{file}: {'as it was' if new == text else 'changed'}\n")
        file.write_text(new)
    return 0


def _values(lines: Sequence[str], word: str) -> list[str]:
    return [line.split()[1] for line in lines if line.partition(" ")[0] == word]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
