"""The steps that a user can take in the folder browser, and their confirmation: once, by name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from svc_jupyter.widgets.folders.items import Item, Key, Kind, folder_item

if TYPE_CHECKING:
    from svc_jupyter.client import Client


class Step(StrEnum):
    """A button of the browser that changes something."""

    NEW = "New folder"
    RENAME = "Rename"
    MOVE = "Move"
    DELETE = "Delete"


@dataclass(frozen=True)
class Question:
    """A step that waits for its input: a name, a destination or a confirmation.

    `consequences` is what a deletion would delete, or None when the service cannot say.
    """

    step: Step
    item: Item
    destination: Item | None = None
    consequences: str | None = None

    @property
    def needs_name(self) -> bool:
        """Whether a name must be entered."""
        return self.step in (Step.NEW, Step.RENAME)

    @property
    def text(self) -> str:
        """The question: the step, the item and the consequences."""
        item = self.item
        match self.step:
            case Step.NEW:
                return f"New folder in {item.location}:"
            case Step.RENAME:
                return f"New name of {item.kind} {item.location}:"
            case Step.MOVE:
                what = "with all that is in it" if item.kind is Kind.FOLDER else f"({item.kind})"
                keeps = "Ids, policies and schedules go on."
                if self.destination is None:
                    return f"Move {item.location} {what}: choose the folder that it is to be in. {keeps}"
                if self.obstacle:
                    return f"Move {item.location} {what}: {self.obstacle}."
                return f"Move {item.location} {what} into {self.destination.location}? {keeps}"
            case Step.DELETE:
                return f"Delete {item.kind} {item.location}? {self._what_goes}"

    @property
    def obstacle(self) -> str | None:
        """Why the destination is not possible, or None if nothing visible here prevents it."""
        item, place = self.item, self.destination
        if place is None:
            return "choose a folder"
        if not place.is_place:
            return f"{place.name} is not a folder; choose one"
        if place.folder_type != item.folder_type:
            return f"{place.location} is in the other tree; choose a folder of this one"
        if item.kind is Kind.FOLDER and item.holds(place.location):
            return "it cannot be in itself; choose another folder"
        if place.location == item.parent:
            return f"it is in {place.location} already; choose another folder"
        return None

    @property
    def yes(self) -> str:
        """The label of the confirming button; it names the object."""
        match self.step:
            case Step.NEW:
                return "Make folder"
            case Step.RENAME:
                return f"Rename {self.item.name}"
            case Step.MOVE:
                return f"Move {self.item.name}" + (f" into {self.destination.location}" if self.destination else "")
            case Step.DELETE:
                return f"Delete {self.item.name}"

    @property
    def _what_goes(self) -> str:
        if self.item.kind is not Kind.FOLDER:
            with_it = " The dashboards that show it go with it." if self.item.kind is Kind.NOTE else ""
            return f"It is gone for good.{with_it}"
        if self.consequences is None:
            return "All that is in it goes with it, for good."
        return f"{self.consequences[:1].upper()}{self.consequences[1:]}, for good."


def possible_steps(item: Item | None) -> set[Step]:
    """Return the steps possible for an item; a root can be neither moved nor renamed."""
    if item is None or item.kind is Kind.TREE:
        return set()
    if item.kind is Kind.FOLDER:
        return {Step.NEW} if item.is_root else set(Step)
    return {Step.RENAME, Step.MOVE, Step.DELETE}


@dataclass(frozen=True)
class Done:
    """The result of a step: a message, the changed item (None when deleted), and the folders to open to show it."""

    text: str
    key: Key | None
    opened: Key | None = None


def perform(client: Client, question: Question, name: str = "") -> Done:
    """Perform the confirmed step. Raises the client's errors."""
    item = question.item
    match question.step:
        case Step.NEW:
            made = folder_item(client.folders.create(item.location, name, folder_type=item.folder_type))
            return Done(f"{made.location} is made", made.key, opened=item.key)
        case Step.RENAME:
            return _renamed(client, item, name)
        case Step.MOVE:
            assert question.destination is not None
            return _moved(client, item, question.destination)
        case Step.DELETE:
            return _deleted(client, item)


def _renamed(client: Client, item: Item, name: str) -> Done:
    if item.kind is Kind.FOLDER:
        client.folders.rename(item.id, name, folder_type=item.folder_type)
    elif item.kind is Kind.NOTE:
        client.notes.update(item.id, name=name)
    else:
        client.dashboards.update(item.id, name=name)
    return Done(f"{item.location} is called {name} now", item.key)


def _moved(client: Client, item: Item, place: Item) -> Done:
    if item.kind is Kind.FOLDER:
        text = client.folders.move(item.id, place.location, folder_type=item.folder_type).message
    else:
        if item.kind is Kind.NOTE:
            client.notes.update(item.id, location=place.location)
        else:
            client.dashboards.update(item.id, location=place.location)
        text = f"{item.location} is in {place.location} now"
    return Done(text, item.key, opened=place.key)


def _deleted(client: Client, item: Item) -> Done:
    if item.kind is Kind.FOLDER:
        return Done(client.folders.delete(item.id, folder_type=item.folder_type).message, None)
    if item.kind is Kind.NOTE:
        went = client.notes.delete(item.id).notebook_dashboards
        with_it = f", with {went} of its dashboards" if went else ""
        return Done(f"note {item.location} was deleted{with_it}", None)
    client.dashboards.delete(item.id)
    return Done(f"dashboard {item.location} was deleted", None)
