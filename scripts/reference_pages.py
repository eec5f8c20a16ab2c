"""The pages of the documentation that are made from the code: magics, command line, settings, client, HTTP.

Each function returns a page in Markdown. They import the package, and start nothing.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from svc_jupyter.cli.main import SUBCOMMANDS
from svc_jupyter.client import Client
from svc_jupyter.client import __all__ as client_names
from svc_jupyter.magics.arguments.options import parser_of
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.extension import FAMILIES
from svc_jupyter.magics.session.session import SvcMagics
from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.ground.settings import Settings

_ROOT = Path(__file__).parents[1]
_JSON = "application/json"
_REFERENCE = "#/components/schemas/"
_MODELS = "http-models.md"


def pages() -> dict[str, Callable[[], str]]:
    """Return the makers of all pages by file name."""
    return {
        "magics.md": lambda: magics(FAMILIES),
        "command-line.md": lambda: command_line(SUBCOMMANDS),
        "settings.md": lambda: settings(Settings),
        "client.md": client,
        "http.md": lambda: http(openapi()),
        _MODELS: lambda: models(openapi()),
    }


def magics(families: Iterable[type[SvcFamily]]) -> str:
    """Return the page of the magics, with their options from their parsers."""
    parts = [
        "# Magics and their options\n",
        "Made from the parsers of the magics. [The magics](../docs/magics.md) explains them, with examples.\n",
    ]
    for family in families:
        line, cell = (family.magics[kind] for kind in ("line", "cell"))
        for name in dict.fromkeys([*line, *cell]):
            spellings = [f"`{sign}{name}`" for sign, kind in (("%", line), ("%%", cell)) if name in kind]
            parser = parser_of(getattr(family, {**line, **cell}[name]))
            parts += [f"## {', '.join(spellings)}\n", *_of_parser(parser)]
            for action, method in family.actions.get(name, {}).items():
                parts += [f"### `%{name} {action}`\n", *_of_parser(parser_of(method))]
    names = SvcMagics.names()
    traits = SvcMagics.class_traits()
    parts += ["## Settings\n", "`%svc_config` shows and changes them.\n"]
    parts += _table(
        ["Setting", "Default", ""],
        [[_code(name), _shown(traits[name].default_value), traits[name].help] for name in names],
    )
    return "\n".join(parts)


def command_line(subcommands: Mapping[str, str]) -> str:
    """Return the page of the subcommands of `svc-jupyter`, with their options from their parsers."""
    parts = ["# Command line\n", "Made from the parsers of `svc-jupyter`. Every command has `--help`.\n"]
    for name, purpose in subcommands.items():
        parser = argparse.ArgumentParser(prog=f"svc-jupyter {name}", description=purpose)
        importlib.import_module(f"svc_jupyter.cli.{name.replace('-', '_')}").add_arguments(parser)
        parts += _of_command(parser, level=2)
    return "\n".join(parts)


def settings(model: type[Settings]) -> str:
    """Return the page of the service's settings: types, limits and defaults of the model, meanings of the guide."""
    guide = _settings_of_guide((_ROOT / "docs" / "operations.md").read_text("utf-8"))
    properties = model.model_json_schema()["properties"]
    rows = []
    for name, field in model.model_fields.items():
        schema = properties[name]
        variable = f"SVC_{name.upper()}"
        in_words, meaning = guide.get(variable, ("", ""))
        # A default that the machine decides, or that means "none", is explained in the guide.
        plain = not field.is_required() and field.default_factory is None and field.default is not None
        rows.append([_code(variable), _type(schema), _shown(field.default) if plain else in_words, meaning])
    parts = [
        "# Settings of the service\n",
        "Made from the model of the settings. Each is an environment variable of `svc-jupyter serve`.",
        "[Operations](../docs/operations.md#settings) lists them with their defaults in words.\n",
        *_table(["Variable", "Value", "Default", ""], rows),
    ]
    return "\n".join(parts)


