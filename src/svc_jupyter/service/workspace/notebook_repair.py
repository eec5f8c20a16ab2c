"""What other programs write into notebooks though the format forbids it, put right: functions of JSON of format 4.

Colab, VS Code and Databricks open such files. Nothing that a cell shows is dropped, except the outputs of a cell that
cannot have any; what cannot be read as a notebook is left for the validator to refuse.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

_WITH_IDS = 5
"""Since 4.5 every cell has an id."""
_NEWEST_MINOR = 5
_NOTEBOOK_KEYS = {"nbformat", "nbformat_minor", "metadata", "cells"}
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CELL_KEYS = {
    "code": {"id", "cell_type", "metadata", "source", "outputs", "execution_count"},
    "markdown": {"id", "cell_type", "metadata", "source", "attachments"},
    "raw": {"id", "cell_type", "metadata", "source", "attachments"},
}
_OUTPUT_KEYS = {
    "stream": {"output_type", "name", "text"},
    "display_data": {"output_type", "data", "metadata"},
    "execute_result": {"output_type", "data", "metadata", "execution_count"},
    "error": {"output_type", "ename", "evalue", "traceback"},
}
_JSON_MEDIA_TYPE = re.compile(r"application/(.*\+)?json")

_NO_ID = "cells without an id of their own got one"
_TAGS = "tags that were no list of different words were put right"
_KEYS = "parts at a wrong place were moved into the metadata"
_EMPTY = "parts that such a cell does not have, with nothing in them, were left out"
_OUTPUTS_OF_TEXT = "outputs of cells that are not code were left out"
_OUTPUT = "outputs of a form that notebooks do not have were put into one that they have"
_MISSING = "missing parts were filled in"
_VERSION = "the format became 4.5, which has ids of cells"


def repaired(notebook: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a notebook of format 4 without what other programs commonly get wrong, and the repairs in words.

    The notebook itself stays as it is, and is returned as it is where there is nothing to repair or no list of cells.
    """
    found = dict(notebook)
    done: Counter[str] = Counter()
    if found.get("metadata") is None:
        found["metadata"] = {}
        done[_MISSING] += 1
    _name_kernel(found, done)
    cells = found.get("cells")
    if not isinstance(cells, list) or not isinstance(found["metadata"], dict):
        return found, _words(done)
    is_known = found["nbformat_minor"] <= _NEWEST_MINOR
    strange = found.keys() - _NOTEBOOK_KEYS if is_known else set()
    if strange:
        found["metadata"] = {key: found.pop(key) for key in strange} | found["metadata"]
        done[_KEYS] += 1
    if found["nbformat_minor"] < _WITH_IDS and any(isinstance(cell, dict) and "id" in cell for cell in cells):
        found["nbformat_minor"] = _WITH_IDS
        done[_VERSION] += 1
    found["cells"] = [_cell(cell, is_known, done) if isinstance(cell, dict) else cell for cell in cells]
    if found["nbformat_minor"] >= _WITH_IDS:
        done[_NO_ID] += number_cells(found["cells"])
    return found, _words(done)


def number_cells(cells: list[Any]) -> int:
    """Give each cell without an id of its own one, by its place; return how many they were."""
    seen = {cell["id"] for cell in cells if isinstance(cell, dict) and _is_id(cell.get("id"))}
    taken: set[str] = set()
    changed = 0
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            continue
        if not _is_id(cell.get("id")) or cell["id"] in taken:
            names = (f"cell-{number}{suffix}" for suffix in ("", *(f"-{again}" for again in range(2, len(cells) + 2))))
            cell["id"] = next(name for name in names if name not in seen)
            seen.add(cell["id"])
            changed += 1
        taken.add(cell["id"])
    return changed


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _CELL_ID.fullmatch(value) is not None


def _words(done: Counter[str]) -> list[str]:
    return [words for words, times in done.items() if times]


def _name_kernel(notebook: dict[str, Any], done: Counter[str]) -> None:
    """Give the kernel the name to display that the format demands."""
    metadata = notebook["metadata"]
    spec = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    if isinstance(spec, dict) and isinstance(spec.get("name"), str) and not isinstance(spec.get("display_name"), str):
        notebook["metadata"] = {**metadata, "kernelspec": {**spec, "display_name": spec["name"]}}
        done[_MISSING] += 1


