"""`PigCommand`: a script in Pig Latin. Every DUMP is a typed table.

On a cluster whose settings have `pig.exectype=local` the script runs in its own Java and needs no daemon; elsewhere
that Java submits its jobs to the cluster. Like every command's process, it outlives the service.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType, PigSubmission
from svc_jupyter.files import write_whole
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.gate import DEFAULT_LABEL
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.logs import append_line, followed
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun
from svc_jupyter.service.kinds.pig import leftovers, script_text
from svc_jupyter.service.kinds.pig.command_line import is_local, local_properties
from svc_jupyter.service.kinds.pig.job import PROGRESS_FILE, PigJob
from svc_jupyter.service.kinds.pig.jvms import Jvms, Slots
from svc_jupyter.service.kinds.pig.leftovers import remove_s3_stores
from svc_jupyter.service.kinds.pig.on_cluster import PigOnCluster
from svc_jupyter.service.kinds.pig.outcome import outcome_of
from svc_jupyter.service.kinds.pig.script_text import RegisteredFiles
from svc_jupyter.service.kinds.script_source import ScriptSource
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import tag_of
from svc_jupyter.service.runtimes.s3.access import s3_access
from svc_jupyter.service.runtimes.s3.account_store import s3_jars
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.locations import Scheme
from svc_jupyter.service.storage.storage import Storage

SCRIPT: Final = "script.pig"
"""The script's file in the attempt's folder, as it ran: messages quote it, and the original may have changed since."""


class PigKind:
    """Runs `PigCommand`s."""

    command_type = CommandType.PIG
    cluster_types = frozenset({ClusterType.HADOOP})

    def __init__(
        self,
        engines: Engines,
        jvms: Jvms,
        storage: Storage,
        clusters: Clusters,
        on_cluster: PigOnCluster,
        settings: Settings,
    ) -> None:
        self._engines = engines
        self._jvms = jvms
        self._storage = storage
        self._files = RegisteredFiles(storage)
        self._scripts = ScriptSource(storage, settings, field="latin_statements")
        self._clusters = clusters
        self._on_cluster = on_cluster
        self._settings = settings
        self._places = Slots(settings.pig_jvms)
        self._tidying: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Also warms up a Java."""
        submission = PigSubmission.model_validate(body)
        script = await self._scripts.described(submission.latin_statements, submission.script_location, caller)
        self._jvms.warm()
        return {**script, "parameters": submission.parameters or None}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return whether the script runs on the cluster's daemons."""
        return not is_local(configuration.custom_settings)

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the script and return its outcome; wait while the limit of running scripts is reached."""
        try:
            return await self._run(task, desk)
        finally:
            self._places.leave(task.folder)

    async def _run(self, task: Task, desk: Desk) -> Outcome:
        try:
            process = await desk.process(partial(self._start, task, desk))
        except START_FAILURES as failure:
            return not_begun(failure)
        self._places.keep(task.folder)
        beside = asyncio.ensure_future(self._attend(task, desk))
        try:
            code = await followed(process, task.folder / PROGRESS_FILE, desk)
        finally:
            beside.cancel()
        script = await asyncio.to_thread((task.folder / SCRIPT).read_text, "utf-8", "replace")
        outcome = outcome_of(task, code, script, _source(task))
        await self._tidy(task, desk.say, has_failed=not outcome.succeeded)
        self._jvms.warm()
        return outcome

    async def end_remote(self, task: Task) -> None:
        """End the jobs of an interrupted attempt, and remove its leftovers."""
        await self._tidy(task, partial(append_line, task.log_file), has_failed=True)

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:
        """Return the command's jobs on its cluster; none if it ran locally, or the cluster is gone."""
        if row.cluster_id is None:
            return []
        tags = [tag_of(row.id, attempt) for attempt in await asyncio.to_thread(_attempts, root)]
        try:
            return await self._on_cluster.jobs(row.cluster_id, tags)
        except (ClusterFailure, DaemonSilent):
            return []

    async def _attend(self, task: Task, desk: Desk) -> None:
        """Start the history server during the script, whose client needs it by the end of its first job, and report
        waits for YARN.
        """
        if task.cluster_id is not None:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._on_cluster.keep_history(task, desk.say))
                both.create_task(self._on_cluster.report_waits(task, desk.say))

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        await self._places.take(task.folder, desk.say)
        script = (await self._scripts.read(task)).text
        write_whole(task.folder / SCRIPT, script, mode=0o600)
        parameters: Mapping[str, str] = task.command.get("parameters") or {}
        storage = await script_storage(await self._storage.of(task.account_id), self._engines, desk.say)
        job = PigJob(
            folder=task.folder,
            log=task.log_file,
            script=script,
            storage=storage.folder,
            parameters=parameters,
            is_local=task.cluster_id is None,
            properties=storage.with_settings(await self._properties(task, desk)),
            secrets=storage.secrets,
            fetched=await self._files.fetch(task, script_text.registered(script, parameters), desk),
            runs=script_text.runs(script),
            min_free_bytes=self._settings.min_free_disk_bytes,
        )
        return await self._jvms.start(job, desk.say)

    async def _properties(self, task: Task, desk: Desk) -> dict[str, str]:
        if task.cluster_id is not None:
            installed = await self._engines.ensure(Engine.PIG, desk.say)
            return await self._on_cluster.properties(task, installed.jars)
        cluster = await self._clusters.resolve(task.account_id, task.label or DEFAULT_LABEL)
        return local_properties(cluster.configuration.custom_settings, os.cpu_count() or 1)

    async def _tidy(self, task: Task, say: Callable[[str], None], *, has_failed: bool) -> None:
        """Remove temporary files and, after a failed run, its jobs and what it had begun to store.

        A stop calls it while `run` sees the end of the process; the second call finds nothing to do.
        """
        lock = self._tidying.setdefault(task.folder, asyncio.Lock())
        async with lock:
            await self._tidy_once(task, say, has_failed=has_failed)

    async def _tidy_once(self, task: Task, say: Callable[[str], None], *, has_failed: bool) -> None:
        if (process := DurableProcess.adopt(task.folder)) is not None:
            await process.stop(0)  # what it left running, which nothing finds without the temporary folder
        await asyncio.to_thread(leftovers.remove_scratch, task.folder)
        if task.cluster_id is not None:
            await self._tidy_cluster(task, say, has_failed=has_failed)
        if has_failed:  # once no job writes there any more
            for location in await asyncio.to_thread(leftovers.remove_local_stores, task.folder):
                say(f"removed {location}, which the script had begun to store")
            await self._remove_from_s3(task, say)

    async def _tidy_cluster(self, task: Task, say: Callable[[str], None], *, has_failed: bool) -> None:
        try:
            if has_failed:
                for line in await self._on_cluster.end(task):
                    say(line)
            await self._on_cluster.remove_temporary(task)
        except ClusterFailure:
            return  # the jobs and files ended with the cluster
        except DaemonSilent as error:
            say(f"what the script had begun on the cluster could not be removed: {error.message}")

    async def _remove_from_s3(self, task: Task, say: Callable[[str], None]) -> None:
        try:
            access = s3_access(await self._storage.of(task.account_id))
            for location in await remove_s3_stores(task.folder, access, self._engines, say):
                say(f"removed {location}, which the script had begun to store")
        except (EngineFailure, StorageFailure) as error:
            say(f"what the script had begun to store could not be removed: {error.message}")


