"""Locations that programs of Hadoop have no client for."""

from __future__ import annotations

import pytest

from svc_jupyter.service.runtimes.hadoop.causes import explained, unopened_scheme


@pytest.mark.parametrize(
    ("message", "scheme"),
    [
        ('No FileSystem for scheme "az"', "az"),
        ("java.io.IOException: No FileSystem for scheme: wasb", "wasb"),
        ("ClassNotFoundException: Class org.apache.hadoop.fs.gs.GoogleHadoopFileSystem not found", "gs"),
        ("Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem not found", "abfss"),
        ("Class org.apache.hadoop.fs.s3a.S3AFileSystem not found", "s3"),
    ],
)
def test_the_location_is_named_with_what_to_do(message: str, scheme: str) -> None:
    told = explained(message)
    assert told.startswith(f"{message}\n{scheme}: locations are not opened here; ")
    assert ("PUT account/storage" if scheme == "s3" else "copy the data") in told


@pytest.mark.parametrize("message", ["Input path does not exist: gs", "Class com.example.Udf not found", ""])
def test_another_failure_stays_as_it_is(message: str) -> None:
    assert unopened_scheme(message) is None
    assert explained(message) == message
