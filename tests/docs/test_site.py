"""The documentation site: what its generator makes of the code, and what it refuses."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pydantic import Field
from scripts import make_docs, reference_pages

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.service.ground.settings import Settings

ROOT = Path(__file__).parents[2]


class NewMagics(SvcFamily):
    @line_magic
    @argument("--colour", metavar="NAME", choices=("red", "blue"), help="The colour | hue of it.")
    def svc_new(self, line: str) -> None:
        """Do something new."""

    @action("svc_new paint")
    @argument("wall", metavar="WALL", help="What to paint.")
    def paint(self, values: object) -> None:
        """Paint a wall."""


class NewSettings(Settings):
    paint_litres: int = Field(default=3, ge=1)


def test_a_new_magic_appears_with_its_options_and_actions():
    page = reference_pages.magics([NewMagics])
    assert "## `%svc_new`\n\nDo something new." in page
    assert "| `--colour NAME` | The colour \\| hue of it. |" in page
    assert "### `%svc_new paint`\n\nPaint a wall." in page
    assert "| `WALL` | What to paint. |" in page


def test_a_new_setting_appears_with_its_limits_and_default():
    page = reference_pages.settings(NewSettings)
    assert "| `SVC_PAINT_LITRES` | integer ≥ 1 | `3` |  |" in page
    assert "| `SVC_RUNNING_LIMIT` | integer ≥ 1 | 10 per core, at least 20 | commands of an account" in page


def test_a_new_route_appears_with_its_parameters_body_and_answer():
    wall = {"$ref": "#/components/schemas/Wall"}
    document = {
        "info": {"version": "1"},
        "paths": {
            "/api/v1.2/walls": {
                "post": {
                    "tags": ["walls"],
                    "description": "Paint a wall.",
                    "parameters": [
                        {"name": "wait", "in": "query", "schema": {"type": "number", "maximum": 60, "default": 0}},
                        {"name": "X-AUTH-TOKEN", "in": "header", "schema": {"type": "string"}},
                    ],
                    "requestBody": {"content": {"application/json": {"schema": wall}}},
                    "responses": {
                        "200": {"content": {"application/json": {"schema": {"type": "array", "items": wall}}}},
                        "409": {"description": "It is wet"},
                    },
                }
            }
        },
        "components": {
            "schemas": {
                "Wall": {"description": "A wall.", "required": ["id"], "properties": {"id": {"type": "integer"}}}
            }
        },
    }
    page = reference_pages.http(document)
    assert "## Walls\n\n### `POST /api/v1.2/walls`\n\nPaint a wall." in page
    assert "| `wait` | query | number ≤ 60 | `0` |  |" in page
    assert "| `X-AUTH-TOKEN` |" not in page
    assert "Body (`application/json`): [Wall](http-models.md#wall)" in page
    assert "Answer 200: list of [Wall](http-models.md#wall)" in page
    assert "| 409 | It is wet |" in page
    assert "## Wall\n\nA wall.\n\n| Field |" in reference_pages.models(document)


def test_every_route_of_the_service_has_a_section():
    document = reference_pages.openapi()
    page = reference_pages.http(document)
    calls = [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]
    assert [call for call in calls if f"### `{' '.join(call)}`" not in page] == []


def test_every_subcommand_has_a_section_with_its_options():
    page = reference_pages.command_line({"docs": "open it", "token": "make tokens"})
    assert "## `svc-jupyter docs`" in page
    assert "| `--no-browser` | print the address, open nothing |" in page
    assert "### `svc-jupyter token create`" in page


def test_every_resource_of_the_client_is_documented():
    page = reference_pages.client()
    assert "## `client.schedules`\n\n::: svc_jupyter.client.blocking.schedules.Schedules" in page
    assert "## `Forbidden`\n\n::: svc_jupyter.client.Forbidden" in page


def test_every_page_of_the_repository_has_a_place_in_the_navigation():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("notebooks/*.ipynb")]
    names = {page.relative_to(ROOT).with_suffix(".md").as_posix() for page in pages}
    generated = {f"reference/{name}" for name in reference_pages.pages()}
    navigation = tomllib.loads((ROOT / "docs" / "site" / "zensical.toml").read_text())["project"]["nav"]
    assert make_docs.orphans(names | generated, navigation) == []


def test_a_page_without_a_place_in_the_navigation_is_an_orphan():
    navigation = [{"Learn": ["a.md", {"More": [{"B": "b.md"}]}]}]
    assert make_docs.orphans({"a.md", "b.md", "c.md"}, navigation) == ["c.md"]


def test_a_file_that_a_page_loads_from_another_host_is_found(tmp_path: Path):
    (tmp_path / "good.html").write_text('<a href="https://example.com">x</a><script src="assets/a.js"></script>')
    (tmp_path / "bad.html").write_text('<script defer src="https://cdn.example.com/a.js"></script>')
    assert make_docs.loaded_from_elsewhere(tmp_path) == ["bad.html: https://cdn.example.com/a.js"]


def test_a_folder_with_other_files_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "thesis.txt").touch()
    assert make_docs.main([str(tmp_path)]) == 1
    assert "holds other files" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").exists()
