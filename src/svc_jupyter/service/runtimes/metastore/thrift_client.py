"""Thrift's client of the metastore: 2.5 MB of generated code, loaded at its first use.

If its bytecode is not on disk, because the installer did not compile it or may not write it, Python compiles it then:
malloc kept 85 of the 110 MB that this took for the lifetime of the process.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from svc_jupyter.service.ground.memory import give_back

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

_MODULE: Final = "pymetastore.hive_metastore.ThriftHiveMetastore"


def client_class() -> type[Client]:
    """Return the class of the client. The first call takes half a second: run it in a thread of its own."""
    is_loaded = _MODULE in sys.modules
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

    if not is_loaded:
        give_back()
    client: type[Client] = Client
    return client
