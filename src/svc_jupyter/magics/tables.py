"""`%svc_table` and `%svc_sensor`: tables in Hive's metastore, and whether partitions or files exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import out_option, output_options, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.rendering import Facts, limit_display
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.hive import HiveTableProperties
    from svc_jupyter.client import Client

DEFAULT_SCHEMA = "default"
_WHOLE_PAGE = 100
_ROWS = 1000
"""Default number of tables or partitions listed; -n overrides it."""


class TableMagics(SvcFamily):
    """The magic for Hive's tables."""

    @line_magic
    @argument("table", metavar="SCHEMA.TABLE", nargs="?", help="Table; the default SCHEMA is `default`.")
    @argument("--partitions", action="store_true", help="Return its partitions, the highest first.")
    @argument("--properties", action="store_true", help="Show its type, location, formats and properties.")
    @output_options
    def svc_table(self, line: str) -> pd.DataFrame | Facts:
        """Return the definition of a Hive table as a DataFrame: its columns, partition columns last.

        Without a table, return the list of tables. No cluster needs to run.
        """
        values = parse(self.svc_table, line)
        if values.partitions and values.properties:
            raise SvcUsageError("svc_table: --partitions or --properties, not both")
        rows = _ROWS if values.rows is None else values.rows
        if values.table is None:
            frame = ask(lambda: tables_frame(self.session.client(), rows), "tables")
        else:
            schema, table = table_name(values.table, "svc_table")
            if values.properties:
                properties = ask(lambda: self.session.client().hive.properties(schema, table), "table")
                return self.keep(values, properties_facts(properties))
            fetch = partitions_frame if values.partitions else columns_frame
            frame = ask(lambda: fetch(self.session.client(), schema, table, rows), "table")
        limit_display(frame, rows, rows, self.shell)
        return self.keep(values, frame)


def table_name(text: str, magic: str) -> tuple[str, str]:
    """Return schema and table of `flights` or `default.flights`. Raises SvcUsageError."""
    schema, dot, table = text.rpartition(".")
    if not table or (dot and not schema) or "." in schema:
        raise SvcUsageError(f"{magic}: takes SCHEMA.TABLE or TABLE, not {text!r}")
    return schema or DEFAULT_SCHEMA, table


def columns_frame(client: Client, schema: str, table: str, _rows: int) -> pd.DataFrame:
    """Return a row per column: name, type and comment."""
    import pandas as pd

    columns = client.hive.columns(schema, table)
    rows = [(column.name, column.type, column.comment or "") for column in columns]
    return pd.DataFrame(rows, columns=["name", "type", "comment"])


def partitions_frame(client: Client, schema: str, table: str, rows: int) -> pd.DataFrame:
    """Return a row per partition: the values of its columns, and its location."""
    import pandas as pd

    found: list[dict[str, str | None]] = []
    page: int | None = 1
    while page is not None and len(found) < rows:
        answer = client.hive.partitions(schema, table, page=page, per_page=_WHOLE_PAGE)
        found += [{**partition.values, "location": partition.location} for partition in answer.partitions]
        following = answer.paging_info.next_page if answer.paging_info is not None else None
        page = following if answer.partitions else None
    if found:
        return pd.DataFrame(found[:rows])
    names = client.hive.properties(schema, table).partition_columns
    return pd.DataFrame(columns=[*names, "location"])


def tables_frame(client: Client, rows: int) -> pd.DataFrame:
    """Return a row per table of every schema."""
    import pandas as pd

    found: list[tuple[str, str]] = []
    for name in all_tables(client):
        if len(found) >= rows:
            break
        found.append(name)
    return pd.DataFrame(found, columns=["schema", "table"])


def all_tables(client: Client) -> Iterator[tuple[str, str]]:
    """Yield schema and name of every table, a page at a time."""
    schemas: int | None = 1
    while schemas is not None:
        answer = client.hive.schemas(page=schemas, per_page=_WHOLE_PAGE)
        for schema in answer.schemas:
            page: int | None = 1
            while page is not None:
                tables = client.hive.tables(schema, page=page, per_page=_WHOLE_PAGE)
                yield from ((schema, table) for table in tables.tables)
                page = tables.paging_info.next_page if tables.paging_info is not None else None
        schemas = answer.paging_info.next_page if answer.paging_info is not None else None


def properties_facts(record: HiveTableProperties) -> Facts:
    """Return a table's other properties, for display."""
    facts = [
        ("type", record.table_type),
        ("location", record.location),
        ("partitioned by", ", ".join(record.partition_columns)),
        ("owner", record.owner),
        ("created", record.created_at),
        ("input format", record.input_format),
        ("output format", record.output_format),
        ("serde", record.serde),
        *sorted(record.properties.items()),
    ]
    return Facts(f"table {record.schema_}.{record.table}", [(name, value) for name, value in facts if value])


class SensorMagics(SvcFamily):
    """The magic for sensors."""

    @line_magic
    @argument("table", metavar="SCHEMA.TABLE", nargs="?", help="Table; the default SCHEMA is `default`.")
    @argument("values", metavar="COLUMN=VALUE", nargs="*", help="Value of a partition column. Repeatable.")
    @argument("--file", metavar="URI", action="append", default=[], help="Check for a file or folder. Repeatable.")
    @out_option("whether it is there")
    def svc_sensor(self, line: str) -> bool:
        """Return whether a Hive table has partitions: `%svc_sensor web.visits day=2026-11-21 region=EU region=US`.

        Each value of a column needs a partition. With `--file`, return whether all these files and folders exist.
        No cluster needs to run.
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
