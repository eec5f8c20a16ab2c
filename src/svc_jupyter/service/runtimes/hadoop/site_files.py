"""Hadoop's configuration files as text: properties in XML, and the fair scheduler's pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from xml.etree import ElementTree

_SHARING: Final = ("defaultQueueSchedulingPolicy", "defaultQueueSchedulingMode", "schedulingPolicy")
_REFUSED: Final = ("<!DOCTYPE", "<!ENTITY")


def site_file(settings: Mapping[str, str]) -> bytes:
    """Return a `*-site.xml` with these properties, in their order."""
    root = ElementTree.Element("configuration")
    for name, value in settings.items():
        entry = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(entry, "name").text = name
        ElementTree.SubElement(entry, "value").text = value
    return _text_of(root)


def pools_file(default_pool: str | None, own: str | None) -> bytes:
    """Return the fair scheduler's allocation file: the user's own or an empty one, with a rule that places work.

    Work goes to the pool that it names, which is created if missing, or else to the default pool. A user's file keeps
    its own rules and sharing policies. Raises `ValueError` when `own` is not an allocation file.
    """
    root = parse_pools(own) if own else ElementTree.Element("allocations")
    pool = default_pool or "default"
    declared = {queue.get("name") for queue in root if queue.tag in ("queue", "pool")}
    if pool not in declared:
        ElementTree.SubElement(root, "queue", {"name": pool})
    if root.find("queuePlacementPolicy") is None:
        policy = ElementTree.SubElement(root, "queuePlacementPolicy")
        ElementTree.SubElement(policy, "rule", {"name": "specified", "create": "true"})
        ElementTree.SubElement(policy, "rule", {"name": "default", "queue": f"root.{pool}"})
    if not any(entry.tag in _SHARING for entry in root.iter()):
        # By memory alone, the scheduler limits the masters of jobs to half of the free processors: tasks of one job
        # delay the master of the next one until they end, whatever its share.
        ElementTree.SubElement(root, "defaultQueueSchedulingPolicy").text = "drf"
    return _text_of(root)


def parse_pools(text: str) -> ElementTree.Element:
    """Return the root of a fair scheduler's allocation file; raises `ValueError` with what is wrong."""
    if any(word in text for word in _REFUSED):
        raise ValueError("must not hold a DOCTYPE or ENTITY")
    try:
        # Entities, by which a small text could expand to a large one, were refused above.
        root = ElementTree.fromstring(text)  # noqa: S314
    except ElementTree.ParseError as error:
        raise ValueError(f"is not XML: {error}") from error
    if root.tag != "allocations":
        raise ValueError(f"must be <allocations>, not <{root.tag}>")
    return root


def _text_of(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def settings_in(site: bytes) -> dict[str, str]:
    """Return the properties of a `*-site.xml` that this module wrote."""
    root = ElementTree.fromstring(site)  # noqa: S314  written by this program
    return {entry.findtext("name", ""): entry.findtext("value", "") for entry in root.iterfind("property")}
