"""Programs on a real Spark cluster, whose tasks run in its driver."""

import json
import os
import signal
from contextlib import suppress
from datetime import datetime

import psutil
import pytest
from tests.support import far_times, variants
from tests.support.service_process import wait_until
from tests.support.spark import LABEL, SECONDS, activity, lines, log, results, run, server_of, submit

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.timeout(600)]
UNTIL_GO = "import os, time\nopen('begun', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.05)\n"


SIX = """import six
far = sc.parallelize([1]).map(lambda n: __import__("six").__version__)
print(six.__version__, far.collect())
"""


_IN_PANDAS = """
import pandas as pd
frame = pd.DataFrame({"n": [1, 2], "when": pd.to_datetime(["2020-01-31", None]), "mixed": [1, "x"], 7: [None, "y"]})
"""
_AS_ROWS = [
    {"n": 1, "when": datetime(2020, 1, 31), "mixed": "1", "7": None},  # noqa: DTZ001
    {"n": 2, "when": None, "mixed": "x", "7": "y"},
]
_SUMS = [{"mixed": "1", "n": 1}, {"mixed": "x", "n": 2}]


def refusal(service, **fields):
    answer = service.http.post("/commands", json={"command_type": "SparkCommand", **fields})
    assert answer.status_code == 422, answer.text
    return answer.json()["error"]["error_message"]


def test_sql_has_typed_rows_in_their_order(spark):
    query = "SET x.y=1; SELECT id, cast(id AS string) AS name, id % 2 = 0 AS even FROM range(50000) ORDER BY id DESC"
    record = run(spark, command_type="SqlCommand", query=query)
    assert (record["status"], record["result_rows"]) == ("done", 50_000), record["message"]
    table = results(spark, record["id"])
    assert [str(field.type) for field in table.schema] == ["int64", "string", "bool"]
    assert table["id"].to_pylist() == list(range(49_999, -1, -1))
    [job, *_] = spark.http.get(f"/commands/{record['id']}/jobs").json()["jobs"]
    assert (job["status"], job["progress"]) == ("SUCCEEDED", 100)


def test_times_that_python_does_not_have_are_text_at_every_depth(spark):
    by_sql = run(spark, command_type="SqlCommand", query=far_times.QUERY)
    by_python = run(spark, language="python", program=f"spark.sql({far_times.QUERY!r})")
    for record in (by_sql, by_python):
        assert results(spark, record["id"]).to_pylist() == far_times.rows(zone="Z"), record["message"]
        assert json.loads(record["qlog"])["messages"] == [far_times.NOTE]
        assert log(spark, record["id"]).count(far_times.NOTE) == 1


def test_bytes_of_a_text_that_are_not_utf_8_are_replaced_and_said(spark):
    record = run(spark, command_type="SqlCommand", query="SELECT CAST(X'ff41' AS string) AS t, 'ü' AS u")
    assert results(spark, record["id"]).to_pylist() == [{"t": "\N{REPLACEMENT CHARACTER}A", "u": "ü"}]
    assert json.loads(record["qlog"])["messages"] == ["column t is text: bytes that are not UTF-8 stand as U+FFFD"]


def test_a_variant_is_its_json_at_every_depth(spark):
    by_sql = run(spark, command_type="SqlCommand", query=variants.QUERY)
    by_python = run(spark, language="python", program=f"spark.sql({variants.QUERY!r})")
    for record in (by_sql, by_python):
        assert results(spark, record["id"]).to_pylist() == [variants.ROW], record["message"]


def test_blocks_raw_strings_and_comments_go_to_spark_as_they_are_written(spark):
    query = (
        "-- a\nCREATE TABLE steps (n int);\n"
        "BEGIN\n  DECLARE n INT DEFAULT 0;\n"
        "  l: WHILE n < 3 DO\n    SET n = n + 1;\n"
        "    IF n <> 2 THEN INSERT INTO steps VALUES (CASE WHEN n = 1 THEN 10 ELSE 30 END); END IF;\n"
        "  END WHILE l;\nEND;\n"
        "SELECT r'C:\\' AS path, R\"a;\\\" AS other, sum(n) AS total /* /* ; */ ; */ FROM steps; -- ;"
    )
    record = run(spark, command_type="SqlCommand", query=query)
    assert record["status"] == "done", record["message"]
    assert results(spark, record["id"]).to_pylist() == [{"path": "C:\\", "other": "a;\\", "total": 40}]
    record = run(spark, command_type="SqlCommand", query="SELECT 1;\n/* a */\n-- b\nSELECT\nnosuch")
    assert "\n  query, line 5, column 1: nosuch\n" in record["message"]
    record = run(spark, command_type="SqlCommand", query="DROP TABLE steps;\nSELECT 'open")
    assert record["message"].startswith("it is uncertain where the statement at line 2 ends")


