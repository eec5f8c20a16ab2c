"""A place of a test's own in the folders of a service that it shares with others."""

from __future__ import annotations

import itertools
import os
from typing import Any

from tests.support.service_process import ServiceProcess

_numbers = itertools.count(1)


class Workplace:
    """A folder in `Common`, of either type, and what a test makes in it."""

    def __init__(self, service: ServiceProcess) -> None:
        self.service = service
        self.name = f"place {os.getpid()} {next(_numbers)}"
        self.location = f"Common/{self.name}"
        self.folder_id = self.folder(self.name, parent="Common")
        self.board_folder_id = self.folder(self.name, parent="Common", folder_type="notebook_dashboards")

    def close(self) -> None:
        """Delete what there is."""
        for folder_type in ("notes", "notebook_dashboards"):
            body = {"location": self.location, "type": folder_type}
            self.service.http.request("DELETE", "/folders/delete", json=body)

    def folder(self, name: str, parent: str | None = None, folder_type: str = "notes") -> int:
        body = {"name": name, "location": parent or self.location, "type": folder_type}
        return int(self.post("/folders", body)["id"])

    def note(self, name: str, below: str = "", **fields: Any) -> int:
        return int(self.post("/notebooks", {"name": name, "location": f"{self.location}{below}", **fields})["id"])

    def board(self, name: str, note_id: int) -> int:
        body = {"name": name, "location": self.location, "note_id": note_id}
        return int(self.post("/notebook_dashboard", body)["id"])

    def colleague(self, groups: str = "system-user") -> str:
        """Invite somebody and return their e-mail address."""
        email = f"colleague{os.getpid()}-{next(_numbers)}@example.com"
        self.post("/users/invite_new", {"invitee_email": email, "groups": groups})
        return email

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.service.http.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def names(self, below: str = "", folder_type: str = "notes") -> list[str]:
        """What is in a folder, folders first."""
        params = {"type": folder_type, "location": f"{self.location}{below}", "per_page": 100}
        contents = self.service.http.get("/folders", params=params).json()
        objects = contents.get("notes", []) + contents.get("notebook_dashboards", [])
        return [one["name"] for one in (*contents["folders"], *objects)]
