"""The state machines of the contract, as data."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class CommandStatus(StrEnum):
    """Where a command stands. A retry keeps `running`; there is no way back from a final status."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    ERROR = "error"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the command has ended for good."""
        return not COMMAND_TRANSITIONS[self]


COMMAND_TRANSITIONS: Mapping[CommandStatus, frozenset[CommandStatus]] = {
    CommandStatus.WAITING: frozenset({CommandStatus.RUNNING, CommandStatus.CANCELLED, CommandStatus.ERROR}),
    CommandStatus.RUNNING: frozenset({CommandStatus.DONE, CommandStatus.ERROR, CommandStatus.CANCELLED}),
    CommandStatus.DONE: frozenset(),
    CommandStatus.ERROR: frozenset(),
    CommandStatus.CANCELLED: frozenset(),
}

STATUS_FILTERS: Mapping[str, CommandStatus] = {
    **{status.value: status for status in CommandStatus},
    "success": CommandStatus.DONE,
    "failed": CommandStatus.ERROR,
}
"""What the `status` filter of a command list takes."""


class ScheduleStatus(StrEnum):
    """Where a schedule stands."""

    RUNNING = "RUNNING"
    SUSPENDED = "SUSPENDED"
    DONE = "DONE"
    KILLED = "KILLED"

    @property
    def is_final(self) -> bool:
        """Whether no further nominal time will come."""
        return not SCHEDULE_TRANSITIONS[self]


SCHEDULE_TRANSITIONS: Mapping[ScheduleStatus, frozenset[ScheduleStatus]] = {
    ScheduleStatus.RUNNING: frozenset({ScheduleStatus.SUSPENDED, ScheduleStatus.DONE, ScheduleStatus.KILLED}),
    ScheduleStatus.SUSPENDED: frozenset({ScheduleStatus.RUNNING, ScheduleStatus.KILLED}),
    ScheduleStatus.DONE: frozenset(),
    ScheduleStatus.KILLED: frozenset(),
}


class ActionStatus(StrEnum):
    """Where an action stands while it has no command; afterwards it has the command's status."""

    SUBMITTED = "submitted"
    WAITING = "waiting"
    """For its dependencies."""
    NOT_FOUND = "not_found"
    """Its dependencies never came within `time_out`."""
    ERROR = "error"
    CANCELLED = "cancelled"


class ClusterState(StrEnum):
    """Where a cluster stands."""

    DOWN = "DOWN"
    PENDING = "PENDING"
    """Its nodes are being made."""
    UP = "UP"
    TERMINATING = "TERMINATING"


CLUSTER_TRANSITIONS: Mapping[ClusterState, frozenset[ClusterState]] = {
    ClusterState.DOWN: frozenset({ClusterState.PENDING}),
    ClusterState.PENDING: frozenset({ClusterState.UP, ClusterState.TERMINATING}),
    ClusterState.UP: frozenset({ClusterState.TERMINATING}),
    ClusterState.TERMINATING: frozenset({ClusterState.DOWN}),
}


class NodeStatus(StrEnum):
    """Where a node of a cluster stands; one that is gone leaves the list."""

    STARTING = "STARTING"
    """Its machine or its daemons are not ready yet."""
    RUNNING = "RUNNING"
    DECOMMISSIONING = "DECOMMISSIONING"
    """It takes no new work, finishes what it has, then leaves."""
    LOST = "LOST"
    """It does not answer; what ran there is being brought back."""