def test_the_table_of_a_last_expression_is_the_result_and_what_was_printed_the_log(spark):
    program = "import sys\nprint('printed', sys.argv[1:])\nspark.range(3)"
    record = run(spark, program=program, language="python", user_program_arguments="a 'b c'")
    assert results(spark, record["id"])["id"].to_pylist() == [0, 1, 2]
    assert "printed ['a', 'b c']" in log(spark, record["id"])


def test_a_last_expression_of_pandas_is_the_result_with_its_index(spark):
    record = run(spark, program=f"{_IN_PANDAS}frame", language="python")
    assert results(spark, record["id"]).to_pylist() == _AS_ROWS, record["message"]
    record = run(spark, program=f"{_IN_PANDAS}frame.groupby(frame.mixed.astype(str)).n.sum()", language="python")
    assert results(spark, record["id"]).to_pylist() == _SUMS, record["message"]
    record = run(spark, program=f"{_IN_PANDAS}frame[frame.n > 9][['n']]", language="python")
    assert (results(spark, record["id"]).num_rows, record["result_rows"]) == (0, 0)


def test_the_output_of_a_program_without_a_table_is_its_result(spark):
    program = (
        "import subprocess\nprint(spark.range(4).count(), flush=True)\nsubprocess.run(['echo', 'child'])\nspark.stop()"
    )
    record = run(spark, program=program, language="python")
    assert (record["status"], lines(spark, record["id"])) == ("done", ["4", "child"])


def test_scala_compiles_classes_that_executors_load(spark):
    program = 'case class Point(x: Int)\nprintln("args " + args.toList)\nSeq(Point(1), Point(2)).toDS.map(_.x + 1).toDF'
    record = run(spark, program=program, language="scala", user_program_arguments="one")
    assert record["status"] == "done", record["message"]
    assert results(spark, record["id"])["value"].to_pylist() == [2, 3]
    assert "args List(one)" in log(spark, record["id"])


def test_a_kept_session_shares_names_and_views_between_languages(spark):
    run(spark, program="n = 7\nspark.range(n).createOrReplaceTempView('shared')", language="python", app_id="kept")
    counted = run(spark, sql="SELECT count(*) AS c FROM shared", app_id="kept")
    assert results(spark, counted["id"])["c"].to_pylist() == [7]
    scala = run(spark, program='println(spark.table("shared").count)', language="scala", app_id="kept")
    assert lines(spark, scala["id"]) == ["7"]
    died = run(spark, program="import os\nos._exit(3)", language="python", app_id="kept")
    assert "its process ended with code 3" in died["message"]
    again = run(
        spark, program="print(spark.table('shared').count(), 'n' in globals())", language="python", app_id="kept"
    )
    assert lines(spark, again["id"]) == ["7 False"]
    assert "TABLE_OR_VIEW_NOT_FOUND" in run(spark, sql="SELECT * FROM shared")["message"]


def test_sessions_of_programs_one_right_after_the_other_share_nothing(spark):
    run(spark, sql="CREATE DATABASE IF NOT EXISTS elsewhere")
    leaving = {
        "sql": "CREATE TEMP VIEW left_over AS SELECT 1; SET spark.sql.shuffle.partitions=77; SET left.over=1; "
        "DECLARE VARIABLE left_variable INT DEFAULT 5; USE elsewhere; SELECT 1",
        "python": "import os\nleft_over = 1\nos.environ['LEFT_OVER'] = '1'\nos.left_over = 1\n"
        "spark.range(1).createTempView('left_over')\nspark.udf.register('left_function', lambda: 1)\n"
        "spark.conf.set('spark.sql.shuffle.partitions', '77')\nspark.catalog.setCurrentDatabase('elsewhere')",
    }
    looking = (
        "import os\n"
        "print(spark.catalog.currentDatabase(), spark.catalog.tableExists('left_over'), 'left_over' in globals(), "
        "spark.conf.get('spark.sql.shuffle.partitions'), spark.conf.get('left.over', 'none'), "
        "'LEFT_OVER' in os.environ, hasattr(os, 'left_over'), spark.catalog.functionExists('left_function'))"
    )
    for _ in range(2):
        for language, program in leaving.items():
            assert run(spark, program=program, language=language)["status"] == "done"
            found = run(spark, program=looking, language="python")
            assert lines(spark, found["id"]) == ["default False False 2 none False False False"], found["message"]
            database = run(spark, sql="SELECT current_database() AS name")
            assert results(spark, database["id"])["name"].to_pylist() == ["default"]
    assert "UNRESOLVED_COLUMN" in run(spark, sql="SELECT left_variable")["message"]


