"""Checks a cluster's HiveServer2 for its health."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Mapping
from typing import Any, Final

from svc_jupyter.service.clusters.cluster_engine import ServiceLook
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.ground.remembering import remember
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent
from svc_jupyter.service.runtimes.hive_server import program
from svc_jupyter.service.runtimes.hive_server.client import ServerError, ServerLost, Session

_ANSWER_SECONDS: Final = 1.5
_MOST_SESSIONS: Final = 64
"""Limit of open sessions; those of servers that are gone are closed first."""
_HEAP: Final = f"{program.NAME}.driver.jvm.heap"


class HiveServerProbe:
    """Asks HiveServer2 over a kept session, and its engine for the memory in use; see `ServiceProbe`."""

    def __init__(self, providers: Mapping[str, Provider], http: DaemonHttp) -> None:
        self._providers = providers
        self._http = http
        self._sessions: dict[int, Session] = {}

    async def look(self, instance: Instance) -> ServiceLook | None:
        """Return its state; None when it was never needed."""
        master = instance.master
        if master is None:
            return None
        states = await self._providers[instance.provider].machine(instance, master).daemons()
        state = next((state for state in states if state.name == program.NAME), None)
        if state is None:
            return None
        if not state.is_running:
            return ServiceLook(is_alive=False, is_responsive=False)
        responds, heap = await asyncio.gather(
            asyncio.to_thread(self._ask, instance.id, master.private_ip), self._heap(master.private_ip)
        )
        return ServiceLook(is_alive=True, is_responsive=responds, heap_percent=heap)

    def _ask(self, instance_id: int, host: str) -> bool:
        session = self._sessions.pop(instance_id, None)
        try:
            if session is None:
                session = Session(host, program.PORT, getpass.getuser(), seconds=_ANSWER_SECONDS)
            session.ping()
        except (ServerLost, ServerError):
            if session is not None:
                session.drop()
            return False
        remember(self._sessions, instance_id, session, most=_MOST_SESSIONS, on_forgotten=Session.drop)
        return True

    async def _heap(self, host: str) -> float | None:
        try:
            answer: Any = await self._http.get(f"http://{host}:{program.HTTP_PORT}/metrics/json/")
            gauges = answer["gauges"]
            return 100 * float(gauges[f"{_HEAP}.used"]["value"]) / float(gauges[f"{_HEAP}.max"]["value"])
        except (DaemonSilent, LookupError, TypeError, ZeroDivisionError):
            return None
