"""Scripts that run on a host, in a POSIX shell with only the tools of every Linux.

Each is one round trip. Values are passed quoted, as the words of `set --`; answers are lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from shlex import quote
from typing import Final

from svc_jupyter.service.clusters.providers.daemon_process import BEGIN
from svc_jupyter.service.clusters.providers.marked_processes import DAEMON_MARK
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK, NODE_MARK, DaemonState

NEVER_BEGAN: Final = 3
"""Exit code of `start` when the daemon's process could not write its number."""
NOT_THERE: Final = 4
"""Exit code of `copy` when the files must be sent."""
_KEPT_BYTES: Final = 2**20
_MOST_BYTES: Final = 8 * 2**20
_RUN_MARK: Final = "SVC_CLUSTER_RUN"

# Process numbers are reused. While a process executes a new program, its environment is empty for an instant.
_IS_OWN: Final = f"""
marked() {{ tr '\\0' '\\n' <"/proc/$1/environ" 2>/dev/null | grep -qxF -- "{DAEMON_MARK}=$2"; }}
is_own() {{
  [ -n "$1" ] && [ -r "/proc/$1/environ" ] || return 1
  marked "$1" "$2" && return
  [ -z "$(tr '\\0' '\\n' <"/proc/$1/environ" 2>/dev/null)" ] || return 1
  sleep 0.05; marked "$1" "$2"
}}
number() {{ read -r number rest <"$1" 2>/dev/null && echo "$number"; }} 2>/dev/null
"""

# Require two consecutive empty scans: a process may have started another one meanwhile.
_END_MARKED: Final = """
end_marked() {
  empty=0 looks=0
  while [ $empty -lt 2 ]; do
    found=$(grep -lsaF -- "$1" /proc/[0-9]*/environ | cut -d / -f 3)
    if [ -z "$found" ]; then empty=$((empty + 1)); else empty=0; kill -9 $found 2>/dev/null; fi
    looks=$((looks + 1))
    [ $looks -lt 200 ] || { echo "processes cannot be ended: $found" >&2; return 1; }
    sleep 0.05
  done
}
"""

# Moved first: a folder into which the watcher writes the exit code at this moment is not empty when it is removed. What
# is left of it goes with the node's folder.
_FORGET: Final = """
forget() {
  [ -e "$1" ] || return 0
  gone="$2/tmp/gone-$$"; rm -rf "$gone"
  mv "$1" "$gone" || return
  rm -rf "$gone" 2>/dev/null; :
}
"""

# Waits for the daemon to record its exit code; a session of its own survives the connection. It runs in the daemon's
# folder, so that a daemon started again later never gets the old exit code.
_WATCH: Final = """begin=$1 out=$2 err=$3; shift 3
setsid sh -c "$begin" sh "$@" >>"$out" 2>>"$err"
echo $? >rc.draft && mv rc.draft rc"""


def claim(folder: PurePosixPath, node_folder: PurePosixPath, owner: str) -> str:
    """Take a host for an instance unless another one has it; print the machine's facts.

    `ln` fails where a claim exists and creates a complete one otherwise, so that two services never share a host.
    """
    return f"""{_words(folder, node_folder, owner)}
umask 077
mkdir -p "$1/nodes" || exit
printf '%s\\n' "$3" >"$1/.claim.$$" || exit
ln "$1/.claim.$$" "$1/claim" 2>/dev/null; rm -f "$1/.claim.$$"
echo "owner $(cat "$1/claim")"
[ "$(cat "$1/claim")" != "$3" ] || mkdir -p "$2" || exit
echo "architecture $(uname -m)"
echo "cores $(getconf _NPROCESSORS_ONLN)"
while read -r name value unit; do [ "$name" != MemTotal: ] || echo "memory_kb $value"; done </proc/meminfo
"""


def examine(folder: PurePosixPath) -> str:
    """Print facts of a host before it is used, and change nothing: its claim, room, tools, clock and open ports."""
    return f"""{_words(folder)}
[ ! -e "$1/claim" ] || echo "claim $(cat "$1/claim")"
place=$1; while [ ! -e "$place" ]; do place=$(dirname "$place"); done
[ -d "$place" ] && [ -w "$place" ] || echo "closed $place"
for tool in tar grep find setsid tr cut tail df getconf bash; do
  command -v "$tool" >/dev/null || echo "lacks_$tool 1"
done
echo "cores $(getconf _NPROCESSORS_ONLN)"
while read -r name value unit; do [ "$name" != MemTotal: ] || echo "memory_kb $value"; done </proc/meminfo
set -- $(df -Pk "$place" | tail -n 1); echo "used_kb $3"; echo "free_kb $4"
echo "clock $(date +%s)"
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r number own other state rest; do
  [ "$state" != 0A ] || echo "listens_$own 1"
done
"""


