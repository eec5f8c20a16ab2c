import httpx
import pytest
from tests.support.double.service import ServiceDouble

from svc_jupyter.api.commands import CommandList, CommandRecord, CommandType, Results
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client import UnexpectedAnswer
from svc_jupyter.client.transport.reading import known_status, read


def answer(**content: object) -> httpx.Response:
    return httpx.Response(200, json=content, request=httpx.Request("GET", "https://service.test/api/v1.2/x?secret=1"))


def test_fields_that_do_not_fit_stay_as_they_came_and_the_others_are_checked() -> None:
    record = ServiceDouble(bare=True).add().record | {"qlog": {"a": 1}, "timeout": "soon", "unknown": [1]}
    read_record = read(CommandRecord, answer(**record))
    assert (read_record.qlog, read_record.timeout) == ({"a": 1}, "soon")
    assert read_record.status is CommandStatus.WAITING
    assert read_record.meta_data.results_resource == "commands/1/results"
    assert read_record.model_extra == {"unknown": [1]}
    assert "throttled" not in read_record.model_fields_set
    assert read_record.throttled is False


def test_a_missing_field_is_none_and_not_made_up() -> None:
    record = ServiceDouble(bare=True).add().record
    del record["path"]
    assert read(CommandRecord, answer(**record)).path is None


def test_odd_records_in_a_list_do_not_spoil_it() -> None:
    double = ServiceDouble(bare=True)
    records = [double.add().record | {"status": "cancelling"}, double.add().record]
    listing = read(CommandList, answer(commands=records, paging_info={"page": 1, "per_page": 10}))
    assert [record.status for record in listing.commands] == [CommandStatus.RUNNING, CommandStatus.WAITING]
    assert all(isinstance(record, CommandRecord) for record in listing.commands)


def test_a_status_word_that_is_not_known_is_never_final() -> None:
    words = {"done": "done", "FAILED": "error", "success": "done", "cancelling": "running", None: "running"}
    assert {word: known_status(word) for word in words} == words


def refusal(content: dict[str, object]) -> str:
    with pytest.raises(UnexpectedAnswer) as refused:
        read(CommandRecord, answer(**content))
    return str(refused.value)


def test_an_object_that_is_no_record_is_an_unexpected_answer() -> None:
    found = [refusal(content) for content in ({"hello": "world"}, {"id": "one", "status": "done"}, {})]
    assert found == ["GET https://service.test/api/v1.2/x answered with JSON that is not a CommandRecord"] * 3


def test_a_page_of_something_else_is_an_unexpected_answer() -> None:
    page = httpx.Response(200, html="<h1>Welcome</h1>", request=httpx.Request("GET", "https://service.test/x"))
    with pytest.raises(UnexpectedAnswer, match="text/html; charset=utf-8 instead of JSON"):
        read(Results, page)


def test_a_command_type_outside_the_contract_is_kept() -> None:
    record = ServiceDouble(bare=True).add("NewCommand").record
    assert read(CommandRecord, answer(**record)).command_type not in set(CommandType)
