from tests.support.double.service import TOKEN, ServiceDouble

from svc_jupyter.client import Client


def test_catalogues_of_taps_and_of_hive():
    double = ServiceDouble()
    double.answers["GET db_taps/3/catalogue"] = {"state": "ready", "version": "a", "schemas": [], "new": 1}
    double.answers["GET hive_catalogue/tables"] = {"version": "b", "tables": [], "offset": 0, "total": 0}
    columns = [{"name": "a", "type": "int"}]
    double.answers["GET hive_catalogue/columns"] = {
        "version": "b",
        "tables": [{"schema_name": "s", "name": "t", "columns": columns}],
    }
    function = {"schema_name": "s", "name": "net", "type": "function"}
    double.answers["GET db_taps/3/catalogue/functions"] = {"version": "b", "functions": [function]}
    with Client("http://service", TOKEN, transport=double.transport()) as client:
        assert client.catalogues.get(3, wait=2).version == "a"
        assert client.catalogues.tables(None, search="x").total == 0
        (table,) = client.catalogues.columns(None, "s", ["t", "u&v"])
        assert [one.name for one in client.catalogues.functions(3)] == ["net"]
    assert [(table.name, column.type) for column in table.columns] == [("t", "int")]
    assert [call.partition("/api/v1.2/")[2] or call for call in double.calls] == [
        "db_taps/3/catalogue?wait=2",
        "hive_catalogue/tables?search=x&offset=0&limit=100",
        "hive_catalogue/columns?schema=s&table=t&table=u%26v",
        "db_taps/3/catalogue/functions",
    ]