def release(folder: PurePosixPath, node_folder: PurePosixPath, key: str) -> str:
    """End everything of an instance on a host, delete its folder and its claim. Repeated, it does nothing."""
    return f"""{_words(folder, node_folder, key)}
{_END_MARKED}
end_marked "{NODE_MARK}=$2" || exit
rm -rf -- "$2" || exit
read -r key rest <"$1/claim" 2>/dev/null
[ "$key" != "$3" ] || rm -f "$1/claim"
"""


def write(folder: PurePosixPath) -> str:
    """Unpack files from the input and replace each target atomically."""
    return f"""{_words(folder)}
umask 077
draft="$1/.write.$$"; trap 'rm -rf "$draft"' EXIT
mkdir -p "$draft" && tar -x -f - -C "$draft" || exit
cd "$draft" || exit
find . -type d | while read -r name; do mkdir -p "$1/$name" || exit; done || exit
find . -type f | while read -r name; do mv -f "$name" "$1/$name" || exit; done
"""


def is_copied(target: PurePosixPath) -> str:
    """Exit with `NOT_THERE` unless a set of an engine's files is there."""
    return f"[ -d {quote(str(target))} ] || exit {NOT_THERE}"


def copy(target: PurePosixPath) -> str:
    """Unpack a set of an engine's files from the input; a concurrent copy of the same set is as good."""
    return f"""{_words(target)}
umask 077
draft="$1.$$"; trap 'rm -rf "$draft" "$1/${{draft##*/}}"' EXIT
mkdir -p "$draft" && tar -x -f - -C "$draft" || exit
[ -d "$1" ] || mv "$draft" "$1"
"""


def java(configured: PurePosixPath | None) -> str:
    """Print the version of each Java that may be used: `== program`, then its answer."""
    given = quote(str(configured)) if configured else '${JAVA_HOME:+"$JAVA_HOME"} "$(command -v java)"'
    return f"""for program in {given}; do
  [ ! -d "$program" ] || program="$program/bin/java"
  [ -x "$program" ] || continue
  echo "== $program"; "$program" -XshowSettings:properties -version </dev/null 2>&1
done; :"""


