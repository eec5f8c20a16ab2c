"""The extension: its settings, its connection to the service, its handlers.

A Jupyter Server has one user: under a hub each user has a separate process, environment and token.
"""

from __future__ import annotations

from pathlib import Path

from jupyter_core.paths import jupyter_data_dir
from jupyter_server.extension.application import ExtensionApp
from traitlets import Float, Unicode

from svc_jupyter.server.connection import CONNECTION, ServiceConnection
from svc_jupyter.server.copy_keeper import COPIES, CopiesFile, CopyKeeper
from svc_jupyter.server.handlers.checks import CHECK_HANDLERS
from svc_jupyter.server.handlers.commands import COMMAND_HANDLERS
from svc_jupyter.server.handlers.contents import CONTENTS_HANDLERS
from svc_jupyter.server.handlers.formatting import FORMAT_HANDLERS
from svc_jupyter.server.handlers.notebook_schedules import NOTEBOOK_SCHEDULE_HANDLERS
from svc_jupyter.server.handlers.notes import NOTE_BINDINGS, NOTE_HANDLERS
from svc_jupyter.server.handlers.passed_on import PASS_ON_HANDLERS
from svc_jupyter.server.handlers.schedules import SCHEDULE_HANDLERS
from svc_jupyter.server.handlers.status import STATUS_HANDLERS
from svc_jupyter.server.note_bindings import NoteBindings
from svc_jupyter.server.recent_runs import RECENT_RUNS, RecentRuns
from svc_jupyter.server.runs_by_hand import RUNS_BY_HAND, RunsByHand

ALL_HANDLERS = (
    *STATUS_HANDLERS,
    *COMMAND_HANDLERS,
    *NOTEBOOK_SCHEDULE_HANDLERS,
    *SCHEDULE_HANDLERS,
    *CONTENTS_HANDLERS,
    *NOTE_HANDLERS,
    *CHECK_HANDLERS,
    *FORMAT_HANDLERS,
    *PASS_ON_HANDLERS,
)


class SvcJupyterServer(ExtensionApp):
    """Schedules notebooks, browses the service's contents, moves folders, shows commands, clusters and data."""

    name = "svc_jupyter"
    extension_url = "/lab"
    load_other_extensions = True

    service_url = Unicode(
        "", config=True, help="Address of the service; empty: environment, profile, or this machine's own service."
    )
    profile = Unicode("", config=True, help="Profile of the settings file that holds address and token.")
    answer_seconds = Float(30.0, config=True, help="How long the service may take for an answer, in seconds.")

    def initialize_settings(self) -> None:
        """Create the connection; the first request opens it."""
        connection = ServiceConnection(
            self.service_url or None, profile=self.profile or None, answer_seconds=self.answer_seconds
        )
        kept, root = Path(jupyter_data_dir()) / self.name, self.settings["contents_manager"].root_dir
        self.settings[CONNECTION] = connection
        by_hand = RunsByHand(connection)
        self.settings[RUNS_BY_HAND] = by_hand
        self.settings[RECENT_RUNS] = RecentRuns(connection, by_hand)
        self.settings[COPIES] = CopyKeeper(connection, CopiesFile(kept / "scheduled_copies", root))
        self.settings[NOTE_BINDINGS] = NoteBindings(kept / "note_copies.sqlite", root)

    def initialize_handlers(self) -> None:
        """Register the handlers under `<base_url>svc-jupyter/api/`."""
        for pattern, *handler in ALL_HANDLERS:
            self.handlers.append((rf"/svc-jupyter/api/{pattern}", *handler))

    async def stop_extension(self) -> None:
        """Close the connections to the service, which continues to run."""
        await self.settings[CONNECTION].close()
