"""What a cluster may be, and how edits and secrets come to be stored. Pure but for the box of secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from svc_jupyter.api.cluster_texts import parse_custom_config
from svc_jupyter.api.clusters import ClusterChanges, ClusterConfiguration
from svc_jupyter.api.text import HIDDEN
from svc_jupyter.service.clusters.cluster_rows import changed_fields, check_destination, merged, take_secrets
from svc_jupyter.service.clusters.reconciler import idle_limit, idle_reason, look_interval
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.http.validation import explain

LABELS = "it must differ from the ids of clusters and from 'reassign-label'"
NOT_YET = (
    "is not supported yet: this version connects to coordinators of Presto (presto_url) and Trino (trino_url), "
    "to HiveServer2 (hiveserver2) and to Spark Connect (spark_connect) only"
)
REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"label": ["a b"]},
        "label.0: 'a b' is not a label: letters, digits, '_', '.', '-', not first a sign, at most 255 characters",
    ),
    ({"label": "12"}, f"label.0: '12' cannot be a label: {LABELS}"),
    ({"label": "reassign-label"}, f"label.0: 'reassign-label' cannot be a label: {LABELS}"),
    ({"label": ["a", "a"]}, "label: names a label twice"),
    (
        {"node_configuration": {"initial_nodes": 0}},
        "node_configuration.initial_nodes: Input should be greater than or equal to 1",
    ),
    (
        {"node_configuration": {"initial_nodes": "two"}},
        "node_configuration.initial_nodes: Input should be a valid integer",
    ),
    (
        {"node_configuration": {"initial_nodes": 3, "max_nodes": 2}},
        "node_configuration.max_nodes (2) must not be below initial_nodes (3)",
    ),
    (
        {"node_configuration": {"slave_request_type": "free"}},
        "node_configuration.slave_request_type: Input should be 'ondemand', 'spot' or 'hybrid'",
    ),
    (
        {"hadoop_settings": {"custom_config": "a=1\nnonsense secret"}},
        "hadoop_settings.custom_config: line 2 is not of the form key=value",
    ),
    (
        {"pig_settings": {"pig_version": "0.11"}},
        "pig_settings.pig_version: Pig '0.11' is not there: the only version is 0.18.0",
    ),
    (
        {"pig_settings": {"execution_engine": "tez"}},
        "pig_settings.execution_engine: 'tez' is not there: Pig runs on mapreduce or local",
    ),
    ({"idle_cluster_timeout": -1}, "idle_cluster_timeout: Input should be greater than or equal to 0"),
    (
        {"presto_settings": {"enable_presto": True}, "hadoop_settings": {"use_spark": True}},
        "presto_settings.enable_presto and hadoop_settings.use_spark exclude each other",
    ),
    (
        {"provider": "external"},
        "external: give the address to connect to, one of presto_url, trino_url, hiveserver2, spark_connect",
    ),
    (
        {"external": {"presto_url": "http://p"}},
        'external: needs "provider": "external"; for another provider clear its address',
    ),
    (
        {"provider": "external", "external": {"presto_url": "http://p", "trino_url": "http://t"}},
        "external.presto_url and external.trino_url exclude each other: clear all but one",
    ),
    (
        {"provider": "external", "external": {"hiveserver2": "h:10000", "trino_url": "http://t"}},
        "external.trino_url and external.hiveserver2 exclude each other: clear all but one",
    ),
    ({"provider": "external", "external": {"hadoop_conf": "conf"}}, f"external: hadoop_conf {NOT_YET}"),
    ({"provider": "external", "external": {"metastore": "thrift://h"}}, f"external: metastore {NOT_YET}"),
]


def refusal(body: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        ClusterConfiguration.model_validate(body)
    return explain(refused.value)


def test_configurations_that_cannot_be_are_refused_without_their_text():
    assert [(body, refusal(body)) for body, _ in REFUSED] == REFUSED


def test_the_initial_size_is_the_largest_where_nothing_else_is_said():
    configuration = ClusterConfiguration.model_validate({"node_configuration": {"initial_nodes": 3}})
    assert configuration.node_configuration.max_nodes == 3


def test_the_type_of_a_cluster_follows_from_its_settings():
    settings = ({}, {"hadoop_settings": {"use_spark": True}}, {"presto_settings": {"enable_presto": True}})
    types = [ClusterConfiguration.model_validate(body).cluster_type.value for body in settings]
    assert types == ["hadoop", "spark", "presto"]


def test_an_external_cluster_runs_what_its_address_says():
    for name, runs in {
        "presto_url": "presto",
        "trino_url": "presto",
        "hiveserver2": "hive",
        "spark_connect": "spark_connect",
    }.items():
        body = {"provider": "external", "external": {name: "http://h:8080"}}
        assert ClusterConfiguration.model_validate(body).cluster_type.value == runs


def test_lines_of_a_custom_config():
    text = "# YARN\n\n yarn.nodemanager.vmem-check-enabled = false \nmapreduce.map.env=A=1,B=2"
    assert parse_custom_config(text) == {
        "yarn.nodemanager.vmem-check-enabled": "false",
        "mapreduce.map.env": "A=1,B=2",
    }


def test_an_edit_changes_what_it_names_and_nothing_else():
    before = ClusterConfiguration.model_validate(
        {
            "label": ["a", "b"],
            "hadoop_settings": {"custom_config": "a=1", "fairscheduler_settings": {"default_pool": "etl"}},
            "node_configuration": {"initial_nodes": 2, "max_nodes": 8},
        }
    )
    changes = ClusterChanges.model_validate(
        {"label": ["c"], "hadoop_settings": {"custom_config": "b=2", "use_spark": None}, "unheard_of": 1}
    )
    after = ClusterConfiguration.model_validate(merged(before, changes))
    assert after.label == ["c"]
    assert after.hadoop_settings.custom_config == "b=2"
    assert after.hadoop_settings.fairscheduler_settings.default_pool == "etl"
    assert after.node_configuration.max_nodes == 8
    assert changed_fields(changes) == ["hadoop_settings.custom_config", "label"]


def test_secrets_are_sealed_kept_cleared_and_never_shown(tmp_path: Path):
    box = SecretBox(tmp_path / "key")

    def after(sealed: str | None, **given: Any) -> tuple[str | None, ClusterConfiguration]:
        changes = ClusterChanges.model_validate({"cloud_settings": given})
        configuration = ClusterConfiguration.model_validate(
            merged(ClusterConfiguration() if sealed is None else known, changes)
        )
        return take_secrets(box, configuration, changes, sealed), configuration

    sealed, known = after(None, compute_access_key="AKIA", compute_secret_key="s3cret")
    assert sealed is not None
    assert "s3cret" not in f"{sealed}{known.model_dump_json()}"
    assert (known.cloud_settings.compute_access_key, known.cloud_settings.compute_secret_key) == (HIDDEN, HIDDEN)
    same, _ = after(sealed, compute_secret_key=HIDDEN, cloud_region="north")
    assert same == sealed
    other, known = after(sealed, compute_secret_key="0ther", compute_access_key=HIDDEN)
    assert box.open(str(other)) == '{"compute_access_key": "AKIA", "compute_secret_key": "0ther"}'
    cleared, known = after(other, compute_secret_key="", compute_access_key="")
    assert (cleared, known.cloud_settings.compute_secret_key) == (None, None)
    none, known = after(None, compute_secret_key=HIDDEN)
    assert (none, known.cloud_settings.compute_secret_key) == (None, None)


def test_an_external_password_is_sealed_and_goes_to_no_other_destination(tmp_path: Path):
    box = SecretBox(tmp_path / "key")
    external = {"trino_url": "https://t", "user": "svc", "password": "s3cret"}
    given = ClusterChanges.model_validate({"provider": "external", "external": external})
    before = ClusterConfiguration.model_validate(given.model_dump(exclude_unset=True))
    sealed = take_secrets(box, before, given, None)
    assert sealed is not None
    assert box.open(sealed) == '{"external_password": "s3cret"}'
    assert before.external.password == HIDDEN
    assert "s3cret" not in before.model_dump_json()
    for change in ({"trino_url": "https://other"}, {"user": "ann", "password": HIDDEN}, {"tls_ca": "other"}):
        changes = ClusterChanges.model_validate({"external": change})
        after = ClusterConfiguration.model_validate(merged(before, changes))
        with pytest.raises(Invalid, match=r"external\.password: .* changed: give the password again"):
            check_destination(before, after, changes)
    changes = ClusterChanges.model_validate({"external": {"trino_url": "https://other", "password": "new"}})
    after = ClusterConfiguration.model_validate(merged(before, changes))
    check_destination(before, after, changes)
    assert box.open(str(take_secrets(box, after, changes, sealed))) == '{"external_password": "new"}'
    changes = ClusterChanges.model_validate({"external": {"source": "etl"}})
    check_destination(before, ClusterConfiguration.model_validate(merged(before, changes)), changes)


def test_how_long_a_cluster_may_be_idle():
    def limit(**fields: Any) -> float | None:
        return idle_limit(ClusterConfiguration.model_validate(fields), 7200)

    assert limit() == 7200
    assert limit(idle_cluster_timeout=0.5) == 1800
    assert limit(idle_cluster_timeout=0.5, disallow_cluster_termination=True) is None
    assert (look_interval(7200), look_interval(2)) == (15, 0.5)
    assert idle_reason("etl", 7199, 7200) is None
    assert idle_reason("etl", 7200, 7200) == "cluster etl was terminated: nothing ran on it for 2 hours"
    assert idle_reason("etl", 1800, 1800) == "cluster etl was terminated: nothing ran on it for 30 minutes"


def test_nulls_of_an_earlier_version_become_values_of_the_contract_s_types():
    spot = ("maximum_bid_price_percentage", "timeout_for_request", "maximum_spot_instance_percentage")
    stored = {
        "cloud_settings": {"cloud_region": None, "vpc_id": None},
        "node_configuration": {"spot_instance_settings": dict.fromkeys(spot)},
    }
    known = ClusterConfiguration.model_validate(stored)
    assert (known.cloud_settings.cloud_region, known.cloud_settings.vpc_id) == ("", None)
    assert [getattr(known.node_configuration.spot_instance_settings, name) for name in spot] == ["100", 10, 50]
