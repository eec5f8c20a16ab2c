"""What a pipeline runs, and its `spark-submit` command line. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from svc_jupyter.api.pipelines import CreateType, PipelineCreate, PipelineUpdate
from svc_jupyter.service.ground.errors import Invalid

DRIVER = Path(__file__).with_name("streaming_driver.py")
"""Runs a pipeline's code in Spark's own Python."""
FIELDS = ("language", "code", "jar_path", "main_class", "user_arguments", "properties", "checkpoint_location")
_CHECKPOINTS = "spark.sql.streaming.checkpointLocation"
_OF_TYPE = {CreateType.CODE: ("jar_path", "main_class"), CreateType.JAR: ("code",)}


def definition_of(body: PipelineCreate) -> dict[str, Any]:
    """Return the definition of a new pipeline."""
    definition = {name: getattr(body, name) for name in FIELDS}
    if body.create_type is CreateType.JAR:
        definition["language"] = None
    return definition | {"properties": _texts(body.properties or {})}


def changed(definition: Mapping[str, Any], create_type: str, update: PipelineUpdate) -> dict[str, Any]:
    """Return the definition with the given attributes. Raises `Invalid` for one that its type does not have."""
    given = {name: value for name in FIELDS if (value := getattr(update, name, None)) is not None}
    for name in _OF_TYPE[CreateType(create_type)]:
        if name in given:
            raise Invalid(f"{name} does not belong to a pipeline of type {create_type}")
    if "properties" in given:
        given["properties"] = _texts(given["properties"])
    return {**definition, **given}


def runs_otherwise(row: Mapping[Any, Any], update: PipelineUpdate) -> bool:
    """Return whether an update changes a pipeline's code, or where it runs."""
    known = {**row["definition"], "cluster_label": row["cluster_label"]}
    given = {name: getattr(update, name, None) for name in known}
    return any(value is not None and value != known[name] for name, value in given.items())


def submit_line(definition: Mapping[str, Any], create_type: str, *, checkpoints: str, code_file: Path) -> str:
    """Return the command line of a run, quoted as a shell does.

    `code_file` holds the pipeline's code, if any. Progress is always kept below `checkpoints`, whatever the properties
    say: from it a resumed run continues.
    """
    properties = {**definition["properties"], _CHECKPOINTS: checkpoints}
    words = [word for name, value in sorted(properties.items()) for word in ("--conf", f"{name}={value}")]
    if create_type == CreateType.JAR:
        words += ["--class", definition["main_class"], definition["jar_path"]]
    else:
        words += [str(DRIVER), str(code_file)]
    return shlex.join(["spark-submit", *words, *shlex.split(definition["user_arguments"] or "")])


def _texts(properties: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in properties.items()}


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