def client() -> str:
    """Return the page of the Python client, for mkdocstrings: the client, its resources, and what they return."""
    resources = get_type_hints(Client)
    parts = [
        "# Python client\n",
        "Made from the docstrings of `svc_jupyter.client`. `AsyncClient` has the same methods, with `await`.\n",
        *_documented("Client", "svc_jupyter.client.Client"),
    ]
    for name, kind in resources.items():
        if kind.__module__.startswith("svc_jupyter.client."):
            parts += _documented(f"client.{name}", f"{kind.__module__}.{kind.__qualname__}")
    for name in client_names:
        if name not in ("Client", "AsyncClient", "AsyncCommand", "AsyncResult"):
            parts += _documented(name, f"svc_jupyter.client.{name}")
    return "\n".join(parts)


@cache
def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    document: dict[str, Any] = create_app(Service.of(Settings(data_dir=Path("/nonexistent")))).openapi()
    return document


def http(document: Mapping[str, Any]) -> str:
    """Return the page of the HTTP calls, by tag."""
    by_tag: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            by_tag.setdefault(call.get("tags", ["others"])[0], []).append((method.upper(), path, call))
    parts = [
        "# HTTP calls\n",
        f"Made from the OpenAPI document of version {document['info']['version']}, which a service answers at"
        " `/api/openapi.json`; `/api/docs` of a service lets you try them. Every call takes the token in the header"
        f" `X-AUTH-TOKEN`. [Models]({_MODELS}) lists the fields of bodies and answers.\n",
        "## Errors of all calls\n",
    ]
    calls = [call for group in by_tag.values() for _, _, call in group]
    errors = {
        (code, answer["description"]) for call in calls for code, answer in call["responses"].items() if code >= "400"
    }
    parts += _table(["Status", "Meaning"], [[code, meaning] for code, meaning in sorted(errors)])
    for tag, group in sorted(by_tag.items()):
        parts.append(f"## {tag.capitalize()}\n")
        for method, path, call in group:
            parts += [f"### `{method} {path}`\n", call.get("description", call.get("summary", "")), ""]
            parts += _parameters(call.get("parameters", []))
            parts += _body(call.get("requestBody", {}).get("content", {}))
            parts += _answers(call["responses"])
    return "\n".join(parts)


def models(document: Mapping[str, Any]) -> str:
    """Return the page of the models of bodies and answers."""
    parts = [
        "# Models\n",
        "Made from the OpenAPI document: the fields of bodies and answers of [HTTP calls](http.md).\n",
    ]
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += [f"## {name}\n", schema.get("description", ""), ""]
        parts += _fields(schema) if "properties" in schema else [_type(schema), ""]
    return "\n".join(parts)


def _documented(heading: str, identifier: str) -> list[str]:
    return [f"## `{heading}`\n", f"::: {identifier}\n"]


