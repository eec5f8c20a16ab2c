"""Which kernel a notebook gets, and which of them loses nothing that a cell prints."""

from __future__ import annotations

import json
import sys

import pytest
from jupyter_client.kernelspec import KernelSpec

from svc_jupyter.service.kinds.notebook import kernel_app
from svc_jupyter.service.kinds.notebook.failures import RunFailure
from svc_jupyter.service.kinds.notebook.kernels import ChosenKernel, choose, how_ended

LAUNCH = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]


def chosen(argv, **spec):
    return ChosenKernel("k", KernelSpec(argv=argv, **spec))


@pytest.mark.parametrize(
    ("argv", "arguments"),
    [
        ([sys.executable, *LAUNCH], []),
        (["python", *LAUNCH], []),
        ([sys.executable, "-Xfrozen_modules=off", *LAUNCH], []),
        ([sys.executable, "-m", "ipykernel", "--a=1", "-f", "{connection_file}", "--b=2"], ["--a=1", "--b=2"]),
    ],
)
def test_an_ipython_kernel_of_this_python_is_the_one_that_loses_nothing(argv, arguments):
    kernel = chosen(argv, env={"A": "b"}).losing_nothing()
    assert kernel.spec.argv == [sys.executable, kernel_app.PROGRAM, "{connection_file}", *arguments]
    assert kernel.spec.env == {"A": "b"}
    assert chosen(argv).is_ipython
    assert kernel.is_ipython


@pytest.mark.parametrize(
    "argv",
    [
        ["/other/bin/python", *LAUNCH],
        ["env", sys.executable, *LAUNCH],
        [sys.executable, "-X", "dev", *LAUNCH],
        [sys.executable, "-m", "other_kernel", "-f", "{connection_file}"],
        [sys.executable, "-m", "ipykernel_launcher", "{connection_file}"],
        [],
    ],
)
def test_any_other_is_started_from_its_spec(argv):
    assert chosen(argv).losing_nothing().spec.argv == argv


def test_a_kernel_that_somebody_else_starts_stays_as_it_is():
    argv = [sys.executable, *LAUNCH]
    elsewhere = {"kernel_provisioner": {"provisioner_name": "cluster", "config": {}}}
    assert chosen(argv, metadata=elsewhere).losing_nothing().spec.argv == argv
    here = {"kernel_provisioner": {"provisioner_name": "local-provisioner"}}
    assert kernel_app.PROGRAM in chosen(argv, metadata=here).losing_nothing().spec.argv


@pytest.fixture
def specs(tmp_path, monkeypatch):
    """Where kernels are installed: one, called `installed`, and what Jupyter always has."""
    folder = tmp_path / "kernels" / "installed"
    folder.mkdir(parents=True)
    spec = {"argv": ["x"], "display_name": "X", "language": "x"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))


def test_the_notebook_names_its_kernel(specs):
    found = choose({"kernelspec": {"name": "installed"}})
    assert (found.name, found.language) == ("installed", "x")


@pytest.mark.parametrize("metadata", [{}, {"kernelspec": {}}, {"kernelspec": {"name": ""}}])
def test_without_a_name_it_is_python(specs, metadata):
    assert choose(metadata).language == "python"


@pytest.mark.parametrize("name", ["nosuch", "../../etc", "a b"])
def test_a_kernel_that_is_not_there_is_reported_with_those_that_are(specs, name):
    with pytest.raises(RunFailure, match=r"installed are installed, .*python3"):
        choose({"kernelspec": {"name": name}})


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (-9, "it was killed by signal 9 (did memory run out?)"),
        (-15, "it was ended by signal 15"),
        (0, "it ended by itself, as after exit() or quit()"),
        (3, "it ended with code 3"),
    ],
)
def test_how_a_kernel_ended_is_reported(code, told):
    assert how_ended(code) == told
