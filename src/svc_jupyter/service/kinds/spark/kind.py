"""`SparkCommand`: a program on a Spark cluster, or the run of a note.

A program in Python, Scala or SQL runs as a statement of the cluster's session server. A program with its own options,
an object in Scala with `main`, a jar, a program in R or a command line is an application of its own, whose driver is a
process of the command.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.package_environments import EnvironmentType
from svc_jupyter.api.spark_commands import SparkSubmission, SqlSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.logs import append_line, followed
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.errors import DatabaseAway, Invalid, NotFound, ServiceError
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun
from svc_jupyter.service.kinds.queries.options import described_options
from svc_jupyter.service.kinds.queries.worker_query import written_jobs
from svc_jupyter.service.kinds.script_source import ScriptSource
from svc_jupyter.service.kinds.spark.applications import Applications
from svc_jupyter.service.kinds.spark.connect_runs import ConnectRuns, check_runs_there
from svc_jupyter.service.kinds.spark.notes.cells import filled_cell
from svc_jupyter.service.kinds.spark.notes.note_runs import CLUSTER, NoteRuns
from svc_jupyter.service.kinds.spark.notes.session_link import SessionAddress
from svc_jupyter.service.kinds.spark.plans import NO_PROGRAM, Plan, described, plan_of
from svc_jupyter.service.kinds.spark.scala_programs import ENDS_ALL, ScalaForm, exits, form_of
from svc_jupyter.service.kinds.spark.session_runs import BEGUN_FILE, SessionRuns, statement_of
from svc_jupyter.service.kinds.spark.sql_failures import reported
from svc_jupyter.service.macros.macros import substitute
from svc_jupyter.service.packages.attached import AttachedEnvironments
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import tag_of
from svc_jupyter.service.runtimes.spark.driver.statement import (
    MESSAGES_FILE,
    PROGRESS_FILE,
    Language,
    Statement,
)
from svc_jupyter.service.runtimes.spark.program import runs_on_yarn
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.service.workspace.form_arguments import CELL, CellForms
from svc_jupyter.sql_tokens import Dialect


class SparkKind:
    """Runs `SparkCommand`s."""

    command_type = CommandType.SPARK
    cluster_types = frozenset({ClusterType.SPARK, ClusterType.SPARK_CONNECT})
    messages_file = MESSAGES_FILE

    def __init__(
        self,
        sessions: SessionRuns,
        connect: ConnectRuns,
        applications: Applications,
        notes: NoteRuns,
        servers: SessionServers,
        clusters: Clusters,
        storage: Storage,
        settings: Settings,
        environments: AttachedEnvironments,
        forms: CellForms,
    ) -> None:
        self._forms = forms
        self._sessions = sessions
        self._connect = connect
        self._applications = applications
        self._notes = notes
        self._servers = servers
        self._clusters = clusters
        self._storage = storage
        self._settings = settings
        self._environments = environments

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`."""
        submission = SparkSubmission.model_validate(body)
        if submission.note_id is not None:
            note = await self._notes.describe(
                submission.note_id,
                submission.arguments,
                body.get("label"),
                caller,
                paragraph=None if submission.paragraph is None else str(submission.paragraph),
            )
            return {**NO_PROGRAM, **note, "retry": body.get("retry") or 0}
        command = described(submission)
        if submission.cell is not None:
            command |= self._forms.described(plan_of(command).code or "", submission.cell)
        location = command["script_location"]
        if location is not None and "$" not in location:  # a macro gives the location only at the run
            await self._storage.locate(caller.account_id, location)
        return {**command, "retry": body.get("retry") or 0}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:
        """Return True: the cluster runs each program and note. Raises `Invalid` for what one of others cannot run."""
        check_runs_there(command, configuration)
        return True

    def bound_cluster(self, command: Mapping[str, Any]) -> int | None:
        """Return the cluster that a note is bound to."""
        return command.get(CLUSTER)

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the program, or the note, and return its outcome."""
        try:
            if task.command.get("note_id") is not None:
                return await self._run_note(task, desk)
            plan = plan_of(task.command)
            statement = await self._statement(task, plan)
            instance = await self._clusters.up_instance(task.cluster_id)
            if instance.configuration.is_external:
                check_runs_there(task.command, instance.configuration)
                assert statement is not None
                return await self._connect.run(task, desk, instance, statement)
            form = await asyncio.to_thread(_checked_form, plan, statement)
            runs_alone = plan.runs_alone(task.pool, form, on_yarn=runs_on_yarn(instance.configuration.custom_settings))
            # What a session has begun goes on there, also when it began before an upgrade.
            if statement is None or (runs_alone and not (task.folder / BEGUN_FILE).exists()):
                start = partial(self._start_application, task, plan, statement, desk, form)
                return await self._applications.outcome(await desk.process(start), task, desk)
            return await self._sessions.run(task, desk, statement, plan.session)
        except StorageFailure as error:
            return Outcome(False, error.message, may_retry=error.may_retry)
        except (ClusterFailure, ProviderFailure) as error:
            return Outcome(False, error.message)
        except (Invalid, NotFound) as error:
            return Outcome(False, error.message, may_retry=False)
        except DatabaseAway:
            raise
        except ServiceError as error:
            return Outcome(False, error.message)

    async def end_remote(self, task: Task) -> None:
        """End what an attempt began on the cluster."""
        say = partial(append_line, task.log_file)
        if task.command.get("note_id") is not None:
            await self._sessions.end_session(task, tag_of(task.id, task.attempt), say)
            return
        if await self._is_external(task.cluster_id):
            await self._connect.end(task)
            return
        await self._sessions.end(task, say)
        await self._applications.end(task, say)

    async def ask_session(self, row: CommandRow, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the answer of the kept session in which a command ran; None when it cannot answer at once."""
        name = row.command.get("app_id")
        return (
            None if name is None or row.cluster_id is None else await self._sessions.ask(row.cluster_id, name, question)
        )

    async def end_session(self, row: CommandRow) -> bool:
        """End the kept session in which a command ran; return whether there was one."""
        name = row.command.get("app_id")
        return name is not None and row.cluster_id is not None and await self._sessions.end_kept(row.cluster_id, name)

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:
        """Return the command's YARN applications, and Spark's jobs in its sessions."""
        in_sessions = await written_jobs(root)
        if row.cluster_id is None or await self._is_external(row.cluster_id):
            return in_sessions
        tags = [tag_of(row.id, number) for number in await asyncio.to_thread(_attempts, root)]
        return [*await self._applications.applications(row.cluster_id, tags), *in_sessions]

    async def _is_external(self, cluster_id: int | None) -> bool:
        with suppress(ClusterFailure):  # it is not UP any more
            return (await self._clusters.up_instance(cluster_id)).configuration.is_external
        return False

    async def _run_note(self, task: Task, desk: Desk) -> Outcome:
        async def start() -> DurableProcess:
            instance = await self._clusters.up_instance(task.cluster_id)
            server = await self._servers.ensure(instance, desk.say)
            name = tag_of(task.id, task.attempt)
            with_r = await self._with_packages_of_r(task, desk)
            return await self._notes.start(with_r, SessionAddress(server.host, server.port, server.secret, name))

        process = await desk.process(start)
        code = await followed(process, task.folder / PROGRESS_FILE, desk)
        await self.end_remote(task)
        return await self._notes.outcome(task, code)

    async def _start_application(
        self, task: Task, plan: Plan, statement: Statement | None, desk: Desk, form: ScalaForm | None
    ) -> DurableProcess:
        with_r = await self._with_packages_of_r(task, desk)
        is_compiled = form is ScalaForm.PROGRAM
        return await self._applications.start(with_r, plan, statement, desk.say, is_compiled=is_compiled)

    async def _with_packages_of_r(self, task: Task, desk: Desk) -> Task:
        """Return the task with the variables by which its R programs find the cluster's environment."""
        assert task.cluster_id is not None
        found = await self._environments.of_cluster(task.cluster_id, EnvironmentType.R, command_id=task.id)
        if found is None:
            return task
        desk.say(f"R finds environment {found.name} (packages {found.package_id})")
        return replace(task, environment={**found.variables, **task.environment})

    async def _statement(self, task: Task, plan: Plan) -> Statement | None:
        """Return the program as a statement; None where Spark runs it directly."""
        if plan.language is None:
            return None
        code, cell = plan.code, None
        if CELL in task.command:
            code, cell = filled_cell(plan, task.command, self._forms)
        if code is None:
            assert plan.location is not None
            text = await self._storage.read_text(task.account_id, plan.location, self._settings.max_body_bytes)
            code = substitute(text, task.macros)
        arguments, least = list(plan.arguments), self._settings.min_free_disk_bytes
        return await asyncio.to_thread(statement_of, task, plan.language, code, arguments, least, cell)