def test_a_session_finds_all_that_it_needs_loaded(spark):
    program = (
        "import sys\nnames = list(sys.modules)\nlast = names.index('svc_spark.session')\n"
        "print([name for name in names[last:] if not name.startswith('svc_spark.')])"
    )
    assert lines(spark, run(spark, program=program, language="python")["id"]) == ["[]"]


def test_programs_that_come_at_once_have_a_session_each(spark):
    program = "names = [each for each in globals() if each.startswith('mine')]\nmine_{0} = 1\nprint(names)"
    begun = [submit(spark, program=program.format(number), language="python") for number in range(6)]
    for record in begun:
        ended = spark.ended(record["id"], SECONDS)
        assert (ended["status"], lines(spark, record["id"])) == ("done", ["[]"]), ended["message"]


def test_a_session_that_cannot_be_made_says_so_and_the_next_one_is_made(spark):
    parents = [each for each in server_of(spark).children() if "svc_spark.zygote" in each.cmdline()]
    before = {parent: parent.rlimit(psutil.RLIMIT_AS) for parent in parents}
    for parent, (_, most) in before.items():
        parent.rlimit(psutil.RLIMIT_AS, (parent.memory_info().vms, most))  # no room for another thread's stack
    try:
        run(spark, sql="SELECT 1")  # in the process that was waiting
        refused = run(spark, sql="SELECT 1")
    finally:
        for parent, limits in before.items():
            parent.rlimit(psutil.RLIMIT_AS, limits)
    words = "no session could be made: its process ended with code 1; the session server's log says why"
    assert (refused["status"], refused["message"]) == ("error", words)
    assert run(spark, sql="SELECT 1")["status"] == "done"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"program": "x = 1\nx / 0", "language": "python"}, "line 2: ZeroDivisionError: division by zero"),
        ({"program": "x = = 1", "language": "python"}, "line 1: "),
        ({"program": "import sys\nsys.exit(4)", "language": "python"}, "the program ended itself with 4"),
        ({"sql": "SELECT 1;\nSELECT * FROM nowhere"}, "line 2: [TABLE_OR_VIEW_NOT_FOUND]"),
        ({"program": 'val x: Int = "a"', "language": "scala"}, "type mismatch"),
        ({"program": 'sys.error("boom")', "language": "scala"}, "java.lang.RuntimeException: boom"),
        ({"program": "def f(x: Int) = {", "language": "scala"}, "the program is incomplete"),
    ],
)
def test_a_program_that_fails_shows_why_and_where(spark, fields, reason):
    record = run(spark, **fields)
    assert record["status"] == "error"
    assert reason in record["message"]


def test_tables_are_those_of_the_account_s_metastore(spark):
    run(spark, command_type="SqlCommand", query="CREATE TABLE numbers USING parquet AS SELECT id FROM range(3)")
    assert "numbers" in spark.http.get("/hive/default").json()["tables"]
    record = run(spark, command_type="SqlCommand", query="SELECT sum(id) AS total FROM numbers")
    assert results(spark, record["id"])["total"].to_pylist() == [3]


@pytest.mark.parametrize(
    ("language", "program"),
    [
        ("python", "open('begun', 'w').close()\nwhile True: pass"),
        ("sql", "SELECT count(*) FROM range(1000000000000)"),
        ("scala", 'new java.io.File("begun").createNewFile\nwhile (true) {}'),
    ],
)
def test_a_cancellation_ends_the_program(spark, language, program):
    record = submit(spark, program=program, language=language)
    wait_until(lambda: spark.record(record["id"])["status"] == "running", "the command runs", SECONDS)
    if language == "python":
        wait_until((spark.folder(record["id"]) / "1" / "work" / "begun").exists, "the program runs", SECONDS)
    if language == "sql":
        jobs = f"/commands/{record['id']}/jobs"
        wait_until(lambda: spark.http.get(jobs).json()["jobs"], "Spark runs its job", SECONDS)
    answer = spark.http.put(f"/commands/{record['id']}", json={"status": "kill"}).json()
    assert spark.ended(record["id"], SECONDS)["status"] == "cancelled", answer
    after = run(spark, command_type="SqlCommand", query="SELECT 1 AS one")
    assert results(spark, after["id"])["one"].to_pylist() == [1]


