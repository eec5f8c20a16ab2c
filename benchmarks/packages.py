"""A package environment: created, changed, and restored from the installer's cache.

It is compared with the same by hand: a new virtual environment with the same exact versions, by `uv`, and by `venv` and
`pip`. They take turns; all downloads are cached. For R: `install.packages` of the same packages into a new library,
from a repository on the same disk; the packages are built here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from tests.service.packages.r_repository import RRepository
from uv import find_uv_bin

from benchmarks import report
from benchmarks.service import Service

_LIMIT_SECONDS = 3.0
"""The limit for a restore (issue: Speed)."""
_PIP_ROUNDS = 3
"""Few runs: each takes half a minute, and they hardly differ."""
_R_ROUNDS = 3
_R_PACKAGES = 20
"""Each package requires the previous one; every fourth contains C."""
_PACKAGES = ["six==1.16.0", "numpy==2.2.6", "pandas==2.2.3"]


def run(folder: Path, *, quick: bool) -> None:
    """Print the times of the service's calls, up to the end of their activity."""
    rounds = 3 if quick else 15
    repository = _r_repository(folder)
    service = Service(folder / "service")
    service.environment["R_PROFILE_USER"] = str(repository.profile)
    with service:
        base_url, token = service.address
        with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=60) as http:
            http.put("/account/features", json={"package_management": True}).raise_for_status()
            times = _measured(http, folder, rounds)
            r_times = _measured_r(http, folder, repository, rounds)
    _told("an environment with pandas", times)
    _told(f"an environment of R with {_R_PACKAGES} packages", r_times)


def _told(title: str, times: dict[str, list[float]]) -> None:
    first = times.pop("made for the first time")
    rows = [[name, f"{median(taken):.2f}", f"{max(taken):.2f}", str(len(taken))] for name, taken in times.items()]
    rows.insert(0, ["made for the first time", f"{first[0]:.2f}", "", "1"])
    slowest = max(times["gone back to"])
    report.table(title, ["", "median, s", "slowest, s", "rounds"], rows)
    print(f"going back: {slowest:.2f} s at most, the bar is {_LIMIT_SECONDS:g} s: {_judged(slowest)}")


def _judged(seconds: float) -> str:
    return "met" if seconds <= _LIMIT_SECONDS else "missed"


def _measured(http: httpx.Client, folder: Path, rounds: int) -> dict[str, list[float]]:
    began = time.perf_counter()
    made = _posted(http, "/package", {"name": "measured", "packages": _PACKAGES})
    environment = f"/package/{made['id']}"
    first = _ended(http, environment, made["activity"]["id"])
    times: dict[str, list[float]] = {"made for the first time": [time.perf_counter() - began]}
    pins: list[str] = first["lock"]
    by_pip = partial(_by_pip, folder / "pip", pins)
    by_hand: dict[str, Callable[[], None]] = {
        "uv by hand": partial(_by_uv, folder / "uv", pins),
        "venv and pip by hand": by_pip,
    }
    for number in range(rounds):
        version = "1.17.0" if number % 2 == 0 else "1.16.0"
        body = {"packages": [f"six=={version}"]}
        times.setdefault("a package changed", []).append(_timed(http, environment, "packages", body))
        body = {"env_type": "python_package", "package_id": first["id"]}
        times.setdefault("gone back to", []).append(_timed(http, environment, "activity_history", body))
        for name, make in by_hand.items():
            if make is by_pip and number >= _PIP_ROUNDS:
                continue
            began = time.perf_counter()
            make()
            times.setdefault(name, []).append(time.perf_counter() - began)
    return times


def _r_repository(folder: Path) -> RRepository:
    """Return a repository of packages with some hundred functions each."""
    repository = RRepository(folder / "r")
    for number in range(_R_PACKAGES):
        code = "".join(f"svc{number}.f{each} <- function(x) x + {each}\n" for each in range(300))
        files = {"src/code.c": "int unused(void) { return 0; }\n"} if number % 4 == 0 else {}
        needed = {"Imports": f"svc{number - 1}"} if number else {}
        repository.add(f"svc{number}", code=code, files=files, **needed)
    return repository


def _measured_r(http: httpx.Client, folder: Path, repository: RRepository, rounds: int) -> dict[str, list[float]]:
    began = time.perf_counter()
    body = {"name": "of r", "env_type": "r_package", "packages": [f"svc{_R_PACKAGES - 1}"]}
    made = _posted(http, "/package", body)
    environment = f"/package/{made['id']}"
    first = _ended(http, environment, made["activity"]["id"])
    times: dict[str, list[float]] = {"made for the first time": [time.perf_counter() - began]}
    library = folder / "library"
    for number in range(rounds):
        body = {"packages": ["svc0"]}
        times.setdefault("a package added that is there", []).append(_timed(http, environment, "packages", body))
        body = {"env_type": "r_package", "package_id": first["id"]}
        times.setdefault("gone back to", []).append(_timed(http, environment, "activity_history", body))
        if number < _R_ROUNDS:
            library.mkdir()
            began = time.perf_counter()
            program = f"install.packages('svc{_R_PACKAGES - 1}', lib = '{library}', quiet = TRUE)"
            _run("Rscript", "-e", program, environment={"R_PROFILE_USER": str(repository.profile)})
            times.setdefault("install.packages by hand", []).append(time.perf_counter() - began)
            shutil.rmtree(library)
    return times


def _timed(http: httpx.Client, environment: str, what: str, body: dict[str, Any]) -> float:
    began = time.perf_counter()
    begun = _posted(http, f"{environment}/{what}", body)
    _ended(http, environment, begun["activity"]["id"])
    return time.perf_counter() - began


def _posted(http: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = http.post(path, json=body)
    answer.raise_for_status()
    return dict(answer.json())


def _ended(http: httpx.Client, environment: str, activity_id: int) -> dict[str, Any]:
    while True:
        row = http.get(f"{environment}/activity_history", params={"per_page": 1}).json()["activity_history"][0]
        if row["id"] == activity_id and row["status"] == "success":
            return dict(row)
        if row["status"] == "failed":
            raise RuntimeError(row["message"])
        time.sleep(0.02)


def _by_uv(folder: Path, pins: list[str]) -> None:
    uv = find_uv_bin()
    _run(uv, "venv", "--quiet", "--python", sys.executable, str(folder))
    _run(uv, "pip", "install", "--quiet", "--no-deps", "--python", str(folder / "bin" / "python"), *pins)
    shutil.rmtree(folder)


def _by_pip(folder: Path, pins: list[str]) -> None:
    _run(sys.executable, "-m", "venv", str(folder))
    _run(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", *pins)
    shutil.rmtree(folder)


def _run(*arguments: str, environment: Mapping[str, str] | None = None) -> None:
    inherited = {**os.environ, **(environment or {})}
    subprocess.run(arguments, check=True, capture_output=True, cwd="/", env=inherited)
