"""From the first line of a cell with `echo hi` to its value, in a warm kernel.

The service is running, on SQLite, with its defaults. `%%bash` runs the script in a child of the kernel; `%%px` sends it
to an engine of ipyparallel, which runs it in a child process of the engine. The client row is the Python client without
the magic.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import report
from benchmarks.contests import compete
from benchmarks.engines import ipcluster
from benchmarks.kernel import Kernel
from benchmarks.service import Service

SCRIPT = "echo hi"
REFERENCE = "%%bash"


def run(folder: Path, *, quick: bool) -> None:
    """Print the time to the value, and that of the whole cell with its output shown."""
    rounds, warm_up = (30, 5) if quick else (200, 20)
    with (
        Service(folder) as service,
        ipcluster(folder) as engines,
        Kernel(folder, SVC_DATA_DIR=str(service.data_dir)) as kernel,
    ):
        kernel.call("run_lines", ["%load_ext svc_jupyter"])
        kernel.call("connect_engines", str(engines))
        to_value = {
            "%%svc_shell, to DataFrame": lambda: kernel.call("magic_seconds", "svc_shell", "", SCRIPT, ["hi"]),
            "svc_jupyter.client, to DataFrame": lambda: kernel.call("client_seconds", SCRIPT),
            REFERENCE: lambda: kernel.call("magic_seconds", "bash", "", SCRIPT, None),
            "%%px with %%bash": lambda: kernel.call("magic_seconds", "px", "", f"%%bash\n{SCRIPT}", None),
        }
        results = compete(to_value, rounds, warm_up=warm_up)
        report.contest("To the value", "milliseconds", results, REFERENCE, report.milliseconds)
        whole_cell = {
            "%%svc_shell": lambda: kernel.call("cell_seconds", f"%%svc_shell\n{SCRIPT}"),
            REFERENCE: lambda: kernel.call("cell_seconds", f"%%bash\n{SCRIPT}"),
            "%%px with %%bash": lambda: kernel.call("cell_seconds", f"%%px\n%%bash\n{SCRIPT}"),
        }
        results = compete(whole_cell, rounds, warm_up=warm_up)
        report.contest("Whole cell, output shown", "milliseconds", results, REFERENCE, report.milliseconds)
