"""The example of docs/adding-a-command-type.md works: its code, its line and its tests, in a copy of the package."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import end_commands_of
from tests.support.service_process import ServiceProcess

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-command-type.md").read_text()
BLOCKS = dict(re.findall(r"^```python\n# (\S+)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL))
KIND = "src/svc_jupyter/service/kinds/count/kind.py"
KINDS = "src/svc_jupyter/service/application/command_kinds.py"


def examples() -> Mapping[str, Callable[[ServiceProcess], None]]:
    names: dict[str, Any] = {}
    exec(BLOCKS["tests/service/kinds/count/test_count.py"], names)
    return {name: value for name, value in names.items() if name.startswith("test_")}


class ServiceOfCopy(ServiceProcess):
    """A service that runs from another folder than the installed package's."""

    source: Path

    def environment(self) -> Mapping[str, str]:
        return {**super().environment(), "PYTHONPATH": str(self.source)}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service of the package with what the page adds to it."""
    folder = tmp_path_factory.mktemp("count")
    shutil.copytree(ROOT / "src", folder / "src")
    kind = folder / KIND
    kind.parent.mkdir()
    kind.with_name("__init__.py").touch()
    kind.write_text(BLOCKS[KIND])
    kinds = folder / KINDS
    first, imports, rest = kinds.read_text().partition("from svc_jupyter.service.kinds.db_query")
    added = "from svc_jupyter.service.kinds.count.kind import CountKind\n"
    head, opening, tail = f"{first}{added}{imports}{rest}".partition("kinds: list[Kind] = [\n")
    kinds.write_text(f"{head}{opening}{BLOCKS[KINDS]}{tail}")
    service = ServiceOfCopy(folder / "data")
    service.source = folder / "src"
    yield service.start()
    service.kill()
    end_commands_of(service.data_dir)


@pytest.mark.all  # compiling the copy takes 10 s
@pytest.mark.xdist_group("copy-of-the-package")
@pytest.mark.parametrize("name", examples())
def test_the_example_passes_its_own_tests(service: ServiceProcess, name: str):
    examples()[name](service)
