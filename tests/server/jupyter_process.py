"""A real Jupyter Server with the extension, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import httpx
from tests.support.service_process import wait_until

TOKEN = "of-jupyter"
START_SECONDS = 120.0
_END_SECONDS = 15.0
_OTHERS = ("jupyterlab", "jupyter_lsp", "jupyter_server_terminals", "notebook", "notebook_shim")
"""Extensions that other packages switch on: without them it starts in a third of the time."""
_PROGRAM = """
import sys

sys.modules["rfc3987_syntax"] = None  # jsonschema would build a grammar with it for 4 s, for a format that nothing has
from jupyter_server.serverapp import main

main()
"""


def end(process: subprocess.Popen[bytes]) -> None:
    """End a Jupyter Server or JupyterLab."""
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        # A thread of anyio's that read a file as the loop stopped is never told to end: Jupyter Server hangs.
        process.kill()
        process.wait()


class JupyterProcess:
    """`jupyter server` on a root folder, for a service at an address; more of its configuration by `config`."""

    def __init__(self, folder: Path, *, base_url: str, token: str, **config: Any) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.log_file = folder / "jupyter.log"
        self._service = {"SVC_BASE_URL": base_url, "SVC_API_TOKEN": token}
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None
        self._client: httpx.Client | None = None

    def start(self) -> Self:
        """Start it and wait until it listens."""
        self.root.mkdir(parents=True, exist_ok=True)
        settings = {
            "ServerApp": {
                "jpserver_extensions": {"svc_jupyter.server": True, **dict.fromkeys(_OTHERS, False)},
                "root_dir": str(self.root),
                "port": 0,
                "open_browser": False,
                "allow_root": True,
                **self._config.pop("ServerApp", {}),
            },
            "IdentityProvider": {"token": TOKEN},
            **self._config,
        }
        config = self.folder / "jupyter_config.json"
        config.write_text(json.dumps(settings))
        self._prefix = str(settings["ServerApp"].get("base_url", "/"))
        own = {name: str(self.folder / name.lower()) for name in ("HOME", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")}
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, "--config", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **own, **self._service},
            )
        wait_until(self._address, "Jupyter Server listens", START_SECONDS)
        self.base_url = str(self._address())
        self._client = self.client({"Authorization": f"token {TOKEN}"})
        wait_until(self._answers, "Jupyter Server answers", START_SECONDS)
        return self

    @property
    def http(self) -> httpx.Client:
        """A client that is logged in."""
        assert self._client is not None
        return self._client

    def client(self, headers: dict[str, str]) -> httpx.Client:
        """Return a client of the extension's address."""
        return httpx.Client(base_url=f"{self.base_url}svc-jupyter/api", headers=headers, timeout=60, trust_env=False)

    def stop(self) -> None:
        """End it."""
        if self._client is not None:
            self._client.close()
        if self._process is not None:
            end(self._process)
            self._process = None

    def write_notebook(self, path: str, *sources: str) -> None:
        """Save a notebook with these cells under the root folder."""
        cells = [
            {
                "cell_type": "code",
                "id": f"c{number}",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": s,
            }
            for number, s in enumerate(sources)
        ]
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))

    def _address(self) -> str | None:
        assert self._process is not None
        assert self._process.poll() is None, self.log_file.read_text()
        found = re.search(r"http://(?:localhost|127\.0\.0\.1):([1-9]\d*)/", self.log_file.read_text())
        return f"http://127.0.0.1:{found[1]}{self._prefix}" if found else None

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.base_url}api", trust_env=False, timeout=90).is_success
        except httpx.TransportError:
            return False
