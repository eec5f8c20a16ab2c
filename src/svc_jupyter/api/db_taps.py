"""DB taps: stored connections to databases."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, SecretStr

from svc_jupyter.api.fields import Id, Name, PagingInfo, Record, Request


class DbType(StrEnum):
    """The kinds of database a tap can reach; `url` is any database with an SQLAlchemy dialect."""

    POSTGRESQL = "postgresql"
    MYSQL = "mysql"
    SQLSERVER = "sqlserver"
    REDSHIFT = "redshift"
    SQLITE = "sqlite"
    URL = "url"


class DbTapCreate(Request):
    """A new tap. For `sqlite`, `db_name` is a file under the allowed roots; `url` and `db_passwd` are write-only."""

    name: Name = Field(min_length=1)
    db_type: str
    db_host: str | None = Field(default=None, max_length=255)
    port: Id | None = Field(default=None, le=65_535)
    db_name: str | None = Field(default=None, max_length=4096)
    db_user: str | None = Field(default=None, max_length=255)
    db_passwd: SecretStr | None = Field(default=None, strict=False)
    url: SecretStr | None = Field(default=None, strict=False)
    active: bool = True


class DbTapUpdate(Request):
    """The attributes to change; the others stay."""

    name: Name | None = Field(default=None, min_length=1)
    db_type: str | None = None
    db_host: str | None = Field(default=None, max_length=255)
    port: Id | None = Field(default=None, le=65_535)
    db_name: str | None = Field(default=None, max_length=4096)
    db_user: str | None = Field(default=None, max_length=255)
    db_passwd: SecretStr | None = Field(default=None, strict=False)
    url: SecretStr | None = Field(default=None, strict=False)
    active: bool | None = None


class DbTap(Record):
    """A tap without its secrets."""

    id: int
    name: str
    db_type: str
    db_host: str | None = None
    port: int | None = None
    db_name: str | None = None
    db_user: str | None = None
    active: bool = True
    account_id: int
    user_id: int
    created_at: str


class DbTapList(Record):
    """One page of taps, newest first."""

    db_taps: list[DbTap]
    paging_info: PagingInfo


class DbTapTable(Record):
    """A table or view of the tap's database."""

    name: str
    schema_name: str | None = None
    type: str


class DbTapTables(Record):
    """The tables that the tap's user can see."""

    tables: list[DbTapTable]


class Deleted(Record):
    """The answer to a deletion."""

    status: str = "deleted"
    id: int
