"""From a magic to its panel: fetched first, so that a wrong name is the cell's error; closed with the connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.display.progress import in_kernel
from svc_jupyter.magics.session.session import Session, ask
from svc_jupyter.widgets.clusters.model import ClusterModel
from svc_jupyter.widgets.clusters.panel import ClusterPanel, ClusterPanelText
from svc_jupyter.widgets.folders.model import open_folders
from svc_jupyter.widgets.folders.panel import FolderPanel, FolderPanelText
from svc_jupyter.widgets.schedules.model import open_model
from svc_jupyter.widgets.schedules.panel import SchedulePanel, SchedulePanelText

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def schedule_panel(shell: InteractiveShell, session: Session, wanted: str | None) -> SchedulePanel | SchedulePanelText:
    """Return the panel of a schedule, or of all; a text in a terminal."""
    model = ask(lambda: open_model(session.client, wanted), "panel")
    if not in_kernel(shell):
        return SchedulePanelText(model)
    panel = SchedulePanel(model)
    session.at_close(panel.close)
    return panel


def cluster_panel(shell: InteractiveShell, session: Session, model: ClusterModel) -> ClusterPanel | ClusterPanelText:
    """Return the panel of a cluster, or of all; a text in a terminal."""
    if not in_kernel(shell):
        return ClusterPanelText(model)
    panel = ClusterPanel(model)
    session.at_close(panel.close)
    return panel


def folder_panel(
    shell: InteractiveShell, session: Session, folder_type: str, location: str | None
) -> FolderPanel | FolderPanelText:
    """Return the panel of the folders, open at a location; a text in a terminal."""
    model = ask(lambda: open_folders(session.client, folder_type, location), "panel")
    if not in_kernel(shell):
        return FolderPanelText(model)
    panel = FolderPanel(model)
    session.at_close(panel.close)
    return panel
