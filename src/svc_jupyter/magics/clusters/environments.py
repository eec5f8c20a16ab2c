"""`%svc_environment`: packages for what runs on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import help_of, split_action
from svc_jupyter.magics.arguments.decorators import argument, line_magic, magics_class, no_var_expand, with_options
from svc_jupyter.magics.arguments.options import nearest, output_options, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.clusters.environment_frames import environments_frame, history_frame, packages_frame
from svc_jupyter.magics.clusters.environment_waits import ActivityWait
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.progress import line_for
from svc_jupyter.magics.display.rendering import limit_display
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    import pandas as pd

    from svc_jupyter.api.package_environments import PackageActivity, PackageEnvironment
    from svc_jupyter.client.blocking.package_environments import PackageEnvironments

_HISTORY_ROWS = 100
_the_environment = argument("environment", metavar="ENVIRONMENT", help="Its name or its id.")
_packages = argument("packages", metavar="PACKAGE", nargs="+", help="A package with its version, as six==1.16.0.")
_no_wait = argument("--no-wait", action="store_true", help="Begin it and go on; the history tells how it ends.")


@magics_class
class EnvironmentMagics(SvcFamily):
    """The magic for package environments."""

    @no_var_expand
    @with_options()
    @argument("action", metavar="ACTION", nargs="?", help="What to do; without it list.")
    @line_magic
    def svc_environment(self, line: str) -> Any:
        """Look after package environments. Each action has its own options: `%svc_environment add --help`.

        list, packages ENV, create NAME [PACKAGE …], add ENV PACKAGE …, remove ENV PACKAGE …, attach ENV CLUSTER,
        detach ENV, history ENV, restore ENV ROW, delete ENV. What changes an environment waits for the end of it.
        """
        actions = self.actions["svc_environment"]
        name, rest = split_action("svc_environment", line, actions, "list")
        if text := help_of(actions[name], rest):
            return print(text)  # noqa: T201  the help is the output
        return actions[name](self, rest)

    @with_options("svc_environment list")
    @output_options
    def list_environments(self, line: str) -> pd.DataFrame:
        """Return the environments as a DataFrame, newest first."""
        values = parse(EnvironmentMagics.list_environments, line)
        return self._shown(values, ask(lambda: environments_frame(self._environments.iter()), "environments"))

    @with_options("svc_environment packages")
    @_the_environment
    @output_options
    def packages(self, line: str) -> pd.DataFrame:
        """Return all that is installed as a DataFrame; `requested` says what was asked for, and not only needed."""
        values = parse(EnvironmentMagics.packages, line)
        environment = self._found(values.environment)
        return self._shown(values, packages_frame(ask(lambda: self._environments.packages(environment.id), "packages")))

    @with_options("svc_environment create")
    @argument("name", metavar="NAME", help="Its name; quote one that holds spaces.")
    @argument("packages", metavar="PACKAGE", nargs="*", help="A package with its version, as six==1.16.0.")
    @argument("--python", metavar="VERSION", help="The version of Python; without it that of the service.")
    @argument("--r", action="store_true", help="Packages of R, as data.table==1.15.4; its R is the service's.")
    @_no_wait
    def create(self, line: str) -> None:
        """Make an environment."""
        values = parse(EnvironmentMagics.create, line)
        if values.r and values.python:
            raise SvcUsageError("svc_environment create: --python and --r are of different environments. Give one.")
        env_type = "r_package" if values.r else "python_package"
        fields = {"env_type": env_type, "python_version": values.python, "packages": values.packages}
        made = ask(lambda: self._environments.create(values.name, **fields), "create")
        if made.activity is not None:
            self._follow(made, made.activity, values)

    @with_options("svc_environment add")
    @_the_environment
    @_packages
    @_no_wait
    def add(self, line: str) -> None:
        """Add packages; one that is there already gets the version that is asked for."""
        values = parse(EnvironmentMagics.add, line)
        self._change(values, lambda environment: self._environments.add(environment.id, *values.packages))

    @with_options("svc_environment remove")
    @_the_environment
    @_packages
    @_no_wait
    def remove(self, line: str) -> None:
        """Remove packages, with what only they need."""
        values = parse(EnvironmentMagics.remove, line)
        self._change(values, lambda environment: self._environments.remove(environment.id, *values.packages))

    @with_options("svc_environment attach")
    @_the_environment
    @argument("cluster", metavar="CLUSTER", help="Label or id of the cluster.")
    @_no_wait
    def attach(self, line: str) -> None:
        """Let a cluster's notebook and Spark runs use it from now on."""
        values = parse(EnvironmentMagics.attach, line)
        client = self.session.client()

        def begin(environment: PackageEnvironment) -> PackageActivity:
            return client.package_environments.attach(environment.id, client.clusters.get(values.cluster).id)

        self._change(values, begin)

    @with_options("svc_environment detach")
    @_the_environment
    @_no_wait
    def detach(self, line: str) -> None:
        """Let its cluster's runs go on without it."""
        values = parse(EnvironmentMagics.detach, line)
        self._change(values, lambda environment: self._environments.detach(environment.id))

    @with_options("svc_environment history")
    @_the_environment
    @output_options
    def history(self, line: str) -> pd.DataFrame:
        """Return what was done to it as a DataFrame, newest first: who, what, and how it ended."""
        values = parse(EnvironmentMagics.history, line)
        environment = self._found(values.environment)
        rows = ask(lambda: self._environments.history(environment.id, per_page=_HISTORY_ROWS), "history")
        return self._shown(values, history_frame(rows.activity_history))

    @with_options("svc_environment restore")
    @_the_environment
    @argument("row", metavar="ROW", type=int, help="Id of a row of the history that succeeded.")
    @_no_wait
    def restore(self, line: str) -> None:
        """Go back to the packages of a row of the history; what runs keeps those that it began with."""
        values = parse(EnvironmentMagics.restore, line)
        self._change(
            values,
            lambda environment: self._environments.restore(environment.id, values.row, env_type=environment.env_type),
        )

    @with_options("svc_environment delete")
    @_the_environment
    @argument("--yes", action="store_true", help="Do it; without it nothing is deleted.")
    def delete(self, line: str) -> None:
        """Delete an environment, with its history, for good."""
        values = parse(EnvironmentMagics.delete, line)
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

    def _shown(self, values: argparse.Namespace, frame: pd.DataFrame) -> pd.DataFrame:
        limit_display(frame, values.rows, self.session.settings.rows_shown, self.shell)
        return self.keep(values, frame)

    def _found(self, reference: str) -> PackageEnvironment:
        """Return the environment with a name or an id. Raises SvcUsageError, naming the nearest one."""
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


EnvironmentMagics.actions = {
    "svc_environment": {
        "list": EnvironmentMagics.list_environments,
        "packages": EnvironmentMagics.packages,
        "create": EnvironmentMagics.create,
        "add": EnvironmentMagics.add,
        "remove": EnvironmentMagics.remove,
        "attach": EnvironmentMagics.attach,
        "detach": EnvironmentMagics.detach,
        "history": EnvironmentMagics.history,
        "restore": EnvironmentMagics.restore,
        "delete": EnvironmentMagics.delete,
    }
}
