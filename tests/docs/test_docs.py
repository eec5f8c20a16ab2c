"""The documentation names everything there is, and nothing that is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from svc_jupyter.cli import main as command_line
from svc_jupyter.magics.arguments.options import option_names, parser_of
from svc_jupyter.magics.extension import FAMILIES
from svc_jupyter.magics.session.session import SvcMagics
from svc_jupyter.service.ground.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").glob("*.md")),
]
TOP = ("src", "tests", "labextension", "docs", "notebooks", "scripts", "benchmarks")
MAGICS = {
    name: getattr(family, method)
    for family in FAMILIES
    for names in family.magics.values()
    for name, method in names.items()
}
ACTIONS = {
    f"{magic} {name}": action
    for family in FAMILIES
    for magic, actions in family.actions.items()
    for name, action in actions.items()
}


def section_of(page: str, magic: str) -> str:
    """Return the section of a magic, with the section of what both submitting magics take."""
    sections = re.split(r"^## ", page, flags=re.MULTILINE)
    shared = [text for text in sections if text.startswith("What both take")]
    return "".join([text for text in sections if re.match(rf"`%+{magic}\b", text)] + shared)


def test_every_option_of_a_magic_is_described():
    page = (ROOT / "docs" / "magics.md").read_text()
    missing = []
    for magic, method in (MAGICS | ACTIONS).items():
        text = section_of(page, magic.partition(" ")[0])
        options = [option for option in option_names(parser_of(method)) if option not in ("-h", "--help")]
        missing += [(magic, option) for option in options if f"`{option}" not in text and f" {option} " not in text]
    assert missing == []


def test_every_action_of_a_magic_is_described():
    page = (ROOT / "docs" / "magics.md").read_text()
    parts = [(magic, name) for magic, _, name in (action.partition(" ") for action in ACTIONS)]
    assert len(parts) > 60
    assert [
        (magic, name)
        for magic, name in parts
        if not re.search(rf"%{magic} \[?{re.escape(name)}\b", section_of(page, magic))
    ] == []


def test_every_option_that_is_described_exists():
    known = {option for magic in (MAGICS | ACTIONS).values() for option in option_names(parser_of(magic))}
    described = re.findall(r"(?<![\w-])--[a-z][a-z-]+", (ROOT / "docs" / "magics.md").read_text())
    assert "--label" in described
    assert set(described) - known - {"--help"} == set()


def test_every_setting_of_the_magics_is_described():
    text = (ROOT / "docs" / "magics.md").read_text()
    assert [name for name in SvcMagics.names() if f"| `{name}` |" not in text] == []


def test_the_table_of_settings_is_that_of_the_service():
    described = set(re.findall(r"`SVC_([A-Z_]+)`", (ROOT / "docs" / "operations.md").read_text()))
    assert described == {name.upper() for name in Settings.model_fields}


def test_every_subcommand_is_in_the_readme():
    text = (ROOT / "README.md").read_text()
    assert [name for name in command_line.SUBCOMMANDS if f"svc-jupyter {name}" not in text] == []


def test_links_to_files_lead_somewhere():
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())]
    files = [(page, link) for page, link in links if "://" not in link]
    assert [(page.stem, link) for page, link in files if not (page.parent / link).exists()] == []


_PATH = re.compile(r"(?<![\w./:~-])(?:[\w.-]+/)*(?:[\w-]+\.(?:py|tsx?)\b|(?<=/)[\w-]*)(?![\w/*<{.-])")


@cache
def paths() -> str:
    """Return the files and folders of the repository, each with a line before and after it."""
    inside = [path for top in TOP for path in (ROOT / top).rglob("*") if path.suffix != ".pyc"]
    found = [path.relative_to(ROOT) for path in (*ROOT.iterdir(), *inside)]
    return "\n".join(["", *(f"/{path.as_posix()}" for path in found if "node_modules" not in path.parts), ""])


def spans(page: Path) -> Iterator[str]:
    """Yield what stands between backticks in the text of a page, outside of its blocks of code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"`([^`\n]+)`", text)


def test_paths_of_the_repository_exist():
    assert [(page.stem, name) for page in PAGES for name in missing_paths(page)] == []


def missing_paths(page: Path) -> list[str]:
    """Those that begin at its top, and for maintainers also the ends of paths: `commands/kind.py`, `routes.py`."""
    is_for_maintainers = page.stem in ("CONTRIBUTING", "architecture", "adding-a-command-type")
    named = [name.rstrip("/") for span in spans(page) for name in _PATH.findall(span)]
    wanted = [
        name
        for name in named
        if name.split("/")[0] in TOP or (is_for_maintainers and name.endswith((".py", ".ts", ".tsx")))
    ]
    example = "kinds/count"
    return [name for name in wanted if f"/{name}\n" not in paths() and example not in name]


def test_modules_that_are_run_exist():
    modules = {name for page in PAGES for name in re.findall(r"\bpython -m ([\w.]+)", page.read_text())}
    assert [name for name in sorted(modules) if find_spec(name) is None] == []


_DOCUMENT = re.compile(r"\b([A-Z]{4,})\.md\b|[(;] ?([A-Z]{4,})(?: section \d|: [A-Z`\"])")


def test_nothing_refers_to_a_document_that_users_do_not_have():
    texts = [*PAGES, *ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("labextension/src/**/*.ts*")]
    named = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in texts
        for found in _DOCUMENT.finditer(path.read_text())
        if not (ROOT / f"{found[1] or found[2]}.md").exists()
    ]
    assert named == []
