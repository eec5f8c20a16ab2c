"""Thrift's client of the metastore, generated code of two and a half megabytes that is loaded at its first use.

Where its bytecode is not on disk, as when an installer did not compile it or may not write it, Python compiles it then:
malloc kept 85 of the 110 MB that this took, for as long as the process lived.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

_MODULE: Final = "pymetastore.hive_metastore.ThriftHiveMetastore"


def client_class() -> type[Client]:
    """Return the class of the client. The first call takes half a second: it is for a thread of its own."""
    is_loaded = _MODULE in sys.modules
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

    if not is_loaded:
        _give_back_memory()
    client: type[Client] = Client
    return client


def _give_back_memory() -> None:
    """Let malloc give the system what nothing uses; only that of glibc keeps so much, and can be told."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
