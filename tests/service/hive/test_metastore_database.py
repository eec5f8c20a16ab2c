"""How Java reaches the metastore's database, from the address that the service has."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from svc_jupyter.service.runtimes.metastore.database import DERBY, of_postgresql
from svc_jupyter.service.runtimes.metastore.process import settings_files


def test_the_address_in_javas_form():
    places = {
        "postgresql://ann:pw@db.example.com/svc": "db.example.com:5432/svc",
        "postgresql://ann:pw@db.example.com:6432/svc": "db.example.com:6432/svc",
        "postgresql://ann:pw@one,two:6432/svc?port=5433": "one:5433,two:5433/svc",
        "postgresql://ann:pw@[::1]/svc": "[::1]:5432/svc",
        "postgresql://ann:pw@/svc?host=/run/pg&port=5433": "localhost/svc",
        "postgresql://ann:pw@db/a%20b%2Fc": "db:5432/a%20b%2Fc",
    }
    found = {url: of_postgresql(url).url.partition("&")[0] for url in places}
    assert found == {url: f"jdbc:postgresql://{place}?currentSchema=hive_metastore" for url, place in places.items()}


def test_a_socket_in_the_file_system_is_reached_by_our_own_factory():
    options = parse_qs(urlsplit(of_postgresql("postgresql://ann@/svc?host=/run/pg&port=5433").url).query)
    assert options["socketFactoryArg"] == ["/run/pg/.s.PGSQL.5433"]


def test_options_of_the_connection_are_taken_over():
    url = "postgresql://ann@db/svc?sslmode=verify-full&sslrootcert=/etc/ca.pem&target_session_attrs=read-write"
    options = parse_qs(urlsplit(of_postgresql(url).url).query)
    assert (options["sslmode"], options["sslrootcert"]) == (["verify-full"], ["/etc/ca.pem"])
    assert options["targetServerType"] == ["primary"]


def test_the_password_is_in_no_text(tmp_path: Path):
    database = of_postgresql("postgresql://ann:s3cret%21@db/svc")
    assert (database.user, database.password) == ("ann", "s3cret!")
    settings = b"".join(settings_files(database, tmp_path.as_uri(), {}).values())
    assert "s3cret" not in repr(database) + database.url + settings.decode()


def test_derby_asks_for_no_user(tmp_path: Path):
    assert b"ConnectionUserName" not in settings_files(DERBY, tmp_path.as_uri(), {})["hive-site.xml"]
