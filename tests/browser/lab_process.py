"""A real JupyterLab with the extension, in a process of its own, beside a real service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
from jupyter_core.paths import jupyter_path
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess

_SERVER_EXTENSIONS = {"jupyterlab": True, "svc_jupyter.server": True}
_PREFIX = "/user/ann/"
"""Where a hub serves somebody's Lab: no address of a page may begin at the root."""
_LAB_EXTENSIONS = ("svc-jupyter-labextension", "@jupyter-widgets/jupyterlab-manager")
_NOTEBOOK_EXTENSION = "@jupyter-notebook/lab-extension"
_WITHOUT = {"@jupyterlab/apputils-extension:announcements": True}
"""Asks once in each new profile whether it may fetch news, in front of everything else."""

_OTHER_DEFAULTS = {"@jupyterlab/docmanager-extension:plugin": {"autosave": False}}
"""On a busy machine a test may take the two minutes after which Lab saves by itself, and gets one version more."""


class LabProcess(JupyterProcess):
    """JupyterLab on a root folder, on demand with Notebook 7; a page's own application is `window.jupyterapp` there."""

    def __init__(
        self,
        folder: Path,
        service: ServiceProcess,
        *,
        token: str | None = None,
        has_notebook: bool = False,
        **config: Any,
    ) -> None:
        extensions = (*_LAB_EXTENSIONS, _NOTEBOOK_EXTENSION) if has_notebook else _LAB_EXTENSIONS
        application = {
            "expose_app_in_browser": True,
            "workspaces_dir": str(folder / "workspaces"),
            "user_settings_dir": str(folder / "user-settings"),
            "labextensions_path": [],
            "extra_labextensions_path": [str(_collected(extensions, folder / "labextensions"))],
        }
        super().__init__(
            folder,
            base_url=service.base_url,
            token=service.token if token is None else token,
            ServerApp={
                "base_url": _PREFIX,
                "jpserver_extensions": {**_SERVER_EXTENSIONS, "notebook": has_notebook},
                **config.pop("ServerApp", {}),
            },
            LabApp=application,
            JupyterNotebookApp=application,
            **config,
        )
        self.service = service
        # It asks in each page for a build, which takes the server a second to say no to.
        labconfig = folder / "jupyter_config_dir" / "labconfig"
        labconfig.mkdir(parents=True)
        (labconfig / "page_config.json").write_text(json.dumps({"disabledExtensions": _WITHOUT, "buildCheck": False}))
        (labconfig / "default_setting_overrides.json").write_text(json.dumps(_OTHER_DEFAULTS))

    def end_kernels(self) -> None:
        """End the kernels of all notebooks: each takes memory, and some time even while it idles."""
        for kernel in self._ask("GET", "api/kernels").json():
            self._ask("DELETE", f"api/kernels/{kernel['id']}")

    def change_setting(self, plugin: str, **settings: Any) -> None:
        """Store a user's settings of a Lab plugin; pages that open from now on have them."""
        self._ask("PUT", f"lab/api/settings/{plugin}", json={"raw": json.dumps(settings)})

    def _ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        return self.http.request(method, f"{self.base_url}{path}", **request).raise_for_status()


def _collected(names: tuple[str, ...], folder: Path) -> Path:
    """Link the installed Lab extensions of these names, and no other, into a folder; return it."""
    for name in names:
        found = [place for path in jupyter_path("labextensions") if (place := Path(path) / name).is_dir()]
        if not found:
            raise RuntimeError(f"the Lab extension {name} is not installed: pip install --editable '.[test]'")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(found[0], target_is_directory=True)
    return folder
