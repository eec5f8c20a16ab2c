"""What is posted of a pipeline's run that failed."""

from __future__ import annotations

from svc_jupyter.service.notifications.events import pipeline_event
from svc_jupyter.service.notifications.webhooks import webhook_body

URL = "https://data.example.org/"
COMMAND = {
    "id": 17,
    "name": "pipeline 3 (orders)",
    "command_type": "SparkCommand",
    "status": "error",
    "tags": None,
    "label": "spark",
    "created_at": 1795248000.0,
    "start_time": 1795248001.0,
    "end_time": 1795248090.0,
    "message": "the source of query orders is gone",
    "attempts": [],
    "result": None,
    "result_rows": None,
}


def test_a_pipeline_that_failed_is_posted_with_its_reason_and_where_to_look():
    content = pipeline_event({"id": 3, "name": "orders\nX: y"}, COMMAND).content
    assert webhook_body(content, delivery_id="9.1", public_url=URL) == {
        "event": "pipeline.failure",
        "delivery_id": "9.1",
        "text": "Pipeline orders X: y failed",
        "pipeline_id": 3,
        "name": "orders\nX: y",
        "status": "error",
        "message": "the source of query orders is gone",
        "command_id": 17,
        "ended_at": "2026-11-21T08:01:30Z",
        "links": {
            "pipeline": "https://data.example.org/api/v1.2/pipelines/3",
            "command": "https://data.example.org/api/v1.2/commands/17",
            "log": "https://data.example.org/api/v1.2/commands/17/logs",
        },
    }
    assert webhook_body(content, delivery_id="9.1", public_url=None)["links"] == {}
