"""What the JupyterLab extension shares with Python is made from it."""

from scripts import make_lab_sources


def test_it_is_what_its_maker_makes_of_the_sources():
    assert list(make_lab_sources.outdated()) == [], "run: python -m scripts.make_lab_sources"


def test_the_types_hold_what_a_named_schema_refers_to_and_no_more():
    schemas = {
        "Page": {"properties": {"items": {"items": {"$ref": "#/components/schemas/Item"}}}},
        "Item": {"title": "Item", "properties": {"title": {"title": "Title"}}, "additionalProperties": True},
        "Other": {},
    }
    document = {"openapi": "3.1.0", "info": {}, "components": {"schemas": schemas}}
    kept = make_lab_sources.only_named(document, ["Page"])["components"]["schemas"]
    assert kept == {"Item": {"properties": {"title": {}}}, "Page": schemas["Page"]}
