"""A real kernel with the magics loaded, on the shared service; a service with a Spark cluster."""

from __future__ import annotations

import os

import pytest
from tests.integration.kernel_session import KernelSession
from tests.service.packages.r_repository import svc_packages
from tests.support.spark import spark_service


@pytest.fixture
def environment(shared_service, tmp_path):
    """The environment of a kernel that talks to the shared service, with a home of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return clean | {
        "HOME": str(tmp_path),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "SVC_BASE_URL": shared_service.base_url,
        "SVC_API_TOKEN": shared_service.token,
    }


@pytest.fixture
def kernel(environment):
    """A kernel with the extension loaded."""
    session = KernelSession(environment)
    try:
        assert session.run("%load_ext svc_jupyter").status == "ok"
        yield session
    finally:
        session.close()


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A service with a Spark cluster that is UP, for all tests of Spark: they are of one xdist group.

    Its R knows the packages of `svc_packages`.
    """
    folder = tmp_path_factory.mktemp("spark")
    repository = svc_packages(folder / "repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("R_PROFILE_USER", str(repository.profile))
        settings = {"webhook_private_addresses": True, "r_cache_dir": folder / "r-cache"}
        with spark_service(folder / "data", **settings) as service:
            yield service
