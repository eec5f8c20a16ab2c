"""The ResourceManager's scheduler: Hadoop's own, with a correction in Java.

Hadoop's (3.5.0) can lose the container of a job's master: the job then waits forever.
"""

from __future__ import annotations

from typing import Final

from svc_jupyter.service.installs.additions import CompiledJar

CLASS: Final = "svc.jupyter.LosslessFairScheduler"
JAR: Final = CompiledJar(
    "fair-scheduler", "svc-fair-scheduler.jar", "svc_jupyter.service.runtimes.hadoop.java.scheduler", release=17
)
"""The jar, made when Hadoop is installed."""
