"""Notes run on a real Spark cluster through a real service, from the submission to the results in the note."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pyarrow as pa
import pytest
from tests.support import far_times, variants
from tests.support import spark as on_spark
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.client import Client

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("spark")]
ARROW = {"Accept": "application/vnd.apache.arrow.stream"}
IN_SQL = """%sql
select id, id * id as square, '${who=nobody}' as who
from numbers where id < ${top=3} order by id
"""
IN_SCALA = """%spark
val n = spark.table("numbers").count
println(s"$n rows for ${z.input("who", "y")}")
z.show(spark.table("numbers").filter("id > 3"))
"""
LATE = [
    {
        "id": "make",
        "text": "%pyspark\nspark.range(int(z.input('rows', 5))).createOrReplaceTempView('numbers')\nprint('made')",
    },
    {
        "id": "ask",
        "title": "Squares",
        "text": IN_SQL,
    },
    {
        "id": "scala",
        "text": IN_SCALA,
    },
    {"id": "sh", "text": "%sh\necho ${who=nobody} ${password:key}"},
    {"id": "md", "text": "%md\n# For ${who=nobody}"},
]
_names = count(1)


@pytest.fixture(scope="module")
def service(spark: ServiceProcess) -> ServiceProcess:
    """The service whose cluster `spark` is UP."""
    return spark


@pytest.fixture
def client(service: ServiceProcess) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{service.http.base_url.port}", service.http.headers["X-AUTH-TOKEN"]) as client:
        yield client


def make(service: ServiceProcess, *paragraphs: dict[str, Any] | str, **about: Any) -> int:
    """Make a note and return its id."""
    texts = [{"id": f"p{n}", "text": one} if isinstance(one, str) else one for n, one in enumerate(paragraphs, 1)]
    body = {"name": f"note {next(_names)}", "location": "Common", "paragraphs": texts, **about}
    answer = service.http.post("/notebooks", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def run(service: ServiceProcess, note_id: int, **fields: Any) -> dict[str, Any]:
    return on_spark.run(service, note_id=note_id, language="notebook", **fields)


def refusal(service: ServiceProcess, **fields: Any) -> str:
    answer = service.http.post("/commands", json={"command_type": "SparkCommand", **fields})
    assert answer.status_code == 422, answer.text
    return str(answer.json()["error"]["error_message"])


def test_a_note_runs_in_one_session_and_its_results_are_the_commands_and_the_notes(service: ServiceProcess) -> None:
    note_id = make(service, *LATE)
    who = 'it\'s "$x" \\ `y`\n; drop'
    record = run(service, note_id, arguments={"who": who, "top": 4, "key": "hunter2"})
    assert record["status"] == "done", on_spark.log(service, record["id"])
    outputs = record["outputs"]
    assert [one["status"] for one in outputs["paragraphs"]] == ["FINISHED"] * 5
    assert [(one["title"], one["rows"]) for one in outputs["tables"]] == [("Squares", 4), (None, 1)]
    assert outputs["note"]["saved"]
    assert not outputs["note"]["edited"]
    answer = service.http.get(f"/commands/{record['id']}/results?table=1", headers=ARROW)
    table = pa.ipc.open_stream(answer.content).read_all()
    assert table.column("square").to_pylist() == [0, 1, 4, 9]
    assert set(table.column("who").to_pylist()) == {who}
    text = service.http.get(f"/commands/{record['id']}/results").json()["results"]
    assert text.endswith("\r\n\r\nid\r\n4\r\n")
    note = service.http.get(f"/notebooks/{note_id}").json()
    shown = {one["id"]: one["results"]["msg"] for one in note["paragraphs"]}
    assert shown["make"] == [{"type": "TEXT", "data": "made\n"}]
    assert shown["scala"][0]["data"].startswith("5 rows for it's")
    assert shown["sh"][0]["data"].endswith("hunter2\n")
    assert note["revision"] == 1
    assert note["version"] == 1
    kept = [one["settings"] for one in note["paragraphs"]]
    assert "hunter2" not in str(kept) + str(record)
    assert "hunter2" not in service.http.get(f"/commands/{record['id']}").text


def test_a_variant_is_its_json_in_a_note(service: ServiceProcess) -> None:
    record = run(service, make(service, f"%sql\n{variants.QUERY}"))
    answer = service.http.get(f"/commands/{record['id']}/results", headers=ARROW)
    assert pa.ipc.open_stream(answer.content).read_all().to_pylist() == [variants.ROW]


def test_times_that_python_does_not_have_are_text_in_a_note(service: ServiceProcess) -> None:
    note_id = make(service, f"%sql\n{far_times.QUERY}")
    record = run(service, note_id)
    answer = service.http.get(f"/commands/{record['id']}/results", headers=ARROW)
    assert pa.ipc.open_stream(answer.content).read_all().to_pylist() == far_times.rows(zone="Z")
    [paragraph] = service.http.get(f"/notebooks/{note_id}").json()["paragraphs"]
    shown = paragraph["results"]["msg"]
    assert [one["type"] for one in shown] == ["TABLE", "TEXT"]
    assert "+12020-01-31T01:02:03Z" in shown[0]["data"]
    assert shown[1]["data"] == f"{far_times.NOTE}\n"


def test_the_first_error_ends_the_run_and_names_paragraph_and_line(service: ServiceProcess) -> None:
    note_id = make(service, "%pyspark\nx = 1", "%sql\nselect 1;\nselect nothing from nowhere", "%pyspark\nprint(x)")
    record = run(service, note_id)
    assert record["status"] == "error"
    assert record["message"].startswith("paragraph 2, line 3: [TABLE_OR_VIEW_NOT_FOUND]"), record["message"]
    assert [one["status"] for one in record["outputs"]["paragraphs"]] == ["FINISHED", "ERROR"]
    failed = service.http.get(f"/notebooks/{note_id}").json()["paragraphs"][1]
    assert failed["status"] == "ERROR"
    assert "TABLE_OR_VIEW_NOT_FOUND" in failed["results"]["msg"][-1]["data"]


def test_two_runs_at_once_have_sessions_of_their_own(service: ServiceProcess) -> None:
    note_id = make(
        service,
        "%pyspark\nseen = globals().get('seen', 0) + 1\nspark.range(1).createOrReplaceTempView('mine')",
        "%pyspark\nprint(seen)",
    )
    submitted = [on_spark.submit(service, note_id=note_id, language="notebook") for _ in range(2)]
    ended = [service.ended(one["id"], on_spark.SECONDS) for one in submitted]
    assert [one["status"] for one in ended] == ["done", "done"]
    assert all("\n1\n" in on_spark.log(service, one["id"]) for one in ended)


def test_an_edit_during_a_run_is_reported_and_not_undone(service: ServiceProcess) -> None:
    note_id = make(service, "%sh\nuntil [ -e go ]; do sleep 0.1; done", "%sh\necho before")
    command = on_spark.submit(service, note_id=note_id, language="notebook")
    work = service.folder(command["id"]) / "1" / "work"
    wait_until(lambda: "paragraph 1" in on_spark.log(service, command["id"]), "the run begins", on_spark.SECONDS)
    edited = [{"id": "p1", "text": "%sh\ntrue"}, {"id": "p2", "text": "%sh\necho before"}]
    assert service.http.put(f"/notebooks/{note_id}", json={"paragraphs": edited}).status_code == 200
    (work / "go").touch()
    record = service.ended(command["id"], on_spark.SECONDS)
    assert record["status"] == "done"
    assert record["outputs"]["note"]["edited"]
    assert "edited while it ran" in record["outputs"]["note"]["message"]
    first, second = service.http.get(f"/notebooks/{note_id}").json()["paragraphs"]
    assert first == edited[0]
    assert second["results"]["msg"][0]["data"] == "before\n"


def test_a_cancellation_ends_a_paragraph_that_never_ends(service: ServiceProcess) -> None:
    note_id = make(service, "%pyspark\nprint('begun', flush=True)\nwhile True: pass")
    command = on_spark.submit(service, note_id=note_id, language="notebook")
    wait_until(lambda: "begun" in on_spark.log(service, command["id"]), "the paragraph runs", on_spark.SECONDS)
    assert service.http.put(f"/commands/{command['id']}", json={"status": "kill"}).json()["kill_succeeded"]
    assert service.record(command["id"])["status"] == "cancelled"
    assert run(service, make(service, "%pyspark\nprint(1)"))["status"] == "done"


def test_a_note_that_kills_its_session_is_reported_and_the_next_one_runs(service: ServiceProcess) -> None:
    record = run(service, make(service, "%pyspark\nimport os\nos.kill(os.getpid(), 9)"))
    assert record["status"] == "error"
    assert "the session ended while the program ran" in record["message"]
    assert run(service, make(service, "%pyspark\nprint(1)"))["status"] == "done"


def test_a_paragraph_that_ends_the_driver_is_reported_and_a_new_one_starts(service: ServiceProcess) -> None:
    refused = run(service, make(service, "%spark\nval a = 1", "%spark\nif (a == 1) sys.exit(3)"))
    assert refused["message"].startswith("paragraph 2: sys.exit would end Spark for all sessions"), refused["message"]
    record = run(service, make(service, "%sh\ntrue", "%spark\nRuntime.getRuntime.halt(3)"))
    assert record["status"] == "error"
    assert record["message"].startswith("paragraph 2: Spark's driver ended while the program ran"), record["message"]
    assert run(service, make(service, "%spark\nprintln(1)"))["status"] == "done"


def test_a_gigabyte_that_a_paragraph_prints_is_in_the_log_and_its_beginning_in_the_note(
    service: ServiceProcess,
) -> None:
    note_id = make(service, "%pyspark\nline = 'x' * (2**20 - 1)\nfor _ in range(1024): print(line)")
    record = run(service, note_id)
    assert record["status"] == "done", record["message"]
    assert (service.folder(record["id"]) / "log").stat().st_size > 2**30
    [paragraph] = service.http.get(f"/notebooks/{note_id}").json()["paragraphs"]
    shown = "".join(one["data"] for one in paragraph["results"]["msg"])
    assert len(shown) < 2**20 + 1000
    assert "are in the log" in shown or "the log has it whole" in shown


def test_one_paragraph_can_be_run_alone(service: ServiceProcess) -> None:
    note_id = make(service, "%pyspark\n1/0", "%sh\necho only")
    record = run(service, note_id, paragraph=2)
    assert record["status"] == "done"
    assert [one["id"] for one in record["outputs"]["paragraphs"]] == ["p2"]
    assert "has no paragraph '9'" in refusal(service, note_id=note_id, paragraph="9", label="spark")


def test_a_note_that_cannot_run_is_refused_with_422_and_the_reason(service: ServiceProcess) -> None:
    note_id = make(service, "%sql\nselect ${n=1,1|2}")
    beginning = "SparkCommand could not be created: "
    assert refusal(service, note_id=note_id).startswith(f"{beginning}the notebook has no cluster associated")
    gone = refusal(service, note_id=987654, label="spark")
    assert gone == f"{beginning}no Spark notebook exists for the account with the ID 987654"
    assert "is a Presto notebook" in refusal(service, note_id=make(service, note_type="presto"), label="spark")
    assert "needs Spark" in refusal(service, note_id=note_id, label="default")
    assert "form n has no option" in refusal(service, note_id=note_id, label="spark", arguments={"n": 3})
    assert "arguments: must be an object" in refusal(service, note_id=note_id, label="spark", arguments=[1])


def test_a_note_runs_on_the_cluster_that_it_is_bound_to_and_by_a_schedule(service: ServiceProcess) -> None:
    cluster = service.http.get("/clusters/spark").json()["id"]
    note_id = make(service, "%sh\necho ${who=nobody}", cluster_id=cluster)
    body = {"command_type": "SparkCommand", "note_id": note_id}
    record = service.ended(service.http.post("/commands", json=body).json()["id"], on_spark.SECONDS)
    assert record["status"] == "done"
    schedule = {"command_type": "SparkCommand", "command": {"note_id": note_id, "arguments": {"who": "all"}}}
    answer = service.http.post("/scheduler", json={**schedule, "frequency": 1, "label": "spark"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["command"]["note_id"] == note_id
    assert not [key for key in answer.json()["command"] if key.startswith("_")]

    schedule_id = answer.json()["id"]

    def done() -> bool:
        actions = service.http.get(f"/scheduler/{schedule_id}/actions").json()["actions"]
        return any(action["status"] == "done" for action in actions)

    try:
        wait_until(done, "the schedule's action ends", on_spark.SECONDS)
    finally:  # it would run beside other tests each minute
        service.http.put(f"/scheduler/{schedule_id}", json={"status": "kill"})


def test_the_client_reads_the_tables_of_a_run(service: ServiceProcess, client: Client) -> None:
    note_id = make(service, "%sql\nselect 1 as a", "%pyspark\nimport pandas as pd\npd.DataFrame({'b': [1.5]})")
    command = client.commands.submit("SparkCommand", note_id=note_id, label="spark").wait()
    assert [command.table(number).to_pandas().to_dict("list") for number in (1, 2)] == [{"a": [1]}, {"b": [1.5]}]
