"""A built wheel holds everything: the service runs from it alone, away from the repository."""

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.support.service_process import ServiceProcess, wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unpacked_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


class InstalledService(ServiceProcess):
    """A service whose package comes from a folder of its own."""

    def __init__(self, data_dir: Path, package: Path) -> None:
        super().__init__(data_dir)
        self._package = package

    def environment(self):
        return {**super().environment(), "PYTHONPATH": str(self._package), "PYTHONSAFEPATH": "1"}


@pytest.mark.gate
def test_the_service_runs_from_a_wheel_with_its_macros_migrations_and_documentation(
    unpacked_wheel: Path, tmp_path: Path
):
    service = InstalledService(tmp_path / "data", unpacked_wheel)
    try:
        service.start()
        where = f"{sys.executable} -c 'import svc_jupyter; print(svc_jupyter.__file__)'"
        macros = [{"year": "moment('2013-02-03').format('YYYY')"}]
        command = service.submit(f"echo $year$; PYTHONPATH={unpacked_wheel} {where}", macros=macros)
        assert service.ended(command["id"])["status"] == "done"
        year, place = service.text(command["id"]).split()
        assert year == "2013"
        assert Path(place).is_relative_to(unpacked_wheel)
        assert service.http.get(f"{service.base_url}/api/docs/assets/swagger-ui-bundle.js").status_code == 200
    finally:
        service.stop()


def test_the_service_of_a_wheel_has_the_script_by_which_r_makes_environments(unpacked_wheel: Path, tmp_path: Path):
    service = InstalledService(tmp_path / "data", unpacked_wheel)
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