def _of_command(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    """Yield a section for a command, and one for each of its actions."""
    yield f"{'#' * level} `{parser.prog}`\n"
    yield from _of_parser(parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in dict.fromkeys(action.choices.values()):
                yield from _of_command(sub, level + 1)


def _of_parser(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the description of a parser, its usage, and a table of its arguments."""
    if parser.description:
        yield inspect.cleandoc(parser.description) + "\n"
    usage = parser.format_usage().removeprefix("usage: ").removeprefix("::\n")
    yield f"```text\n{inspect.cleandoc(usage)}\n```\n"
    shown = [
        action
        for action in parser._actions
        if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
    ]
    rows = [[_spelling(action), (action.help or "").replace("%%", "%")] for action in shown]
    yield from _table(["Argument", ""], rows)


def _spelling(action: argparse.Action) -> str:
    values = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    value = values if isinstance(values, str) else " ".join(values)
    if not action.option_strings:
        return _code(value)
    return ", ".join(_code(option if action.nargs == 0 else f"{option} {value}") for option in action.option_strings)


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        [
            _code(one["name"]),
            one["in"],
            _type(one["schema"]),
            "required" if one.get("required") else _shown(one["schema"].get("default")),
            one.get("description", ""),
        ]
        for one in parameters
        if one["name"].upper() != "X-AUTH-TOKEN"
    ]
    return _table(["Parameter", "In", "Type", "Default", ""], rows)


def _body(content: Mapping[str, Any]) -> Iterator[str]:
    for media, entry in content.items():
        variants = entry.get("schema", {}).get("oneOf", [entry.get("schema", {})])
        for schema in variants:
            kind = schema.get("properties", {}).get("command_type", {}).get("const")
            yield f"Body ({_code(media)}): {_code(kind) if kind else _type(schema)}\n"
            if "properties" in schema:
                yield from _fields(schema)


def _answers(responses: Mapping[str, Any]) -> Iterator[str]:
    for code, answer in responses.items():
        if code < "400":
            content = answer.get("content", {})
            kinds = [_type(entry["schema"]) if media == _JSON else _code(media) for media, entry in content.items()]
            yield f"Answer {code}: {' or '.join(kinds) or 'empty'}\n"


def _fields(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required", [])
    rows = [
        [
            _code(name),
            _type(field),
            "required" if name in required else _shown(field.get("default")),
            field.get("description", ""),
        ]
        for name, field in schema["properties"].items()
    ]
    return _table(["Field", "Type", "Default", ""], rows)


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type of a JSON schema in words, with links to models."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}]({_MODELS}#{name.lower()})" if reference.startswith(_REFERENCE) else name
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(_type(one) for one in schema[union]))
    if "enum" in schema or "const" in schema:
        return ", ".join(_shown(value) for value in schema.get("enum", [schema.get("const")]))
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if isinstance(values := schema.get("additionalProperties"), Mapping) and kind == "object":
        return f"object of {_type(values)}"
    return " ".join([_format(schema, kind), *_limits(schema)])


def _format(schema: Mapping[str, Any], kind: str) -> str:
    return f"{kind} ({schema['format']})" if "format" in schema else kind


def _limits(schema: Mapping[str, Any]) -> Iterator[str]:
    signs = {"minimum": "≥", "exclusiveMinimum": "greater than", "maximum": "≤", "exclusiveMaximum": "less than"}
    for name, sign in {**signs, "maxLength": "up to"}.items():
        if name in schema:
            yield f"{sign} {schema[name]:,}" + (" characters" if name == "maxLength" else "")


def _shown(value: Any) -> str:
    """Return a value as code, as JSON if it is no text; an empty text for none."""
    if value is None:
        return ""
    return _code(str(value) if value != "" and not isinstance(value, (bool, list, dict)) else json.dumps(value))


def _settings_of_guide(guide: str) -> dict[str, tuple[str, str]]:
    """Return the default in words and the meaning of each variable in the guide's table."""
    guide = re.sub(r"\]\((?=[a-z_]+\.md)", "](../docs/", guide).replace("](#", "](../docs/operations.md#")
    found = {}
    for line in guide.splitlines():
        if line.startswith("| `SVC_"):
            variables, default, meaning = re.split(r" ?(?<!\\)\| ?", line.strip("| "))
            found.update(dict.fromkeys(re.findall(r"`(SVC_\w+)`", variables), (default, meaning)))
    return found


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table; none without rows."""
    if not rows:
        return []
    lines = [columns, ["---"] * len(columns), *([_cell(text) for text in row] for row in rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _cell(text: str) -> str:
    """Return a text that fits into a cell of a table."""
    outside_code = re.split(r"(`[^`]*`)", " ".join(text.split()))
    escaped = [part if part.startswith("`") else part.replace("<", "&lt;").replace("*", r"\*") for part in outside_code]
    return "".join(escaped).replace("|", r"\|")
