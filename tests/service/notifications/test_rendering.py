import pytest
from hypothesis import given
from tests.service.notifications.pages import TEXTS, Page
from tests.service.notifications.rows import row_of

from svc_jupyter.service.notifications.rendering import command_ended


def test_a_done_command_is_reported_with_its_times_and_result() -> None:
    row = row_of(id=17, name="Daily sales", tags="[daily,sales]", result={"size": 4_512}, result_rows=1200)

    notice = command_ended(row, public_url=None)

    assert notice.subject == "[svc-jupyter] Daily sales is done (command 17)"
    for line in (
        "Command:   17",
        "Type:      ShellCommand",
        "Status:    done",
        "Tags:      [daily,sales]",
        "Submitted: 2030-03-17 17:46:40 UTC",
        "Started:   2030-03-17 17:46:42 UTC",
        "Ended:     2030-03-17 17:47:45 UTC",
        "Duration:  1 min 3 s",
        "Result:    1,200 rows, 4.5 kB",
        "    %svc_command 17 logs",
        "    %svc_command 17 result",
    ):
        assert line in notice.text.splitlines()
    assert "Reason:" not in notice.text


@pytest.mark.parametrize(("seconds", "text"), [(0.047, "47 ms"), (0.4, "0.4 s"), (4.24, "4.2 s")])
def test_a_short_command_is_reported_with_its_exact_duration(seconds: float, text: str) -> None:
    row = row_of(id=17, start_time=1_900_000_002.0, end_time=1_900_000_002.0 + seconds)

    assert f"Duration:  {text}" in command_ended(row, public_url=None).text.splitlines()


def test_a_failed_command_is_reported_with_its_reason_and_attempts() -> None:
    row = row_of(id=3, status="error", message="exit code 7\nno such table", attempts=[{}, {}])

    notice = command_ended(row, public_url=None)

    assert notice.subject == "[svc-jupyter] ShellCommand failed (command 3)"
    assert "Reason:\n    exit code 7\n    no such table\n" in notice.text
    assert "Attempts:  2" in notice.text
    assert "%svc_command 3 logs" in notice.text
    assert "%svc_command 3 result" not in notice.text


def test_a_command_cancelled_before_it_began_has_no_duration() -> None:
    row = row_of(id=3, status="cancelled", start_time=None, message="cancelled before it began")

    notice = command_ended(row, public_url=None)

    assert notice.subject.startswith("[svc-jupyter] ShellCommand was cancelled")
    assert "Started:   never" in notice.text
    assert "Duration" not in notice.text
    assert "cancelled before it began" in notice.text


def test_the_command_text_is_not_reported() -> None:
    notice = command_ended(row_of(id=1, command={"inline": "mysql --password=geheim"}), public_url=None)

    assert "geheim" not in notice.text + notice.html + notice.subject


@pytest.mark.parametrize("public_url", ["https://svc.example.org/team", "https://svc.example.org/team/"])
def test_links_lead_to_the_public_address(public_url: str) -> None:
    notice = command_ended(row_of(id=17), public_url=public_url)

    links = [
        "https://svc.example.org/team/api/v1.2/commands/17",
        "https://svc.example.org/team/api/v1.2/commands/17/logs",
        "https://svc.example.org/team/api/v1.2/commands/17/results",
    ]
    assert Page(notice.html).links == links
    assert all(link in notice.text for link in links)


def test_without_a_public_address_there_is_no_link() -> None:
    notice = command_ended(row_of(id=17), public_url=None)

    assert Page(notice.html).links == []
    assert "http" not in notice.text


def test_both_forms_show_the_same() -> None:
    row = row_of(id=17, name="Daily sales", status="error", message="exit code 7", label="default")

    notice = command_ended(row, public_url=None)

    page = Page(notice.html)
    for told in ("Daily sales failed", "17", "ShellCommand", "default", "1 min 3 s", "exit code 7", "%svc_command 17"):
        assert told in page.text
        assert told in notice.text


@given(name=TEXTS, message=TEXTS, label=TEXTS, tags=TEXTS)
def test_no_text_becomes_markup_or_a_second_subject_line(name: str, message: str, label: str, tags: str) -> None:
    hostile = "<script>alert(1)</script>\r\nBcc: someone@example.org"
    row = row_of(id=1, status="error", name=name + hostile, message=message + hostile, label=label, tags=tags)
    plain = row_of(id=1, status="error", name="n", message="m", label="l", tags="t")

    notice = command_ended(row, public_url=None)

    assert set(Page(notice.html).tags) == set(Page(command_ended(plain, public_url=None).html).tags)
    assert len(notice.subject.splitlines()) == 1
    (notice.text + notice.html).encode()
