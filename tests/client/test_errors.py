import inspect
import pickle

import pytest

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.client import errors
from svc_jupyter.client.errors import (
    BadRequest,
    CommandFailed,
    NotFound,
    ServerError,
    ServiceUnavailable,
    StatusError,
    SvcError,
    WaitTimeout,
    status_error,
)


def test_every_error_is_in_the_tree_that_the_docstring_draws() -> None:
    kinds = {name: kind for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)}
    assert "NotFound" in kinds
    assert [name for name, kind in kinds.items() if not issubclass(kind, SvcError)] == []
    assert [name for name in kinds if name not in str(errors.__doc__)] == []


CLASSES = {400: BadRequest, 404: NotFound, 500: ServerError, 503: ServiceUnavailable, 418: StatusError}


def test_a_status_has_its_own_class() -> None:
    made = [status_error(status, "text", "trace-1", 2.5) for status in CLASSES]
    assert {error.status: type(error) for error in made} == CLASSES
    assert {(error.message, error.trace_id, error.retry_after) for error in made} == {("text", "trace-1", 2.5)}


def test_the_fields_of_an_error_travel_too() -> None:
    error = pickle.loads(pickle.dumps(status_error(422, "text", fields={"command.inline": "must be a text"})))
    assert error.fields == {"command.inline": "must be a text"}
    assert status_error(409, "text").fields == {}


def test_a_wait_that_timed_out_is_a_timeout_error() -> None:
    with pytest.raises(TimeoutError):
        raise WaitTimeout("command 1 is still running")


def test_errors_travel_between_processes_without_their_handle() -> None:
    record = CommandRecord.model_construct(id=7, status="error")
    error = CommandFailed("command 7 failed", command=object(), record=record)  # type: ignore[arg-type]
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.command_id, copy.command) == ("command 7 failed", 7, None)
    assert pickle.loads(pickle.dumps(status_error(409, "text", "trace"))).trace_id == "trace"


def test_without_a_handle_there_is_no_log() -> None:
    assert CommandFailed("command 7 failed").log_tail() == ""
