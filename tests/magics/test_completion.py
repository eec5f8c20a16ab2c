"""Completion, through the shell's own completer."""

import threading

import pytest
from IPython.core.completer import provisionalcompleter

from svc_jupyter.magics.completion import service_names
from svc_jupyter.magics.completion.service_names import FRESH_SECONDS, WAIT_SECONDS, ServiceNames
from svc_jupyter.magics.session.session import Session, SvcMagics


@pytest.fixture
def complete(notebook, monkeypatch):
    """Return the texts that the shell offers at the end of a text, each as the whole word it would become.

    A completion waits longer for the service here than people would, so that a busy machine changes nothing.
    """
    monkeypatch.setattr(service_names, "WAIT_SECONDS", 30)

    def texts(text):
        with provisionalcompleter():
            return [completion.text for completion in notebook.shell.Completer.completions(text, len(text))]

    return texts


def test_options_of_a_magic(complete):
    assert complete("%%svc_db --la") == ["--label"]
    assert {"--tap", "--no-wait", "-o"} <= set(complete("%%svc_db -"))
    assert "--files" not in complete("%%svc_db -")


def test_an_option_that_was_given_is_not_offered_again_unless_it_repeats(complete):
    offered = complete("%%svc_db --label x --param a=1 -")
    assert "--label" not in offered
    assert "--param" in offered


def test_values_of_an_option(complete):
    assert complete("%%svc_shell --format c") == ["csv"]
    assert complete("%%svc_shell --format=c") == ["--format=csv"]
    assert complete("frame = %svc_history --type sh") == ["shell"]
    assert complete("%svc_history --status w") == ["waiting"]


def test_only_the_line_of_the_magic_is_completed(complete):
    assert "--label" not in complete("%%svc_shell\nls --la")


def test_taps_labels_and_commands_of_the_service(service, notebook, complete):
    service.add_tap("flights")
    service.add_tap("weather")
    service.clusters.add("etl", state="UP")
    notebook.value("%%svc_shell --label etl --pool fast\ntrue\n")
    assert complete("%%svc_db --tap fl") == ["flights"]
    assert complete("%%svc_db --label e") == ["etl"]
    assert complete("%svc_command 1") == ["128"]
    assert complete("%svc_command 128 l") == ["logs"]
    assert complete("%svc_config default_tap w") == ["weather"]


def test_settings(complete):
    assert complete("%svc_config default_") == ["default_label", "default_tap", "default_time_zone"]


def test_a_service_that_hangs_delays_a_completion_by_a_moment_only(
    service, notebook, complete, wait_until, monkeypatch
):
    monkeypatch.setattr(service_names, "WAIT_SECONDS", WAIT_SECONDS)
    service.add_tap("flights")
    service.held = threading.Event()
    finished = threading.Event()
    released_before_the_answer = []

    def release():
        released_before_the_answer.append(not finished.wait(20))
        service.held.set()

    thread = threading.Thread(target=release)
    thread.start()
    assert "flights" not in complete("%%svc_db --tap fl")
    finished.set()
    thread.join()
    assert released_before_the_answer == [False]
    wait_until(lambda: complete("%%svc_db --tap fl") == ["flights"])


def test_a_service_that_is_away_raises_nothing(service, complete, monkeypatch, capsys):
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    assert "flights" not in complete("%%svc_db --tap fl")
    assert capsys.readouterr().err == ""


def test_a_completion_starts_no_service(unconnected, home):
    with provisionalcompleter():
        text = "%%svc_db --tap fl"
        list(unconnected.shell.Completer.completions(text, len(text)))
    assert not (home / "data").exists()


def test_names_are_fetched_again_after_a_while(service, notebook, monkeypatch):
    monkeypatch.setattr(service_names, "WAIT_SECONDS", 30)
    now = [0.0]
    session = Session(SvcMagics())
    names = ServiceNames(session, clock=lambda: now[0])
    service.add_tap("flights")
    assert names.of("taps") == ["flights"]
    service.add_tap("weather")
    assert names.of("taps") == ["flights"]
    now[0] = FRESH_SECONDS + 1
    assert names.of("taps") == ["flights", "weather"]
    session.close()


def test_names_are_not_fetched_again_at_every_key(service, notebook, complete):
    service.add_tap("flights")
    complete("%%svc_db --tap fl")
    complete("%%svc_db --tap fl")
    assert sum("db_taps" in call for call in service.calls) == 1


def test_actions_and_their_options(complete):
    assert complete("%svc_schedule su") == ["suspend"]
    assert complete("%svc_schedule resume x --no") == ["--no-catch-up"]
    assert complete("%svc_schedule list --status su") == ["suspended"]
    assert complete("%%svc_schedule --cr") == ["--cron"]
    assert complete("%%svc_schedule --every 1 --tz Europe/Par") == ["Europe/Paris"]
    assert complete("%svc_notebook r") == ["run"]
    assert complete("%svc_notebook run --keep") == ["--keep-source"]
    assert complete("%svc_config default_time_zone Europe/Par") == ["Europe/Paris"]
    assert complete("%svc_command 1 note") == ["notebook"]


def test_the_line_of_a_cell_within_a_cell(service, complete):
    service.add_tap("flights")
    assert complete("%%svc_composite\n%%svc_shell\ntrue\n%%svc_db --tap fl") == ["flights"]


def test_schedules_of_the_service(service, complete):
    service.schedules.add("report")
    service.schedules.add("daily report")
    assert complete("%svc_schedule suspend rep") == ["report"]
    assert complete("%svc_schedule preview 'd") == ["'daily report'"]


def test_a_label_is_offered_with_its_cluster_s_state(service, notebook, monkeypatch):
    monkeypatch.setattr(service_names, "WAIT_SECONDS", 30)
    service.clusters.add("etl", state="UP")
    with provisionalcompleter():
        [found] = notebook.shell.Completer.completions("%%svc_hive --label e", 20)
    assert (found.text, found.type) == ("etl", "cluster UP")


@pytest.mark.both_services
def test_clusters_their_verbs_and_workers(service, notebook, complete):
    service.clusters.add("etl", state="UP")
    assert complete("%svc_cluster e") == ["etl"]
    assert complete("%svc_cluster etl st") == ["start", "state"]
    assert complete("%svc_cluster etl remove ip") == ([] if service.bare else ["ip-127-0-0-11", "ip-127-0-0-12"])
    assert complete("%svc_policy show cluster e") == ["etl"]


def test_tables_of_hive_and_sub_commands_of_hadoop(service, notebook, complete):
    page = {"page": 1, "per_page": 100, "next_page": None}
    service.answers |= {
        "GET hive": {"schemas": ["web"], "paging_info": page},
        "GET hive/web": {"tables": ["visits"], "paging_info": page},
    }
    assert complete("%svc_table web.v") == ["web.visits"]
    assert complete("%svc_sensor w") == ["web.visits"]
    assert complete("%svc_hadoop --name x st") == ["streaming"]


def test_pools_of_the_clusters_and_of_the_latest_commands(service, notebook, complete):
    pools = {"default_pool": "fair", "fairscheduler_config_xml": '<allocations><queue name="fancy"/></allocations>'}
    service.clusters.add(hadoop_settings={"fairscheduler_settings": pools})
    notebook.value("%%svc_shell --quiet --pool fast\ntrue\n")
    service.change(128, pool="fast")
    assert complete("%%svc_hive --pool fa") == ["fair", "fancy", "fast"]
