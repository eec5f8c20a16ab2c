"""The translations of the JupyterLab extension: complete, and served by JupyterLab."""

from jupyterlab_server.translation_utils import get_language_pack
from scripts import make_catalogue


def test_every_text_of_the_extension_is_translated():
    assert list(make_catalogue.outdated()) == [], "run: python -m scripts.make_catalogue"


def test_jupyterlab_serves_the_translation_beside_its_own():
    packs, message = get_language_pack("de_DE")
    assert message == ""
    assert packs["svc_jupyter"][""]["language"] == "de_DE"
    assert packs["svc_jupyter"]["Cancel"] == ["Abbrechen"]


def test_a_text_that_loses_a_placeholder_is_reported():
    catalogue = make_catalogue.updated(make_catalogue.catalogues()[0], make_catalogue.texts())
    text = next(message for message in catalogue if message.id and "%1" in str(message.id))
    text.string = ("nichts", "nichts") if text.pluralizable else "nichts"
    assert any(line.startswith("other placeholders") for line in make_catalogue.missing(catalogue))