def test_a_cancellation_leaves_the_programs_of_others_alone(spark, tmp_path):
    """They would lose their links to the driver, and what they had asked it to do would be done a second time."""
    begun, other = tmp_path / "begun", tmp_path / "other"
    write = 'java.nio.file.Files.write(java.nio.file.Paths.get("FILE"), "run\\n".getBytes, CREATE, APPEND)\n'
    write = f"import java.nio.file.StandardOpenOption._\n{write}"
    waits = write.replace("FILE", str(other)) + f'while (!new java.io.File("{tmp_path}/go").exists) Thread.sleep(20)'
    patient = submit(spark, program=waits, language="scala")
    record = submit(spark, program=write.replace("FILE", str(begun)) + "while (true) {}", language="scala")
    wait_until(lambda: begun.exists() and other.exists(), "the programs run", SECONDS)
    spark.http.put(f"/commands/{record['id']}", json={"status": "kill"})
    assert spark.ended(record["id"], SECONDS)["status"] == "cancelled"
    (tmp_path / "go").touch()
    assert spark.ended(patient["id"], SECONDS)["status"] == "done", log(spark, patient["id"])
    assert other.read_text() == "run\n"


def test_a_program_that_prints_a_lot_takes_disk_but_no_memory(spark):
    program = "line = 'x' * 1023\nfor _ in range(300 * 1024): print(line)"
    server = server_of(spark)
    record = submit(spark, program=program, language="python")
    most = 0

    def is_over():
        nonlocal most
        parts = [server, *server.children(recursive=True), psutil.Process(spark.pid)]
        for process in parts:
            with suppress(psutil.Error):
                if "java" not in process.name():
                    most = max(most, process.memory_info().rss)
        return spark.record(record["id"])["status"] in ("done", "error", "cancelled")

    wait_until(is_over, "the program has ended", SECONDS)
    assert spark.record(record["id"])["result_bytes"] == 300 * 2**20
    assert most < 400 * 2**20


def test_options_of_spark_submit_make_an_application_of_its_own(spark):
    (spark.data_dir / "storage").mkdir(exist_ok=True)
    record = run(
        spark,
        program="print(spark.sparkContext.appName)\nspark.range(2)",
        language="python",
        arguments="--name alone --conf spark.ui.enabled=false",
    )
    assert record["status"] == "done", record["message"]
    assert results(spark, record["id"])["id"].to_pylist() == [0, 1]
    assert "alone" in log(spark, record["id"])


def test_a_command_line_is_spark_submit_with_its_own_driver(spark):
    script = spark.data_dir / "storage" / "count.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(
        "import sys\nfrom pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
        "print(spark.range(int(sys.argv[1])).count())\nspark.stop()\nsys.exit(int(sys.argv[2]))\n"
    )
    good = run(spark, cmdline=f"spark-submit --conf spark.ui.enabled=false {script} 6 0")
    assert (good["status"], lines(spark, good["id"])) == ("done", ["6"]), good["message"]
    bad = run(spark, cmdline=f"spark-submit --conf spark.ui.enabled=false {script} 6 3")
    assert bad["status"] == "error"
    assert bad["attempts"][-1]["exit_code"] != 0


def test_the_health_shows_the_session_server_and_no_hadoop(spark):
    health = spark.http.get("/clusters/spark/live_cluster_health").json()
    assert health["pages"] == []  # spark.ui.enabled is false here
    metrics = health["metrics"]
    assert metrics["engine"]["spark"] == {}
    assert metrics["daemons"]["zeppelin"]["status"] == "UP"
    assert 0 < float(metrics["daemons"]["zeppelin"]["heap"]["usage_percent"]) <= 100
    assert metrics["daemons"].get("resourcemanager") is None
    assert metrics["daemons"].get("namenode") is None


def test_nodes_of_a_spark_cluster_cannot_be_changed(spark):
    answer = spark.http.post(f"/clusters/{LABEL}/nodes", json={"node_count": 1})
    assert answer.status_code == 422
    assert "Node changes are not supported for Spark clusters" in answer.json()["error"]["error_message"]


