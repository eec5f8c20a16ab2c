"""Where a program runs: in a session of the cluster, or as an application of its own, compiled or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from tests.service.kinds.spark.test_scala_programs import MAIN

from svc_jupyter.api.spark_commands import SparkSubmission
from svc_jupyter.service.commands.kind import Outcome, Task
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.spark.kind import SparkKind
from svc_jupyter.service.kinds.spark.plans import described
from svc_jupyter.service.kinds.spark.session_runs import BEGUN_FILE

IN_SESSION = Outcome(True, "it ran in its session")


class Places:
    """Doubles of the places, and where the last program was sent."""

    def __init__(self, folder: Path) -> None:
        (folder / "1").mkdir(parents=True)
        self.folder = folder
        self.sessions = Mock(run=AsyncMock(return_value=IN_SESSION))
        self.applications = Mock(outcome=AsyncMock(return_value=Outcome(True, "alone")), start=AsyncMock())
        configuration = Mock(is_external=False, custom_settings={"spark.master": "local[2]"})
        self.clusters = clusters = Mock(up_instance=AsyncMock(return_value=Mock(configuration=configuration)))
        environments = Mock(of_cluster=AsyncMock(return_value=None))
        places = {"sessions": self.sessions, "applications": self.applications, "clusters": clusters}
        others = {name: Mock() for name in ("connect", "notes", "servers", "storage", "forms")}
        settings = Settings(data_dir=folder)
        self.kind = SparkKind(**places, **others, settings=settings, environments=environments)

    async def sent(self, code: str, **fields: Any) -> str:
        """Run a program; return where it was sent, or why nowhere."""
        command = described(SparkSubmission.model_validate({"program": code, "language": "scala", **fields}))
        task = Task(id=1, account_id=1, user_id=1, attempt=1, command=command, root=self.folder, cluster_id=1)

        async def process(start: Any) -> Any:
            return await start()

        outcome = await self.kind.run(task, Mock(process=process))
        if self.applications.start.await_count:
            return "compiled" if self.applications.start.await_args.kwargs["is_compiled"] else "alone"
        return "in the session" if outcome is IN_SESSION else str(outcome.message)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


PLACES = [
    ("println(1)", {}, "in the session"),
    (MAIN, {}, "compiled"),
    (MAIN, {"arguments": "--class Sum --driver-memory 2g"}, "compiled"),
    (f"{MAIN}Sum.main(args)", {}, "alone"),
    ("spark.stop()", {}, "alone"),
    ("println(1)", {"arguments": "--name a"}, "alone"),
    (MAIN, {"app_id": "kept"}, "in the session"),
    ("spark.stop()", {"app_id": "kept"}, "in the session"),
    ("sys.exit(1)", {"app_id": "kept"}, "sys.exit would end Spark for all sessions of the cluster: leave it out"),
    (MAIN, {"language": "python"}, "in the session"),
]


async def test_a_program_runs_where_it_can_end_only_its_own_spark(tmp_path: Path) -> None:
    assert [
        (code, fields, await Places(tmp_path / str(number)).sent(code, **fields))
        for number, (code, fields, _) in enumerate(PLACES)
    ] == PLACES


@pytest.mark.parametrize("option", ["--class Sum", "--class=Sum"])
async def test_a_class_is_not_looked_for_in_a_script(places: Places, option: str) -> None:
    told = await places.sent(f"{MAIN}println(1)", arguments=option)
    assert told.startswith("arguments: --class names an object whose main is the program")


async def test_a_program_begun_in_a_session_before_an_upgrade_is_awaited_there(places: Places) -> None:
    (places.folder / "1" / BEGUN_FILE).write_text("1-1\n")
    assert await places.sent("query.stop()") == "in the session"


async def test_a_program_whose_cluster_cannot_be_read_has_not_failed(places: Places) -> None:
    """The job of the command runs it again, once the database is there."""
    places.clusters.up_instance.side_effect = [DatabaseAway("away"), places.clusters.up_instance.return_value]
    with pytest.raises(DatabaseAway):
        await places.sent("println(1)")
    assert await places.sent("println(1)") == "in the session"
