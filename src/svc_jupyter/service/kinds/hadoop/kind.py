"""`HadoopCommand`: `jar`, `streaming`, `distcp` and `s3distcp` on a Hadoop cluster.

The client is a process of the command, which outlives the service; its stdout is the result, its other output the log.
Its jobs carry a tag in YARN, by which they are listed and, on cancellation, ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType, HadoopSubCommand, HadoopSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.commands.logs import append_line
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.lock import locked
from svc_jupyter.service.kinds.failures import START_FAILURES, not_begun
from svc_jupyter.service.kinds.hadoop.client import command_line, environment, failure_text, settings_files
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.hadoop_cluster import HadoopEngine
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import UNKNOWN_NOW, TaggedJobs, Waits, tag_of
from svc_jupyter.service.runtimes.s3.access import s3_access
from svc_jupyter.service.runtimes.s3.account_store import StoreClient, s3_jars
from svc_jupyter.service.runtimes.s3.token_file import write_token_file
from svc_jupyter.service.storage.storage import Storage

TOOLS: Final = "hadoop-tools"
"""The lock of streaming and of copies."""
_LOOK_SECONDS: Final = 1.0
_LOG_START: Final = "log_start"


class HadoopKind:
    """Runs `HadoopCommand`s."""

    command_type = CommandType.HADOOP
    cluster_types = frozenset({ClusterType.HADOOP})

    def __init__(
        self,
        engines: Engines,
        hadoop: HadoopEngine,
        clusters: Clusters,
        jobs: TaggedJobs,
        storage: Storage,
        inherited: Mapping[str, str],
    ) -> None:
        """`inherited` is the environment of users' programs."""
        self._engines = engines
        self._hadoop = hadoop
        self._clusters = clusters
        self._jobs = jobs
        self._storage = storage
        self._inherited = inherited

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`."""
        submission = HadoopSubmission.model_validate(body)
        arguments = split_arguments(submission.sub_command, submission.sub_command_args)
        for wanted in locations_in(submission.sub_command, arguments):
            if "$" not in wanted.location:  # a macro gives the location only at the run
                await self._storage.locate(caller.account_id, wanted.location)
        return {"sub_command": submission.sub_command.value, "sub_command_args": submission.sub_command_args}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:  # noqa: ARG002
        """Return True: its jobs run on YARN."""
        return True

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the program and return its outcome."""
        try:
            process = await desk.process(partial(self._start, task, desk))
        except START_FAILURES as failure:
            return not_begun(failure)
        code = await self._followed(process, task, desk)
        await asyncio.to_thread(_secrets_of(task).unlink, missing_ok=True)
        if code == 0:
            size = (await asyncio.to_thread((task.folder / "out").stat)).st_size
            result = StoredResult(ResultForm.LINES, file=f"{task.attempt}/out", size=size)
            return Outcome(True, exit_code=0, result=result)
        await self._end_jobs(task, desk.say)
        text = await asyncio.to_thread(failure_text, task.log_file, _log_start(task), code)
        return Outcome(False, text, exit_code=code)

    async def end_remote(self, task: Task) -> None:
        """End the jobs of an interrupted attempt."""
        await asyncio.to_thread(_secrets_of(task).unlink, missing_ok=True)
        await self._end_jobs(task, partial(append_line, task.log_file))

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:
        """Return the command's jobs on its cluster; none once the cluster is gone."""
        if row.cluster_id is None:
            return []
        attempts = await asyncio.to_thread(_attempts, root)
        try:
            return await self._jobs.find(row.cluster_id, [tag_of(row.id, number) for number in attempts])
        except (ClusterFailure, DaemonSilent):
            return []

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        sub_command = HadoopSubCommand(task.command["sub_command"])
        arguments = split_arguments(sub_command, task.command["sub_command_args"])
        fetched = await self._fetch(task, desk, locations_in(sub_command, arguments))
        instance = await self._clusters.up_instance(task.cluster_id)
        await self._hadoop.ensure_history_server(instance, desk.say)
        installed = await self._engines.ensure(Engine.HADOOP, desk.say)
        lock = locked(TOOLS)
        await self._engines.installation.install(lock, desk.say)
        java = (await self._engines.java(desk.say)).java
        store = await self._store_client(task, desk)
        conf = await asyncio.to_thread(_write_settings, task, instance, store)
        arguments = with_jars(with_fetched(arguments, fetched), [str(jar) for jar in store.jars])
        jars = [*self._engines.installation.jars(lock), *store.jars]
        client = command_line(java, installed, jars, conf, task.folder / "tmp")
        _mark_log_start(task)
        return DurableProcess.start(
            folder=task.folder,
            argv=argv_of(client, sub_command, arguments),
            cwd=task.working_folder,
            environment={**environment(self._inherited, java, conf, _secrets_of(task)), **task.environment},
            log=task.log_file,
        )

    async def _store_client(self, task: Task, desk: Desk) -> StoreClient:
        """Return the client of the account's storage if that is an S3 store."""
        access = s3_access(await self._storage.of(task.account_id))
        return StoreClient(access, await s3_jars(self._engines, desk.say) if access.is_needed else ())

    async def _fetch(self, task: Task, desk: Desk, wanted: Sequence[Fetched]) -> dict[Fetched, str]:
        """Return the path of each fetched file; each has its own folder, since tasks know it by its name."""
        paths = {}
        for number, each in enumerate(wanted):
            location = await self._storage.locate(task.account_id, each.location)
            target = task.folder / "files" / str(number) / location.name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            desk.say(f"fetching {location}")
            await self._storage.fetch(task.account_id, location, target)
            paths[each] = str(target)
        return paths

    async def _followed(self, process: DurableProcess, task: Task, desk: Desk) -> int | None:
        """Wait for the process and report the progress of its jobs; return its exit code."""
        assert task.cluster_id is not None
        tag = tag_of(task.id, task.attempt)
        waits = Waits(self._jobs, task.cluster_id, tag, desk.say)
        ending = asyncio.ensure_future(process.wait())
        try:
            while not (await asyncio.wait({ending}, timeout=_LOOK_SECONDS))[0]:
                with contextlib.suppress(*UNKNOWN_NOW):
                    jobs = await self._jobs.find(task.cluster_id, [tag])
                    await waits.look(jobs)
                    if jobs:
                        desk.progress(min(99, sum(job["progress"] for job in jobs) // len(jobs)))
            return ending.result()
        finally:
            ending.cancel()

    async def _end_jobs(self, task: Task, say: Say) -> None:
        assert task.cluster_id is not None
        try:
            for application in await self._jobs.end(task.cluster_id, tag_of(task.id, task.attempt)):
                say(f"ended {application}")
        except ClusterFailure:
            return  # the jobs ended with the cluster
        except DaemonSilent as error:
            say(f"the jobs on the cluster could not be ended: {error.message}")


def _secrets_of(task: Task) -> Path:
    """Return the file of secrets that the client reads at its start; it is removed when the attempt ends."""
    return task.folder / "storage-secrets"


def _write_settings(task: Task, instance: Instance, store: StoreClient) -> Path:
    conf = task.folder / "conf"
    for folder in (conf, task.folder / "tmp"):
        folder.mkdir(mode=0o700, exist_ok=True)
    tag = tag_of(task.id, task.attempt)
    for name, content in settings_files(instance, task.folder, tag, task.pool, store).items():
        (conf / name).write_bytes(content)
    write_token_file(_secrets_of(task), store.access.secrets)
    return conf


def _attempts(root: Path) -> list[int]:
    return sorted(int(folder.name) for folder in root.iterdir() if folder.name.isdecimal())


def _mark_log_start(task: Task) -> None:
    with contextlib.suppress(FileNotFoundError):
        (task.folder / _LOG_START).write_text(f"{task.log_file.stat().st_size}\n", "ascii")


def _log_start(task: Task) -> int:
    try:
        return int((task.folder / _LOG_START).read_text("ascii"))
    except FileNotFoundError:
        return 0


_FILE_OPTIONS: Final = frozenset({"-files", "-file", "-archives", "-libjars", "-cacheFile", "-cacheArchive"})
"""Options whose value is a comma-separated list of files that the client needs."""
_COPY: Final = "org.apache.hadoop.tools.DistCp"
_MAIN: Final[Mapping[HadoopSubCommand, str]] = {
    HadoopSubCommand.STREAMING: "org.apache.hadoop.streaming.HadoopStreaming",
    HadoopSubCommand.DISTCP: _COPY,
}
_SHELL: Final = "org.apache.hadoop.fs.FsShell"
RUN_JAR: Final = "org.apache.hadoop.util.RunJar"
_STORES: Final = ("s3://", "s3a://", "s3n://", "gs://", "gcs://", "az://", "abfs://", "abfss://", "http://", "https://")
_OF_CLUSTER: Final = "hdfs://"


def split_arguments(sub_command: HadoopSubCommand, text: str) -> list[str]:
    """Return the arguments, split as a shell does. Raises `Invalid` for what no program can be called with."""
    if "\0" in text:
        raise Invalid("sub_command_args must not contain a NUL character")
    try:
        arguments = shlex.split(text)
    except ValueError as error:
        raise Invalid(f"sub_command_args cannot be split as a shell does: {str(error).lower()}") from error
    if not arguments:
        raise Invalid(f"sub_command_args is empty: {_EXPECTED[sub_command]}")
    if sub_command is HadoopSubCommand.S3DISTCP:
        copied_places(arguments)
    if sub_command is HadoopSubCommand.JAR and arguments[0].startswith("-"):
        raise Invalid(f"sub_command_args begins with {arguments[0]!r}: {_EXPECTED[sub_command]}")
    if sub_command is HadoopSubCommand.JAR and arguments[0].startswith(_OF_CLUSTER):
        raise Invalid("sub_command_args: the jar must be in the account's storage, not in a cluster's HDFS")
    return arguments


def copied_places(arguments: Sequence[str]) -> dict[str, str]:
    """Return `src` and `dest` of an s3distcp. Raises `Invalid` for other options."""
    expected = _EXPECTED[HadoopSubCommand.S3DISTCP]
    found: dict[str, str] = {}
    left = deque(arguments)
    while left:
        option, sign, value = left.popleft().partition("=")
        name = option.removeprefix("--")
        if name not in ("src", "dest") or not option.startswith("--") or name in found:
            raise Invalid(f"sub_command_args: {option!r} is not supported: {expected}, once each")
        found[name] = value if sign or not left else left.popleft()
    if not all(found.get(name) for name in ("src", "dest")):
        raise Invalid(f"sub_command_args: {expected}")
    return found


_EXPECTED: Final[Mapping[HadoopSubCommand, str]] = {
    HadoopSubCommand.JAR: "give the location of a jar, its main class where the jar names none, and its arguments",
    HadoopSubCommand.STREAMING: "give -input, -output, -mapper and what else the job needs",
    HadoopSubCommand.DISTCP: "give the sources and the target",
    HadoopSubCommand.S3DISTCP: "give --src and --dest",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """An argument, or a part of one, that names a file in the storage."""

    argument: int
    part: int
    location: str
    fragment: str
    """The text after `#`: the file's name in tasks."""