def test_a_command_for_an_unsuitable_cluster_or_language_is_refused(spark):
    assert "runs Hadoop; this needs Spark" in refusal(spark, sql="SELECT 1", label="default")
    assert "runs Presto; this needs Spark" in refusal(spark, sql="SELECT 1", label="presto")
    told = refusal(spark, program="1", language="cobol")
    assert told.startswith("SparkCommand could not be created: ")
    assert "'cobol' is not one of" in told


def test_a_killed_service_finds_its_running_program_again(spark):
    program = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.05)\nprint('went on')"
    record = submit(spark, program=program, language="python")
    work = spark.folder(record["id"]) / "1" / "work"
    wait_until((work.parent / "statement").exists, "the statement is begun", SECONDS)
    spark.kill()
    spark.start()
    (work / "go").touch()
    ended = spark.ended(record["id"], SECONDS)
    assert (ended["status"], lines(spark, record["id"])) == ("done", ["went on"]), ended["message"]


def test_after_a_restart_of_the_service_tables_are_found_again(spark):
    run(spark, command_type="SqlCommand", query="CREATE TABLE kept AS SELECT 7 AS seven")
    spark.stop()  # with the service its metastore ends
    spark.start()
    again = run(spark, command_type="SqlCommand", query="SELECT seven FROM kept; DROP TABLE kept")
    assert again["status"] == "done", again["message"]


def test_a_killed_session_server_ends_its_programs_and_starts_again(spark):
    program = "import time\nopen('begun', 'w').close()\ntime.sleep(600)"
    record = submit(spark, program=program, language="python")
    begun = spark.folder(record["id"]) / "1" / "work" / "begun"
    wait_until(begun.exists, "the program runs", SECONDS)
    server = server_of(spark)
    os.kill(server.pid, signal.SIGKILL)
    ended = spark.ended(record["id"], SECONDS)
    assert ended["status"] == "error"
    assert "the cluster's session server ended while the program ran" in ended["message"]
    after = run(spark, command_type="SqlCommand", query="SELECT 1 AS one")
    assert results(spark, after["id"])["one"].to_pylist() == [1]
    after = server_of(spark)
    assert after is not None
    assert after.pid != server.pid


def test_sessions_and_applications_have_the_packages_that_are_attached_to_the_cluster(spark):
    spark.http.put("/account/features", json={"package_management": True})
    made = spark.http.post("/package", json={"name": "for spark", "packages": ["six==1.15.0"]}).json()
    first = activity(spark, made["id"])
    cluster_id = spark.http.get(f"/clusters/{LABEL}").json()["id"]
    spark.http.post(f"/package/{made['id']}/attach_cluster", json={"cluster_id": cluster_id})
    assert activity(spark, made["id"])["status"] == "success"
    try:
        before = submit(spark, program=UNTIL_GO + SIX, language="python")["id"]
        work = spark.folder(before) / "1" / "work"
        wait_until((work / "begun").exists, "the program runs", SECONDS)
        spark.http.post(f"/package/{made['id']}/packages", json={"packages": ["six==1.16.0"]})
        assert activity(spark, made["id"])["message"].startswith("six 1.15.0 → 1.16.0")
        alone = run(spark, program=SIX, language="python", arguments="--conf spark.ui.enabled=false")
        inside = run(spark, program=SIX, language="python")
        assert lines(spark, inside["id"]) == lines(spark, alone["id"]) == ["1.16.0 ['1.16.0']"], inside["message"]
        restored = {"env_type": "python_package", "package_id": first["id"]}
        spark.http.post(f"/package/{made['id']}/activity_history", json=restored)
        assert activity(spark, made["id"])["action"] == "restore"
        paragraph = {"id": "p1", "text": f"%pyspark\n{SIX}"}
        note = {"name": "packages", "location": "Common", "paragraphs": [paragraph]}
        noted = run(spark, note_id=spark.http.post("/notebooks", json=note).json()["id"], language="notebook")
        assert "1.15.0 ['1.15.0']" in log(spark, noted["id"])
        (work / "go").touch()
        assert spark.ended(before, SECONDS)["status"] == "done"
        assert lines(spark, before) == ["1.15.0 ['1.15.0']"]
    finally:
        spark.http.post(f"/package/{made['id']}/detach_cluster")
        assert activity(spark, made["id"])["action"] == "detach_cluster"
    assert "No module named 'six'" in run(spark, program=SIX, language="python")["message"]
