"""Package environments over HTTP on a real service: notebook runs in them, and a service that is killed meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tests.service.packages.local_index import source_package, waiting_for
from tests.service.packages.r_repository import RRepository, svc_packages
from tests.service.packages.r_repository import waiting_for as r_waiting_for
from tests.support.service_process import ServiceProcess, wait_until

ENV = "/package"
SHOWN = "import six, sys; print(six.__version__)"


def begun(service: ServiceProcess, call: str, /, **body: Any) -> dict[str, Any]:
    answer = service.http.post(call, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ended(service: ServiceProcess, environment_id: int) -> dict[str, Any]:
    """Return the newest activity of an environment once it is over."""

    def newest() -> dict[str, Any] | None:
        row = service.http.get(f"{ENV}/{environment_id}/activity_history").json()["activity_history"][0]
        return dict(row) if row["status"] in ("success", "failed") else None

    return dict(wait_until(newest, "the end of an activity", 90))


def write_notebook(service: ServiceProcess, *sources: str, kernel: str = "") -> None:
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    if kernel:
        notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel}
    body = {"type": "notebook", "format": "json", "content": nbformat.from_dict(notebook)}
    assert service.http.put("/jupyter_notebooks/contents/Common/run.ipynb", json=body).status_code == 200


def run_notebook(service: ServiceProcess) -> int:
    return int(begun(service, "/commands", command_type="JupyterNotebookCommand", path="Common/run.ipynb")["id"])


def results(service: ServiceProcess, command_id: int) -> str:
    assert service.ended(command_id, 60)["status"] == "done", service.http.get(f"/commands/{command_id}/logs").text
    return str(service.http.get(f"/commands/{command_id}/results").json()["results"])


def test_a_notebook_run_keeps_its_packages_while_the_environment_goes_back(
    new_service: Callable[..., ServiceProcess], tmp_path: Path
):
    service = new_service().start()
    assert service.http.get(f"{ENV}/list_environments").status_code == 403
    service.http.put("/account/features", json={"package_management": True, "jupyter_notebooks": True})
    made = begun(service, ENV, name="analysis", packages=["six==1.16.0"])
    first = ended(service, made["id"])
    assert first["status"] == "success", first["message"]
    begun(service, f"{ENV}/{made['id']}/packages", packages=["six==1.17.0"])
    begun(service, f"{ENV}/{made['id']}/attach_cluster", cluster_id=1)
    assert ended(service, made["id"])["action"] == "attach_cluster"

    begin, go_on = tmp_path / "begin", tmp_path / "go_on"
    wait = (
        f"import pathlib, time\npathlib.Path({str(begin)!r}).touch()\n"
        f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.02)"
    )
    write_notebook(service, wait, SHOWN)
    running = run_notebook(service)
    wait_until(begin.exists, "the run's first cell")
    answer = begun(service, f"{ENV}/{made['id']}/activity_history", env_type="python_package", package_id=first["id"])
    assert (answer["success"], answer["activity"]["action"]) == (True, "restore")
    assert ended(service, made["id"])["status"] == "success"
    go_on.touch()
    assert results(service, running) == "1.17.0\r\n"
    assert results(service, run_notebook(service)) == "1.16.0\r\n"
    folders = service.data_dir / "environments" / str(made["id"])
    wait_until(lambda: len(list(folders.iterdir())) == 1, "the version that nothing uses is removed")


def test_a_notebook_s_r_has_the_packages_of_the_cluster_s_environment_of_r(
    new_service: Callable[..., ServiceProcess], tmp_path: Path, monkeypatch
):
    monkeypatch.setenv("R_PROFILE_USER", str(svc_packages(tmp_path / "repository").profile))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    kernel = tmp_path / "jupyter" / "kernels" / "svc_r" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    argv = ["R", "--slave", "-e", "IRkernel::main()", "--args", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": argv, "display_name": "R", "language": "R"}))
    service = new_service(r_cache_dir=tmp_path / "cache").start()
    service.http.put("/account/features", json={"package_management": True, "jupyter_notebooks": True})
    for name, env_type, packages in (("of r", "r_package", ["svcbase==1.0"]), ("python", "python_package", [])):
        made = begun(service, ENV, name=name, env_type=env_type, packages=packages)
        begun(service, f"{ENV}/{made['id']}/attach_cluster", cluster_id=1)
        row = ended(service, made["id"])
        assert (row["action"], row["status"]) == ("attach_cluster", "success"), row["message"]
    write_notebook(service, "!Rscript -e 'cat(svcbase::greeting())'")
    command_id = run_notebook(service)
    assert results(service, command_id).strip() == "base 1.0"
    log = service.http.get(f"/commands/{command_id}/logs").text
    assert "R finds environment of r (packages " in log
    assert "Python notebooks run in environment python (packages " in log
    write_notebook(service, "cat(svcbase::greeting())", kernel="svc_r")
    assert results(service, run_notebook(service)).strip() == "base 1.0"


@pytest.mark.parametrize("language", ["python", "r"])
def test_a_killed_service_goes_on_with_a_build_and_shows_no_half_of_it(
    new_service: Callable[..., ServiceProcess], tmp_path: Path, monkeypatch, language: str
):
    begin, go_on, index = tmp_path / "begin", tmp_path / "go_on", tmp_path / "index"
    if language == "python":
        source_package(index, "svcslow", waiting_for(go_on, begin))
        monkeypatch.setenv("UV_FIND_LINKS", str(index))
    else:
        repository = RRepository(index)
        repository.add("svcslow", code=r_waiting_for(go_on, begin))
        monkeypatch.setenv("R_PROFILE_USER", str(repository.profile))
    service = new_service(r_cache_dir=tmp_path / "cache").start()
    service.http.put("/account/features", json={"package_management": True})
    made = begun(service, ENV, name="analysis", env_type=f"{language}_package", packages=["svcslow"])
    wait_until(lambda: begin.exists() and begin.read_text(), "the build of the package")
    service.kill()
    later = new_service(r_cache_dir=tmp_path / "cache").start()
    assert later.http.get(f"{ENV}/{made['id']}/list_packages").json()["packages"] == {language: []}
    go_on.touch()
    row = ended(later, made["id"])
    assert row["status"] == "success", row["message"]
    assert later.http.get(f"{ENV}/{made['id']}/list_packages").json()["packages"] == {language: ["svcslow==1.0"]}
    folders = later.data_dir / "environments" / str(made["id"])
    wait_until(lambda: [folder.name for folder in folders.iterdir()] == [f"{row['id']}-2"], "what was left is removed")
