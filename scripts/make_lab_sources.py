"""Make what the JupyterLab extension shares with Python: `python -m scripts.make_lab_sources [--check]`.

The extension names the records that it reads as `Schemas['CommandRecord']` in `src/service/records`. openapi-typescript
generates their types, and the types they refer to, from the service's OpenAPI document. The icons and words of statuses
come from the tables of the kernel's panels.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hatch_labextension import find_node

from svc_jupyter.api import status_words
from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.widgets.clusters import words

_LAB = Path(__file__).parents[1] / "labextension"
_RECORDS = _LAB / "src" / "service" / "records"
_TYPES = _LAB / "src" / "service" / "openapi.d.ts"
_STATUSES = _LAB / "src" / "statuses.ts"
_MAKER = _LAB / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
_NOTE = "// Made from the OpenAPI document by scripts/make_lab_sources.py: change the models of src/svc_jupyter/api.\n"
_NAMED = re.compile(r"\bSchemas\['(\w+)'\]")
_REFERENCE = "#/components/schemas/"


def types() -> str:
    """Return the TypeScript types of the service's records.

    Raises RuntimeError, with what to do, when Node.js or openapi-typescript is missing or fails.
    """
    node = find_node()
    if node is None or not _MAKER.is_file():
        raise RuntimeError("this needs Node.js and the extension's packages: run `jlpm install` in labextension/")
    document = create_app(Service.of(Settings(data_dir=Path("/nonexistent")))).openapi()
    run = subprocess.run(
        [node, str(_MAKER), "--default-non-nullable=false"],
        cwd=_LAB,
        input=json.dumps(only_named(document, _names_in(_RECORDS.glob("*.ts")))),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if run.returncode != 0:
        raise RuntimeError(f"openapi-typescript failed (exit code {run.returncode}):\n{run.stderr.strip()[-3000:]}")
    return _NOTE + run.stdout.partition("*/\n")[2]


def statuses() -> str:
    """Return a TypeScript module with the icons of statuses, and the words of statuses, types and sources.

    The words are literals in calls of `trans.__`, where the extraction of texts to translate finds them.
    """
    icons = {**status_words.ICONS, **{state.lower(): icon for state, icon in words.ICONS.items()}}
    lines = [
        "// Made from api/status_words.py by scripts/make_lab_sources.py: change it there.",
        "import type { TranslationBundle } from '@jupyterlab/translation';",
        "",
        "/** The icon of each status of clusters, actions and commands, and of each word for a schedule's status. */",
        "export const ICONS: ReadonlyMap<string, string> = new Map([",
        ",\n".join(f"  ['{status}', '{icon}']" for status, icon in icons.items()),
        "]);",
        "",
        *_word_function("wordsOfActions", "each status of an action", status_words.WORDS_OF_ACTIONS),
        *_word_function("wordsOfSchedules", "each status of a schedule", status_words.WORDS_OF_SCHEDULES),
        *_word_function("wordsOfClusters", "each state of a cluster", status_words.WORDS_OF_CLUSTERS),
        *_word_function("wordsOfTypes", "each type of command", status_words.WORDS_OF_TYPES),
        *_word_function("wordsOfSources", "each source of commands", status_words.WORDS_OF_SOURCES),
        "/** Return the word for an action whose command waits. */",
        "export function waitingCommand(trans: TranslationBundle): string {",
        f"  return trans.__('{status_words.WAITING_COMMAND}');",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _word_function(name: str, of: str, table: Mapping[str, str]) -> Iterator[str]:
    yield f"/** Return the word for {of}. */"
    yield f"export function {name}(trans: TranslationBundle): ReadonlyMap<string, string> {{"
    yield "  return new Map(["
    yield ",\n".join(f"    ['{key}', trans.__('{word}')]" for key, word in table.items())
    yield "  ]);"
    yield "}"
    yield ""


def outdated() -> dict[Path, str]:
    """Return the outdated files with their new text."""
    wanted = {_TYPES: types(), _STATUSES: statuses()}
    return {path: text for path, text in wanted.items() if not path.is_file() or path.read_text("utf-8") != text}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the outdated files, or with `--check` only list them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when something is outdated")
    check = parser.parse_args(arguments).check
    found = outdated()
    for path, text in found.items():
        print(f"{'outdated' if check else 'made'}: {path.relative_to(_LAB)}")  # noqa: T201
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and found else 0


def _names_in(files: Iterable[Path]) -> set[str]:
    return {name for file in files for name in _NAMED.findall(file.read_text(encoding="utf-8"))}


def only_named(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the document with only the named schemas and their references, without paths."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    wanted: set[str] = set()
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in wanted:
            wanted.add(name)
            ahead += _references(schemas[name])
    kept = {name: _without_noise(schemas[name]) for name in sorted(wanted)}
    return {"openapi": document["openapi"], "info": document["info"], "paths": {}, "components": {"schemas": kept}}


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(_REFERENCE)
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _without_noise(schema: Any) -> Any:
    """Return a schema without titles, which repeat the names, and without additional properties.

    Other services may send more, but a misspelt field must be an error.
    """
    if isinstance(schema, list):
        return [_without_noise(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    open_ended = {"additionalProperties"} if "properties" in schema else set()
    titles = {key for key, value in schema.items() if key == "title" and isinstance(value, str)}
    return {key: _without_noise(value) for key, value in schema.items() if key not in open_ended | titles}


if __name__ == "__main__":
    sys.exit(main())
