"""The project's jar that runs the Hive metastore at one address only; its sources are in `java/`."""

from __future__ import annotations

from typing import Final

from svc_jupyter.service.installs.compiled_jar import CompiledJar

MAIN_CLASS: Final = "svc.jupyter.hive.Metastore"
SOCKET_FACTORY: Final = "svc.jupyter.hive.UnixSocketFactory"
METASTORE_JAR: Final = CompiledJar(
    "metastore", "svc-hive-metastore.jar", "svc_jupyter.service.runtimes.metastore.java", release=17
)
