"""Parse a line of `%svc_cluster`: the cluster, the verb and its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svc_jupyter.magics.arguments.options import nearest
from svc_jupyter.magics.display.errors import SvcUsageError

VERBS = ("start", "terminate", "state", "health", "nodes", "add", "remove")
_WITH_VALUE = frozenset({"add", "remove"})


@dataclass(frozen=True)
class ClusterLine:
    """A parsed line; `verb` is None for the panel."""

    cluster: str
    verb: str | None = None
    count: int = 1
    node: str | None = None


def line_of(words: Sequence[str], default: str) -> ClusterLine:
    """Parse the words of a line; without a cluster the verb applies to `default`.

    Raises SvcUsageError.
    """
    rest = list(words)
    cluster = default if not rest or rest[0] in VERBS else rest.pop(0)
    if not rest:
        return ClusterLine(cluster)
    verb, values = rest[0], rest[1:]
    if verb not in VERBS:
        raise SvcUsageError(
            f"svc_cluster: {verb!r} is no verb.{nearest(verb, list(VERBS))} Verbs: {', '.join(VERBS)}, "
            "as in %svc_cluster default start"
        )
    if len(values) > (verb in _WITH_VALUE):
        raise SvcUsageError(f"svc_cluster: {values[-1]!r} is one word too many after {verb}")
    if verb == "add":
        return ClusterLine(cluster, verb, count=_count(values[0]) if values else 1)
    return ClusterLine(cluster, verb, node=values[0] if values else None)


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit()) or int(word) < 1:
        raise SvcUsageError(f"svc_cluster add: takes a number of workers, 1 or more, not {word!r}")
    return int(word)
