"""A built wheel holds everything: the service runs from it alone, away from the repository."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.service_process import ServiceProcess

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
