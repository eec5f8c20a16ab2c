"""Makes the processes of one instance match its row: start, keep running, end.

Every step can be repeated: after the service was killed, the next one continues from the row.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import structlog

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, ClusterFailure, engine_of
from svc_jupyter.service.clusters.cluster_rows import ClusterRow, cluster_by_id
from svc_jupyter.service.clusters.health import Health
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.clusters.life_cycle import Changes, Engines, LifeCycle
from svc_jupyter.service.clusters.providers.provider import Provider, ProviderFailure
from svc_jupyter.service.commands import logs, queue, queue_of_clusters
from svc_jupyter.service.commands.rows import RootName, command_root
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import RETRY_SECONDS
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.settings import Settings

_LOOK_SECONDS = 1.0
_COMMANDS_SECONDS = 5.0
"""Extra time for commands, beyond the grace of their processes, to end before the cluster does."""
_ENDING_SECONDS = 60.0
"""How long a failing end of an instance is retried before the rest is left to the sweep."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Tools:
    """What a reconciler needs."""

    settings: Settings
    database: Database
    instances: Instances
    life_cycle: LifeCycle
    engines: Engines
    providers: Mapping[str, Provider]
    changes: Changes
    replica: Callable[[], queue.Replica]
    watch: Health | None = None


class Reconciler:
    """Drives one instance until it is DOWN or belongs to another replica."""

    def __init__(self, tools: Tools, instance_id: int) -> None:
        self._tools = tools
        self._id = instance_id
        self._steps = Steps(tools.database, tools.instances, tools.settings.commands_dir, instance_id)
        self._idle_look_at = 0.0

    async def run(self) -> None:
        """Follow the row's state; wait while the database is away."""
        while True:
            try:
                instance = await self._own_instance()
                if instance is None or instance.state is ClusterState.DOWN:
                    return
                await self._advance(instance)
            except Unavailable:
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                log.exception("cluster_not_driven", instance_id=self._id)
                await asyncio.sleep(RETRY_SECONDS)

    async def _advance(self, instance: Instance) -> None:
        if instance.state is ClusterState.PENDING:
            await self._while_in(ClusterState.PENDING, self._start(instance))
        elif instance.state is ClusterState.UP:
            await self._while_in(ClusterState.UP, self._keep_up(instance))
        else:
            await self._end(instance)

    async def _while_in(self, state: ClusterState, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end; cancel it when the instance changes its state or belongs to another replica."""
        task = asyncio.create_task(work, name=f"instance-{self._id}-{state}")
        try:
            while not task.done():
                change = asyncio.create_task(self._tools.changes.next().within(_LOOK_SECONDS))
                await asyncio.wait({task, change}, return_when=asyncio.FIRST_COMPLETED)
                change.cancel()
                if not task.done() and not await self._is_still(state):
                    return
            task.result()
        finally:
            task.cancel()
            # `await task` would take the cancellation of this one, meanwhile, for the task's own.
            await asyncio.wait({task})
            _ = task.cancelled() or task.exception()  # a failure on its way out is nobody's

    async def _is_still(self, state: ClusterState) -> bool:
        try:
            instance = await self._own_instance()
        except Unavailable:
            return True  # the daemons continue as well
        return instance is not None and instance.state is state

    # PENDING

    async def _start(self, instance: Instance) -> None:
        try:
            await self._tools.instances.forget_folders(instance.cluster_id)
            await self._engine(instance).start(instance, self._steps.say)
        except (ClusterFailure, ProviderFailure) as error:
            reason = error.message
        except OSError as error:
            reason = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
        except Unavailable:
            raise
        except Exception:
            log.exception("cluster_not_started", instance_id=self._id)
            reason = "an error of the service itself; its log has the details"
        else:
            await self._steps.finish()
            await self._tools.database.write(partial(self._tools.life_cycle.up, instance_id=self._id))
            return
        await self._give_up(f"cluster {await self._name(instance)} could not be started: {reason}")

    async def _give_up(self, reason: str) -> None:
        log.warning("cluster_given_up", instance_id=self._id, reason=reason)
        await self._steps.finish()
        work = partial(self._tools.life_cycle.terminate_instance, instance_id=self._id, reason=reason)
        await self._tools.database.write(work)

    # UP

    async def _keep_up(self, instance: Instance) -> None:
        engine = self._engine(instance)
        while True:
            try:
                await engine.supervise(instance)
                if self._tools.watch is not None:
                    await self._tools.watch.keep(instance)
                await self._end_when_idle(engine, instance)
            except ClusterFailure as error:
                await self._give_up(f"cluster {await self._name(instance)} was terminated: {error.message}")
                return
            except ProviderFailure as error:
                log.warning("cluster_not_supervised", instance_id=self._id, reason=error.message)
            await asyncio.sleep(_LOOK_SECONDS)
            instance = await self._tools.instances.get(self._id)

    async def _end_when_idle(self, engine: ClusterEngine, instance: Instance) -> None:
        now = self._tools.life_cycle.clock()
        if now < self._idle_look_at:
            return
        default = self._tools.settings.idle_cluster_seconds
        cluster = await self._cluster(instance)
        limit = None if cluster is None else idle_limit(cluster.configuration, default)
        self._idle_look_at = now + look_interval(default if limit is None else limit)
        if cluster is None or limit is None:
            return
        some_command = partial(_some_command, cluster_id=cluster.id)
        if await self._tools.database.look_up(some_command) or await engine.is_busy(instance):
            await self._tools.instances.change(self._id, last_used_at=now)
            return
        reason = idle_reason(cluster.name, now - max(instance.last_used_at, instance.up_at or 0.0), limit)
        if reason is not None:
            await self._tools.database.write(partial(self._terminate_unused, cluster.id, reason))

    def _terminate_unused(self, cluster_id: int, reason: str, connection: sa.Connection) -> None:
        if not _some_command(connection, cluster_id):  # a command may just have come
            self._tools.life_cycle.terminate_instance(connection, self._id, reason)

    # TERMINATING

    async def _end(self, instance: Instance) -> None:
        await self._commands_ended(instance)
        deadline, pause = time.monotonic() + _ENDING_SECONDS, RETRY_SECONDS
        left: str | None = None
        while True:
            left = await self._ended(instance)
            if left is None or time.monotonic() > deadline:
                break
            self._steps.say(f"ending what is left: {left}")
            await asyncio.sleep(pause)
            pause *= 2
            instance = await self._tools.instances.get(self._id)
        await self._steps.finish()
        message = None
        if left is not None:
            log.error("cluster_left_something", instance_id=self._id, reason=left)
            message = f"not all of it could be ended, which is tried again every 5 minutes: {left}"
        details = {**instance.details, "is_swept": left is None}
        work = partial(self._tools.life_cycle.down, instance_id=self._id, details=details, message=message)
        await self._tools.database.write(work)

    async def _commands_ended(self, instance: Instance) -> None:
        """Give the cluster's commands time to end by themselves, which also ends their work there."""
        deadline = time.monotonic() + self._tools.settings.kill_grace_seconds + _COMMANDS_SECONDS
        reason = instance.terminate_reason or "the cluster was terminated"
        work = partial(self._tools.life_cycle.stop_commands, cluster_id=instance.cluster_id, reason=reason)
        while await self._tools.database.write(work) and time.monotonic() < deadline:
            self._steps.say("ending the commands that run on it")
            await asyncio.sleep(0.2)

    async def _ended(self, instance: Instance) -> str | None:
        """End everything of an instance; return what could not be ended, None when nothing is left.

        Any other error counts, too: it must not keep the cluster TERMINATING.
        """
        failure: str | None = None
        try:
            await self._engine(instance).terminate(instance, self._steps.say)
        except (ClusterFailure, ProviderFailure) as error:
            failure = error.message
        except OSError as error:
            failure = str(error)
        except Unavailable:
            raise
        except Exception as error:
            log.exception("cluster_not_ended", instance_id=self._id)
            failure = _own_error(error)
        try:
            await self._tools.providers[instance.provider].sweep(instance)
            await self._tools.instances.clear_folder(instance)
        except (ClusterFailure, ProviderFailure) as error:
            return error.message
        except OSError as error:
            return str(error)
        except Unavailable:
            raise
        except Exception as error:
            log.exception("cluster_not_ended", instance_id=self._id)
            return _own_error(error)
        if failure is not None:
            log.warning("cluster_not_ended_well", instance_id=self._id, reason=failure)
        return None

    def _engine(self, instance: Instance) -> ClusterEngine:
        engine = engine_of(self._tools.engines, instance.configuration)
        assert engine is not None  # else it would not have been started
        return engine

    async def _own_instance(self) -> Instance | None:
        return await self._tools.database.look_up(self._select_own)

    def _select_own(self, connection: sa.Connection) -> Instance | None:
        instance = self._tools.instances.find(connection, instance_id=self._id)
        is_own = instance is not None and instance.replica_id == self._tools.replica().id
        return instance if is_own else None

    async def _cluster(self, instance: Instance) -> ClusterRow | None:
        return await self._tools.database.look_up(partial(cluster_by_id, cluster_id=instance.cluster_id))

    async def _name(self, instance: Instance) -> str:
        cluster = await self._cluster(instance)
        return str(instance.cluster_id) if cluster is None else cluster.name


def _own_error(error: Exception) -> str:
    return f"an error of the service itself ({type(error).__name__}); its log has the details"


def _some_command(connection: sa.Connection, cluster_id: int) -> bool:
    return queue_of_clusters.some_wait_for(connection, cluster_id) or bool(
        queue_of_clusters.running_on(connection, cluster_id)
    )


class Steps:
    """Reports the steps of one instance: all in the logs of the commands that wait for it, the latest in its record.

    Quick steps share one write.
    """

    def __init__(self, database: Database, instances: Instances, commands_dir: Path, instance_id: int) -> None:
        self._database = database
        self._instances = instances
        self._commands_dir = commands_dir
        self._instance_id = instance_id
        self._said: list[str] = []
        self._writing: asyncio.Task[None] | None = None

    def say(self, text: str) -> None:
        """Report a step."""
        log.info("cluster_step", instance_id=self._instance_id, step=text)
        self._said.append(text)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write(), name=f"steps-of-instance-{self._instance_id}")

    async def finish(self) -> None:
        """Return when all reported steps are written."""
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        try:
            while said := self._said:
                self._said = []
                with contextlib.suppress(Unavailable):
                    await self._instances.change(self._instance_id, message=said[-1])
                    waiting = await self._database.look_up(
                        partial(queue_of_clusters.waiting_for, instance_id=self._instance_id)
                    )
                    await asyncio.to_thread(self._append_to_logs, waiting, said)
        finally:
            self._writing = None

    def _append_to_logs(self, waiting: list[RootName], said: Sequence[str]) -> None:
        for name in waiting:
            root = command_root(self._commands_dir, *name)
            try:
                root.mkdir(mode=0o700, parents=True, exist_ok=True)
                logs.append_line(root / "log", "\n".join(f"its cluster: {text}" for text in said))
            except OSError as error:
                log.warning("log_not_written", command_id=name.command_id, reason=error.strerror)


_HOUR = 3600.0
_IDLE_LOOK_SECONDS = 15.0
_IDLE_LOOKS_PER_LIMIT = 4


def idle_limit(configuration: ClusterConfiguration, default_seconds: float) -> float | None:
    """Return after how many idle seconds the cluster is terminated; None for never."""
    if configuration.disallow_cluster_termination:
        return None
    hours = configuration.idle_cluster_timeout
    return default_seconds if hours is None else hours * _HOUR


def look_interval(limit: float) -> float:
    """Return the seconds between two checks of a cluster's work."""
    return min(_IDLE_LOOK_SECONDS, limit / _IDLE_LOOKS_PER_LIMIT)


def idle_reason(name: str, idle_seconds: float, limit: float) -> str | None:
    """Return why a cluster is terminated after this idle time; None while it may continue."""
    if idle_seconds < limit:
        return None
    return f"cluster {name} was terminated: nothing ran on it for {_duration(idle_seconds)}"


def _duration(seconds: float) -> str:
    if seconds >= 2 * _HOUR:
        return f"{seconds / _HOUR:.0f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"
