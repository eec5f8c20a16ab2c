"""Programs in R on a real Spark cluster, with the environment of R that is attached to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.spark import LABEL, SECONDS, activity, lines, log, run, submit

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.timeout(600)]
GREETING = "library(svcbase)\nwriteLines(c(greeting(), commandArgs(trailingOnly = TRUE)))\n"
LONG = "a reason that is so long that R puts it on a line of its own, behind the one that says where"
UNTIL_GO = "file.create('begun')\nwhile (!file.exists('go')) Sys.sleep(0.05)\n"


@pytest.fixture(scope="module")
def environment_id(spark: ServiceProcess) -> Iterator[int]:
    """An environment of R with svcbase 1.0, attached to the cluster."""
    spark.http.put("/account/features", json={"package_management": True})
    body = {"name": "r for spark", "env_type": "r_package", "packages": ["svcbase==1.0"]}
    made = spark.http.post("/package", json=body).json()
    built = activity(spark, made["id"])
    assert built["status"] == "success", built["message"]
    cluster_id = spark.http.get(f"/clusters/{LABEL}").json()["id"]
    spark.http.post(f"/package/{made['id']}/attach_cluster", json={"cluster_id": cluster_id})
    assert activity(spark, made["id"])["status"] == "success"
    yield made["id"]
    spark.http.post(f"/package/{made['id']}/detach_cluster")
    assert activity(spark, made["id"])["action"] == "detach_cluster"


def test_a_program_prints_and_gets_its_arguments_and_packages(spark, environment_id):
    record = run(spark, program=GREETING, language="R", user_program_arguments="one 'two words'")
    assert record["status"] == "done", record["message"]
    assert lines(spark, record["id"]) == ["base 1.0", "one", "two words"]
    assert "R finds environment r for spark (packages " in log(spark, record["id"])


def stored_greeting(spark: ServiceProcess, name: str) -> Path:
    """Return a script that greets, in the storage."""
    script = spark.data_dir / "storage" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(GREETING)
    return script


@pytest.mark.parametrize("name", ["greet.R", "greet.r"])
def test_a_script_of_the_storage_runs_as_it_is(spark, environment_id, name):
    record = run(spark, script_location=f"file://{stored_greeting(spark, name)}", user_program_arguments="three")
    assert record["status"] == "done", record["message"]
    assert lines(spark, record["id"]) == ["base 1.0", "three"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("stop('no moon today')", "no moon today"),
        (
            "outer <- function(x) stop('a reason that is so long that R puts it on a line of its own')\nouter(1)",
            "a reason",
        ),
        ("library(svc.nowhere)", "there is no package called"),
        ("x <- = 1", "unexpected '='"),
        ("quit(status = 7)", "exited with code 7"),
    ],
)
def test_a_program_that_fails_shows_why(spark, environment_id, program, told):
    record = run(spark, program=program, language="R")
    assert record["status"] == "error"
    assert told in record["message"]


def test_a_cancellation_ends_the_program(spark, environment_id):
    record = submit(spark, program=f"writeLines(as.character(Sys.getpid()), 'pid')\n{UNTIL_GO}", language="R")
    work = spark.folder(record["id"]) / "1" / "work"
    wait_until((work / "begun").exists, "the program runs", SECONDS)
    pid = int((work / "pid").read_text())
    spark.http.put(f"/commands/{record['id']}", json={"status": "kill"})
    assert spark.ended(record["id"], SECONDS)["status"] == "cancelled"
    wait_until(lambda: not _lives(pid), "R has ended", SECONDS)


def test_a_running_program_keeps_its_packages_while_its_environment_is_changed_and_restored(spark, environment_id):
    before = submit(spark, program=UNTIL_GO + GREETING, language="R")["id"]
    work = spark.folder(before) / "1" / "work"
    wait_until((work / "begun").exists, "the program runs", SECONDS)
    first = spark.http.get(f"/package/{environment_id}").json()["package_id"]
    spark.http.post(f"/package/{environment_id}/packages", json={"packages": ["svcbase==1.1", "svcTop.level"]})
    assert activity(spark, environment_id)["message"].startswith("svc.Middle 1.2-3 added, svcTop.level 2.0 added, ")
    after = run(spark, program="cat(svcTop.level::top())", language="R")
    assert lines(spark, after["id"]) == ["MIDDLE OVER BASE 1.1"]
    paragraph = {"id": "p1", "text": "%sh\nRscript -e 'cat(svcbase::greeting())'"}
    note = {"name": "of r", "location": "Common", "paragraphs": [paragraph]}
    noted = run(spark, note_id=spark.http.post("/notebooks", json=note).json()["id"], language="notebook")
    assert "base 1.1" in log(spark, noted["id"]), noted["message"]
    restored = {"env_type": "r_package", "package_id": first}
    spark.http.post(f"/package/{environment_id}/activity_history", json=restored)
    back = activity(spark, environment_id)
    assert (back["action"], back["status"]) == ("restore", "success"), back["message"]
    (work / "go").touch()
    assert spark.ended(before, SECONDS)["status"] == "done"
    assert lines(spark, before) == ["[1] TRUE", "base 1.0"]
    alone = run(spark, cmdline=f"spark-submit {stored_greeting(spark, 'greet.R')}")
    assert lines(spark, alone["id"]) == ["base 1.0"]


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
