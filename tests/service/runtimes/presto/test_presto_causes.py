"""Why a server of Presto ended, in words for the user."""

from __future__ import annotations

from svc_jupyter.service.runtimes.presto.configuration import explain


def test_a_setting_that_presto_does_not_know_is_named():
    output = (
        "2026-11-21T22:47:52.676Z\tERROR\tmain\tcom.facebook.presto.server.PrestoServer\tUnable to create injector, "
        "see the following errors:\n\n1) Configuration property 'query.max-memery' was not used\n"
        "  at com.facebook.airlift.bootstrap.Bootstrap.lambda$initialize$2(Bootstrap.java:251)\n"
    )
    told = explain("h1", output, 1)
    assert "Configuration property 'query.max-memery' was not used" in told
    assert "presto_settings.custom_config" in told


def test_another_program_at_the_address_is_named():
    told = explain("h1", "java.net.BindException: Failed to bind to /127.1.1.1:8080: Address already in use", 1)
    assert "another program listens at 127.1.1.1:8080" in told
