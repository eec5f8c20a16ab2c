"""`%svc_pipeline`: streaming pipelines."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import nearest, output_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.pipelines import PipelineData
    from svc_jupyter.client.blocking.pipelines import Pipelines

COLUMNS = ("name", "status", "pipeline_instance_status", "health", "cluster_label", "command_id", "owner_name")
_STATUSES = ("draft", "active", "archive")
_the_pipeline = argument("pipeline", metavar="PIPELINE", help="Name or id.")


class PipelineMagics(SvcFamily):
    """The magic for pipelines."""

    @line_magic
    @argument("action", metavar="ACTION", nargs="?", help="What to do (default: list).")
    def svc_pipeline(self, line: str) -> Any:
        """Manage streaming pipelines. Each action has its own options: `%svc_pipeline delete --help`.

        list, start PIPELINE, pause PIPELINE, archive PIPELINE, delete PIPELINE.
        """
        return self.act("svc_pipeline", line, "list")

    @action("svc_pipeline list")
    @argument(
        "--status",
        metavar="STATUS",
        choices=_STATUSES,
        action="append",
        default=[],
        help="draft, active or archive (default: all). Repeatable.",
    )
    @output_options
    def list_pipelines(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the pipelines as a DataFrame, newest first, with the state of their last run."""
        frame = ask(lambda: pipelines_frame(self._pipelines.iter(*values.status)), "pipelines")
        return self.shown(values, frame)

    @action("svc_pipeline start")
    @_the_pipeline
    def start(self, values: argparse.Namespace) -> None:
        """Start a run, which continues where the last one was paused."""
        self._do(values.pipeline, self._pipelines.start)

    @action("svc_pipeline pause")
    @_the_pipeline
    def pause(self, values: argparse.Namespace) -> None:
        """End the run and keep its progress."""
        self._do(values.pipeline, self._pipelines.pause)

    @action("svc_pipeline archive")
    @_the_pipeline
    def archive(self, values: argparse.Namespace) -> None:
        """Archive a pipeline; its next start restores it."""
        self._do(values.pipeline, self._pipelines.archive)

    @action("svc_pipeline delete")
    @_the_pipeline
    @argument("--yes", action="store_true", help="Confirm the deletion.")
    def delete(self, values: argparse.Namespace) -> None:
        """Delete a pipeline that does not run, with its progress, for good."""
        if not values.yes:
            found = self._found(values.pipeline)
            raise SvcUsageError(
                f"svc_pipeline delete: pipeline {found.attributes.name} would be gone with its progress, for good. "
                "Nothing was deleted; add --yes to do it."
            )
        self._do(values.pipeline, self._pipelines.delete)

    @property
    def _pipelines(self) -> Pipelines:
        return self.session.client().pipelines

    def _do(self, reference: str, call: Callable[[int], PipelineData]) -> None:
        found = self._found(reference)
        print(pipeline_line(ask(lambda: call(found.id), "pipeline")))  # noqa: T201  the answer is the output

    def _found(self, reference: str) -> PipelineData:
        """Return the pipeline with an id or a name. Raises SvcUsageError, also for an ambiguous name."""
        known = ask(lambda: list(self._pipelines.iter()), "pipelines")
        of_id = [pipeline for pipeline in known if str(pipeline.id) == reference]
        fitting = of_id or [pipeline for pipeline in known if pipeline.attributes.name == reference]
        if len(fitting) > 1:
            ids = ", ".join(str(pipeline.id) for pipeline in fitting)
            raise SvcUsageError(f"svc_pipeline: several pipelines are called {reference!r}; say which by its id: {ids}")
        if not fitting:
            names = [pipeline.attributes.name for pipeline in known]
            raise SvcUsageError(f"svc_pipeline: there is no pipeline {reference!r}.{nearest(reference, names)}")
        return fitting[0]


def pipeline_line(pipeline: PipelineData) -> str:
    """Return one line about a pipeline: its state and its last run."""
    attributes = pipeline.attributes
    parts = [f"pipeline {pipeline.id} · {attributes.name} · {attributes.status}"]
    if attributes.pipeline_instance_status is not None and attributes.status != "deleted":
        parts.append(attributes.pipeline_instance_status)
        parts += [] if attributes.command_id is None else [f"%svc_command {attributes.command_id}"]
    return " · ".join(parts)


def pipelines_frame(pipelines: Iterable[PipelineData]) -> pd.DataFrame:
    """Return a row per pipeline; `health` is its colour."""
    rows = []
    for pipeline in pipelines:
        attributes = pipeline.attributes
        values = {name: getattr(attributes, name, None) for name in COLUMNS}
        values["health"] = None if attributes.health is None else attributes.health.status
        rows.append([pipeline.id, *values.values(), attributes.updated_at])
    return frame_of(("id", *COLUMNS, "updated_at"), rows, times=("updated_at",), integers=("command_id",))
