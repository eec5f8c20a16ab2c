"""Commands that run as applications of their own: their files, start and progress."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from svc_jupyter.files import write_whole
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.commands.logs import followed
from svc_jupyter.service.kinds.spark import submitted
from svc_jupyter.service.kinds.spark.plans import Plan
from svc_jupyter.service.kinds.spark.scala_programs import SOURCE
from svc_jupyter.service.kinds.spark.session_runs import has_ended, outcome_of
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import UNKNOWN_NOW, TaggedJobs, Waits, tag_of
from svc_jupyter.service.runtimes.s3.token_file import write_token_file
from svc_jupyter.service.runtimes.spark.driver.statement import OUT_FILE, PROGRESS_FILE, Statement, to_json
from svc_jupyter.service.runtimes.spark.program import runs_on_yarn
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers
from svc_jupyter.service.storage.storage import Storage

_LOOK_SECONDS: Final = 1.0


class Applications:
    """Starts `spark-submit` as the process of a command."""

    def __init__(
        self,
        servers: SessionServers,
        clusters: Clusters,
        jobs: TaggedJobs,
        storage: Storage,
        inherited: Mapping[str, str],
    ) -> None:
        """`inherited` is the environment of users' programs."""
        self._servers = servers
        self._clusters = clusters
        self._jobs = jobs
        self._storage = storage
        self._inherited = inherited

    async def start(
        self, task: Task, plan: Plan, statement: Statement | None, say: Say, *, is_compiled: bool
    ) -> DurableProcess:
        """Start the program of an attempt; one in Scala that `is_compiled` runs by its `main`.

        Raises `ClusterFailure`, `StorageFailure`, `Invalid`, `OSError`.
        """
        instance = await self._clusters.up_instance(task.cluster_id)
        place = await self._servers.place(instance, say)
        for folder in (task.folder / "tmp", task.folder / "classes"):
            folder.mkdir(mode=0o700, exist_ok=True)
        tag = tag_of(task.id, task.attempt)
        custom = instance.configuration.custom_settings
        settings = submitted.settings(place, custom, tag, task.pool, task.folder, is_in_r=plan.is_in_r)
        write_whole(task.folder / submitted.SETTINGS_FILE, settings, mode=0o600)
        write_token_file(task.folder / submitted.SECRETS_FILE, place.store.secrets)
        compiler: list[str] = []
        if statement is not None and is_compiled:
            source, jar = (self._program_file(task, name) for name in (SOURCE, "program.jar"))
            source.write_text(statement.code, "utf-8")
            say("compiling the program")
            compiler = submitted.compiler(place, source, jar)
            words = [*plan.options, str(jar), *plan.arguments]
        elif statement is not None:
            write_whole(task.folder / submitted.STATEMENT_FILE, to_json(statement), mode=0o600)
            words = submitted.statement_words(place, task.folder, plan.options)
        else:
            words = await self._words(task, plan, say)
        return DurableProcess.start(
            folder=task.folder,
            argv=[*compiler, *submitted.command_line(place, task.folder, words)],
            cwd=task.working_folder,
            environment={**submitted.environment(place, self._inherited, task.folder), **task.environment},
            log=task.log_file,
        )

    async def outcome(self, process: DurableProcess, task: Task, desk: Desk) -> Outcome:
        """Wait for the program; return its outcome."""
        watch = asyncio.create_task(self._watch(task, desk))
        try:
            code = await followed(process, task.folder / PROGRESS_FILE, desk)
        finally:
            watch.cancel()
        await asyncio.to_thread((task.folder / submitted.SECRETS_FILE).unlink, missing_ok=True)
        if has_ended(task.folder):
            return await asyncio.to_thread(outcome_of, task, code)
        if code == 0:
            size = (task.folder / OUT_FILE).stat().st_size
            return Outcome(True, exit_code=0, result=StoredResult(ResultForm.LINES, f"{task.attempt}/{OUT_FILE}", size))
        await self.end(task, desk.say)
        said = (task.log_file, task.folder / OUT_FILE)
        text = await asyncio.to_thread(submitted.failure_text, said, code, task.pool)
        return Outcome(False, text, exit_code=code)

    async def end(self, task: Task, say: Say) -> None:
        """End what an attempt began on YARN."""
        await asyncio.to_thread((task.folder / submitted.SECRETS_FILE).unlink, missing_ok=True)
        try:
            instance = await self._clusters.up_instance(task.cluster_id)
            if runs_on_yarn(instance.configuration.custom_settings):
                for application in await self._jobs.end(instance.cluster_id, tag_of(task.id, task.attempt)):
                    say(f"ended {application}")
        except ClusterFailure:
            return  # it ended with the cluster
        except DaemonSilent as error:
            say(f"its application on the cluster could not be ended: {error.message}")

    async def applications(self, cluster_id: int, tags: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """Return the YARN applications with these tags; none if the cluster is gone or has no YARN."""
        try:
            instance = await self._clusters.up_instance(cluster_id)
            if not runs_on_yarn(instance.configuration.custom_settings):
                return []
            return await self._jobs.find(cluster_id, tags)
        except (ClusterFailure, DaemonSilent):
            return []

    async def _words(self, task: Task, plan: Plan, say: Say) -> list[str]:
        if plan.cmdline:
            return list(plan.cmdline)
        target = self._program_file(task, f"program{plan.suffix}")
        if plan.location is None:
            target.write_text(plan.code or "", "utf-8")
        else:
            location = await self._storage.locate(task.account_id, plan.location)
            say(f"fetching {location}")
            await self._storage.fetch(task.account_id, location, target)
        return [*plan.options, str(target), *plan.arguments]

    @staticmethod
    def _program_file(task: Task, name: str) -> Path:
        file = task.folder / "files" / name
        file.parent.mkdir(mode=0o700, exist_ok=True)
        return file

    async def _watch(self, task: Task, desk: Desk) -> None:
        """Report the progress of YARN's applications, for programs that do not report it themselves."""
        assert task.cluster_id is not None
        tag = tag_of(task.id, task.attempt)
        waits = Waits(self._jobs, task.cluster_id, tag, desk.say)
        reported = ""
        while not (task.folder / PROGRESS_FILE).exists():
            await asyncio.sleep(_LOOK_SECONDS)
            with contextlib.suppress(*UNKNOWN_NOW):
                jobs = await self.applications(task.cluster_id, [tag])
                line = ", ".join(f"{job['application_id']} is {job['status']}" for job in jobs)
                if jobs and line != reported:
                    reported = line
                    desk.say(line)
                await waits.look(jobs)
                if jobs:
                    desk.progress(sum(job["progress"] for job in jobs) // len(jobs))