def _checked_form(plan: Plan, statement: Statement | None) -> ScalaForm | None:
    """Return how a text in Scala runs, None for others. Raises `Invalid` for what would end Spark for others."""
    if statement is None or statement.language is not Language.SCALA:
        return None
    if plan.session is not None:  # which keeps what it defines
        if exits(statement.code):
            raise Invalid(ENDS_ALL)
        return ScalaForm.SCRIPT
    form = form_of(statement.code)
    if form is not ScalaForm.PROGRAM and plan.names_class:
        raise Invalid(
            "arguments: --class names an object whose main is the program: this one has none, or statements beside it"
        )
    return form


def _attempts(root: Path) -> list[int]:
    return sorted(int(folder.name) for folder in root.iterdir() if folder.name.isdecimal())


class SqlKind:
    """Runs `SqlCommand`s, each in a session of its own."""

    command_type = CommandType.SQL
    cluster_types = frozenset({ClusterType.SPARK, ClusterType.SPARK_CONNECT})

    def __init__(
        self, sessions: SessionRuns, connect: ConnectRuns, clusters: Clusters, storage: Storage, settings: Settings
    ) -> None:
        self._sessions = sessions
        self._connect = connect
        self._clusters = clusters
        self._scripts = ScriptSource(storage, settings)
        self._settings = settings

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`."""
        submission = SqlSubmission.model_validate(body)
        fields = await self._scripts.described(submission.query, submission.script_location, caller)
        fields |= await described_options(submission, Dialect.SPARK)
        return {**fields, "md_cmd": submission.md_cmd}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: the session server runs every statement."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the statements and return their outcome."""
        try:
            script = await self._scripts.read(task)
            least = self._settings.min_free_disk_bytes
            statement = await asyncio.to_thread(statement_of, task, Language.SQL, script.text, [], least)
            instance = await self._clusters.up_instance(task.cluster_id)
            if instance.configuration.is_external:
                outcome = await self._connect.run(task, desk, instance, statement)
            else:
                outcome = await self._sessions.run(task, desk, statement, None)
            return await asyncio.to_thread(reported, outcome, task, script)
        except START_FAILURES as failure:
            return not_begun(failure)

    async def end_remote(self, task: Task) -> None:
        """End the statement of an interrupted attempt."""
        await self._connect.end(task)
        await self._sessions.end(task, partial(append_line, task.log_file))

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        """Return Spark's jobs of the command."""
        return await written_jobs(root)