def start(folder: PurePosixPath, name: str, argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Start a daemon unless it runs, in a session of its own; return once its process has begun."""
    daemon = folder / "daemons" / name
    return f"""{_words(folder, daemon, folder / "logs" / name)}
{_IS_OWN}
{_FORGET}
umask 077
if is_own "$(number "$2/pid")" "$2" && [ ! -e "$2/rc" ]; then exit 0; fi
mkdir -p "$1/logs" "$1/tmp" && forget "$2" "$1" && mkdir -p "$2" || exit
{_exports({**environment, DAEMON_MARK: str(daemon)}, folder)}
(cd "$2" && exec setsid sh -c {quote(_WATCH)} sh {quote(BEGIN)} "$3.out" "$3.err" "$2" "$1" {_quoted(argv)}) \\
  </dev/null >/dev/null 2>&1 &
looks=0
until [ -s "$2/pid" ] || [ -e "$2/rc" ]; do
  looks=$((looks + 1)); [ $looks -lt 250 ] || exit {NEVER_BEGAN}
  sleep 0.02
done
[ -s "$2/pid" ] || exit {NEVER_BEGAN}
"""


def look(folder: PurePosixPath) -> str:
    """Print the state of a node's daemons, the machine's processors and its disk; limit the daemons' outputs."""
    shorten = f'tail -c {_KEPT_BYTES} "$1" >"$1.end" && cat "$1.end" >"$1"; rm -f "$1.end"'
    return f"""{_words(folder)}
{_IS_OWN}
for daemon in "$1"/daemons/*/; do
  daemon="${{daemon%/}}"; [ -d "$daemon" ] || continue
  pid=$(number "$daemon/pid") code=$(number "$daemon/rc")
  [ -z "$code" ] && is_own "$pid" "$daemon" || pid=
  echo "daemon ${{daemon##*/}} ${{pid:--}} ${{code:--}}"
done
[ ! -d "$1/logs" ] || find "$1/logs" -maxdepth 1 \\( -name '*.out' -o -name '*.err' \\) -size +{_MOST_BYTES}c \\
  -exec sh -c {quote(shorten)} sh {{}} \\;
read -r line </proc/stat; echo "$line"
set -- $(df -Pk "$1" 2>/dev/null | tail -n 1); echo "disk $3 $4"
"""


def stop(folder: PurePosixPath, name: str, grace_seconds: float) -> str:
    """End a daemon, SIGTERM first, and forget it; sessions that it started continue."""
    return f"""{_words(folder / "daemons" / name, folder)}
{_IS_OWN}
{_FORGET}
pid=$(number "$1/pid"); [ ! -e "$1/rc" ] || pid=
ended() {{
  looks=0
  while is_own "$pid" "$daemon"; do
    looks=$((looks + 1)); [ $looks -le "$1" ] || return 1
    sleep 0.05
  done
}}
daemon=$1
if is_own "$pid" "$daemon"; then
  kill -15 -"$pid" 2>/dev/null
  ended {round(grace_seconds * 20)} || {{ kill -9 -"$pid" 2>/dev/null; ended 100; }}
fi
forget "$daemon" "$2"
"""


def run(folder: PurePosixPath, argv: Sequence[str], environment: Mapping[str, str], run_id: str) -> str:
    """Run a program to its end, its output in a file of its own: remaining children must not block the answer."""
    return f"""{_words(folder, folder / "tmp" / f"run-{run_id}")}
umask 077
mkdir -p "$1/tmp" && cd "$1" || exit
{_exports({**environment, _RUN_MARK: run_id}, folder)}
setsid sh -c 'exec "$@"' sh {_quoted(argv)} </dev/null >"$2" 2>&1
"""


def output_of_run(folder: PurePosixPath, run_id: str, *, is_cancelled: bool) -> str:
    """Print a run's output, only its end when it is long, and delete it; first end the run if it is cancelled."""
    end = f'{_END_MARKED}\nend_marked "{_RUN_MARK}={run_id}"' if is_cancelled else ""
    return f"""{_words(folder / "tmp" / f"run-{run_id}")}
{end}
tail -c {_KEPT_BYTES} "$1" 2>/dev/null; rm -f "$1"
"""


def tail(folder: PurePosixPath, name: str, max_bytes: int) -> str:
    """Print the end of a daemon's error output."""
    return f"tail -c {max_bytes} {quote(str(folder / 'logs' / name))}.err 2>/dev/null; :"


def _words(*values: object) -> str:
    return f"set -- {' '.join(quote(str(value)) for value in values)}"


def _quoted(argv: Sequence[str]) -> str:
    return " ".join(map(quote, argv))


def _exports(environment: Mapping[str, str], folder: PurePosixPath) -> str:
    """Return the lines that set a program's environment: the login's, without variables of the connection."""
    marks = {INSTANCE_MARK: str(folder), NODE_MARK: str(folder)}
    all_of_them = {"TMPDIR": str(folder / "tmp"), **environment, **marks}
    lines = [f"export {name}={quote(value)}" for name, value in all_of_them.items()]
    return "\n".join(["unset SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY", *lines])


@dataclass(frozen=True, slots=True)
class Look:
    """A host's state. `busy` and `idle` are processor times since the host was started, in one unit."""

    daemons: Sequence[DaemonState]
    busy: int
    idle: int
    disk_percent: float


def parse_look(text: str) -> Look:
    """Parse the output of `hosts_scripts.look`."""
    daemons: list[DaemonState] = []
    busy = idle = 0
    disk_percent = 0.0
    for line in text.splitlines():
        match line.split():
            case ["daemon", name, pid, exit_code]:
                daemons.append(_daemon(name, pid, exit_code))
            case ["cpu", *counts] if len(counts) >= 4:
                # user nice system idle iowait irq softirq steal; user already includes the time of guests
                times = list(map(int, counts[:8]))
                idle = sum(times[3:5])
                busy = sum(times) - idle
            case ["disk", used, available]:
                disk_percent = 100 * int(used) / max(1, int(used) + int(available))
    return Look(daemons, busy, idle, disk_percent)


def processors_percent(before: Look | None, now: Look) -> float:
    """Return how busy all processors were between two looks, 0..100; without an earlier one, since the host's start."""
    busy = now.busy - (before.busy if before else 0)
    total = busy + now.idle - (before.idle if before else 0)
    return min(100.0, max(0.0, 100 * busy / total)) if total > 0 else 0.0


def parse_facts(text: str) -> Mapping[str, str]:
    """Parse lines `name value`, such as `memory_kb 16384000`."""
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def _daemon(name: str, pid: str, exit_code: str) -> DaemonState:
    if pid != "-":
        return DaemonState(name, pid=int(pid))
    return DaemonState(name, exit_code=int(exit_code) if exit_code.isdecimal() else None)
