"""What follows from the type of an environment."""

from __future__ import annotations

from typing import Final

from svc_jupyter.api.package_environments import EnvironmentType
from svc_jupyter.service.packages.python_requirements import PYTHON
from svc_jupyter.service.packages.r_requirements import R
from svc_jupyter.service.packages.requirements import Requirements

_REQUIREMENTS: Final = {EnvironmentType.PYTHON: PYTHON, EnvironmentType.R: R}
_LANGUAGES: Final = {EnvironmentType.PYTHON: "python", EnvironmentType.R: "r"}


def requirements_of(env_type: str) -> Requirements:
    """Return what may be asked for of an environment."""
    return _REQUIREMENTS[EnvironmentType(env_type)]


def language_of(env_type: str) -> str:
    """Return under which name an environment's packages are listed."""
    return _LANGUAGES[EnvironmentType(env_type)]