def _attempts(root: Path) -> list[int]:
    """Return the numbers of the attempts that have a folder; none before the command starts."""
    return [] if not root.is_dir() else sorted(int(folder.name) for folder in root.iterdir() if folder.name.isdecimal())


def _source(task: Task) -> str:
    """Return the name of the script in messages."""
    return "script" if task.command.get("latin_statements") else str(task.command["script_location"])


JARS: Final = "pig.additional.jars"
"""Pig's setting of jars for itself and its tasks."""
_READABLE: Final = (Scheme.FILE, Scheme.S3)


@dataclass(frozen=True, slots=True)
class ScriptStorage:
    """`folder` is a URI with a trailing slash; `properties` and `secrets` go to the script's Java."""

    folder: str
    properties: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    def with_settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return a script's settings merged with the storage's; the cluster's own settings take precedence."""
        jars = [each[JARS] for each in (settings, self.properties) if JARS in each]
        return {**self.properties, **settings, **({JARS: ",".join(jars)} if jars else {})}


async def script_storage(account: AccountStorage, engines: Engines, say: Say) -> ScriptStorage:
    """Return the script's view of the storage; installs the jars of an S3 client when they are missing.

    Raises `Invalid` for a storage that Pig cannot read, and `EngineFailure`.
    """
    if account.base.scheme not in _READABLE:
        raise Invalid(
            f"Pig reads and writes the account's storage where that is a folder (file://…) or an S3 store (s3://…), "
            f"and it is {account.base}: run the script in an account whose storage is one of these"
        )
    access, folder = s3_access(account), f"{str(account.base).rstrip('/')}/"
    if not access.is_needed:
        return ScriptStorage(folder)
    jars = await s3_jars(engines, say)
    return ScriptStorage(folder, {**access.settings, JARS: ",".join(map(str, jars))}, access.secrets)
