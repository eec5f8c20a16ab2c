"""`%svc_sensor`: check whether partitions of a table, or files, exist."""

from __future__ import annotations

from collections.abc import Sequence

from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import out_option, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.session.session import ask
from svc_jupyter.magics.tables.tables import table_name


class SensorMagics(SvcFamily):
    """The magic for sensors."""

    @line_magic
    @argument("table", metavar="SCHEMA.TABLE", nargs="?", help="The table; without SCHEMA. one of `default`.")
    @argument("values", metavar="COLUMN=VALUE", nargs="*", help="A value of a partition column; several are repeated.")
    @argument("--file", metavar="URI", action="append", default=[], help="Ask for a file or folder. Repeatable.")
    @out_option("whether it is there")
    def svc_sensor(self, line: str) -> bool:
        """Return whether a Hive table has partitions: `%svc_sensor web.visits day=2026-11-21 region=EU region=US`.

        Of a column with several values there must be a partition for each. With `--file` whether all these files and
        folders are there. No cluster needs to run.
        """
        values = parse(self.svc_sensor, line)
        if bool(values.table) == bool(values.file):
            raise SvcUsageError("svc_sensor: takes SCHEMA.TABLE with COLUMN=VALUE, or --file URI")
        sensors = self.session.client().sensors
        if values.file:
            return self.keep(values, ask(lambda: sensors.files(*values.file), "sensor"))
        schema, table = table_name(values.table, "svc_sensor")
        columns = columns_of(values.values)
        return self.keep(values, ask(lambda: sensors.partition(schema, table, columns), "sensor"))


def columns_of(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the values by column. Raises SvcUsageError."""
    columns: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SvcUsageError(f"svc_sensor: takes COLUMN=VALUE, not {text!r}")
        columns.setdefault(name, []).append(value)
    if not columns:
        raise SvcUsageError("svc_sensor: name the partition by COLUMN=VALUE, such as day=2026-11-21")
    return columns
