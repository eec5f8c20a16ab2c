"""A jar of ours that runs a Pig script in a Java that is warm already; its sources lie in `java/`."""

from __future__ import annotations

from typing import Final

from svc_jupyter.service.engines.compiled_jar import CompiledJar

MAIN_CLASS: Final = "svc.jupyter.pig.Runner"
RUNNER_JAR: Final = CompiledJar("runner", "svc-pig-runner.jar", "svc_jupyter.service.engines.pig.java")
