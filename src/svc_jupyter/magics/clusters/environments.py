"""`%svc_environment`: packages for commands on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import nearest, output_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.clusters.waits import ActivityWait
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.display.progress import line_for
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    import pandas as pd

    from svc_jupyter.api.package_environments import PackageActivity, PackageEnvironment, PackageList
    from svc_jupyter.client.blocking.package_environments import PackageEnvironments

ENVIRONMENT_COLUMNS = (
    *("id", "name", "env_type", "python_version", "r_version"),
    *("status", "package_id", "cluster_id", "created_at"),
)
HISTORY_COLUMNS = ("id", "action", "status", "packages", "message", "email", "created_at", "finished_at")
PACKAGE_COLUMNS = ("package", "version", "requested")
_HISTORY_ROWS = 100
_the_environment = argument("environment", metavar="ENVIRONMENT", help="Name or id.")
_packages = argument("packages", metavar="PACKAGE", nargs="+", help="Package with its version, such as six==1.16.0.")
_no_wait = argument("--no-wait", action="store_true", help="Do not wait for its end; the history shows how it ended.")


class EnvironmentMagics(SvcFamily):
    """The magic for package environments."""

    @line_magic
    @argument("action", metavar="ACTION", nargs="?", help="What to do (default: list).")
    def svc_environment(self, line: str) -> Any:
        """Manage package environments. Each action has its own options: `%svc_environment add --help`.

        list, packages ENV, create NAME [PACKAGE …], add ENV PACKAGE …, remove ENV PACKAGE …, attach ENV CLUSTER,
        detach ENV, history ENV, restore ENV ROW, delete ENV. Changes wait for their end.
        """
        return self.act("svc_environment", line, "list")

    @action("svc_environment list")
    @output_options
    def list_environments(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the environments as a DataFrame, newest first."""
        return self.shown(values, ask(lambda: environments_frame(self._environments.iter()), "environments"))

    @action("svc_environment packages")
    @_the_environment
    @output_options
    def packages(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the installed packages as a DataFrame; `requested` marks those that were not only needed by others."""
        environment = self._found(values.environment)
        return self.shown(values, packages_frame(ask(lambda: self._environments.packages(environment.id), "packages")))

    @action("svc_environment create")
    @argument("name", metavar="NAME", help="Name; quote a name with spaces.")
    @argument("packages", metavar="PACKAGE", nargs="*", help="Package with its version, such as six==1.16.0.")
    @argument("--python", metavar="VERSION", help="Version of Python (default: that of the service).")
    @argument("--r", action="store_true", help="Packages of R, such as data.table==1.15.4, for the service's R.")
    @_no_wait
    def create(self, values: argparse.Namespace) -> None:
        """Create an environment."""
        if values.r and values.python:
            raise SvcUsageError("svc_environment create: --python and --r are of different environments. Give one.")
        env_type = "r_package" if values.r else "python_package"
        fields = {"env_type": env_type, "python_version": values.python, "packages": values.packages}
        made = ask(lambda: self._environments.create(values.name, **fields), "create")
        if made.activity is not None:
            self._follow(made, made.activity, values)

    @action("svc_environment add")
    @_the_environment
    @_packages
    @_no_wait
    def add(self, values: argparse.Namespace) -> None:
        """Add packages; an installed package gets the requested version."""
        self._change(values, lambda environment: self._environments.add(environment.id, *values.packages))

    @action("svc_environment remove")
    @_the_environment
    @_packages
    @_no_wait
    def remove(self, values: argparse.Namespace) -> None:
        """Remove packages, and those that only they need."""
        self._change(values, lambda environment: self._environments.remove(environment.id, *values.packages))

    @action("svc_environment attach")
    @_the_environment
    @argument("cluster", metavar="CLUSTER", help="Label or id of the cluster.")
    @_no_wait
    def attach(self, values: argparse.Namespace) -> None:
        """Use it for the notebook and Spark runs of a cluster from now on."""
        client = self.session.client()

        def begin(environment: PackageEnvironment) -> PackageActivity:
            return client.package_environments.attach(environment.id, client.clusters.get(values.cluster).id)

        self._change(values, begin)

    @action("svc_environment detach")
    @_the_environment
    @_no_wait
    def detach(self, values: argparse.Namespace) -> None:
        """Stop using it for the runs of its cluster."""
        self._change(values, lambda environment: self._environments.detach(environment.id))

    @action("svc_environment history")
    @_the_environment
    @output_options
    def history(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return its changes as a DataFrame, newest first: who, what, and how they ended."""
        environment = self._found(values.environment)
        rows = ask(lambda: self._environments.history(environment.id, per_page=_HISTORY_ROWS), "history")
        return self.shown(values, history_frame(rows.activity_history))

    @action("svc_environment restore")
    @_the_environment
    @argument("row", metavar="ROW", type=int, help="Id of a successful row of the history.")
    @_no_wait
    def restore(self, values: argparse.Namespace) -> None:
        """Restore the packages of a row of the history; running commands keep theirs."""
        self._change(
            values,
            lambda environment: self._environments.restore(environment.id, values.row, env_type=environment.env_type),
        )

    @action("svc_environment delete")
    @_the_environment
    @argument("--yes", action="store_true", help="Confirm the deletion.")
    def delete(self, values: argparse.Namespace) -> None:
        """Delete an environment with its history, for good."""
        environment = self._found(values.environment)
        if not values.yes:
            raise SvcUsageError(
                f"svc_environment delete: environment {environment.name} would be gone with its history, for good. "
                "Nothing was deleted; add --yes to do it."
            )
        ask(lambda: self._environments.delete(environment.id), "delete")
        print(f"environment {environment.id} · {environment.name} deleted")  # noqa: T201  the answer is the output

    @property
    def _environments(self) -> PackageEnvironments:
        return self.session.client().package_environments

    def _found(self, reference: str) -> PackageEnvironment:
        """Return the environment with a name or id. Raises SvcUsageError with the nearest one."""
        known = ask(lambda: list(self._environments.iter()), "environments")
        for environment in known:
            if reference in (environment.name, str(environment.id)):
                return environment
        names = [environment.name for environment in known]
        raise SvcUsageError(f"svc_environment: there is no environment {reference!r}.{nearest(reference, names)}")

    def _change(self, values: argparse.Namespace, begin: Callable[[PackageEnvironment], PackageActivity]) -> None:
        environment = self._found(values.environment)
        self._follow(environment, ask(lambda: begin(environment), "environment"), values)

    def _follow(self, environment: PackageEnvironment, activity: PackageActivity, values: argparse.Namespace) -> None:
        line = line_for(self.shell, quiet=False)
        wait = ActivityWait(self.session.client(), environment, activity, line)
        if values.no_wait:
            line.finish(wait.begun_line())
        else:
            wait.to_end()


def environments_frame(environments: Iterable[PackageEnvironment]) -> pd.DataFrame:
    """Return a row per environment; `status` is that of its newest activity."""
    return frame_of(
        ENVIRONMENT_COLUMNS,
        [[getattr(one, column, None) for column in ENVIRONMENT_COLUMNS] for one in environments],
        times=("created_at",),
        integers=("package_id", "cluster_id"),
    )


def history_frame(rows: Iterable[PackageActivity]) -> pd.DataFrame:
    """Return a row per activity, newest first; `id` is the argument of a restore."""
    values = [[getattr(row, column, None) for column in HISTORY_COLUMNS] for row in rows]
    frame = frame_of(HISTORY_COLUMNS, values, times=("created_at", "finished_at"))
    frame["packages"] = frame["packages"].map(", ".join)
    return frame


def packages_frame(packages: PackageList) -> pd.DataFrame:
    """Return a row per installed package."""
    requested = {pin for pins in packages.packages.values() for pin in pins}
    pins = packages.installed or sorted(requested)
    rows = [(*pin.split("==", 1), pin in requested) for pin in pins]
    return frame_of(PACKAGE_COLUMNS, rows)
