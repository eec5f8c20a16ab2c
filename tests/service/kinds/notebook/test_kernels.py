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


OWN_KERNELS = [
    ([sys.executable, *LAUNCH], []),
    (["python", *LAUNCH], []),
    ([sys.executable, "-Xfrozen_modules=off", *LAUNCH], []),
    ([sys.executable, "-m", "ipykernel", "--a=1", "-f", "{connection_file}", "--b=2"], ["--a=1", "--b=2"]),
]


def test_an_ipython_kernel_of_this_python_is_the_one_that_loses_nothing():
    def started(argv):
        kernel = chosen(argv, env={"A": "b"}).losing_nothing()
        assert kernel.spec.env == {"A": "b"}
        assert chosen(argv).is_ipython
        assert kernel.is_ipython
        return kernel.spec.argv

    assert [(argv, started(argv)) for argv, _ in OWN_KERNELS] == [
        (argv, [sys.executable, kernel_app.PROGRAM, "{connection_file}", *arguments]) for argv, arguments in OWN_KERNELS
    ]


def test_any_other_is_started_from_its_spec():
    others = [
        ["/other/bin/python", *LAUNCH],
        ["env", sys.executable, *LAUNCH],
        [sys.executable, "-X", "dev", *LAUNCH],
        [sys.executable, "-m", "other_kernel", "-f", "{connection_file}"],
        [sys.executable, "-m", "ipykernel_launcher", "{connection_file}"],
        [],
    ]
    assert [chosen(argv).losing_nothing().spec.argv for argv in others] == others


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


def test_without_a_name_it_is_python(specs):
    nameless = ({}, {"kernelspec": {}}, {"kernelspec": {"name": ""}})
    assert [choose(metadata).language for metadata in nameless] == ["python"] * 3


@pytest.mark.parametrize("name", ["nosuch", "../../etc", "a b"])
def test_a_kernel_that_is_not_there_is_reported_with_those_that_are(specs, name):
    with pytest.raises(RunFailure, match=r"installed are installed, .*python3"):
        choose({"kernelspec": {"name": name}})


ENDS = {
    -9: "it was killed by signal 9 (did memory run out?)",
    -15: "it was ended by signal 15",
    0: "it ended by itself, as after exit() or quit()",
    3: "it ended with code 3",
}


def test_how_a_kernel_ended_is_reported():
    assert {code: how_ended(code) for code in ENDS} == ENDS
