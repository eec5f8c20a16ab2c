"""Locations that programs of Hadoop have no client for."""

from __future__ import annotations

from svc_jupyter.service.runtimes.hadoop.causes import explained, unopened_scheme


def test_the_location_is_named_with_what_to_do() -> None:
    elsewhere = (
        "locations are not opened here; Pig, Hive and Hadoop's programs open file:, hdfs: and, where the account's "
        "storage is an S3 store, s3: locations: copy the data to one of these first"
    )
    told = {
        'No FileSystem for scheme "az"': f"az: {elsewhere}",
        "java.io.IOException: No FileSystem for scheme: wasb": f"wasb: {elsewhere}",
        "ClassNotFoundException: Class org.apache.hadoop.fs.gs.GoogleHadoopFileSystem not found": f"gs: {elsewhere}",
        "Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem not found": f"abfss: {elsewhere}",
        "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found": (
            "s3: locations are not opened here; it opens only where the account's storage is an S3 store "
            "(PUT account/storage)"
        ),
    }
    assert [explained(message) for message in told] == [f"{message}\n{words}" for message, words in told.items()]


def test_another_failure_stays_as_it_is() -> None:
    others = ("Input path does not exist: gs", "Class com.example.Udf not found", "")
    assert [(unopened_scheme(message), explained(message)) for message in others] == [
        (None, message) for message in others
    ]