def _cell(cell: Mapping[str, Any], is_known: bool, done: Counter[str]) -> dict[str, Any]:
    found = dict(cell)
    kind = found.get("cell_type")
    if not isinstance(kind, str) or kind not in _CELL_KEYS:
        return found
    wanted: dict[str, Any] = {"metadata": {}, "source": ""}
    if kind == "code":
        wanted |= {"outputs": [], "execution_count": None}
    for key, empty in wanted.items():
        if found.get(key) is None and (key not in found or empty is not None):
            found[key] = empty
            done[_MISSING] += 1
    if not isinstance(found["metadata"], dict):
        return found
    found["metadata"] = dict(found["metadata"])
    _clean_tags(found["metadata"], done)
    if is_known:
        _move_strange_keys(found, _CELL_KEYS[kind], done)
    if kind == "code" and isinstance(found["outputs"], list):
        found["outputs"] = [
            _output(output, is_known, done) if isinstance(output, dict) else output for output in found["outputs"]
        ]
    return found


def _clean_tags(metadata: dict[str, Any], done: Counter[str]) -> None:
    tags = metadata.get("tags", [])
    listed = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    words = [word.strip() for tag in listed if isinstance(tag, str) for word in tag.split(",")]
    clean = list(dict.fromkeys(word for word in words if word))
    if "tags" in metadata and clean != tags:
        metadata["tags"] = clean
        done[_TAGS] += 1


def _move_strange_keys(cell: dict[str, Any], known: set[str], done: Counter[str]) -> None:
    """Move keys that such a cell does not have into its metadata, as far as they say anything."""
    for key in cell.keys() - known:
        value = cell.pop(key)
        if value in (None, [], {}) or key == "execution_count":
            done[_EMPTY] += 1
        elif key == "outputs":
            done[_OUTPUTS_OF_TEXT] += 1
        else:
            cell["metadata"].setdefault(key, value)
            done[_KEYS] += 1
    if "attachments" in cell and cell["attachments"] is None:
        del cell["attachments"]
        done[_EMPTY] += 1


def _output(output: Mapping[str, Any], is_known: bool, done: Counter[str]) -> dict[str, Any]:
    """Return an output in a form of the format; one that has none of its parts becomes its JSON."""
    kind = output.get("output_type")
    if not is_known and isinstance(kind, str):
        return dict(output)
    if not isinstance(kind, str) or kind not in _OUTPUT_KEYS:
        kind = _kind_of(output)
    if kind is None:
        done[_OUTPUT] += 1
        return {"output_type": "display_data", "data": {"application/json": dict(output)}, "metadata": {}}
    found = {key: value for key, value in output.items() if key in _OUTPUT_KEYS[kind]} | {"output_type": kind}
    if kind == "stream":
        _default(found, "name", "stdout")
        _default(found, "text", "")
    elif kind == "error":
        _default(found, "ename", "Error")
        _default(found, "evalue", "")
        _default(found, "traceback", [])
    else:
        _default(found, "metadata", {})
        _default(found, "data", {})
        if isinstance(found["data"], dict):
            found["data"] = {media_type: _value(media_type, value) for media_type, value in found["data"].items()}
        if kind == "execute_result":
            found.setdefault("execution_count", None)
    if found != output:
        done[_OUTPUT] += 1
    return found


def _kind_of(output: Mapping[str, Any]) -> str | None:
    """Return what an output of an unknown type is by its parts."""
    if isinstance(output.get("data"), dict):
        return "display_data"
    if isinstance(output.get("traceback"), list):
        return "error"
    text = output.get("text")
    return "stream" if isinstance(text, str) or (isinstance(text, list) and text) else None


def _default(found: dict[str, Any], key: str, value: Any) -> None:
    if found.get(key) is None:
        found[key] = value


def _value(media_type: str, value: Any) -> Any:
    """Return data as the format has it: JSON for JSON's media types, text or lines for others."""
    is_text = isinstance(value, str) or (isinstance(value, list) and all(isinstance(line, str) for line in value))
    return value if is_text or _JSON_MEDIA_TYPE.fullmatch(media_type) else json.dumps(value)
