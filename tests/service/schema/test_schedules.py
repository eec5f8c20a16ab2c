from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
import sqlalchemy as sa

from svc_jupyter.service.schema.schedules import Action, Schedule, actions, schedules


@pytest.mark.parametrize(("row", "table"), [(Schedule, schedules), (Action, actions)])
def test_a_row_has_the_columns_of_its_table_in_their_order(row: Any, table: sa.Table):
    assert [field.name for field in fields(row)] == table.c.keys()
