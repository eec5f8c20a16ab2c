"""The tables of the database, a module for each room that has some.

All are registered in `metadata.metadata` as soon as one is imported, so migrations and copies know every table.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