def locations_in(sub_command: HadoopSubCommand, arguments: Sequence[str]) -> list[Fetched]:
    """Return what to fetch before the program runs: the jar, and files for the tasks from object stores."""
    found = [Fetched(0, 0, arguments[0], "")] if sub_command is HadoopSubCommand.JAR else []
    for number, option in enumerate(arguments[:-1]):
        if option in _FILE_OPTIONS:
            for part, text in enumerate(arguments[number + 1].split(",")):
                if text.startswith(_STORES):
                    location, sign, name = text.partition("#")
                    found.append(Fetched(number + 1, part, location, sign + name))
    return found


def with_fetched(arguments: Sequence[str], fetched: Mapping[Fetched, str]) -> list[str]:
    """Return the arguments with each fetched location replaced by its path on this machine."""
    changed = [argument.split(",") for argument in arguments]
    touched = {place.argument for place in fetched}
    for place, path in fetched.items():
        if place.argument == 0 and place.part == 0 and not place.fragment:
            changed[0] = [path]
        else:
            changed[place.argument][place.part] = path + place.fragment
    return [
        ",".join(parts) if number in touched else argument
        for number, (parts, argument) in enumerate(zip(changed, arguments, strict=True))
    ]


def with_jars(arguments: Sequence[str], jars: Sequence[str]) -> list[str]:
    """Return the arguments with jars added to an existing `-libjars`, which would otherwise override them."""
    changed = list(arguments)
    for number, option in enumerate(arguments[:-1]):
        if option == "-libjars" and jars:
            changed[number + 1] = ",".join([arguments[number + 1], *jars])
    return changed


def argv_of(client: Sequence[str], sub_command: HadoopSubCommand, arguments: Sequence[str]) -> list[str]:
    """Return the command line of a program; `client` is the one to which a main class and its arguments are added."""
    if sub_command is HadoopSubCommand.S3DISTCP:
        places = copied_places(arguments)
        source, target = shlex.quote(places["src"]), shlex.quote(places["dest"])
        # -overwrite: the contents of a folder are copied. A file goes into the folder, for which DistCp would take a
        # missing one as the file's new name.
        script = (
            f'if "$@" {_SHELL} -test -f {source}; then "$@" {_SHELL} -mkdir -p {target} || exit; fi; '
            f'exec "$@" {_COPY} -overwrite {source} {target}'
        )
        return ["/bin/sh", "-c", script, "s3distcp", *client]
    main = _MAIN.get(sub_command)
    return [*client, RUN_JAR, *arguments] if main is None else [*client, main, *arguments]
