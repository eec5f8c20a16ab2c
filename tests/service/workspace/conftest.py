"""An account with Jupyter notebooks on, and who uses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_jupyter.api.access import Invitation
from svc_jupyter.api.account import FeaturesUpdate
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.workspace.file_tree import FileTree
from svc_jupyter.service.workspace.jupyter_contents import JupyterContents
from svc_jupyter.service.workspace.workspace import Workspace


@pytest.fixture
def access(database: Database, settings: Settings, account_id: int) -> Access:
    return Access.of(database, Bus(database), settings)


@pytest.fixture
async def admin(access: Access) -> Caller:
    return await access.tokens.caller(access.tokens.ensure_service_token(None))


@pytest.fixture
def invite(access: Access, admin: Caller) -> Callable[..., Caller]:
    """Makes a member of the account."""

    def invite(email: str) -> Caller:
        user = access.users.invite(Invitation(invitee_email=email), by=admin)
        return Caller(user.id, admin.account_id, user.email, frozenset(user.groups), token_id=1)

    return invite


@pytest.fixture
def ann(invite: Callable[..., Caller]) -> Caller:
    return invite("ann@example.org")


@pytest.fixture
def bob(invite: Callable[..., Caller]) -> Caller:
    return invite("bob@example.org")


@pytest.fixture
def contents(settings: Settings, database: Database, access: Access, admin: Caller) -> JupyterContents:
    access.accounts.set_features(FeaturesUpdate(jupyter_notebooks=True), by=admin)
    return JupyterContents(settings, database, access.accounts)


@pytest.fixture
def common(settings: Settings, account_id: int) -> Path:
    """The folder `Common` as a shell command finds it."""
    folder = settings.data_dir / "jupyter" / str(account_id) / "common"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> FileTree:
    (tmp_path / "tree").mkdir()
    return FileTree(tmp_path / "tree")


@pytest.fixture
def notebook() -> dict[str, Any]:
    """A small notebook, texts in one piece as a client sends them."""
    cell = {
        "cell_type": "code",
        "id": "first",
        "source": "print(1)\nprint(2)",
        "metadata": {},
        "execution_count": 1,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "1\n2\n"}],
    }
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}


@pytest.fixture
def workspace(database: Database, account_id: int) -> Workspace:
    return Workspace.of(database)
