"""The five tables of the data set: their columns, keys and indexes.

The package publishes CSV files in which `NA` stands for a missing value and times are UTC instants.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO
from zipfile import ZipFile

import pyarrow as pa
from pyarrow import csv

MISSING = "NA"
_TYPES: dict[str, pa.DataType] = {
    "INTEGER": pa.int64(),
    "REAL": pa.float64(),
    "TEXT": pa.string(),
    "TIMESTAMP": pa.timestamp("s", "UTC"),
}


@dataclass(frozen=True)
class Table:
    """A table of the data set: `columns` maps each name to its declared type, `key` names the primary key's columns.

    Columns not in `nullable` are NOT NULL; each of `indexes` is a column list.
    """

    name: str
    columns: dict[str, str]
    nullable: frozenset[str] = frozenset()
    key: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()

    @property
    def arrow_types(self) -> dict[str, pa.DataType]:
        """The Arrow type of each column."""
        return {name: _TYPES[declared] for name, declared in self.columns.items()}

    @property
    def creation(self) -> str:
        """The statement that creates the table."""
        lines = [
            f"{name} {declared}{'' if name in self.nullable else ' NOT NULL'}"
            for name, declared in self.columns.items()
        ]
        if self.key:
            lines.append(f"PRIMARY KEY ({', '.join(self.key)})")
        return f"CREATE TABLE {self.name} ({', '.join(lines)})"

    @property
    def index_creations(self) -> list[str]:
        """The statements that create the indexes, after the rows are inserted."""
        return [
            f"CREATE INDEX {self.name}_by_{'_'.join(columns)} ON {self.name} ({', '.join(columns)})"
            for columns in self.indexes
        ]

    def open_csv(self, folder: Path) -> IO[bytes]:
        """Open the published CSV file in the package's data folder and decompress it if needed.

        Raises FileNotFoundError.
        """
        plain = folder / f"{self.name}.csv"
        if plain.exists():
            return plain.open("rb")
        return ZipFile(folder / f"{self.name}.csv.zip").open(f"{self.name}.csv")

    def read(self, source: Path) -> pa.Table:
        """Read a published CSV file as a typed table: missing values are nulls.

        Raises pyarrow.ArrowInvalid when the file does not have the expected columns and types.
        """
        options = csv.ConvertOptions(
            column_types=self.arrow_types,
            include_columns=list(self.columns),
            null_values=[MISSING],
            strings_can_be_null=True,
        )
        return csv.read_csv(source, convert_options=options)


def _columns(declared: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), declared)


AIRLINES = Table("airlines", _columns("TEXT", "carrier name"), key=("carrier",))
AIRPORTS = Table(
    "airports",
    _columns("TEXT", "faa name")
    | _columns("REAL", "lat lon")
    | _columns("INTEGER", "alt tz")
    | _columns("TEXT", "dst tzone"),
    nullable=frozenset({"tzone"}),
    key=("faa",),
)
PLANES = Table(
    "planes",
    _columns("TEXT", "tailnum")
    | _columns("INTEGER", "year")
    | _columns("TEXT", "type manufacturer model")
    | _columns("INTEGER", "engines seats speed")
    | _columns("TEXT", "engine"),
    nullable=frozenset({"year", "speed"}),
    key=("tailnum",),
)
WEATHER = Table(
    "weather",
    _columns("TEXT", "origin")
    | _columns("INTEGER", "year month day hour")
    | _columns("REAL", "temp dewp humid")
    | _columns("INTEGER", "wind_dir")
    | _columns("REAL", "wind_speed wind_gust precip pressure visib")
    | _columns("TIMESTAMP", "time_hour"),
    nullable=frozenset({"temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "pressure"}),
    # Not the local hour: the hour at the end of summer time occurs twice.
    key=("origin", "time_hour"),
)
FLIGHTS = Table(
    "flights",
    _columns("INTEGER", "year month day dep_time sched_dep_time dep_delay arr_time sched_arr_time arr_delay")
    | _columns("TEXT", "carrier")
    | _columns("INTEGER", "flight")
    | _columns("TEXT", "tailnum origin dest")
    | _columns("INTEGER", "air_time distance hour minute")
    | _columns("TIMESTAMP", "time_hour"),
    nullable=frozenset({"dep_time", "dep_delay", "arr_time", "arr_delay", "tailnum", "air_time"}),
    indexes=(("origin", "time_hour"), ("carrier",), ("dest",), ("tailnum",)),
)

TABLES = (AIRLINES, AIRPORTS, PLANES, WEATHER, FLIGHTS)
