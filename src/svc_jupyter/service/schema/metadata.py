"""What all tables share: their metadata, and the types of their columns."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""All tables register here; each resource's tables are in a module of this room."""

BigId = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""A 64-bit id; SQLite assigns ids automatically only to a column declared INTEGER."""
Json = sa.JSON(none_as_null=True)
