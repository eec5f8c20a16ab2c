"""The wheel: built, installed into an empty environment, and used from there, away from the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.service_process import ServiceProcess, wait_until

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.timeout(600)
_LOADED = """
from IPython.core.interactiveshell import InteractiveShell
import svc_jupyter
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "svc_jupyter")
assert "svc_shell" in shell.magics_manager.magics["cell"]
print(svc_jupyter.__file__)
"""


def done(*command: object, folder: Path | None = None) -> str:
    """Run a program that must succeed; return what it prints."""
    ended = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, f"{ended.args}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it requires for a service, in the locked versions."""
    folder = tmp_path_factory.mktemp("wheel")
    done(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, folder=ROOT)
    (wheel,) = folder.glob("*.whl")
    made, uv = folder / "environment", [sys.executable, "-m", "uv"]
    done(*uv, "venv", "--quiet", "--python", sys.executable, made)
    versions = ["--constraints", ROOT / "locks" / "demo.txt"]
    done(*uv, "pip", "install", "--quiet", "--python", made / "bin" / "python", *versions, f"{wheel}[service]")
    return made


class InstalledService(ServiceProcess):
    """A service of an environment."""

    def __init__(self, data_dir: Path, environment: Path) -> None:
        super().__init__(data_dir)
        self.python = str(environment / "bin" / "python")


@pytest.mark.gate
def test_a_notebook_loads_the_magics_and_jupyter_finds_the_extensions_and_the_kernel(environment: Path) -> None:
    loaded = done(environment / "bin" / "python", "-I", "-c", _LOADED, folder=environment)
    assert Path(loaded.strip()).is_relative_to(environment)
    shared = environment / "share" / "jupyter"
    assert (shared / "labextensions" / "svc-jupyter-labextension" / "package.json").is_file()
    assert (shared / "kernels" / "svc-spark" / "kernel.json").is_file()
    assert (environment / "etc" / "jupyter" / "jupyter_server_config.d" / "svc_jupyter.json").is_file()


@pytest.mark.gate
def test_the_service_runs_with_its_macros_migrations_and_documentation(environment: Path, tmp_path: Path) -> None:
    service = InstalledService(tmp_path / "data", environment)
    try:
        service.start()
        where = f"{service.python} -c 'import svc_jupyter; print(svc_jupyter.__file__)'"
        macros = [{"year": "moment('2013-02-03').format('YYYY')"}]
        command = service.submit(f"echo $year$; cd /; {where}", macros=macros)
        assert service.ended(command["id"])["status"] == "done"
        year, place = service.text(command["id"]).split()
        assert year == "2013"
        assert Path(place).is_relative_to(environment)
        assert service.http.get(f"{service.base_url}/api/docs/assets/swagger-ui-bundle.js").status_code == 200
    finally:
        service.stop()


@pytest.mark.all  # it needs R
def test_the_service_has_the_script_by_which_r_makes_environments(environment: Path, tmp_path: Path) -> None:
    service = InstalledService(tmp_path / "data", environment)
    try:
        service.start()
        service.http.put("/account/features", json={"package_management": True})
        made = service.http.post("/package", json={"name": "of r", "env_type": "r_package"}).json()
        activity = wait_until(lambda: _ended(service, made["id"]), "the environment is made")
        assert activity["status"] == "success", activity["message"]
    finally:
        service.stop()


def _ended(service: ServiceProcess, environment_id: int) -> dict[str, Any] | None:
    row = service.http.get(f"/package/{environment_id}/activity_history").json()["activity_history"][0]
    return dict(row) if row["status"] in ("success", "failed") else None
