"""`%load_ext svc_jupyter` and `%unload_ext`."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from svc_jupyter.magics.attaching.attaching import AttachMagics
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.clusters.clusters import ClusterMagics
from svc_jupyter.magics.clusters.environments import EnvironmentMagics
from svc_jupyter.magics.clusters.pipelines import PipelineMagics
from svc_jupyter.magics.commands.composite import CompositeMagics
from svc_jupyter.magics.commands.hadoop import HadoopMagics
from svc_jupyter.magics.commands.history import CommandMagics
from svc_jupyter.magics.commands.notebook_runs import NotebookMagics
from svc_jupyter.magics.commands.pig import PigMagics
from svc_jupyter.magics.commands.queries import QueryMagics
from svc_jupyter.magics.commands.shell import ShellMagics
from svc_jupyter.magics.commands.spark import SparkMagics
from svc_jupyter.magics.completion.completion import magic_matcher
from svc_jupyter.magics.completion.service_names import ServiceNames
from svc_jupyter.magics.completion.sql_cells import sql_matcher
from svc_jupyter.magics.connection import ConnectionMagics
from svc_jupyter.magics.display.errors import tell_interrupts_as_before, tell_interrupts_once
from svc_jupyter.magics.formatting import FormatMagics
from svc_jupyter.magics.plots import PlotMagics
from svc_jupyter.magics.policies.policies import PolicyMagics
from svc_jupyter.magics.schedules.schedules import ScheduleMagics
from svc_jupyter.magics.session.session import Session, SvcMagics
from svc_jupyter.magics.spark_notes import SparkNoteMagics, SparkRunMagics
from svc_jupyter.magics.tables import SensorMagics, TableMagics
from svc_jupyter.magics.taps.taps import TapMagics
from svc_jupyter.magics.workspace.folders import FolderMagics
from svc_jupyter.magics.workspace.notebooks import ContentsMagics
from svc_jupyter.magics.workspace.notes import NoteMagics

FAMILIES: tuple[type[SvcFamily], ...] = (
    ShellMagics,
    QueryMagics,
    PigMagics,
    HadoopMagics,
    SparkMagics,
    TapMagics,
    TableMagics,
    SensorMagics,
    CompositeMagics,
    NotebookMagics,
    ContentsMagics,
    FolderMagics,
    NoteMagics,
    SparkNoteMagics,
    SparkRunMagics,
    PolicyMagics,
    ScheduleMagics,
    ClusterMagics,
    EnvironmentMagics,
    PipelineMagics,
    CommandMagics,
    AttachMagics,
    FormatMagics,
    PlotMagics,
    ConnectionMagics,
)


class Extension:
    """The magics of one shell: their settings, session, families and completion."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.settings = SvcMagics(parent=shell)
        self.session = Session(self.settings)
        self.families = [family(shell, self.session) for family in FAMILIES]
        shell.configurables.append(self.settings)  # type: ignore[arg-type]  # %config takes any Configurable
        shell.register_magics(*self.families)
        magics = {
            name: magic for family in self.families for kind in family.magics.values() for name, magic in kind.items()
        }
        actions = {name: of_magic for family in self.families for name, of_magic in family.actions.items()}
        self._names = {
            kind: [name for family in self.families for name in family.magics[kind]] for kind in ("line", "cell")
        }
        self._matchers = [
            magic_matcher(magics, ServiceNames(self.session), actions),
            sql_matcher(magics, self.session),
        ]
        if shell.Completer is not None:
            shell.Completer.custom_matchers.extend(self._matchers)
        tell_interrupts_once(shell)

    def remove(self) -> None:
        """Remove the magics, the settings and the completion from the shell, and close the connection."""
        for kind, names in self._names.items():
            for name in names:
                self.shell.magics_manager.magics[kind].pop(name, None)
        ours = [self.settings, *self.families]
        self.shell.configurables[:] = [thing for thing in self.shell.configurables if thing not in ours]
        matchers = self.shell.Completer.custom_matchers
        matchers[:] = [matcher for matcher in matchers if matcher not in self._matchers]
        tell_interrupts_as_before(self.shell)
        self.session.close()
