"""What a pipeline runs, and how its last run stands."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from svc_jupyter.api.pipelines import InstanceStatus, PipelineCreate, PipelineUpdate
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.validation import explain
from svc_jupyter.service.pipelines.definition import DRIVER, changed, definition_of, submit_line
from svc_jupyter.service.pipelines.records import after_end, health, instance_status

CODE = {"name": "orders", "code": "spark.readStream"}
JAR = {"name": "orders", "create_type": "jar", "jar_path": "s3://b/orders.jar", "main_class": "org.example.Orders"}


def line(body: dict) -> list[str]:
    made = PipelineCreate.model_validate(body)
    text = submit_line(
        definition_of(made), made.create_type.value, checkpoints="file:///data/3", code_file=Path("/data/3/code.py")
    )
    program, *words = shlex.split(text)
    assert program == "spark-submit"
    return words


def test_code_is_run_by_the_driver_with_its_progress_kept():
    assert line(
        {**CODE, "user_arguments": "a 'b c'", "properties": {"spark.executor.memory": "1g", "spark.x": True}}
    ) == [
        *("--conf", "spark.executor.memory=1g"),
        *("--conf", "spark.sql.streaming.checkpointLocation=file:///data/3"),
        *("--conf", "spark.x=true"),
        *(str(DRIVER), "/data/3/code.py", "a", "b c"),
    ]


def test_a_jar_begins_in_its_main_class():
    assert line(JAR)[2:] == ["--class", "org.example.Orders", "s3://b/orders.jar"]


def test_no_property_leads_the_progress_elsewhere():
    words = line({**CODE, "properties": {"spark.sql.streaming.checkpointLocation": "file:///elsewhere"}})
    assert [word for word in words if "checkpoint" in word] == ["spark.sql.streaming.checkpointLocation=file:///data/3"]


@given(st.text(alphabet=st.characters(exclude_categories=["C"]), max_size=30))
def test_whatever_a_property_holds_is_one_word(value: str):
    made = {**CODE, "properties": {"spark.x": value}}
    try:
        words = line(made)
    except ValidationError:
        assert not value.isprintable()
        return
    assert words[:4] == [
        "--conf",
        "spark.sql.streaming.checkpointLocation=file:///data/3",
        "--conf",
        f"spark.x={value}",
    ]
    assert words[4:] == [str(DRIVER), "/data/3/code.py"]


NO_PATH = r"jar_path: String should match pattern '^[^-\s\x00-\x1f][^\s\x00-\x1f]*\.jar$'"
NO_CLASS = r"main_class: String should match pattern '^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$'"
NO_NAME = "name: must not contain & < > \" ', control characters or overrides of the direction of writing"
WRONG = [
    ({"name": "orders"}, "code is missing; a pipeline of type code runs it"),
    ({**CODE, "jar_path": "a.jar"}, "jar_path does not belong to a pipeline of type code"),
    ({**CODE, "create_type": "assisted"}, "create_type: Input should be 'code' or 'jar'"),
    ({**CODE, "language": "scala"}, "language: Input should be 'python'"),
    ({**JAR, "main_class": None}, "main_class is missing; a pipeline of type jar begins there"),
    ({**JAR, "main_class": "a; rm -r b"}, NO_CLASS),
    ({**JAR, "jar_path": "--conf.jar"}, NO_PATH),
    ({**JAR, "jar_path": "orders.py"}, NO_PATH),
    (
        {**CODE, "properties": {"--master": "x"}},
        "properties: '--master' is not a property of Spark, as in spark.sql.shuffle.partitions",
    ),
    ({**CODE, "properties": {"spark.x": "a\nb"}}, "properties: the value of spark.x holds control characters"),
    ({**CODE, "user_arguments": "'"}, "user_arguments: cannot be split as a shell does: no closing quotation"),
    ({**CODE, "name": "<orders>"}, NO_NAME),
]


def refusal(body: dict) -> str:
    with pytest.raises(ValidationError) as refused:
        PipelineCreate.model_validate(body)
    return explain(refused.value)


def test_code_of_more_than_a_mebibyte_is_refused():
    assert refusal({**CODE, "code": "x" * (2**20 + 1)}) == "code: must have at most 1 MiB"


def test_a_field_that_is_wrong_is_named():
    assert [(body, refusal(body)) for body, _ in WRONG] == WRONG


def test_attributes_may_stand_in_data():
    body = {"data": {"type": "pipeline", "attributes": CODE}}
    assert PipelineCreate.model_validate(body).code == CODE["code"]
    assert PipelineUpdate.model_validate({"data": {"attributes": {"description": "new"}}}).description == "new"


def test_a_change_keeps_the_rest_and_the_type():
    definition = definition_of(PipelineCreate.model_validate({**CODE, "properties": {"spark.x": 1}}))
    after = changed(definition, "code", PipelineUpdate.model_validate({"user_arguments": "a"}))
    assert after == {**definition, "user_arguments": "a"}
    with pytest.raises(Invalid, match="jar_path does not belong to a pipeline of type code"):
        changed(definition, "code", PipelineUpdate.model_validate({"jar_path": "a.jar"}))


ENDS = {
    ("STARTED", "done"): "FINISHED",
    ("STARTED", "error"): "FAILED",
    ("STARTED", "cancelled"): "PAUSED",
    ("PAUSING", "cancelled"): "PAUSED",
    ("PAUSING", "error"): "PAUSED",
    ("PAUSING", "done"): "PAUSED",
}


def test_how_a_pipeline_stands_once_its_command_has_ended():
    assert {(told, ended): after_end(told, ended) for told, ended in ENDS} == ENDS


SHOWN = {
    (None, None): (None, "grey"),
    ("STARTED", "waiting"): (InstanceStatus.WAITING, "yellow"),
    ("STARTED", "running"): (InstanceStatus.RUNNING, "green"),
    ("PAUSING", "running"): (InstanceStatus.PAUSING, "yellow"),
    ("PAUSED", "cancelled"): (InstanceStatus.PAUSED, "grey"),
    ("FAILED", "error"): (InstanceStatus.FAILED, "red"),
}


def test_the_status_and_colour_of_a_pipeline_follow_from_its_last_run():
    shown = {run: instance_status(*run) for run in SHOWN}
    assert {run: (status, health(status, 7, "the source is gone").status) for run, status in shown.items()} == SHOWN
